//! Ends of transfers: the path is released, and the array work starts or the read data is passed on.

use crate::datapath::Datapath;
use crate::fabric::{Cause, Fabric, Grant, TransferPhase};
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::latency_account::Stall;
use crate::schedule::transaction::Transaction;
use crate::units::Time;

/// Transfer that has ended, with the next action of the caller.
#[derive(Clone, Copy, Debug)]
pub enum DeliveredTransfer {
    /// A command with its data: the array has started. Next, call [`Datapath::issue_beside_array`].
    Command(DieId),
    /// Read data of a page, or of a part of it. Next, call [`Datapath::try_issue`], and then
    /// [`Dies::mark_sending`](crate::datapath::Dies::mark_sending) for further data in the register.
    Data {
        die: DieId,
        read: TransactionId,
        /// Path that the caller [releases](crate::datapath::Interconnect::release) after the next path requests of the die; `None` if it is already
        /// released.
        held: Option<Grant>,
    },
}

impl<M: Model> Datapath<M> {
    /// Ends the transfer for `phase` over the path granted to `requester`: a command has arrived at the die, or read data at the controller or at
    /// another chip.
    #[inline(always)]
    pub fn delivered(&mut self, phase: TransferPhase, requester: DieId, kernel: &mut Kernel<M>) -> DeliveredTransfer {
        let path = self.dies[requester].path.paths[phase.index()];
        let grant = Grant { die: requester, phase, path };
        kernel.notify(|| Notice::Delivered(grant));
        let stalled = self.interconnect.fabric.stall_time(grant);
        if stalled > Time::ZERO {
            let was_blocked = self.dies[grant.die].path.was_blocked[grant.phase.index()];
            self.interconnect.count_stall(was_blocked, stalled);
        }
        let die = self.dies.die_of_grant(grant);
        let entry = &mut self.dies[grant.die];
        let min_time = entry.path.min_times[grant.phase.index()];
        let done = if M::ALL_FEATURES { self.dies[die].work_of_transfer(phase) } else { &mut entry.work };
        match phase {
            TransferPhase::Command => {
                done.commands += min_time;
                self.interconnect.release(grant, kernel);
                self.start_array(die, stalled, kernel);
                DeliveredTransfer::Command(die)
            }
            TransferPhase::DataOut | TransferPhase::Copy => {
                done.data += min_time;
                if self.interconnect.rules.requests_before_release() {
                    let read = self.end_data_transfer(die, stalled, kernel);
                    DeliveredTransfer::Data { die, read, held: Some(grant) }
                } else {
                    self.interconnect.release(grant, kernel);
                    let read = self.end_data_transfer(die, stalled, kernel);
                    DeliveredTransfer::Data { die, read, held: None }
                }
            }
        }
    }

    /// Removes the transferred data from the page register. Returns the first read of the data; the others are chained to it.
    #[inline(always)]
    fn end_data_transfer(&mut self, die: DieId, stalled: Time, kernel: &mut Kernel<M>) -> TransactionId {
        let now = kernel.now();
        let mut is_by_another = false;
        if stalled > Time::ZERO {
            let requester = self.dies.requester(die);
            let path = &mut self.dies[requester].path;
            path.data_causes.insert(Cause::Link);
            is_by_another = !path.blocked_by_own_request[TransferPhase::DataOut.index()];
            self.dies.count_path_wait(die, stalled);
        }
        let rest = if M::ALL_FEATURES { self.partial_transfers.take_remainder(die) } else { None };
        let id = match rest {
            Some(rest) => self.dies.finish_sending_part(die, rest),
            None => {
                let (extent, id) = self.dies.finish_sending(die, now);
                kernel.notify(|| Notice::DataLeft(die, extent));
                id
            }
        };
        self.queues.notify_read_left(id, kernel);
        let stall = Stall { time: stalled, is_by_another };
        let mut companion = self.queues.transactions.companion(id);
        while let Some(id) = companion {
            self.queues.notify_read_left(id, kernel);
            self.queues.transaction_mut(id).account.end_data_transfer(now, stall);
            companion = self.queues.transactions.companion(id);
        }
        let transaction = self.queues.transaction_mut(id);
        transaction.account.end_data_transfer(now, stall);
        if M::ALL_FEATURES && transaction.purpose.leaves_chip() {
            for id in self.queues.transactions.with_companions(id) {
                let Transaction { from, plane, .. } = *self.queues.transaction(id);
                kernel.notify(|| Notice::PageCopied(from, plane));
            }
        }
        id
    }
}
