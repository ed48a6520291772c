//! Array work of an operation, from its start to its acknowledgement.

use crate::datapath::Datapath;
use crate::fabric::{Fabric, TransferPhase};
use crate::flash::die::{Operation, OperationKind};
use crate::ids::{AcknowledgementId, DieId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, array_lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::latency_account::Stall;
use crate::schedule::purpose::{MoveRoute, Purpose};
use crate::schedule::transaction::{Owner, Transaction};
use crate::units::Time;

/// Outcome of [`Datapath::array_end`], which ends the operation in the array of a die.
#[derive(Clone, Copy, Debug)]
pub enum ArrayOutcome {
    /// Outdated event: the operation was suspended after the event was scheduled. No action for the caller.
    Outdated,
    /// A read has ended. Next, call [`Datapath::try_issue`], and then [`Dies::mark_sending`](crate::datapath::Dies::mark_sending). In this order a
    /// die with a cache register senses the next page during the transfer.
    Read,
    /// A program, copyback or erase has ended. Next, update the map and call [`Datapath::try_issue`].
    Changed {
        operation: Operation,
        /// Whether the controller is notified of the end only by an acknowledgement ([`Datapath::acknowledged`]).
        is_acknowledged_later: bool,
    },
}

impl<M: Model> Datapath<M> {
    /// Starts the array work of `die`, whose command and data have arrived. `stalled` is the time for which the network blocked their transfer.
    #[inline(always)]
    pub(in super::super) fn start_array(&mut self, die: DieId, stalled: Time, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        let is_by_another = stalled > Time::ZERO
            && !self.dies[self.dies.requester(die)].path.blocked_by_own_request[TransferPhase::Command.index()];
        let (extent, operation, until) = self.dies.start_array(die, now);
        let kind = operation.kind;
        let stall = Stall { time: stalled, is_by_another };
        for &lead in operation.transactions() {
            self.queues
                .transactions
                .for_each_unit(lead, |unit| unit.account.array_began(now, operation.started, stall));
        }
        kernel.notify(|| Notice::ArrayBegan(die, extent, kind, until));
        // In an arm of its own, the lane (FIFO of the event queue) of reads is a constant, so that the compiler specialises `schedule`.
        match kind {
            OperationKind::Read => kernel.schedule(array_lane(OperationKind::Read), until, Event::ArrayEnd(die)),
            _ => kernel.schedule(array_lane(kind), until, Event::ArrayEnd(die)),
        }
    }

    /// Ends the array work of `die`, unless the operation was suspended after its end event was scheduled. The returned outcome defines what the
    /// caller must do next.
    #[inline(always)]
    pub fn array_end(&mut self, die: DieId, kernel: &mut Kernel<M>) -> ArrayOutcome {
        let now = kernel.now();
        let Some((extent, operation)) = self.dies.finish_array(die, now) else { return ArrayOutcome::Outdated };
        kernel.notify(|| Notice::ArrayEnded(die, extent));
        if M::ALL_FEATURES && self.operation_rules.may_take_steps(operation.kind) {
            let steps = self.operation_rules.steps(operation, &self.queues.transactions);
            steps.for_each(|(kind, pages)| self.counters.work.count(kind, pages));
        } else if operation.kind == OperationKind::Read {
            self.counters.work.count(OperationKind::Read, operation.page_types);
        } else {
            self.counters.work.count(operation.kind, operation.page_types);
        }
        for &lead in operation.transactions() {
            self.queues.transactions.for_each_unit(lead, |unit| unit.account.array_ended(now, operation.array_time));
        }
        if operation.kind == OperationKind::Read {
            if kernel.is_probed() {
                let planes = operation.planes;
                for id in planes.transactions().iter().flat_map(|&lead| self.queues.transactions.with_companions(lead))
                {
                    let Transaction { from, lpn, owner: Owner { request, .. }, .. } = *self.queues.transaction(id);
                    kernel.notify(|| Notice::PageRead(from, lpn, request));
                }
            }
            if M::ALL_FEATURES {
                self.dies.settle_draining(die);
            }
            return ArrayOutcome::Read;
        }
        // A Clean (chip-to-chip move of a whole block) is acknowledged once, after its last page.
        let first = self.queues.transaction(operation.transactions()[0]).purpose;
        let is_reported = !(M::ALL_FEATURES
            && matches!(first, Purpose::CollectRead(MoveRoute::Clean) | Purpose::CollectProgram(MoveRoute::Clean)));
        let is_acknowledged_later = is_reported && self.interconnect.fabric.sends_acknowledgements();
        ArrayOutcome::Changed { operation: *operation, is_acknowledged_later }
    }

    /// Sends the acknowledgement of `operation`, whose array work has ended at `die`, to the flash controller of the die.
    pub fn acknowledge(&mut self, die: DieId, operation: Operation, kernel: &mut Kernel<M>) {
        self.interconnect.acknowledge(self.dies.requester(die), operation, kernel);
    }

    /// Removes and returns the operation whose acknowledgement `id` has arrived, with its die.
    pub fn acknowledged(&mut self, id: AcknowledgementId, kernel: &mut Kernel<M>) -> (DieId, Operation) {
        let operation = self.interconnect.take_acknowledged(id);
        let die = self.geometry.die_of_plane(self.queues.transaction(operation.transactions()[0]).plane);
        let requester = self.dies.requester(die);
        kernel.notify(|| Notice::Acknowledged(requester, id));
        (die, operation)
    }
}
