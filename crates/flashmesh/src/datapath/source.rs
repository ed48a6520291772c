//! What the datapath asks of the controller while it chooses (late binding), and what it gives back to be done.

use crate::ids::{BlockId, DieId, PlaneId, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::{Class, Transaction};

use super::Datapath;
use super::chips::ChipLook;

/// The controller, as the datapath sees it when a die may take an operation.
///
/// # Contract
/// - What waits in a queue is bound late: where a page is, and where it goes, is asked when its path has been granted.
/// - Questions have no effects and may be asked any number of times.
pub trait PageSource<M: Model> {
    /// Whether the page that a transaction reads or moves still is where it was when it was queued.
    fn is_current(&self, transaction: &Transaction) -> bool;

    /// Whether a write of the host that leads an operation now stays on its plane.
    fn stays(&self, write: TransactionId, datapath: &Datapath<M>) -> bool;

    /// Whether a read may join another one of the same die that leads.
    fn joins(&self, lead: &Transaction, other: &Transaction) -> bool;

    /// The block and page that a program would get on its plane now; `None` when it has to wait, and for what is no program.
    fn next_page(&self, transaction: &Transaction) -> Option<(BlockId, u32)>;

    /// Whether the programs of `class` that wait for a plane may run: all of `heads`, the first of each of its queues, have a page.
    fn has_page<'a>(&self, class: Class, plane: PlaneId, heads: impl Iterator<Item = &'a Transaction>) -> bool;

    /// Whether all writes of the host share one open block of a plane.
    fn shares_open_block(&self) -> bool;

    /// Whether that block, or another one, has a page for a write; see [`has_page`](PageSource::has_page).
    fn has_shared_page(&self, plane: PlaneId) -> bool;

    /// Whether two programs of the same plane go to the same open block.
    fn shares_block(&self, lead: &Transaction, other: &Transaction) -> bool;

    /// Whether the next write of the host to a plane goes to its SLC cache.
    fn writes_slc(&self, plane: PlaneId) -> bool;

    /// Whether collections whose moved pages may come to a plane have valid pages that have not been read: more will come.
    fn moves_more(&self, plane: PlaneId) -> bool;

    /// Whether writes wait for the collection of their die, which is behind them.
    fn writes_wait(&self, die: DieId) -> bool;

    /// Whether the moves of a die wait, since writes have their turn or collection owes nothing there.
    fn collection_waits(&self, die: DieId) -> bool;

    /// Whether garbage collection goes before user requests on a die.
    fn collection_first(&self, die: DieId) -> bool;

    /// Whether a die collects since its space is nearly out.
    fn collects_for_space(&self, die: DieId) -> bool;

    /// Whether reads suspend what dies do now.
    fn suspends(&self) -> bool;

    /// Whether programs may be held back on a die, of which `ready` may run and `waiting` are queued.
    fn holds_back(&self, ready: &PlaneMasks, waiting: &PlaneMasks) -> bool;

    /// How many pages the packet of a Clean lists whose first read begins now: those that are valid.
    fn listed_pages(&self, read: &Transaction) -> usize;
}

/// What the datapath wants done after it looked at a die.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub enum Wants {
    Nothing,
    /// So many dies from this one on have nothing to do.
    Idle(DieId, u32),
    /// Programs wait for pages of their planes: these may have to be collected, whatever made something collectable there.
    /// [`Datapath::go_on`] follows.
    Pages(HeldDie),
    /// So many dies from this one on may each want an operation: [`Datapath::try_issue_of_die`] follows for each.
    Each(DieId, u32),
    /// A chip goes on with a Clean by itself: [`Datapath::start_alone`] follows, once a program has its page.
    Alone(DieId, TransactionId),
}

/// A die of which programs wait for pages, and where the datapath goes on from.
#[derive(Clone, Copy, Debug)]
pub struct HeldDie {
    pub die: DieId,
    pub(super) chip: Option<ChipLook>,
}
