//! The array of a die works, and is done.

use crate::fabric::{Fabric, TransferPhase};
use crate::flash::die::{Operation, OperationKind};
use crate::ids::{AcknowledgementId, DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, array_lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::account::Stall;
use crate::schedule::transaction::{Owner, Transaction};
use crate::schedule::work::{Route, Work};
use crate::units::Time;

use super::page_by_page::PageByPage;
use super::{Datapath, DieUnit};

/// What the array of a die has ended.
#[derive(Clone, Copy, Debug)]
pub enum Ended {
    /// Nothing: its operation was suspended since.
    NotYet,
    /// A read: the die may want its next command, which goes first since the array senses again while data leaves; then the register
    /// [sends](Datapath::begin_sending).
    Read,
    /// An operation that has programmed pages or erased blocks. The controller acts on it, and the die may want its next one.
    Changed {
        operation: Operation,
        /// Whether the controller will be told of it later, by [`Datapath::acknowledged`].
        is_acknowledged_later: bool,
    },
}

impl<M: Model> Datapath<M> {
    /// Command and data have arrived.
    #[inline(always)]
    pub(super) fn start_array(&mut self, die: DieId, stalled: Time, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        let is_by_another =
            stalled > Time::ZERO && !self.units[self.asker(die)].path.behind_itself[TransferPhase::Command.index()];
        let (operation, until) =
            self.units[die].state.start_array(now).expect("a command is delivered to the die that began the operation");
        let kind = operation.kind;
        let (gathers, stall) = (M::ALL_FEATURES && self.gather.is_on(), Stall { time: stalled, is_by_another });
        for &id in operation.transactions() {
            self.transactions[id].account.array_began(now, operation.started, stall);
            let mut companion = if gathers { self.transactions[id].companion() } else { None };
            while let Some(id) = companion {
                self.transactions[id].account.array_began(now, operation.started, stall);
                companion = self.transactions[id].companion();
            }
        }
        kernel.tell(|| Notice::ArrayBegan(die, kind, until));
        // Apart for reads, for which the lane is a constant: much of the scheduling hangs on it.
        match kind {
            OperationKind::Read => kernel.schedule(array_lane(OperationKind::Read), until, Event::ArrayEnd(die)),
            _ => kernel.schedule(array_lane(kind), until, Event::ArrayEnd(die)),
        }
    }

    /// The array is done, unless the end is that of an operation that was suspended since.
    #[inline(always)]
    pub fn array_end(&mut self, die: DieId, kernel: &mut Kernel<M>) -> Ended {
        let now = kernel.now();
        if M::ALL_FEATURES && !self.units[die].state.ends_at(now) {
            return Ended::NotYet;
        }
        // Whoever asked for a path to suspend this operation waited for the die until now.
        let asker = self.asker(die);
        if M::ALL_FEATURES && self.units[asker].path.wants_command() {
            self.units[asker].path.ask_command(now);
        }
        let DieUnit { state, work, .. } = &mut self.units[die];
        let operation = state.finish_array(now).expect("the end of the operation has come");
        kernel.tell(|| Notice::ArrayEnded(die));
        let nominal = operation.array_time;
        work.array += nominal;
        if M::ALL_FEATURES && PageByPage::is_needed(operation.kind, &self.geometry, &self.timing) {
            let work = PageByPage::new(&self.geometry, &self.timing, &self.transactions);
            work.steps(operation).for_each(|(kind, pages)| self.counters.work.count(kind, pages));
        } else if operation.kind == OperationKind::Read {
            self.counters.work.count(OperationKind::Read, operation.pages);
        } else {
            self.counters.work.count(operation.kind, operation.pages);
        }
        let gathers = M::ALL_FEATURES && self.gather.is_on();
        for &id in operation.transactions() {
            self.transactions[id].account.array_ended(now, nominal);
            let mut companion = if gathers { self.transactions[id].companion() } else { None };
            while let Some(id) = companion {
                self.transactions[id].account.array_ended(now, nominal);
                companion = self.transactions[id].companion();
            }
        }
        if operation.kind == OperationKind::Read {
            if kernel.is_probed() {
                let planes = operation.planes;
                for id in planes.transactions().iter().flat_map(|&lead| self.with_companions(lead)) {
                    let Transaction { from, lpn, owner: Owner { request, .. }, .. } = self.transactions[id];
                    kernel.tell(|| Notice::PageRead(from, lpn, request));
                }
            }
            return Ended::Read;
        }
        // A Clean has one acknowledgement, that of its last page.
        let first = self.transactions[operation.transactions()[0]].work;
        let is_told =
            !(M::ALL_FEATURES && matches!(first, Work::CollectRead(Route::Clean) | Work::CollectProgram(Route::Clean)));
        let is_acknowledged_later = is_told && self.interconnect.fabric.acknowledges();
        Ended::Changed { operation: *operation, is_acknowledged_later }
    }

    /// The chip tells the controller that the operation is done.
    pub fn acknowledge(&mut self, die: DieId, operation: Operation, kernel: &mut Kernel<M>) {
        let id = self.interconnect.unacknowledged.insert(operation);
        let die = self.asker(die);
        kernel.tell(|| Notice::AcknowledgementSent(die, id));
        self.interconnect.fabric.acknowledge(die, id, kernel.now(), &mut self.interconnect.outbox);
    }

    /// The controller has been told that an operation is done: gives it, with its die.
    pub fn acknowledged(&mut self, id: AcknowledgementId, kernel: &mut Kernel<M>) -> (DieId, Operation) {
        let operation = self.interconnect.unacknowledged[id];
        self.interconnect.unacknowledged.remove(id);
        let die = self.geometry.die_of_plane(self.transactions[operation.transactions()[0]].plane);
        let asker = self.asker(die);
        kernel.tell(|| Notice::Acknowledged(asker, id));
        (die, operation)
    }

    /// The time from the end of the array until now was that of the acknowledgement.
    pub fn count_acknowledgement(&mut self, id: TransactionId, now: Time) {
        self.transactions[id].account.acknowledged(now);
    }
}
