//! Dispatch of the events of transactions (end of a transfer, of array work, of a DRAM access) to the kind of work (host read, host write,
//! collection, ...) that began the transaction.

use crate::datapath::{ArrayOutcome, DeliveredTransfer};
use crate::fabric::TransferPhase;
use crate::ids::{AcknowledgementId, DieId, TransactionId};
use crate::kernel::model::Model;
use crate::policies::PolicyEvent;
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::TransactionClass;

use super::follow_ups::FollowUp;
use super::work::kind::of_kind;
use super::work::{host_read, replica};
use super::{Backend, Context, Work};

impl<M: Model> Backend<M> {
    /// Handles the end of the transfer in `phase` over the path that die `asker` requested. Returns the host read whose data has arrived, which the
    /// frontend must complete before all pending completions. Always `None` in models with optional features, which report the read as a completion.
    #[inline(always)]
    pub fn delivered(&mut self, phase: TransferPhase, asker: DieId) -> Option<TransactionId> {
        match self.datapath.delivered(phase, asker, &mut self.kernel) {
            DeliveredTransfer::Command(die) => {
                let wants = self.datapath.issue_beside_array(die, &self.controller, &mut self.kernel);
                self.handle_outcome(wants);
                self.run();
                None
            }
            DeliveredTransfer::Data { die, read, held } => {
                self.try_issue(die);
                self.send_register(die);
                let mut companion = self.datapath.queues.transactions.companion(read);
                let mut page = None;
                if !M::ALL_FEATURES && self.datapath.queues.transaction(read).is_plain_read() {
                    host_read::count_done(&mut self.controller.shared);
                    page = Some(read);
                } else {
                    self.read_done(read);
                }
                while let Some(read) = companion {
                    companion = self.datapath.queues.transactions.companion(read);
                    self.read_done(read);
                }
                if let Some(grant) = held {
                    self.datapath.interconnect.release(grant, &mut self.kernel);
                }
                page
            }
        }
    }

    /// Handles the arrival of data at another chip, over the path that die `asker` requested. Not inlined, because few drives copy from chip to chip.
    #[inline(never)]
    pub fn copy_delivered(&mut self, asker: DieId) {
        self.delivered(TransferPhase::Copy, asker);
    }

    /// Requests a path for the data in the register of `die`.
    #[inline(always)]
    pub(super) fn send_register(&mut self, die: DieId) {
        // During a Clean (chip-to-chip move of a whole block), the destination chip accepts the remaining units of the page only after it
        // has programmed the earlier units.
        if M::ALL_FEATURES && self.controller.work.moves.cleaning.holds(die) {
            return;
        }
        if self.datapath.dies.mark_sending(die) {
            let mut to = None;
            if M::ALL_FEATURES
                && self.controller.shared.rules.moves_chip_to_chip
                && let Some(read) = self.datapath.dies.outgoing(die)
            {
                let (Work { moves, .. }, cx) = &mut self.parts();
                to = moves.destination(read, cx);
            }
            self.datapath.request_data_path(die, to, &mut self.kernel);
        }
    }

    /// Ends the array work of `die`, unless its operation was suspended meanwhile.
    #[inline(always)]
    pub fn array_end(&mut self, die: DieId) {
        match self.datapath.array_end(die, &mut self.kernel) {
            ArrayOutcome::Outdated => {}
            ArrayOutcome::Read => {
                self.try_issue(die);
                self.send_register(die);
            }
            ArrayOutcome::Changed { operation, is_acknowledged_later } => {
                for &lead in operation.transactions() {
                    let mut next = Some(lead);
                    while let Some(id) = next {
                        next = self.datapath.queues.transactions.companion(id);
                        self.commit(id);
                        if !is_acknowledged_later {
                            self.conclude(id);
                        }
                    }
                }
                if is_acknowledged_later {
                    self.datapath.acknowledge(die, operation, &mut self.kernel);
                }
                if M::ALL_FEATURES {
                    self.controller.shared.follow_ups.push(FollowUp::SettleJournal);
                    self.run();
                }
                self.try_issue(die);
            }
        }
    }

    /// Tries to issue at `die` after a suspended operation has resumed, because reads can suspend the operation again from now on.
    pub fn resumed(&mut self, die: DieId) {
        self.try_issue(die);
    }

    /// Concludes the transactions of an operation whose acknowledgement has arrived.
    pub fn acknowledged(&mut self, id: AcknowledgementId) {
        let (die, operation) = self.datapath.acknowledged(id, &mut self.kernel);
        for &lead in operation.transactions() {
            let mut next = Some(lead);
            while let Some(id) = next {
                next = self.datapath.queues.transactions.companion(id);
                self.datapath.queues.transaction_mut(id).account.acknowledged(self.kernel.now());
                self.conclude(id);
            }
        }
        // Try to issue held programs: a block may be free now, or collection may no longer have precedence.
        self.try_issue(die);
    }

    /// Handles the end of the oldest DRAM access of the device cache.
    pub fn memory_done(&mut self) {
        let (Work { writes, cache: Some(cache), .. }, cx) = &mut self.parts() else {
            return;
        };
        cache.memory_done(writes, cx);
        self.run();
    }

    /// Lets the device cache admit the next write, because the delay of the throttle has ended.
    pub fn cache_opens(&mut self) {
        let (Work { cache: Some(cache), .. }, cx) = &mut self.parts() else {
            return;
        };
        cache.admit_throttled(cx);
        self.run();
    }

    /// Continues the move of a page, read by garbage collection, after a processor core has handled the page.
    pub fn move_handled(&mut self, id: TransactionId) {
        let Purpose::CollectRead(route) = self.datapath.queues.transaction(id).purpose else { return };
        let (Work { collections, moves, .. }, cx) = &mut self.parts();
        collections.page_read(id, route, moves, cx);
        self.run();
    }

    /// Handles a read whose data has left the die.
    #[inline(always)]
    fn read_done(&mut self, id: TransactionId) {
        let purpose = self.datapath.queues.transaction(id).purpose;
        if self.controller.shared.reports_reads::<M>() && purpose.class() == TransactionClass::UserRead {
            report_read(id, &mut self.context());
            self.run();
        }
        of_kind!(purpose, read_done(id, purpose, self));
        self.run();
    }

    /// Updates the map after the array has programmed a page or erased a block.
    #[inline]
    fn commit(&mut self, id: TransactionId) {
        let purpose = self.datapath.queues.transaction(id).purpose;
        of_kind!(purpose, programmed(id, purpose, self));
        self.run();
    }

    /// Continues the work that waited for the end of a program or an erase. Called when the controller is notified of the end.
    #[inline]
    fn conclude(&mut self, id: TransactionId) {
        let transaction = self.datapath.queues.transaction(id);
        let purpose = transaction.purpose;
        if purpose.class() == TransactionClass::UserProgram {
            self.controller.shared.notify_policy::<M>(PolicyEvent::WriteEnded(transaction));
        }
        of_kind!(purpose, acknowledged(id, self));
        self.run();
    }
}

/// Reports to the firmware policy and to replication that the data of a user read has left its die.
#[inline(never)]
fn report_read<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    cx.shared.notify_policy::<M>(PolicyEvent::ReadEnded(cx.datapath.queues.transaction(id)));
    replica::read_left(id, cx);
    replica::read_done(id, cx);
}
