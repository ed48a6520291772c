//! Multi-plane operations. *Joiners* are the transactions of other planes that run together with the first transaction (the *lead*).

use crate::config::MultiPlane;
use crate::datapath::PageSource;
use crate::flash::geometry::Geometry;
use crate::ids::{BlockId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::multi_plane::{PlaneAddress, may_join};
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::schedule::{Joiners, QueueId};

use super::TransactionQueues;

#[inline]
fn location_of(geometry: &Geometry, ppn: Ppn) -> PlaneAddress {
    PlaneAddress { block: geometry.block_of(ppn).0 % geometry.blocks_per_plane, page: geometry.array_page(ppn) }
}

/// Returns whether an operation on page `ppn` may join a multi-plane operation led by the location `lead`, under `rule` (`flash.multi-plane`). Pages
/// of the SLC cache never join pages of native blocks, because they take different commands. Compares the page offset first, which differs for most
/// pages.
#[inline]
fn page_may_join(geometry: &Geometry, rule: MultiPlane, lead: PlaneAddress, ppn: Ppn) -> bool {
    geometry.array_page(ppn) == lead.page && may_join_at(geometry, rule, lead, location_of(geometry, ppn))
}

/// Like [`page_may_join`], but for a location `other` in a plane instead of a physical page.
#[inline]
fn may_join_at(geometry: &Geometry, rule: MultiPlane, lead: PlaneAddress, other: PlaneAddress) -> bool {
    may_join(rule, lead, other) && geometry.is_slc_position(lead.block) == geometry.is_slc_position(other.block)
}

#[inline]
fn next_program_location(geometry: &Geometry, block: BlockId, page: u32) -> PlaneAddress {
    PlaneAddress { block: block.0 % geometry.blocks_per_plane, page: geometry.array_page_at(page) }
}

impl<M: Model> TransactionQueues<M> {
    /// Dequeues a transaction from `queue`, of another plane, that joins the multi-plane operation of `lead`; `None` if none may join. This is the
    /// transaction that the scheduler chose (`joiners`) or, with [`Joiners::First`], the first that may join. Without a suitable write in `queue`,
    /// takes a write of another priority, because a program takes no longer on more planes.
    pub(in super::super) fn dequeue_joiner<S: PageSource<M>>(
        &mut self,
        queue: QueueId,
        lead: TransactionId,
        lead_location: PlaneAddress,
        joiners: Joiners,
        source: &S,
    ) -> Option<TransactionId> {
        match joiners {
            // For rows of GC moves, the choice of the scheduler is ignored, because a plane with a stale choice would lose its part of the row.
            Joiners::These(chosen) if M::ALL_FEATURES && !self.gather.gathers_moves_by_die(queue.class) => {
                chosen.on(queue.plane).filter(|&id| self.dequeue_chosen_joiner(queue, id, lead, lead_location, source))
            }
            _ if M::ALL_FEATURES && queue.class == TransactionClass::UserProgram => self
                .by_die
                .of_all_priorities(queue)
                .find_map(|queue| self.dequeue_first_joiner(queue, lead, lead_location, source)),
            _ => self.dequeue_first_joiner(queue, lead, lead_location, source),
        }
    }

    /// Dequeues the first transaction of `queue` that may join the multi-plane operation of `lead`; `None` if no transaction may join.
    #[inline]
    fn dequeue_first_joiner<S: PageSource<M>>(
        &mut self,
        queue: QueueId,
        lead: TransactionId,
        lead_location: PlaneAddress,
        source: &S,
    ) -> Option<TransactionId> {
        let (rule, lookahead, geometry) = (self.rules.multi_plane, self.rules.lookahead, &self.geometry);
        match queue.class {
            TransactionClass::MapRead | TransactionClass::UserRead | TransactionClass::CollectRead => {
                let lead = M::ALL_FEATURES.then(|| self.transactions[lead]);
                let on_page = (lead_location.page, |other: &Transaction| geometry.array_page(other.from));
                self.by_die.dequeue_first_on_page(&mut self.transactions, queue, lookahead, on_page, |other| {
                    may_join_at(geometry, rule, lead_location, location_of(geometry, other.from))
                        && !(M::ALL_FEATURES && other.purpose.is_clean())
                        && source.is_current(other)
                        && lead.as_ref().is_none_or(|lead| source.may_join(lead, other))
                })
            }
            TransactionClass::UserProgram if self.rules.binds_early && self.gathers() => {
                self.dequeue_early_bound_joiner(queue, lead_location)
            }
            TransactionClass::UserProgram if self.rules.binds_early => {
                self.by_die.dequeue_first(&mut self.transactions, queue, lookahead, |other| {
                    page_may_join(geometry, rule, lead_location, other.to)
                })
            }
            TransactionClass::MapProgram
            | TransactionClass::UserProgram
            | TransactionClass::CollectProgram
            | TransactionClass::ReplicaProgram => {
                let purpose = self.transactions[lead].purpose;
                let joins = |other: &Transaction| {
                    let Some((block, page)) = source.next_page(other) else { return false };
                    let at = next_program_location(geometry, block, page);
                    other.purpose.may_run_with(purpose)
                        && may_join_at(geometry, rule, lead_location, at)
                        && source.is_current(other)
                };
                // A plane that does not join loses its part of the row. So if the oldest moves of its queue are stale (the host has overwritten
                // their pages), search further down the queue.
                if self.gather.gathers_moves_by_die(queue.class) {
                    return self.by_die.dequeue_first(&mut self.transactions, queue, u32::MAX, joins);
                }
                let head = &self.transactions[self.by_die.head(queue)?];
                if joins(head) { self.by_die.pop(&mut self.transactions, queue) } else { None }
            }
            TransactionClass::Erase => {
                let head = self.by_die.head(queue)?;
                let joins = may_join_at(geometry, rule, lead_location, self.location_in_plane(head));
                if joins { self.by_die.pop(&mut self.transactions, queue) } else { None }
            }
        }
    }

    /// Dequeues `id`, which the scheduler chose to join the multi-plane operation of `lead`, if the rules allow it. Returns whether it was dequeued.
    fn dequeue_chosen_joiner<S: PageSource<M>>(
        &mut self,
        queue: QueueId,
        id: TransactionId,
        lead: TransactionId,
        lead_location: PlaneAddress,
        source: &S,
    ) -> bool {
        if self.gathers() && self.is_early_bound(queue.class) && !self.is_program_runnable(id) {
            return false;
        }
        let transaction = &self.transactions[id];
        let at = match queue.class {
            class if class.is_program() && !self.is_early_bound(class) => {
                let geometry = &self.geometry;
                source.next_page(transaction).map(|(block, page)| next_program_location(geometry, block, page))
            }
            _ => Some(self.location_in_plane(id)),
        };
        let joins = transaction.purpose.may_run_with(self.transactions[lead].purpose)
            && !transaction.purpose.is_clean()
            && at.is_some_and(|at| may_join_at(&self.geometry, self.rules.multi_plane, lead_location, at))
            && source.is_current(transaction)
            && source.may_join(&self.transactions[lead], transaction);
        joins && self.by_die.dequeue(&mut self.transactions, queue, id)
    }

    /// Dequeues and returns the first early-bound write (page already assigned) of `queue`, of another plane, whose program may run together with the
    /// program at `lead_location`; `None` if there is none within the lookahead.
    fn dequeue_early_bound_joiner(&mut self, queue: QueueId, lead_location: PlaneAddress) -> Option<TransactionId> {
        let (rule, geometry, bound) = (self.rules.multi_plane, &self.geometry, &self.early_bound);
        let lookahead = self.rules.lookahead.saturating_mul(geometry.units_per_program);
        self.by_die.dequeue_first(&mut self.transactions, queue, lookahead, |other| {
            page_may_join(geometry, rule, lead_location, geometry.program_start(other.to)) && bound.may_run(other.to)
        })
    }

    /// Returns the location of the page that a transaction reads or programs, or of the block that it erases.
    pub(in super::super) fn location_in_plane(&self, id: TransactionId) -> PlaneAddress {
        let transaction = &self.transactions[id];
        let class = transaction.class();
        let ppn: Ppn = match class {
            // An operation can start with any mapping unit of its program. Compare by the first unit.
            TransactionClass::UserProgram if self.gathers() => self.geometry.program_start(transaction.to),
            TransactionClass::MapProgram
            | TransactionClass::UserProgram
            | TransactionClass::CollectProgram
            | TransactionClass::ReplicaProgram => transaction.to,
            TransactionClass::MapRead
            | TransactionClass::UserRead
            | TransactionClass::CollectRead
            | TransactionClass::Erase => transaction.from,
        };
        let at = location_of(&self.geometry, ppn);
        if class == TransactionClass::Erase { PlaneAddress { page: 0, ..at } } else { at }
    }

    /// Returns whether `lead` can run without waiting for a free page. [`Gate::ready_planes`](crate::datapath::gate::Gate::ready_planes) has checked
    /// only the heads of the queues, but the scheduler may choose any transaction. `false` only for late-bound user programs, if streams have
    /// separate open blocks.
    #[inline(never)]
    pub(in super::super) fn need_not_wait_for_page<S: PageSource<M>>(&self, lead: TransactionId, source: &S) -> bool {
        let transaction = &self.transactions[lead];
        transaction.class() != TransactionClass::UserProgram
            || source.shares_open_block()
            || self.is_early_bound(transaction.class())
            || source.next_page(transaction).is_some()
    }
}
