//! What goes over a path that has been granted, and what waiting for the path cost.

use crate::fabric::{Cause, Causes, Fabric, Grant, Message, Payload, TransferPhase};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::account::PathWait;
use crate::units::Time;

use super::Datapath;
use super::path::PathGrant;

impl<M: Model> Datapath<M> {
    /// Counts a path that had to be waited for under each cause, with the time of that.
    #[inline]
    fn count_conflict(&mut self, grant: Grant, path: PathGrant) {
        match self.interconnect.fabric.waited_for(grant) {
            None => self.counters.conflicts.count(path.cause, path.waited()),
            Some(waits) => self.count_conflicts(path, waits),
        }
    }

    #[inline(never)]
    fn count_conflicts(&mut self, path: PathGrant, waits: [Time; Cause::ALL.len()]) {
        // A die that asked while it was busy has waited for its path only since it was done: the last causes count.
        let mut left = path.waited();
        for cause in Cause::ALL.into_iter().rev() {
            if path.wait.causes.contains(cause) {
                let waited = left.min(waits[cause.index()]);
                left -= waited;
                self.counters.conflicts.count(cause, waited);
            }
        }
    }

    #[inline]
    pub(super) fn count_transfer(&mut self, grant: Grant, path: PathGrant) {
        self.counters.transfers += 1;
        if path.waited() > Time::ZERO {
            self.count_conflict(grant, path);
        } else {
            self.counters.transfers_free += 1;
        }
    }

    /// The data of the next plane leaves the register.
    #[inline(always)]
    pub(super) fn send_data(&mut self, grant: Grant, mut path: PathGrant, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        self.count_transfer(grant, path);
        let die = self.die_of(grant);
        let id = self.units[die].state.outgoing().expect("a die asks only with data in its register");
        self.attribute_wait(id, grant, &mut path, now);
        let unit = &mut self.units[die];
        let (since, waited_before) =
            unit.state.count_path_wait(path.waited()).expect("a die asks only with data in its register");
        let request =
            if M::ALL_FEATURES && die != grant.die { &mut self.units[grant.die].path } else { &mut unit.path };
        if waited_before == Time::ZERO {
            request.causes = Causes::default();
        }
        if path.waited() > Time::ZERO {
            request.causes.join(path.wait.causes);
        }
        let causes = request.causes;
        let wait = PathWait { causes, ..path.wait };
        let transaction = &mut self.transactions[id];
        transaction.account.leaves(now, since, waited_before, wait);
        let mut bytes = transaction.moved;
        let mut companion = self.companion(id);
        while let Some(id) = companion {
            self.transactions[id].account.leaves(now, since, waited_before, wait);
            bytes += self.transactions[id].moved;
            companion = self.companion(id);
        }
        let message = if grant.phase == TransferPhase::Copy { Message::Copy } else { Message::Data };
        let payload = Payload { message, planes: 1, command: Time::ZERO, bytes: self.with_spare(bytes) };
        self.send(grant, path, payload, kernel);
    }

    /// Gives a path back; whoever waits for it may get it.
    #[inline]
    pub fn release(&mut self, grant: Grant, kernel: &mut Kernel<M>) {
        kernel.tell(|| Notice::PathReleased(grant));
        self.interconnect.fabric.release(grant, kernel.now(), &mut self.interconnect.outbox);
    }

    #[inline(always)]
    pub(super) fn send(&mut self, grant: Grant, path: PathGrant, payload: Payload, kernel: &mut Kernel<M>) {
        let sent = self.interconnect.fabric.send(grant, payload, kernel.now(), &mut self.interconnect.outbox);
        if kernel.is_probed() {
            let die = self.die_of(grant);
            kernel.tell(|| Notice::Sent(grant, die, payload, sent));
        }
        let request = &mut self.units[grant.die].path;
        request.paths[grant.phase.index()] = grant.path;
        request.least[grant.phase.index()] = sent.least;
        request.waited[grant.phase.index()] = path.waited() > Time::ZERO;
        if let Some(at) = sent.delivered {
            let lane = match grant.phase {
                TransferPhase::Command => lane::COMMAND,
                TransferPhase::DataOut | TransferPhase::Copy => lane::DATA,
            };
            kernel.schedule(lane, at, Event::delivered(grant.phase, grant.die));
        }
    }
}
