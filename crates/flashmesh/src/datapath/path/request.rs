//! Path requests of dies.

use crate::datapath::Datapath;
use crate::fabric::{DataOwner, TransferPhase};
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;

impl<M: Model> Datapath<M> {
    /// Requests a command path for `die`. If the scheduler decides which die requests a path, and has not just chosen this die, only marks the die as
    /// a candidate. If a chip executes one operation at a time, its first die is used in place of `die`.
    #[inline(always)]
    pub(in super::super) fn request_or_await_dispatch(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        let requester = self.dies.requester(die);
        if !self.scheduling.awaits_dispatch(requester) {
            self.request_command_path(die, kernel);
        }
    }

    /// Requests a command path for `die` at once. If a chip executes one operation at a time, its first die requests the path.
    #[inline(always)]
    pub(in super::super) fn request_command_path(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        if M::ALL_FEATURES && self.interconnect.rules.announces_requests {
            self.interconnect.announce_request(self.queues.first_queued_request(die));
        }
        let (now, die) = (kernel.now(), self.dies.requester(die));
        self.dies[die].path.request_command(now);
        kernel.notify(|| Notice::PathAsked(die, TransferPhase::Command));
        self.interconnect.acquire(die, TransferPhase::Command, now);
        self.record_blocker(die, TransferPhase::Command);
    }

    /// Requests a path for the data in the page register of `die`: to the controller, or to die `to` of another chip.
    #[inline(always)]
    pub fn request_data_path(&mut self, die: DieId, to: Option<DieId>, kernel: &mut Kernel<M>) {
        let (now, requester) = (kernel.now(), self.dies.requester(die));
        self.dies[requester].path.request_data(now);
        if M::ALL_FEATURES
            && let Some(to) = to
        {
            kernel.notify(|| Notice::PathAsked(requester, TransferPhase::Copy));
            return self.interconnect.acquire_chip_to_chip(requester, to, now);
        }
        kernel.notify(|| Notice::PathAsked(requester, TransferPhase::DataOut));
        if M::ALL_FEATURES && self.interconnect.rules.announces_requests {
            let read = self.dies.outgoing(die);
            self.interconnect.announce_request(read.and_then(|read| self.queues.transaction(read).owner.request));
        }
        let data = if self.interconnect.rules.arbitrates_by_owner() {
            self.activity().data_owner(die)
        } else {
            DataOwner::Request
        };
        self.interconnect.acquire_for(requester, data, now);
        self.record_blocker(requester, TransferPhase::DataOut);
    }
}
