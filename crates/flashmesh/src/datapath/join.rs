//! PlaneTransactions of a die join in one operation.

use crate::flash::die::{OperationKind, PlaneTransactions};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Pages;
use crate::ids::{Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::fuse::{InPlane, may_join};
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::Class;
use crate::schedule::{Choice, Joiners};

use super::path::PathGrant;
use super::{Datapath, PageSource};

/// Where a page lies in its plane.
#[inline]
fn in_plane(geometry: &Geometry, ppn: Ppn) -> InPlane {
    InPlane { block: geometry.block_of(ppn).0 % geometry.blocks_per_plane, page: geometry.page_in_block(ppn) }
}

impl<M: Model> Datapath<M> {
    /// Lets other planes of the die join an operation, each with at most one transaction of those that are `waiting`.
    #[inline]
    pub(super) fn join_planes<S: PageSource<M>>(
        &mut self,
        choice: Choice,
        waiting: PlaneMasks,
        planes: &mut PlaneTransactions,
        path: PathGrant,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) {
        let others = waiting.of(choice.class) & !(1 << choice.plane);
        if others != 0 && self.kind_of(choice.class) != OperationKind::Copyback {
            self.join_others(choice, planes, path, others, source, kernel);
        }
    }

    #[inline(never)]
    fn join_others<S: PageSource<M>>(
        &mut self,
        choice: Choice,
        planes: &mut PlaneTransactions,
        path: PathGrant,
        mut others: u8,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) {
        let lead = planes.transactions()[0];
        let lead_at = self.place_of(lead);
        while others != 0 {
            let plane = others.trailing_zeros() as u8;
            others &= others - 1;
            let queue = Choice { plane, ..choice };
            let joiner = match self.scheduling.joiners {
                Joiners::These(chosen) if M::SCHEDULES => {
                    chosen.on(plane).filter(|&id| self.take_chosen(queue, id, lead, lead_at, source))
                }
                _ => self.joiner(queue, lead, lead_at, source),
            };
            if let Some(id) = joiner {
                self.prepare(id, choice.class, choice.die, path, source, kernel);
                planes.join(id);
            }
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
                let lead = M::FULL.then(|| self.transactions[lead]);
                self.queues.take_first(&mut self.transactions, queue, lookahead, |other| {
                    may_join(rule, lead_at, in_plane(geometry, other.from))
                        && !(M::FULL && other.is_cleaned)
                        && source.is_current(other)
                        && lead.as_ref().is_none_or(|lead| source.joins(lead, other))
                })
            }
            Class::UserProgram if M::PREALLOCATES && self.rules.preallocates => {
                self.queues.take_first(&mut self.transactions, queue, lookahead, |other| {
                    may_join(rule, lead_at, in_plane(geometry, other.to))
                })
            }
            Class::MapProgram | Class::UserProgram | Class::CollectProgram | Class::ReplicaProgram => {
                let head = &self.transactions[self.queues.head(queue)?];
                let (block, page) = source.next_page(head)?;
                let at = InPlane { block: block.0 % geometry.blocks_per_plane, page };
                // The data comes over the path for all of them or for none.
                let goes_alike = head.is_copied == self.transactions[lead].is_copied;
                let joins = goes_alike && may_join(rule, lead_at, at) && source.is_current(head);
                if joins { self.queues.pop(&mut self.transactions, queue) } else { None }
            }
            Class::Erase => {
                let head = self.queues.head(queue)?;
                let joins = may_join(rule, lead_at, self.place_of(head));
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
        let transaction = &self.transactions[id];
        let at = match queue.class {
            class if class.is_program() && !transaction.has_page => {
                source.next_page(transaction).map(|(block, page)| {
                    let block = block.0 % self.geometry.blocks_per_plane;
                    InPlane { block, page }
                })
            }
            _ => Some(self.place_of(id)),
        };
        let joins = transaction.is_copied == self.transactions[lead].is_copied
            && !transaction.is_cleaned
            && at.is_some_and(|at| may_join(self.rules.multi_plane, lead_at, at))
            && source.is_current(transaction)
            && source.joins(&self.transactions[lead], transaction);
        joins && self.queues.take(&mut self.transactions, queue, id)
    }

    /// What the pages are that a transaction works on.
    #[inline]
    pub(super) fn pages_of(&self, id: TransactionId) -> Pages {
        let transaction = &self.transactions[id];
        let page_type = |ppn| self.timing.page_type(|| self.geometry.page_in_block(ppn));
        Pages { read: page_type(transaction.from), programmed: page_type(transaction.to) }
    }

    /// Where in its plane a transaction works: the page it reads or programs, or the block it erases.
    fn place_of(&self, id: TransactionId) -> InPlane {
        let transaction = &self.transactions[id];
        let ppn: Ppn = match transaction.class {
            Class::MapProgram | Class::UserProgram | Class::CollectProgram | Class::ReplicaProgram => transaction.to,
            Class::MapRead | Class::UserRead | Class::CollectRead | Class::Erase => transaction.from,
        };
        let at = in_plane(&self.geometry, ppn);
        if transaction.class == Class::Erase { InPlane { page: 0, ..at } } else { at }
    }
}
