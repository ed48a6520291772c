//! Array work of an operation, from its start to its acknowledgement.

use crate::datapath::Datapath;
use crate::datapath::dies::DieEntry;
use crate::datapath::operation::ArraySteps;
use crate::fabric::{Fabric, TransferPhase};
use crate::flash::die::{Extent, Operation, OperationKind};
use crate::ids::{AcknowledgementId, DieId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, array_lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::latency_account::Stall;
use crate::schedule::purpose::{MoveRoute, Purpose};
use crate::schedule::transaction::{Owner, Transaction};
use crate::units::Time;

/// Outcome of an end-of-array event.
#[derive(Clone, Copy, Debug)]
pub enum ArrayOutcome {
    /// The event is stale, because the operation was suspended after the event was scheduled. Nothing follows.
    NotYet,
    /// A read has ended. Next, call [`Datapath::try_issue`], and then [`Datapath::begin_sending`]. In this order a die with a cache register senses
    /// the next page during the transfer.
    Read,
    /// A program, copyback or erase has ended. Next, update the map and call [`Datapath::try_issue`].
    Changed {
        operation: Operation,
        /// Whether the controller is notified of the end only by an acknowledgement ([`Datapath::acknowledged`]).
        is_acknowledged_later: bool,
    },
}

impl<M: Model> Datapath<M> {
    /// Starts the array of `die`, whose command and data have arrived. `stalled` is the time for which the network blocked their transfer.
    #[inline(always)]
    pub(in super::super) fn start_array(&mut self, die: DieId, stalled: Time, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        let is_by_another = stalled > Time::ZERO
            && !self.dies[self.dies.requester(die)].path.blocked_by_own_request[TransferPhase::Command.index()];
        let entry = &mut self.dies[die];
        let (extent, operation, until) = match &mut entry.plane_reads {
            Some(reads) if M::ALL_FEATURES && reads.state.incoming().is_some() => {
                let (plane, read, until) = reads.state.start_array(now).expect("the command of a plane is in transfer");
                (Extent::Plane(plane), read, until)
            }
            _ => {
                let started = entry.state.start_array(now);
                let (operation, until) = started.expect("the die whose command is delivered has an operation");
                (Extent::Die, operation, until)
            }
        };
        let kind = operation.kind;
        let (gathers, stall) = (self.queues.gathers(), Stall { time: stalled, is_by_another });
        for &id in operation.transactions() {
            self.queues.transactions[id].account.array_began(now, operation.started, stall);
            let mut companion = if gathers { self.queues.transactions[id].companion() } else { None };
            while let Some(id) = companion {
                self.queues.transactions[id].account.array_began(now, operation.started, stall);
                companion = self.queues.transactions[id].companion();
            }
        }
        kernel.notify(|| Notice::ArrayBegan(die, extent, kind, until));
        // A separate arm for reads passes a constant lane, for which the compiler specialises `schedule`.
        match kind {
            OperationKind::Read => kernel.schedule(array_lane(OperationKind::Read), until, Event::ArrayEnd(die)),
            _ => kernel.schedule(array_lane(kind), until, Event::ArrayEnd(die)),
        }
    }

    /// Ends the array work of `die`, unless the event is stale. The returned outcome defines what the caller must do next.
    #[inline(always)]
    pub fn array_end(&mut self, die: DieId, kernel: &mut Kernel<M>) -> ArrayOutcome {
        let now = kernel.now();
        let plane = if M::ALL_FEATURES { self.dies[die].plane_read_ending(now) } else { None };
        if M::ALL_FEATURES && plane.is_none() && !self.dies[die].state.ends_at(now) {
            return ArrayOutcome::NotYet;
        }
        // A pending path request was made to suspend the operation that ends here. Count its wait only from here on: until now it waited
        // for the die.
        let requester = self.dies.requester(die);
        if M::ALL_FEATURES && plane.is_none() && self.dies[requester].path.requests_command() {
            self.dies[requester].path.request_command(now);
        }
        let DieEntry { state, work, plane_reads, .. } = &mut self.dies[die];
        let (extent, operation, work) = match (plane, plane_reads) {
            (Some(plane), Some(reads)) if M::ALL_FEATURES => {
                let read = reads.state.finish_array(plane, now).expect("the end of the read has come");
                (Extent::Plane(plane), read, &mut reads.work[usize::from(plane)])
            }
            _ => (Extent::Die, state.finish_array(now).expect("the end of the operation has come"), work),
        };
        kernel.notify(|| Notice::ArrayEnded(die, extent));
        let nominal = operation.array_time;
        work.array += nominal;
        if M::ALL_FEATURES && ArraySteps::are_needed(operation.kind, &self.geometry, &self.timing) {
            let work = ArraySteps::new(&self.geometry, &self.timing, &self.queues.transactions);
            work.steps(operation).for_each(|(kind, pages)| self.counters.work.count(kind, pages));
        } else if operation.kind == OperationKind::Read {
            self.counters.work.count(OperationKind::Read, operation.page_types);
        } else {
            self.counters.work.count(operation.kind, operation.page_types);
        }
        let gathers = self.queues.gathers();
        for &id in operation.transactions() {
            self.queues.transactions[id].account.array_ended(now, nominal);
            let mut companion = if gathers { self.queues.transactions[id].companion() } else { None };
            while let Some(id) = companion {
                self.queues.transactions[id].account.array_ended(now, nominal);
                companion = self.queues.transactions[id].companion();
            }
        }
        if operation.kind == OperationKind::Read {
            if kernel.is_probed() {
                let planes = operation.planes;
                for id in planes.transactions().iter().flat_map(|&lead| self.queues.with_companions(lead)) {
                    let Transaction { from, lpn, owner: Owner { request, .. }, .. } = self.queues.transactions[id];
                    kernel.notify(|| Notice::PageRead(from, lpn, request));
                }
            }
            if M::ALL_FEATURES {
                self.dies.settle_draining(die);
            }
            return ArrayOutcome::Read;
        }
        // A Clean (chip-to-chip move of a whole block) is acknowledged once, after its last page.
        let first = self.queues.transactions[operation.transactions()[0]].purpose;
        let is_reported = !(M::ALL_FEATURES
            && matches!(first, Purpose::CollectRead(MoveRoute::Clean) | Purpose::CollectProgram(MoveRoute::Clean)));
        let is_acknowledged_later = is_reported && self.interconnect.fabric.sends_acknowledgements();
        ArrayOutcome::Changed { operation: *operation, is_acknowledged_later }
    }

    /// Sends the acknowledgement of `operation` to its controller.
    pub fn acknowledge(&mut self, die: DieId, operation: Operation, kernel: &mut Kernel<M>) {
        let id = self.interconnect.unacknowledged.insert(operation);
        let die = self.dies.requester(die);
        kernel.notify(|| Notice::AcknowledgementSent(die, id));
        self.interconnect.fabric.acknowledge(die, id, kernel.now(), &mut self.interconnect.outbox);
    }

    /// Removes and returns the operation whose acknowledgement has arrived, with its die.
    pub fn acknowledged(&mut self, id: AcknowledgementId, kernel: &mut Kernel<M>) -> (DieId, Operation) {
        let operation = self.interconnect.unacknowledged[id];
        self.interconnect.unacknowledged.remove(id);
        let die = self.geometry.die_of_plane(self.queues.transactions[operation.transactions()[0]].plane);
        let requester = self.dies.requester(die);
        kernel.notify(|| Notice::Acknowledged(requester, id));
        (die, operation)
    }
}
