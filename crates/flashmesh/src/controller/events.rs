//! Dispatch of the events of transactions (end of a transfer, of array work, of a DRAM access) to the kind of work (host read, host write,
//! collection, ...) that began the transaction.

use crate::datapath::{ArrayOutcome, DeliveredTransfer};
use crate::fabric::TransferPhase;
use crate::ids::{AcknowledgementId, DieId, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::policies::{FirmwarePolicy, PolicyEvent};
use crate::schedule::purpose::{CacheReservation, MoveRoute, Purpose};
use crate::schedule::transaction::{Transaction, TransactionClass};

use super::follow_ups::FollowUp;
use super::work::preallocate::drop_page;
use super::work::{host_read, map, parity, reallocate, replica};
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
        collections.read_done(id, route, moves, cx);
        self.run();
    }

    /// Handles the data of a read, which has left the die, according to the purpose of the read.
    #[inline(always)]
    fn read_done(&mut self, id: TransactionId) {
        let (Work { collections, moves, map, .. }, cx) = &mut self.parts();
        let Transaction { purpose: work, .. } = *cx.datapath.queues.transaction(id);
        if M::ALL_FEATURES && cx.shared.reports_reads() && work.class() == TransactionClass::UserRead {
            report_read(id, cx);
            self.run();
            return self.user_read_done(id, work);
        }
        match work {
            Purpose::HostRead(CacheReservation::None) => return host_read::done(id, cx),
            Purpose::HostRead(_) | Purpose::ReadModify(_) => return self.user_read_done(id, work),
            Purpose::CollectRead(route) if M::ALL_FEATURES && route.is_clean() => {
                if let Some(die) = moves.cleaning.arrived(id, cx) {
                    cx.push(FollowUp::TryIssue(die));
                }
            }
            // A processor core handles the page first; `move_handled` continues the move.
            Purpose::CollectRead(_) if M::ALL_FEATURES && cx.asks_core_to_move(id) => {}
            Purpose::CollectRead(route) => collections.read_done(id, route, moves, cx),
            Purpose::MapRead => {
                if let Some(map) = map {
                    map.read_done(id, cx);
                }
                // Enqueue the transactions that waited for entries of the page as one batch, like the pages of a request.
                self.datapath.interconnect.begin_batch();
                self.run();
                return self.datapath.interconnect.end_batch();
            }
            _ => unreachable!("a program or an erase brings no data"),
        }
        self.run();
    }

    /// Handles data of a user page that has arrived in the controller.
    #[inline]
    fn user_read_done(&mut self, id: TransactionId, work: Purpose) {
        let Transaction { lpn, owner, .. } = *self.datapath.queues.transaction(id);
        let (Work { writes, cache, .. }, cx) = &mut self.parts();
        if let Purpose::ReadModify(_) = work {
            if !cx.shared.is_cut_off || owner.request.is_none() {
                writes.rest_read(id, cx);
                return self.run();
            }
            drop_page(id, cx);
            self.run();
            self.give_up(id);
            return self.run();
        }
        if let (Purpose::HostRead(CacheReservation::Kept), Some(request), Some(cache)) = (work, owner.request, cache) {
            cache.fill(request, lpn, cx);
            self.run();
        }
        let (Work { writes, .. }, cx) = &mut self.parts();
        if M::ALL_FEATURES && cx.shared.reports_reads() {
            reallocate::read_done(id, writes, cx);
            self.run();
        }
        host_read::done(id, &mut self.context());
    }

    /// Updates the map after the array has programmed a page or erased a block.
    #[inline]
    fn commit(&mut self, id: TransactionId) {
        let (Work { writes, collections, moves, map, cache, .. }, cx) = &mut self.parts();
        let Transaction { purpose: work, lpn, from, to, .. } = *cx.datapath.queues.transaction(id);
        match work {
            Purpose::HostWrite(_) => writes.programmed(id, cache.as_deref_mut(), cx),
            Purpose::CollectProgram(route) => collections.programmed(id, route, moves, map.as_deref_mut(), cx),
            Purpose::MapProgram => map::committed(lpn, to, cx),
            Purpose::Reallocate => reallocate::programmed(id, cx),
            Purpose::ReplicaProgram => replica::programmed(id, cx),
            Purpose::Parity => parity::programmed(to, cx),
            Purpose::Erase => {
                let block = cx.shared.geometry.block_of(from);
                cx.kernel.notify(|| Notice::BlockErased(block));
                if M::ALL_FEATURES {
                    cx.shared.persist(|state| state.erased(block));
                }
            }
            Purpose::MapRead | Purpose::HostRead(_) | Purpose::ReadModify(_) | Purpose::CollectRead(_) => {
                unreachable!("a read ends in the register, not in the array")
            }
        }
        self.run();
    }

    /// Continues the work that waited for the end of a program or an erase. Called when the controller is notified of the end.
    #[inline]
    fn conclude(&mut self, id: TransactionId) {
        let transaction = self.datapath.queues.transaction(id);
        let Transaction { purpose: work, lpn, plane, from, owner, .. } = *transaction;
        if M::ALL_FEATURES && work.class() == TransactionClass::UserProgram {
            self.controller.shared.policy.notify(PolicyEvent::WriteEnded(transaction));
        }
        let (Work { collections, moves, map, cache, .. }, cx) = &mut self.parts();
        let is_end_of_program =
            !(M::ALL_FEATURES && work.is_clean()) || cx.datapath.queues.transactions.companion(id).is_none();
        match work {
            Purpose::HostWrite(place) if owner.request.is_some() => {
                cx.shared.finished(id, owner.request, cx.datapath);
                if let (CacheReservation::Kept, Some(cache)) = (place, cache) {
                    cache.passed(lpn, cx);
                }
                return self.run();
            }
            _ => cx.datapath.queues.transactions.remove(id),
        }
        match work {
            Purpose::HostWrite(_) => {
                if let Some(cache) = cache {
                    cache.destaged(lpn, cx);
                }
            }
            Purpose::CollectProgram(MoveRoute::Clean | MoveRoute::CleanEnd)
                if M::ALL_FEATURES && !is_end_of_program => {}
            Purpose::CollectProgram(MoveRoute::CleanEnd) if M::ALL_FEATURES => {
                let plane = cx.shared.geometry.plane_of(from);
                return self.clean_ended(plane);
            }
            Purpose::CollectProgram(MoveRoute::Clean) if M::ALL_FEATURES => {
                moves.cleaning.go_on(cx.shared.geometry.plane_of(from), cx);
            }
            Purpose::CollectProgram(_) => {
                let victim = cx.shared.geometry.plane_of(from);
                if M::ALL_FEATURES {
                    collections.moved(victim, cx);
                }
                cx.push(FollowUp::Advance(victim));
            }
            Purpose::MapProgram => {
                if cx.shared.is_of_map_cache(lpn)
                    && let Some(map) = map
                {
                    map.programmed(lpn, cx);
                }
            }
            Purpose::Erase => collections.erased(plane, cx),
            Purpose::Reallocate | Purpose::ReplicaProgram | Purpose::Parity => {}
            Purpose::MapRead | Purpose::HostRead(_) | Purpose::ReadModify(_) | Purpose::CollectRead(_) => {
                unreachable!("a read ends in the register, not in the array")
            }
        }
        self.run();
    }

    /// Ends the Clean (chip-to-chip move of a whole block) of the victim of `plane`, after its last program was acknowledged. Reroutes the
    /// reads of moved pages, and ends the reservation of the source die.
    fn clean_ended(&mut self, plane: crate::ids::PlaneId) {
        self.controller.work.moves.cleaning.end(plane, &self.controller.shared);
        self.controller.shared.follow_ups.push(FollowUp::Advance(plane));
        self.run();
        let die = self.controller.shared.geometry.die_of_plane(plane);
        for id in self.datapath.take_moved(die, &self.controller) {
            self.datapath.queues.notify_rerouted(id, &mut self.kernel);
            self.reroute(id);
        }
        self.datapath.clean_execution.end_reservation(die);
        self.try_issue(die);
    }
}

/// Reports to the firmware policy and to replication that the data of a user read has left its die.
#[inline(never)]
fn report_read<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    cx.shared.policy.notify(PolicyEvent::ReadEnded(cx.datapath.queues.transaction(id)));
    replica::read_left(id, cx);
    replica::read_done(id, cx);
}
