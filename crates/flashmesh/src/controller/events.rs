//! Dispatch of the events of transactions (end of a transfer, of array work, of a DRAM access) to the kind of work (host read, host write,
//! collection, ...) that began the transaction.

use crate::datapath::{ArrayOutcome, Datapath, DeliveredTransfer};
use crate::fabric::TransferPhase;
use crate::ids::{AcknowledgementId, DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::policies::{FirmwarePolicy, PolicyEvent};
use crate::schedule::purpose::{CacheReservation, MoveRoute, Purpose};
use crate::schedule::transaction::{Transaction, TransactionClass};

use super::follow_ups::FollowUp;
use super::work::preallocate::drop_page;
use super::work::{host_read, map, parity, reallocate, replica};
use super::{Context, Controller};

impl Controller {
    /// Handles the end of the transfer in `phase` over the path that die `asker` requested. Returns the host read whose data has arrived, which the
    /// frontend must complete before all pending completions. Always `None` in models with optional features, which report the read as a completion.
    #[inline(always)]
    pub fn delivered<M: Model>(
        &mut self,
        phase: TransferPhase,
        asker: DieId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        match datapath.delivered(phase, asker, kernel) {
            DeliveredTransfer::Command(die) => {
                let wants = datapath.issue_beside_array(die, self, kernel);
                self.handle_outcome(wants, datapath, kernel);
                self.run(datapath, kernel);
                None
            }
            DeliveredTransfer::Data { die, read, held } => {
                self.try_issue(die, datapath, kernel);
                self.send_register(die, datapath, kernel);
                let mut companion = datapath.queues.transactions.companion(read);
                let mut page = None;
                if !M::ALL_FEATURES && datapath.queues.transaction(read).is_plain_read() {
                    host_read::count_done(&mut self.shared);
                    page = Some(read);
                } else {
                    self.read_done(read, datapath, kernel);
                }
                while let Some(read) = companion {
                    companion = datapath.queues.transactions.companion(read);
                    self.read_done(read, datapath, kernel);
                }
                if let Some(grant) = held {
                    datapath.interconnect.release(grant, kernel);
                }
                page
            }
        }
    }

    /// Handles the arrival of data at another chip, over the path that die `asker` requested. Not inlined, because few drives copy from chip to chip.
    #[inline(never)]
    pub fn copy_delivered<M: Model>(&mut self, asker: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.delivered(TransferPhase::Copy, asker, datapath, kernel);
    }

    /// Requests a path for the data in the register of `die`.
    #[inline(always)]
    pub(super) fn send_register<M: Model>(&mut self, die: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        // During a Clean (chip-to-chip move of a whole block), the destination chip accepts the remaining units of the page only after it
        // has programmed the earlier units.
        if M::ALL_FEATURES && self.moves.cleaning.holds(die) {
            return;
        }
        if datapath.dies.mark_sending(die) {
            let mut to = None;
            if M::ALL_FEATURES
                && self.shared.rules.moves_chip_to_chip
                && let Some(read) = datapath.dies.outgoing(die)
            {
                to = self.moves.destination(read, &mut Context { shared: &mut self.shared, datapath, kernel });
            }
            datapath.request_data_path(die, to, kernel);
        }
    }

    /// Ends the array work of `die`, unless its operation was suspended meanwhile.
    #[inline(always)]
    pub fn array_end<M: Model>(&mut self, die: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        match datapath.array_end(die, kernel) {
            ArrayOutcome::Outdated => {}
            ArrayOutcome::Read => {
                self.try_issue(die, datapath, kernel);
                self.send_register(die, datapath, kernel);
            }
            ArrayOutcome::Changed { operation, is_acknowledged_later } => {
                for &lead in operation.transactions() {
                    let mut next = Some(lead);
                    while let Some(id) = next {
                        next = datapath.queues.transactions.companion(id);
                        self.commit(id, datapath, kernel);
                        if !is_acknowledged_later {
                            self.conclude(id, datapath, kernel);
                        }
                    }
                }
                if is_acknowledged_later {
                    datapath.acknowledge(die, operation, kernel);
                }
                if M::ALL_FEATURES {
                    self.shared.follow_ups.push(FollowUp::SettleJournal);
                    self.run(datapath, kernel);
                }
                self.try_issue(die, datapath, kernel);
            }
        }
    }

    /// Tries to issue at `die` after a suspended operation has resumed, because reads can suspend the operation again from now on.
    pub fn resumed<M: Model>(&mut self, die: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.try_issue(die, datapath, kernel);
    }

    /// Concludes the transactions of an operation whose acknowledgement has arrived.
    pub fn acknowledged<M: Model>(
        &mut self,
        id: AcknowledgementId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let (die, operation) = datapath.acknowledged(id, kernel);
        for &lead in operation.transactions() {
            let mut next = Some(lead);
            while let Some(id) = next {
                next = datapath.queues.transactions.companion(id);
                datapath.queues.transaction_mut(id).account.acknowledged(kernel.now());
                self.conclude(id, datapath, kernel);
            }
        }
        // Try to issue held programs: a block may be free now, or collection may no longer have precedence.
        self.try_issue(die, datapath, kernel);
    }

    /// Handles the end of the oldest DRAM access of the device cache.
    pub fn memory_done<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Controller { shared, writes, cache: Some(cache), .. } = self else { return };
        cache.memory_done(writes, &mut Context { shared, datapath, kernel });
        self.run(datapath, kernel);
    }

    /// Lets the device cache admit the next write, because the delay of the throttle has ended.
    pub fn cache_opens<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Controller { shared, cache: Some(cache), .. } = self else { return };
        cache.admit_throttled(&mut Context { shared, datapath, kernel });
        self.run(datapath, kernel);
    }

    /// Continues the move of a page, read by garbage collection, after a processor core has handled the page.
    pub fn move_handled<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Purpose::CollectRead(route) = datapath.queues.transaction(id).purpose else { return };
        let Controller { shared, collections, moves, .. } = self;
        collections.read_done(id, route, moves, &mut Context { shared, datapath, kernel });
        self.run(datapath, kernel);
    }

    /// Handles the data of a read, which has left the die, according to the purpose of the read.
    #[inline(always)]
    fn read_done<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Controller { shared, collections, moves, map, .. } = self;
        let cx = &mut Context { shared, datapath, kernel };
        let Transaction { purpose: work, .. } = *cx.datapath.queues.transaction(id);
        if M::ALL_FEATURES && cx.shared.reports_reads() && work.class() == TransactionClass::UserRead {
            report_read(id, cx);
            self.run(datapath, kernel);
            return self.user_read_done(id, work, datapath, kernel);
        }
        match work {
            Purpose::HostRead(CacheReservation::None) => return host_read::done(id, cx),
            Purpose::HostRead(_) | Purpose::ReadModify(_) => return self.user_read_done(id, work, datapath, kernel),
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
                datapath.interconnect.begin_batch();
                self.run(datapath, kernel);
                return datapath.interconnect.end_batch();
            }
            _ => unreachable!("a program or an erase brings no data"),
        }
        self.run(datapath, kernel);
    }

    /// Handles data of a user page that has arrived in the controller.
    #[inline]
    fn user_read_done<M: Model>(
        &mut self,
        id: TransactionId,
        work: Purpose,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let Transaction { lpn, owner, .. } = *datapath.queues.transaction(id);
        let Controller { shared, writes, cache, .. } = self;
        let cx = &mut Context { shared, datapath, kernel };
        if let Purpose::ReadModify(_) = work {
            if !cx.shared.is_cut_off || owner.request.is_none() {
                writes.rest_read(id, cx);
                return self.run(datapath, kernel);
            }
            drop_page(id, cx);
            self.run(datapath, kernel);
            self.give_up(id, datapath, kernel);
            return self.run(datapath, kernel);
        }
        if let (Purpose::HostRead(CacheReservation::Kept), Some(request), Some(cache)) = (work, owner.request, cache) {
            cache.fill(request, lpn, cx);
            self.run(datapath, kernel);
        }
        let Controller { shared, writes, .. } = self;
        let cx = &mut Context { shared, datapath, kernel };
        if M::ALL_FEATURES && cx.shared.reports_reads() {
            reallocate::read_done(id, writes, cx);
            self.run(datapath, kernel);
        }
        host_read::done(id, &mut Context { shared: &mut self.shared, datapath, kernel });
    }

    /// Updates the map after the array has programmed a page or erased a block.
    #[inline]
    fn commit<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Controller { shared, writes, collections, moves, map, cache, .. } = self;
        let cx = &mut Context { shared, datapath, kernel };
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
        self.run(datapath, kernel);
    }

    /// Continues the work that waited for the end of a program or an erase. Called when the controller is notified of the end.
    #[inline]
    fn conclude<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let transaction = datapath.queues.transaction(id);
        let Transaction { purpose: work, lpn, plane, from, owner, .. } = *transaction;
        if M::ALL_FEATURES && work.class() == TransactionClass::UserProgram {
            self.shared.policy.notify(PolicyEvent::WriteEnded(transaction));
        }
        let Controller { shared, collections, moves, map, cache, .. } = self;
        let cx = &mut Context { shared, datapath, kernel };
        let is_end_of_program =
            !(M::ALL_FEATURES && work.is_clean()) || cx.datapath.queues.transactions.companion(id).is_none();
        match work {
            Purpose::HostWrite(place) if owner.request.is_some() => {
                cx.shared.finished(id, owner.request, cx.datapath);
                if let (CacheReservation::Kept, Some(cache)) = (place, cache) {
                    cache.passed(lpn, cx);
                }
                return self.run(datapath, kernel);
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
                return self.clean_ended(plane, datapath, kernel);
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
        self.run(datapath, kernel);
    }

    /// Ends the Clean (chip-to-chip move of a whole block) of the victim of `plane`, after its last program was acknowledged. Reroutes the
    /// reads of moved pages, and ends the reservation of the source die.
    fn clean_ended<M: Model>(
        &mut self,
        plane: crate::ids::PlaneId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        self.moves.cleaning.end(plane, &self.shared);
        self.shared.follow_ups.push(FollowUp::Advance(plane));
        self.run(datapath, kernel);
        let die = self.shared.geometry.die_of_plane(plane);
        for id in datapath.take_moved(die, self) {
            datapath.queues.notify_rerouted(id, kernel);
            self.reroute(id, datapath, kernel);
        }
        datapath.clean_execution.end_reservation(die);
        self.try_issue(die, datapath, kernel);
    }
}

/// Reports to the firmware policy and to replication that the data of a user read has left its die.
#[inline(never)]
fn report_read<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    cx.shared.policy.notify(PolicyEvent::ReadEnded(cx.datapath.queues.transaction(id)));
    replica::read_left(id, cx);
    replica::read_done(id, cx);
}
