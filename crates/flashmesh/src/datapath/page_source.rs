//! Queries of the datapath to the controller, for late binding: pages are looked up or assigned when the path is granted.

use crate::ids::{BlockId, DieId, PlaneId, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::{Transaction, TransactionClass};

use super::Datapath;

/// Queries of the datapath to the controller, made when a die may start an operation.
///
/// # Contract
/// - The page of a queued transaction is looked up or assigned only when its path is granted (late binding), except for host writes with
///   `ftl.write-binding = "early"`.
/// - Queries have no effects and may be repeated.
pub trait PageSource<M: Model> {
    /// Returns whether the page that a transaction reads or moves is still at the address for which it was queued.
    fn is_current(&self, transaction: &Transaction) -> bool;

    /// Returns whether the allocator would still place `write` on its current plane. Called when the write is about to start.
    fn keeps_plane(&self, write: TransactionId, datapath: &Datapath<M>) -> bool;

    /// Returns whether the firmware policy lets the read `other` join the operation of the read `lead` of the same die, on another plane or for the
    /// same page.
    fn may_join(&self, lead: &Transaction, other: &Transaction) -> bool;

    /// Returns the block and page that a program on its plane would get now; `None` if the program has to wait for a free page, or the transaction is
    /// no program.
    fn next_page(&self, transaction: &Transaction) -> Option<(BlockId, u32)>;

    /// Returns whether queued programs of `class` may run on `plane`. If host streams have separate open blocks, each of `heads` (heads of the
    /// queues, one per priority) needs a free page.
    fn has_page<'a>(
        &self,
        class: TransactionClass,
        plane: PlaneId,
        heads: impl Iterator<Item = &'a Transaction>,
    ) -> bool;

    /// Returns whether all host writes of a plane share one open block.
    fn shares_open_block(&self) -> bool;

    /// Like [`has_page`](PageSource::has_page), but only for host writes, on drives where all host writes of a plane share one open block.
    fn has_shared_page(&self, plane: PlaneId) -> bool;

    /// Returns whether two programs of a plane go to the same open block.
    fn shares_block(&self, lead: &Transaction, other: &Transaction) -> bool;

    /// Returns whether the next host write of `plane` goes to the SLC cache of the plane.
    fn writes_slc(&self, plane: PlaneId) -> bool;

    /// Returns whether a victim block whose pages may move to `plane` has valid pages that GC has not read yet.
    fn has_unread_pages(&self, plane: PlaneId) -> bool;

    /// Returns whether writes of `die` must wait until GC of the die has moved more pages (`gc.paced`).
    fn writes_wait(&self, die: DieId) -> bool;

    /// Returns whether GC of `die` is paused: writes have their turn (`cache.destage-stripe`), or GC has made all moves that are due.
    fn collection_waits(&self, die: DieId) -> bool;

    /// Returns whether GC has priority over user transactions on `die`.
    fn collection_first(&self, die: DieId) -> bool;

    /// Returns whether `die` needs GC for space: it has nearly no free pages, or writes wait for a fold of its SLC cache (a move of cached pages to
    /// native blocks).
    fn collects_for_space(&self, die: DieId) -> bool;

    /// Returns whether reads may suspend operations now. `cache.suspend-when-full` can forbid suspensions while writes wait for space in the device
    /// cache.
    fn may_suspend(&self) -> bool;

    /// Returns whether programs of a die may lack a free page. `ready` contains the planes with transactions that may run, `queued` the planes with
    /// any queued transaction.
    fn may_hold_programs(&self, ready: &PlaneMasks, queued: &PlaneMasks) -> bool;

    /// Returns the number of pages in the list of a Clean (chip-to-chip move of a whole block) that starts now with `read`.
    fn listed_pages(&self, read: &Transaction) -> usize;
}
