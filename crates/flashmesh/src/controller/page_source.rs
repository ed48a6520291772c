//! Answers of the controller to queries of the datapath, which chooses the next operation of a die (late binding).

use crate::datapath::{Datapath, PageSource};
use crate::ftl::OpenBlockKind;
use crate::ids::{BlockId, DieId, PlaneId, StreamId, TransactionId};
use crate::kernel::model::Model;
use crate::policies::FirmwarePolicy;
use crate::schedule::purpose::{MoveRoute, Purpose};
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::{Transaction, TransactionClass};

use super::work::collect::in_plane;
use super::work::replica;
use super::{Controller, Work};

impl Controller {
    /// Returns whether the page of a queued transaction is still at the location for which the transaction was queued.
    #[inline(never)]
    fn is_still_there(&self, transaction: &Transaction) -> bool {
        let ftl = &self.shared.ftl;
        match transaction.purpose {
            Purpose::HostRead(_) => ftl.may_read(transaction.lpn, transaction.from),
            Purpose::CollectProgram(MoveRoute::Plane) if self.shared.geometry.gathers_units() => {
                in_plane::is_whole(transaction, &self.shared)
            }
            Purpose::MapRead | Purpose::ReadModify(_) | Purpose::CollectRead(_) | Purpose::CollectProgram(_) => {
                ftl.is_at(transaction.lpn, transaction.from)
            }
            Purpose::Reallocate => ftl.lookup(transaction.lpn) == Some(transaction.from),
            Purpose::ReplicaProgram => {
                let has_place = || ftl.blocks().next_page_offset(transaction.plane, OpenBlockKind::Replica).is_some();
                replica::is_wanted(transaction, &self.shared) && has_place()
            }
            Purpose::MapProgram | Purpose::HostWrite(_) | Purpose::Erase | Purpose::Parity => true,
        }
    }
}

impl<M: Model> PageSource<M> for Controller {
    #[inline(always)]
    fn is_current(&self, transaction: &Transaction) -> bool {
        // A lookup is valid until the map changes. But if a page has several locations (because of a replica, or during a Clean, the move
        // of a whole block from chip to chip), the read may be queued for another location than the lookup returned, so this shortcut is
        // not used.
        let is_as_translated = transaction.map_version == self.shared.ftl.map().changes();
        (is_as_translated && !(M::ALL_FEATURES && self.shared.has_homes()))
            || !transaction.purpose.depends_on_map()
            || self.is_still_there(transaction)
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
        if transaction.purpose == Purpose::Parity {
            let geometry = &self.shared.geometry;
            return Some((geometry.block_of(transaction.from), geometry.page_in_block(transaction.from)));
        }
        let stream = self.shared.stream_of(transaction)?;
        match transaction.class() {
            TransactionClass::CollectProgram => self.shared.ftl.blocks().next_move_offset(transaction.plane, stream),
            _ => self.shared.ftl.blocks().next_page_offset(transaction.plane, stream),
        }
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
        heads.all(|head| self.shared.stream_of(head).is_none_or(has_page))
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
        self.shared.stream_of(lead) == self.shared.stream_of(other)
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
