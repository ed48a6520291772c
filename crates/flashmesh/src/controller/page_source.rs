//! Answers of the controller to queries of the datapath, which chooses the next operation of a die (late binding).

use crate::datapath::{Datapath, PageSource};
use crate::ftl::OpenBlockKind;
use crate::ids::{BlockId, DieId, PlaneId, StreamId, TransactionId};
use crate::kernel::model::Model;
use crate::policies::FirmwarePolicy;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::{Transaction, TransactionClass};

use super::shared::Shared;
use super::work::kind::{of_kind, open_block};
use super::{Controller, Work};

/// Returns whether the page of a queued transaction is still at the location for which the transaction was queued.
#[inline(never)]
fn is_still_there(transaction: &Transaction, shared: &Shared) -> bool {
    of_kind!(transaction.purpose, is_current(transaction, shared))
}

impl<M: Model> PageSource<M> for Controller {
    #[inline(always)]
    fn is_current(&self, transaction: &Transaction) -> bool {
        // A lookup is valid until the map changes. But if a page has several locations (because of a replica, or during a Clean, the move
        // of a whole block from chip to chip), the read may be queued for another location than the lookup returned, so this shortcut is
        // not used.
        let is_as_translated = transaction.map_version == self.shared.ftl.map().changes();
        (is_as_translated && !self.shared.has_homes::<M>())
            || !transaction.purpose.depends_on_map()
            || is_still_there(transaction, &self.shared)
    }

    #[inline]
    fn keeps_plane(&self, write: TransactionId, datapath: &Datapath<M>) -> bool {
        !self.shared.rules.asks_allocator || self.work.writes.placements.stays(write, &self.shared, datapath)
    }

    #[inline]
    fn may_join(&self, lead: &Transaction, other: &Transaction) -> bool {
        self.shared.policy.may_join(lead, other)
    }

    #[inline]
    fn next_page(&self, transaction: &Transaction) -> Option<(BlockId, u32)> {
        of_kind!(transaction.purpose, next_page(transaction, &self.shared))
    }

    /// Returns whether a page is free for programs of `class`. If host streams have separate open blocks, checks the heads of all queues, because the
    /// scheduler may choose any of them.
    #[inline]
    fn has_page<'a>(
        &self,
        class: TransactionClass,
        plane: PlaneId,
        mut heads: impl Iterator<Item = &'a Transaction>,
    ) -> bool {
        let has_page = |stream| self.shared.ftl.blocks().next_page_offset(plane, stream).is_some();
        if class == TransactionClass::MapProgram {
            return has_page(OpenBlockKind::Translation);
        }
        // With a shared open block, replicas wait together with host writes. A replica whose own block has no page is cancelled at its issue.
        if self.shared.rules.shares_open_block {
            return has_page(OpenBlockKind::Host(StreamId(0)));
        }
        heads.all(|head| open_block(head, &self.shared).is_none_or(has_page))
    }

    #[inline(always)]
    fn shares_open_block(&self) -> bool {
        self.shared.rules.shares_open_block
    }

    #[inline(always)]
    fn has_shared_page(&self, plane: PlaneId) -> bool {
        self.shared.ftl.blocks().has_shared_page(plane)
    }

    fn shares_block(&self, lead: &Transaction, other: &Transaction) -> bool {
        open_block(lead, &self.shared) == open_block(other, &self.shared)
    }

    fn writes_slc(&self, plane: PlaneId) -> bool {
        self.shared.slc.is_some() && self.shared.ftl.write_block_kind(plane, None) == OpenBlockKind::Slc
    }

    fn has_unread_pages(&self, plane: PlaneId) -> bool {
        self.work.collections.moves_more(plane, &self.shared.ftl)
    }

    fn writes_wait(&self, die: DieId) -> bool {
        let pace = &self.work.collections.pace;
        pace.is_enabled() && pace.holds_writes(self.shared.planes_of(die))
    }

    fn collection_waits(&self, die: DieId) -> bool {
        self.work.collections.waits_for_turn(die, &self.shared)
    }

    #[inline(always)]
    fn collection_first(&self, die: DieId) -> bool {
        let Controller { shared, work: Work { collections, moves, .. } } = self;
        collections.goes_first(die, shared) || moves.arrival_first(die, collections, shared)
    }

    fn collects_for_space(&self, die: DieId) -> bool {
        self.work.collections.is_out_of_space(die, &self.shared)
    }

    fn may_suspend(&self) -> bool {
        self.shared.rules.suspends_when_full || !self.is_cache_full()
    }

    #[inline(always)]
    fn may_hold_programs(&self, ready: &PlaneMasks, waiting: &PlaneMasks) -> bool {
        ready != waiting || self.work.writes.are_blocked()
    }

    fn listed_pages(&self, read: &Transaction) -> usize {
        self.work.moves.cleaning.pages_to_list(read.plane, &self.shared)
    }
}
