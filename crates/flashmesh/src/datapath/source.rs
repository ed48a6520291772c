//! What the datapath asks of the firmware while it chooses (late binding).

use crate::ids::{BlockId, DieId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::{Class, Transaction};

use super::Datapath;

/// The firmware, as the datapath sees it when a die may take an operation.
///
/// # Contract
/// - What waits in a queue is bound late: where a page is, and where it goes, is asked when its path has been granted.
/// - Questions (`&self`) have no effects and may be asked any number of times.
/// - [`reroute`](PageSource::reroute) is called for a transaction that was just taken out of its queue, and puts it into another, or
///   drops it. [`collect_held_back`](PageSource::collect_held_back) and [`die_idle`](PageSource::die_idle) may add transactions.
pub trait PageSource<M: Model> {
    /// Whether the page that a transaction reads or moves still is where it was when it was queued.
    fn is_current(&self, transaction: &Transaction) -> bool;

    /// Whether a write of the host that leads an operation now stays on its plane; one that does not is [rerouted](PageSource::reroute).
    fn stays(&self, write: TransactionId, datapath: &Datapath<M>) -> bool;

    /// Whether a read may join another one of the same die that leads.
    fn joins(&self, lead: &Transaction, other: &Transaction) -> bool;

    /// A read of a user page is dispatched: which of the homes of the page serves it, when it has several and another one does than
    /// `transaction.from`. Asked once for each time that the read is put into a queue.
    fn choose_home(&mut self, _transaction: &Transaction) -> Option<Ppn> {
        None
    }

    /// A read of a user page was put into the queue of `die`. It may be marked as one of a [whole](Transaction::is_whole) page.
    fn read_queued(&mut self, _id: TransactionId, _die: DieId, _datapath: &mut Datapath<M>, _kernel: &mut Kernel<M>) {}

    /// The block and page that a program would get on its plane now; `None` when it has to wait, and for what is no program.
    fn next_page(&self, transaction: &Transaction) -> Option<(BlockId, u32)>;

    /// Whether the programs of `class` that wait for a plane may run: all of `heads`, the first of each of its queues, have a page.
    fn has_page<'a>(
        &self,
        class: Class,
        plane: crate::ids::PlaneId,
        heads: impl Iterator<Item = &'a Transaction>,
    ) -> bool;

    /// Whether all writes of the host share one open block of a plane.
    fn shares_open_block(&self) -> bool;

    /// Whether that block, or another one, has a page for a write; see [`has_page`](PageSource::has_page).
    fn has_shared_page(&self, plane: crate::ids::PlaneId) -> bool;

    /// Takes a page for a program, which runs now; `None` for what is no program.
    fn allocate(&mut self, transaction: &Transaction, kernel: &mut Kernel<M>) -> Option<Ppn>;

    /// Whether garbage collection goes before user requests on a die.
    fn collection_first(&self, die: DieId) -> bool;

    /// Whether a die collects since its space is nearly out.
    fn collects_for_space(&self, die: DieId) -> bool;

    /// Sends a transaction whose page has moved, or was forgotten, where it has to go now.
    fn reroute(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>);

    /// Whether programs may be held back on `die`, of which `ready` may run and `waiting` are queued.
    fn holds_back(&self, ready: &PlaneMasks, waiting: &PlaneMasks) -> bool;

    /// Starts collecting the planes of `die` that hold programs back for want of a page: what made something collectable
    /// there may have been no program of theirs.
    fn collect_held_back(
        &mut self,
        die: DieId,
        ready: &PlaneMasks,
        waiting: &PlaneMasks,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    );

    /// A die has nothing to do.
    fn die_idle(&mut self, die: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>);

    /// The first read of a Clean begins: gives the pages that its packet lists, which are those that are valid now.
    fn clean_begins(&mut self, read: TransactionId, datapath: &mut Datapath<M>) -> usize;

    /// The die of another chip that takes the data of `read`, which leaves a register, when there is one.
    fn copy_destination(&mut self, read: TransactionId, datapath: &mut Datapath<M>) -> Option<DieId>;
}
