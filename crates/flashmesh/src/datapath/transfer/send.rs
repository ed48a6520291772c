//! Starts of transfers, and the accounting of waits for their paths.

use crate::datapath::Datapath;
use crate::datapath::path::PathGrant;
use crate::fabric::{Cause, Causes, Fabric, Grant, Payload, TransferKind, TransferPhase};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::latency_account::PathWait;
use crate::units::{Bytes, Time};

impl<M: Model> Datapath<M> {
    /// Adds the wait for a path to the conflict counters, divided among the causes of the wait.
    #[inline]
    fn count_conflict(&mut self, grant: Grant, path: PathGrant) {
        match self.interconnect.fabric.wait_by_cause(grant) {
            None => self.counters.conflicts.count(path.cause, path.waited()),
            Some(waits) => self.count_conflict_causes(path, waits),
        }
    }

    #[inline(never)]
    fn count_conflict_causes(&mut self, path: PathGrant, waits: [Time; Cause::ALL.len()]) {
        // A busy die requests its path early, and the fabric counts the wait from then on. Only the last part of the wait, when the die is
        // ready, is a conflict. So distribute the wait over the causes from the last one backwards.
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
    pub(in super::super) fn count_transfer(&mut self, grant: Grant, path: PathGrant) {
        self.counters.transfers += 1;
        if path.waited() > Time::ZERO {
            self.count_conflict(grant, path);
        } else {
            self.counters.transfers_free += 1;
        }
    }

    /// Sends the data of the next plane from the register over the granted path.
    #[inline(always)]
    pub(in super::super) fn send_data(&mut self, grant: Grant, mut path: PathGrant, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        self.count_transfer(grant, path);
        let die = self.die_of_grant(grant);
        let id = self.outgoing(die).expect("a data path is requested only for data in the register");
        self.attribute_wait(id, grant, &mut path, now);
        let (since, waited_before) = self.count_path_wait(die, path.waited());
        let path_state = &mut self.dies[if M::ALL_FEATURES { grant.die } else { die }].path;
        if waited_before == Time::ZERO {
            path_state.data_causes = Causes::default();
        }
        if path.waited() > Time::ZERO {
            path_state.data_causes.join(path.wait.causes);
        }
        let causes = path_state.data_causes;
        let wait = PathWait { causes, ..path.wait };
        let transaction = &mut self.transactions[id];
        transaction.account.start_data_transfer(now, since, waited_before, wait);
        let mut bytes = transaction.transfer_bytes;
        let mut companion = self.companion(id);
        while let Some(id) = companion {
            self.transactions[id].account.start_data_transfer(now, since, waited_before, wait);
            bytes += self.transactions[id].transfer_bytes;
            companion = self.companion(id);
        }
        let message =
            if grant.phase == TransferPhase::Copy { TransferKind::ChipToChipData } else { TransferKind::Data };
        let payload =
            Payload { kind: message, planes: 1, command_time: Time::ZERO, bytes: self.with_spare_area(bytes) };
        self.send_payload(grant, path, payload, kernel);
    }

    /// Releases a path, which the fabric may then grant to a waiting die.
    #[inline]
    pub fn release(&mut self, grant: Grant, kernel: &mut Kernel<M>) {
        kernel.notify(|| Notice::PathReleased(grant));
        self.interconnect.fabric.release(grant, kernel.now(), &mut self.interconnect.outbox);
    }

    #[inline(always)]
    pub(in super::super) fn send_payload(
        &mut self,
        grant: Grant,
        path: PathGrant,
        payload: Payload,
        kernel: &mut Kernel<M>,
    ) {
        let sent = self.interconnect.fabric.send(grant, payload, kernel.now(), &mut self.interconnect.outbox);
        if kernel.is_probed() {
            let die = self.die_of_grant(grant);
            kernel.notify(|| Notice::Sent(grant, die, payload, sent));
        }
        let path_state = &mut self.dies[grant.die].path;
        path_state.paths[grant.phase.index()] = grant.path;
        path_state.min_times[grant.phase.index()] = sent.min_duration;
        path_state.was_blocked[grant.phase.index()] = path.waited() > Time::ZERO;
        if let Some(at) = sent.arrival {
            let lane = match grant.phase {
                TransferPhase::Command => lane::COMMAND,
                TransferPhase::DataOut | TransferPhase::Copy => lane::DATA,
            };
            kernel.schedule(lane, at, Event::delivered(grant.phase, grant.die));
        }
    }

    /// Returns `bytes` of user data plus their share of the page's spare area.
    #[inline]
    pub(in super::super) fn with_spare_area(&self, bytes: Bytes) -> Bytes {
        let spare = self.geometry.page_spare;
        if spare == Bytes::ZERO {
            return bytes;
        }
        bytes + Bytes::new((bytes.as_u64() * spare.as_u64()).div_ceil(self.geometry.array_page_size().as_u64()))
    }
}
