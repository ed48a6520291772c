//! Starts of transfers.

use crate::datapath::Datapath;
use crate::datapath::path::PathGrant;
use crate::fabric::{Causes, Grant, Payload, TransferKind, TransferPhase};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::latency_account::PathWait;
use crate::units::{Bytes, Time};

impl<M: Model> Datapath<M> {
    /// Sends read data over the granted path: the data of the next plane in the page register.
    #[inline(always)]
    pub(in super::super) fn send_data(&mut self, grant: Grant, mut path: PathGrant, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        self.interconnect.count_transfer(grant, path);
        let die = self.dies.die_of_grant(grant);
        let id = self.dies.outgoing(die).expect("a data path is requested only for data in the register");
        self.interconnect.attribute_wait(&self.queues, id, grant, &mut path, now);
        let (since, waited_before) = self.dies.count_path_wait(die, path.waited());
        let path_state = &mut self.dies[if M::ALL_FEATURES { grant.die } else { die }].path;
        if waited_before == Time::ZERO {
            path_state.data_causes = Causes::default();
        }
        if path.waited() > Time::ZERO {
            path_state.data_causes.join(path.wait.causes);
        }
        let causes = path_state.data_causes;
        let wait = PathWait { causes, ..path.wait };
        let mut bytes = Bytes::ZERO;
        self.queues.transactions.for_each_unit(id, |unit| {
            unit.account.start_data_transfer(now, since, waited_before, wait);
            bytes += unit.transfer_bytes;
        });
        let message =
            if grant.phase == TransferPhase::Copy { TransferKind::ChipToChipData } else { TransferKind::Data };
        let payload =
            Payload { kind: message, planes: 1, command_time: Time::ZERO, bytes: self.geometry.with_spare_area(bytes) };
        self.send_payload(grant, path, payload, kernel);
    }

    /// Sends `payload` over the path of `grant`, and schedules the arrival. `path` is the wait for the path.
    #[inline(always)]
    pub(in super::super) fn send_payload(
        &mut self,
        grant: Grant,
        path: PathGrant,
        payload: Payload,
        kernel: &mut Kernel<M>,
    ) {
        let sent = self.interconnect.send(grant, payload, kernel.now());
        if kernel.is_probed() {
            let die = self.dies.die_of_grant(grant);
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
}
