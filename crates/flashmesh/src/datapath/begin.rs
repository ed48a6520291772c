//! A die begins an operation.

use crate::fabric::{Grant, Message, Payload};
use crate::flash::die::{Operation, OperationKind, PlaneTransactions};
use crate::ids::{DieId, PlaneId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::{Class, Transaction};
use crate::schedule::{Choice, Scheduler};
use crate::units::{Bytes, Time};

use super::grant::Started;
use super::path::PathGrant;
use super::{Datapath, PageSource};

/// The transaction that leads the next operation of a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead {
    /// The queue it was in.
    pub queue: Choice,
    /// The transaction.
    pub id: TransactionId,
    /// Whether another operation has been suspended for it.
    pub suspends: bool,
}

impl<M: Model> Datapath<M> {
    /// The die begins an operation: its command leaves over the path that has been granted. `class` is that of the lead.
    #[inline(always)]
    pub(super) fn begin_operation<S: PageSource<M>>(
        &mut self,
        class: Class,
        lead: Lead,
        grant: Grant,
        path: PathGrant,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) -> Started {
        let now = kernel.now();
        let Lead { queue, id: lead, suspends } = lead;
        // The same class, but known when this is compiled.
        let queue = Choice { class, ..queue };
        let die = queue.die;
        self.count_transfer(grant, path);
        let waiting = self.queues.masks(die);
        self.count_overdue(queue, waiting, lead, now);
        self.prepare(lead, class, die, path, source, kernel);
        let (kind, pages) = (self.kind_of(class), self.pages_of(lead));
        let suspension = if suspends { self.timing.suspend } else { Time::ZERO };
        let mut planes = PlaneTransactions::one(lead);
        let mut bytes = Bytes::ZERO;
        if M::FULL && self.transactions[lead].is_cleaned {
            let pages = source.clean_begins(lead, self);
            bytes = self.keep(die, pages);
        } else {
            self.join_planes(queue, waiting, &mut planes, path, source, kernel);
        }
        let count = planes.transactions().len();
        self.counters.multi_plane_operations += u64::from(count > 1);
        let payload = Payload {
            message: Message::commanding(kind),
            planes: count as u32,
            command: self.timing.command(kind, count),
            bytes: bytes + self.data_of(kind, &planes),
        };
        // Built last: passed on while planes join, it would be written to memory field by field and read back whole.
        let operation = Operation {
            kind,
            internal: class.is_internal(),
            started: now,
            array_time: self.timing.array(kind, pages) + suspension,
            pages,
            planes,
        };
        self.units[die.index()]
            .state
            .begin(&self.rules.die, operation, now)
            .expect("a die that was chosen for accepts");
        if self.dispatches() {
            self.scheduling.scheduler.queue_changed(die);
        }
        if M::FULL && self.rules.dies_start_together && self.rules.tracks_idle {
            // None of them begins anything before all are done.
            self.dies_of_chip(die).for_each(|die| self.idle.set(die, false));
        }
        kernel.tell(|| Notice::OperationBegan(die, kind, count));
        self.send(grant, path, payload, kernel);
        Class::WAITING_PROGRAMS.contains(&class).then_some(die)
    }

    /// Counts what goes before requests of the other kind since it has waited too long; `waiting` is what waits for the die beside it.
    #[inline(always)]
    fn count_overdue(&mut self, queue: Choice, waiting: PlaneMasks, lead: TransactionId, now: Time) {
        let other = match queue.class {
            Class::UserRead => Class::UserProgram,
            Class::UserProgram => Class::UserRead,
            _ => return,
        };
        let is_contested = waiting.of(other) != 0;
        if is_contested && now - self.transactions[lead].account.queued() >= self.rules.age_bound {
            match queue.class {
                Class::UserRead => self.counters.overdue_reads += 1,
                _ => self.counters.overdue_programs += 1,
            }
        }
    }

    #[inline]
    pub(super) fn kind_of(&self, class: Class) -> OperationKind {
        match class {
            Class::MapRead | Class::UserRead | Class::CollectRead => OperationKind::Read,
            Class::CollectProgram if self.rules.copyback => OperationKind::Copyback,
            Class::MapProgram | Class::UserProgram | Class::CollectProgram | Class::ReplicaProgram => {
                OperationKind::Program
            }
            Class::Erase => OperationKind::Erase,
        }
    }

    /// Accounts for the time a transaction of `class` waited, and gives a program its page.
    #[inline(always)]
    pub(super) fn prepare<S: PageSource<M>>(
        &mut self,
        id: TransactionId,
        class: Class,
        die: DieId,
        path: PathGrant,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) {
        let now = kernel.now();
        let transaction = &mut self.transactions[id];
        transaction.account.taken(now, path.wait, self.units[die.index()].state.internal_busy(now));
        let Transaction { has_page, request, .. } = *transaction;
        kernel.tell(|| Notice::Taken(die, class, request));
        if class.is_program() && !(M::PREALLOCATES && has_page) {
            let page = source.allocate(transaction, kernel);
            transaction.to = page.expect(
                "programs of the host and of the map wait for a free page, collection has its reserve, and arrivals are let in with a place",
            );
        }
    }

    /// The data that goes with the command of an operation.
    #[inline]
    fn data_of(&self, kind: OperationKind, planes: &PlaneTransactions) -> Bytes {
        let (transactions, programs) = (planes.transactions(), kind == OperationKind::Program);
        if M::FULL && programs && self.transactions[transactions[0]].is_copied {
            return Bytes::ZERO;
        }
        if self.rules.partial_program && programs {
            return transactions.iter().map(|&id| self.with_spare(self.transactions[id].bytes)).sum();
        }
        // A product instead of a branch, which would often be mispredicted.
        self.with_spare(self.geometry.page_size) * (transactions.len() as u64 * u64::from(programs))
    }

    /// The plane of the transaction at a place in the operation of a die, when the operation has so many.
    #[inline]
    pub fn plane_at_work(&self, die: DieId, place: usize) -> Option<PlaneId> {
        let id = *self.units[die.index()].state.operation().transactions().get(place)?;
        Some(self.transactions[id].plane)
    }
}
