//! Planes of a die join in one operation.

use crate::flash::die::{Operation, OperationKind};
use crate::flash::timing::Pages;
use crate::ids::{PlaneId, Ppn, TransactionId};
use crate::schedule::Choice;
use crate::schedule::fuse::{InPlane, may_join};
use crate::schedule::transaction::Class;

use super::Simulation;
use super::dispatch::Asking;

impl Simulation {
    /// Lets other planes of the die join the operation, each with at most one transaction.
    pub(super) fn join_planes(
        &mut self,
        choice: Choice,
        lead: TransactionId,
        asking: Asking,
        operation: &mut Operation,
    ) {
        let Choice { die, class, .. } = choice;
        let mut others = self.queues.masks(die)[class.index()] & !(1 << choice.plane);
        if others == 0 || operation.kind == OperationKind::Copyback {
            return;
        }
        let rule = self.config.flash.multi_plane;
        let lead_at = self.place_of(lead);
        while others != 0 {
            let plane = others.trailing_zeros() as u8;
            others &= others - 1;
            let plane_id = PlaneId(self.geometry.first_plane(die).0 + u32::from(plane));
            let queue = Choice { plane, ..choice };
            let joins = match class {
                Class::MapRead | Class::UserRead | Class::CollectRead => {
                    let (ftl, geometry) = (&self.ftl, &self.geometry);
                    self.queues.take_first(&mut self.transactions, queue, self.config.schedule.lookahead, |other| {
                        let (block, page) = (geometry.block_of(other.from), geometry.page_in_block(other.from));
                        let at = InPlane { block: block.0 % geometry.blocks_per_plane, page };
                        may_join(rule, lead_at, at) && ftl.lookup(other.lpn) == Some(other.from)
                    })
                }
                Class::UserProgram if self.binds_early => {
                    let geometry = &self.geometry;
                    self.queues.take_first(&mut self.transactions, queue, self.config.schedule.lookahead, |other| {
                        let (block, page) = (geometry.block_of(other.to), geometry.page_in_block(other.to));
                        may_join(rule, lead_at, InPlane { block: block.0 % geometry.blocks_per_plane, page })
                    })
                }
                Class::MapProgram | Class::UserProgram | Class::CollectProgram => {
                    // The data comes over the path for all of them or for none.
                    let is_copied = self.transactions[lead].is_copied;
                    let fits = |head: TransactionId| {
                        let next = self.stream_of(head).and_then(|stream| self.ftl.next_page_offset(plane_id, stream));
                        next.is_some_and(|(block, page)| {
                            let at = InPlane { block: block.0 % self.geometry.blocks_per_plane, page };
                            may_join(rule, lead_at, at)
                        })
                    };
                    let head = self.queues.head(queue).filter(|&head| {
                        self.transactions[head].is_copied == is_copied && fits(head) && self.is_current(head)
                    });
                    head.and_then(|_| self.queues.pop(&mut self.transactions, queue))
                }
                Class::Erase => {
                    let fits = |head: &TransactionId| may_join(rule, lead_at, self.place_of(*head));
                    let head = self.queues.head(queue).filter(fits);
                    head.and_then(|_| self.queues.pop(&mut self.transactions, queue))
                }
            };
            if let Some(id) = joins {
                self.prepare(id, asking);
                operation.join(id);
            }
        }
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
            Class::MapProgram | Class::UserProgram | Class::CollectProgram => transaction.to,
            Class::MapRead | Class::UserRead | Class::CollectRead | Class::Erase => transaction.from,
        };
        let block = self.geometry.block_of(ppn).0 % self.geometry.blocks_per_plane;
        let page = if transaction.class == Class::Erase { 0 } else { self.geometry.page_in_block(ppn) };
        InPlane { block, page }
    }
}
