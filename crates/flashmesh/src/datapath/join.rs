//! Transactions of several planes of a die join in one operation.

use crate::config::MultiPlane;
use crate::flash::geometry::Geometry;
use crate::flash::page_type::PageType;
use crate::flash::timing::Pages;
use crate::ids::{BlockId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::fuse::{InPlane, may_join};
use crate::schedule::transaction::{Class, Transaction};
use crate::schedule::{Choice, Joiners};

use super::{Datapath, PageSource};

/// Where a page lies in its plane.
#[inline]
fn in_plane(geometry: &Geometry, ppn: Ppn) -> InPlane {
    InPlane { block: geometry.block_of(ppn).0 % geometry.blocks_per_plane, page: geometry.array_page(ppn) }
}

/// Whether a page may join, by the rule and since blocks of the SLC cache take commands of their own. Most lie at another offset, which is
/// looked at first.
#[inline]
pub(super) fn page_may_join(geometry: &Geometry, rule: MultiPlane, lead: InPlane, ppn: Ppn) -> bool {
    geometry.array_page(ppn) == lead.page && may_join_at(geometry, rule, lead, in_plane(geometry, ppn))
}

/// The same of a place in a plane.
#[inline]
fn may_join_at(geometry: &Geometry, rule: MultiPlane, lead: InPlane, other: InPlane) -> bool {
    may_join(rule, lead, other) && geometry.is_slc_position(lead.block) == geometry.is_slc_position(other.block)
}

/// Where in its plane a program would begin at `page` of `block`.
#[inline]
fn next_in_plane(geometry: &Geometry, block: BlockId, page: u32) -> InPlane {
    InPlane { block: block.0 % geometry.blocks_per_plane, page: geometry.array_page_at(page) }
}

impl<M: Model> Datapath<M> {
    /// Takes the transaction of `queue` that joins the one that leads: one that the scheduling policy chose, or the first that may.
    pub(super) fn joiner_of<S: PageSource<M>>(
        &mut self,
        queue: Choice,
        lead: TransactionId,
        lead_at: InPlane,
        source: &S,
    ) -> Option<TransactionId> {
        match self.scheduling.joiners {
            Joiners::These(chosen) if M::ALL_FEATURES => {
                chosen.on(queue.plane).filter(|&id| self.take_chosen(queue, id, lead, lead_at, source))
            }
            _ => self.joiner(queue, lead, lead_at, source),
        }
    }

    /// Takes the transaction of `queue` that joins the one that leads, if one may.
    #[inline]
    fn joiner<S: PageSource<M>>(
        &mut self,
        queue: Choice,
        lead: TransactionId,
        lead_at: InPlane,
        source: &S,
    ) -> Option<TransactionId> {
        let (rule, lookahead, geometry) = (self.rules.multi_plane, self.rules.lookahead, &self.geometry);
        match queue.class {
            Class::MapRead | Class::UserRead | Class::CollectRead => {
                let lead = M::ALL_FEATURES.then(|| self.transactions[lead]);
                let on_page = (lead_at.page, |other: &Transaction| geometry.array_page(other.from));
                self.queues.take_first_on_page(&mut self.transactions, queue, lookahead, on_page, |other| {
                    may_join_at(geometry, rule, lead_at, in_plane(geometry, other.from))
                        && !(M::ALL_FEATURES && other.work.is_clean())
                        && source.is_current(other)
                        && lead.as_ref().is_none_or(|lead| source.joins(lead, other))
                })
            }
            Class::UserProgram if self.rules.preallocates && self.gathers() => self.gathered_joiner(queue, lead_at),
            Class::UserProgram if self.rules.preallocates => {
                self.queues.take_first(&mut self.transactions, queue, lookahead, |other| {
                    page_may_join(geometry, rule, lead_at, other.to)
                })
            }
            Class::MapProgram | Class::UserProgram | Class::CollectProgram | Class::ReplicaProgram => {
                let head = &self.transactions[self.queues.head(queue)?];
                let (block, page) = source.next_page(head)?;
                let at = next_in_plane(geometry, block, page);
                let may_run = head.work.may_run_with(self.transactions[lead].work);
                let joins = may_run && may_join_at(geometry, rule, lead_at, at) && source.is_current(head);
                if joins { self.queues.pop(&mut self.transactions, queue) } else { None }
            }
            Class::Erase => {
                let head = self.queues.head(queue)?;
                let joins = may_join_at(geometry, rule, lead_at, self.place_of(head));
                if joins { self.queues.pop(&mut self.transactions, queue) } else { None }
            }
        }
    }

    /// Takes a transaction that a policy chose to join the one that leads, if it may.
    fn take_chosen<S: PageSource<M>>(
        &mut self,
        queue: Choice,
        id: TransactionId,
        lead: TransactionId,
        lead_at: InPlane,
        source: &S,
    ) -> bool {
        if self.gathers() && self.has_page(queue.class) && !self.has_gathered(id) {
            return false;
        }
        let transaction = &self.transactions[id];
        let at = match queue.class {
            class if class.is_program() && !self.has_page(class) => {
                let geometry = &self.geometry;
                source.next_page(transaction).map(|(block, page)| next_in_plane(geometry, block, page))
            }
            _ => Some(self.place_of(id)),
        };
        let joins = transaction.work.may_run_with(self.transactions[lead].work)
            && !transaction.work.is_clean()
            && at.is_some_and(|at| may_join_at(&self.geometry, self.rules.multi_plane, lead_at, at))
            && source.is_current(transaction)
            && source.joins(&self.transactions[lead], transaction);
        joins && self.queues.take(&mut self.transactions, queue, id)
    }

    /// Whether programs of `class` got their pages before their turn.
    #[inline(always)]
    pub(super) fn has_page(&self, class: Class) -> bool {
        self.rules.preallocates && class == Class::UserProgram
    }

    /// What the pages are that a transaction works on.
    #[inline]
    pub(super) fn pages_of(&self, id: TransactionId) -> Pages {
        let transaction = &self.transactions[id];
        let page = |ppn| move || self.geometry.array_page(ppn);
        let is_slc = |ppn| M::ALL_FEATURES && self.geometry.is_slc_page(ppn);
        Pages {
            read: if is_slc(transaction.from) { PageType::Slc } else { self.timing.page_type(page(transaction.from)) },
            programmed: if is_slc(transaction.to) {
                PageType::Slc
            } else {
                self.timing.programmed_type(page(transaction.to))
            },
        }
    }

    /// Where in its plane a transaction works: the page it reads or programs, or the block it erases.
    pub(super) fn place_of(&self, id: TransactionId) -> InPlane {
        let transaction = &self.transactions[id];
        let class = transaction.class();
        let ppn: Ppn = match class {
            // Any unit of the program may lead.
            Class::UserProgram if self.gathers() => self.geometry.program_start(transaction.to),
            Class::MapProgram | Class::UserProgram | Class::CollectProgram | Class::ReplicaProgram => transaction.to,
            Class::MapRead | Class::UserRead | Class::CollectRead | Class::Erase => transaction.from,
        };
        let at = in_plane(&self.geometry, ppn);
        if class == Class::Erase { InPlane { page: 0, ..at } } else { at }
    }
}
