//! Dies ask for paths, and note who is in their way.

use crate::fabric::{DataOf, Fabric, Grant, TransferPhase};
use crate::ids::{DieId, PathId, RequestId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::transaction::Class;
use crate::units::Time;

use super::Datapath;
use super::interconnect::Interconnect;
use super::path::PathGrant;

impl<M: Model> Datapath<M> {
    /// A die could begin something: it asks for a path, or is one of those that the policy may name.
    #[inline(always)]
    pub(super) fn ask_or_wait(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        let asker = self.asker(die);
        if !(self.dispatches() && self.scheduling.candidates.waits(asker)) {
            self.ask_command(die, kernel);
        }
    }

    #[inline(always)]
    pub(super) fn ask_command(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        if M::ALL_FEATURES && self.rules.names_requests {
            self.name_request(self.first_waiting(die));
        }
        let (now, die) = (kernel.now(), self.asker(die));
        self.units[die].path.ask_command(now);
        kernel.tell(|| Notice::PathAsked(die, TransferPhase::Command));
        self.interconnect.fabric.acquire(die, TransferPhase::Command, now, &mut self.interconnect.outbox);
        self.note_blocker(die, TransferPhase::Command);
    }

    /// Whether a register holds data that has not asked for a path: [`Datapath::ask_data`] follows.
    #[inline(always)]
    pub fn begin_sending(&mut self, die: DieId) -> bool {
        self.units[die].state.begin_sending()
    }

    /// The read whose data leaves the register of a die next.
    #[inline]
    pub fn outgoing(&self, die: DieId) -> Option<TransactionId> {
        self.units[die].state.outgoing()
    }

    /// Asks for a path for the data in the register, to the controller or straight to the die of another chip.
    #[inline(always)]
    pub fn ask_data(&mut self, die: DieId, to: Option<DieId>, kernel: &mut Kernel<M>) {
        let (now, asker) = (kernel.now(), self.asker(die));
        self.units[asker].path.ask_data(now);
        if M::ALL_FEATURES
            && let Some(to) = to
        {
            kernel.tell(|| Notice::PathAsked(asker, TransferPhase::Copy));
            return self.interconnect.fabric.acquire_copy(asker, to, now, &mut self.interconnect.outbox);
        }
        kernel.tell(|| Notice::PathAsked(asker, TransferPhase::DataOut));
        if M::ALL_FEATURES && self.rules.names_requests {
            let read = self.units[die].state.outgoing();
            self.name_request(read.and_then(|read| self.transactions[read].owner.request));
        }
        let data = if self.rules.ranks_data() { self.owner_of_data(die) } else { DataOf::Request };
        self.interconnect.fabric.acquire_for(asker, data, now, &mut self.interconnect.outbox);
        self.note_blocker(asker, TransferPhase::DataOut);
    }

    /// The path that is asked for next is for a transaction of `request`.
    #[inline(never)]
    fn name_request(&mut self, request: Option<RequestId>) {
        self.interconnect.fabric.name_request(request);
    }

    /// Whose data leaves the register of a die, for an arbitration that tells.
    #[inline(never)]
    fn owner_of_data(&self, die: DieId) -> DataOf {
        let state = &self.units[die].state;
        if state.outgoing().is_some_and(|read| self.transactions[read].class() == Class::MapRead) {
            DataOf::Mapping
        } else if state.sends_internally() {
            DataOf::Collection
        } else {
            DataOf::Request
        }
    }

    /// Notes whether another request is in the way of the path that a die has just asked for.
    #[inline(always)]
    fn note_blocker(&mut self, die: DieId, phase: TransferPhase) {
        // Where no request has more than one page, whatever is in the way belongs to another one. Where paths are exclusive, the grant decides.
        if self.interconnect.fabric.has_exclusive_paths() || !self.arrivals.has_siblings() {
            return;
        }
        if self.was_behind_another(die, phase) {
            self.units[die].path.behind_itself[phase.index()] = false;
        } else {
            self.note_blocker_of_some(die, phase);
        }
    }

    #[inline(never)]
    fn note_blocker_of_some(&mut self, die: DieId, phase: TransferPhase) {
        let is_granted = self
            .interconnect
            .outbox
            .grants
            .last()
            .is_some_and(|last| (last.grant.die, last.grant.phase) == (die, phase));
        // A packet may be blocked on its way, too.
        if !is_granted || self.interconnect.fabric.acknowledges() {
            self.units[die].path.behind_itself[phase.index()] = !self.is_behind_another(die, phase);
        }
    }

    /// Whether the path is for one transaction, and another request has blocked that before: it counts once. Where a die may ask on behalf of
    /// another one, this is not known.
    #[inline(always)]
    fn was_behind_another(&self, die: DieId, phase: TransferPhase) -> bool {
        let is_for_one = !M::ALL_FEATURES && phase == TransferPhase::DataOut;
        let outgoing = if is_for_one { self.units[die].state.last_outgoing() } else { None };
        outgoing.is_some_and(|id| self.transactions[id].account.conflict().is_another())
    }

    #[inline]
    fn is_behind_another(&self, die: DieId, phase: TransferPhase) -> bool {
        let own = match phase {
            TransferPhase::Command => self.first_waiting(die),
            TransferPhase::DataOut | TransferPhase::Copy => self.request_at(die),
        };
        own.is_none() || self.interconnect.fabric.is_behind(die, phase, &mut |other| self.request_at(other) != own)
    }

    /// A granted path is occupied by a transaction: attributes the wait for it, where paths are exclusive.
    #[inline(always)]
    pub(super) fn attribute_wait(&mut self, id: TransactionId, grant: Grant, path: &mut PathGrant, now: Time) {
        let has_siblings = self.arrivals.has_siblings();
        if has_siblings && self.waited_for_another(id, grant.path, path.wait.asked, now) && path.waited() > Time::ZERO {
            path.wait.causes.insert_another();
        }
    }

    #[inline(never)]
    fn waited_for_another(&mut self, id: TransactionId, path: PathId, asked: Time, now: Time) -> bool {
        let Interconnect { fabric, occupants, .. } = &mut self.interconnect;
        fabric.has_exclusive_paths() && occupants.replace(path, self.transactions[id].owner.request, asked, now)
    }

    /// The request that a die works for.
    #[inline]
    pub fn request_under_way(&self, die: DieId) -> Option<RequestId> {
        let first = self.units[die].state.first_under_way()?;
        self.transactions[first].owner.request
    }

    /// The request that a die works for, or will.
    #[inline]
    fn request_at(&self, die: DieId) -> Option<RequestId> {
        match self.units[die].state.first_under_way() {
            Some(id) => self.transactions[id].owner.request,
            None => self.first_waiting(die),
        }
    }

    /// The request of the first transaction that waits for a die, reads before programs.
    #[inline]
    fn first_waiting(&self, die: DieId) -> Option<RequestId> {
        self.transactions[self.queues.first(die)?].owner.request
    }
}
