//! An operation on its way: command and data arrive, the array works, data leaves.

use crate::check::Origin;
use crate::config::Suspension;
use crate::fabric::{Cause, Fabric, FabricEvent, Grant, Leg};
use crate::flash::die::{Operation, OperationKind};
use crate::ids::{AcknowledgementId, DieId, TransactionId};
use crate::schedule::transaction::{Class, Transaction};
use crate::units::Time;

use super::Simulation;
use super::event::{Event, array_lane};

impl Simulation {
    pub(super) fn fabric_event(&mut self, event: FabricEvent) {
        match event {
            FabricEvent::Delivered(grant) => self.delivered(grant),
            FabricEvent::Acknowledged(id) => self.acknowledged(id),
            FabricEvent::Wake(token) => {
                self.outbox.quiet_until = self.queue.next_at();
                self.fabric.wake(token, self.queue.now(), &mut self.outbox);
            }
        }
    }

    /// Command and data have reached the die, or read data the controller or another chip.
    fn delivered(&mut self, grant: Grant) {
        self.witness(|oracles, now| oracles.delivered(grant, now));
        let stalled = self.fabric.stalled(grant);
        if stalled > Time::ZERO {
            self.count_stall(grant, stalled);
        }
        let die = self.die_of(grant);
        let least = self.asked[grant.die.index()].least[grant.leg.index()];
        let done = &mut self.measures.dies[die.index()];
        match grant.leg {
            Leg::Command => {
                done.commands += least;
                self.release(grant);
                self.start_array(die, stalled);
            }
            Leg::DataOut | Leg::Copy => {
                done.data += least;
                if self.data_has_rank {
                    // What the die wants next takes part in the choice of who gets the path.
                    self.data_arrived(die, stalled);
                    self.release(grant);
                } else {
                    self.release(grant);
                    self.data_arrived(die, stalled);
                }
            }
        }
    }

    /// A transfer that stood still on its way did not have its path free, even when it could start at once.
    fn count_stall(&mut self, grant: Grant, stalled: Time) {
        self.measures.transfers_free -= u64::from(!self.asked[grant.die.index()].waited[grant.leg.index()]);
        self.measures.conflicts.count(Cause::Link, stalled);
    }

    fn start_array(&mut self, die: DieId, stalled: Time) {
        let now = self.now();
        let timing = &self.timing;
        let (operation, until) = self.dies[die.index()]
            .start_array(now, |operation| timing.array(operation.kind, operation.pages) + operation.delay)
            .expect("a command is delivered to the die that began the operation");
        let kind = operation.kind;
        for &id in operation.transactions() {
            let transaction = &mut self.transactions[id];
            transaction.spent.transfer += now - operation.started - stalled;
            transaction.count_stall(stalled);
            transaction.array_mark = now;
        }
        self.witness(|oracles, now| oracles.array_began(die, kind, now, until));
        self.queue.schedule(array_lane(kind), until, Event::ArrayEnd(die));
        if self.rules.suspension != Suspension::Off {
            // Reads may have come while the command was on its way.
            self.kick(die);
        }
    }

    /// The array is done, unless the end is that of an operation that was suspended since.
    pub(super) fn array_end(&mut self, die: DieId) {
        let now = self.now();
        if !self.dies[die.index()].ends_at(now) {
            return;
        }
        // Whoever asked for a path to suspend this operation waited for the die until now.
        let asker = self.asker(die);
        if let Some(asked) = &mut self.asked[asker.index()].command {
            *asked = now;
        }
        let operation = *self.dies[die.index()].finish_array(now).expect("the end of the operation has come");
        self.witness(|oracles, now| oracles.array_ended(die, now));
        let nominal = self.timing.array(operation.kind, operation.pages) + operation.delay;
        self.measures.dies[die.index()].array += nominal;
        self.measures.work.count(operation.kind, operation.pages);
        for &id in operation.transactions() {
            let transaction = &mut self.transactions[id];
            transaction.spent.array += nominal;
            // More than nominal is a suspension: the die worked for others.
            transaction.spent.die_wait += now - transaction.array_mark - nominal;
            transaction.array_mark = now;
        }
        match operation.kind {
            OperationKind::Read => {
                for &id in operation.transactions() {
                    let Transaction { from, lpn, request, .. } = self.transactions[id];
                    self.witness(|oracles, now| oracles.page_read(from, lpn, request, now));
                }
                // The next command goes first: the array senses again while data leaves.
                self.kick(die);
                self.send_register(die);
            }
            OperationKind::Program | OperationKind::Erase | OperationKind::Copyback => {
                let acknowledges = self.fabric.acknowledges();
                for &id in operation.transactions() {
                    self.commit(id);
                    if !acknowledges {
                        self.conclude(id);
                    }
                }
                if acknowledges {
                    self.acknowledge(die, operation);
                }
                self.kick(die);
            }
        }
    }

    fn send_register(&mut self, die: DieId) {
        if self.dies[die.index()].begin_sending() {
            self.ask_data(die);
        }
    }

    /// The data of one plane has reached the controller, or another chip.
    fn data_arrived(&mut self, die: DieId, stalled: Time) {
        let now = self.now();
        if stalled > Time::ZERO {
            let asker = self.asker(die);
            self.asked[asker.index()].causes.insert(Cause::Link);
            self.dies[die.index()].count_path_wait(stalled).expect("data arrives from a register that holds some");
        }
        let state = &mut self.dies[die.index()];
        let id = state.outgoing().expect("data arrives from a register that holds some");
        state.data_left(now).expect("data arrives from a register that holds some");
        self.witness(|oracles, now| oracles.data_left(die, now));
        let transaction = &mut self.transactions[id];
        transaction.spent.transfer += now - transaction.array_mark - stalled;
        transaction.count_stall(stalled);
        if transaction.is_copied {
            let Transaction { from, plane, .. } = *transaction;
            self.witness(|oracles, now| oracles.page_copied(from, plane, now));
        }
        self.kick(die);
        self.send_register(die);
        self.read_done(id);
    }

    /// A page has been read: it goes to the host, or is programmed elsewhere.
    fn read_done(&mut self, id: TransactionId) {
        let transaction = &mut self.transactions[id];
        match transaction.class {
            Class::CollectRead => {
                transaction.class = Class::CollectProgram;
                self.enqueue(id);
            }
            Class::MapRead => self.translation_read(id),
            _ if transaction.reads_first && self.power_cut.is_some() && transaction.request.is_some() => {
                self.give_up(id);
            }
            _ if transaction.reads_first => {
                self.turn_into_program(id);
                self.enqueue(id);
            }
            _ => {
                let Transaction { bytes, lpn, request, is_cached, .. } = *transaction;
                self.measures.flash.user_reads += 1;
                self.send_page(bytes);
                if let Some(request) = request.filter(|_| is_cached) {
                    self.fill_cache(request, lpn);
                }
                self.page_done(id);
            }
        }
    }

    /// The chip tells the controller that the operation is done.
    fn acknowledge(&mut self, die: DieId, operation: Operation) {
        let id = self.unacknowledged.insert(operation);
        let die = self.asker(die);
        self.witness(|oracles, now| oracles.acknowledgement_sent(die, now));
        self.fabric.acknowledge(die, id, self.queue.now(), &mut self.outbox);
    }

    /// The controller has been told that an operation is done.
    fn acknowledged(&mut self, id: AcknowledgementId) {
        let now = self.now();
        let operation = self.unacknowledged[id];
        self.unacknowledged.remove(id);
        let die = self.geometry.die_of_plane(self.transactions[operation.transactions()[0]].plane);
        let asker = self.asker(die);
        self.witness(|oracles, now| oracles.acknowledged(asker, now));
        for &id in operation.transactions() {
            let transaction = &mut self.transactions[id];
            transaction.spent.transfer += now - transaction.array_mark;
            self.conclude(id);
        }
        // Programs that were held back may go on: a block is free, or a collection no longer goes before them.
        self.kick(die);
    }

    /// The array has programmed a page, or erased a block.
    fn commit(&mut self, id: TransactionId) {
        let Transaction { class, request, lpn, plane, from, to, successor, is_copied, has_page, .. } =
            self.transactions[id];
        match class {
            Class::UserProgram => {
                self.measures.flash.user_programs += 1;
                let origin = request.map_or(Origin::Destaged, Origin::User);
                self.witness(|oracles, now| oracles.page_programmed(to, lpn, origin, now));
                self.ftl.commit_write(lpn, to);
                self.page_written(lpn, true);
                if request.is_none() && self.destage_programmed(lpn) {
                    // The host deallocated the page while it was on its way.
                    self.ftl.deallocate(lpn);
                    self.page_written(lpn, false);
                    self.witness(|oracles, now| oracles.destage_forgotten(lpn, now));
                }
                self.entry_changed(lpn);
                if has_page {
                    self.ftl.bound_programmed(plane);
                    self.bind_held_back(plane);
                }
                self.start_successor(lpn, successor);
            }
            Class::CollectProgram => {
                self.measures.gc.pages_moved += 1;
                self.witness(|oracles, now| oracles.page_programmed(to, lpn, Origin::Moved(from), now));
                if self.ftl.commit_move(lpn, from, to) {
                    self.moved_entry_changed(lpn, self.geometry.plane_of(from));
                }
                if is_copied {
                    self.measures.gc.pages_copied += 1;
                    self.copy_ended(plane);
                }
            }
            Class::MapProgram => {
                self.measures.flash.map_programs += 1;
                self.witness(|oracles, now| oracles.page_programmed(to, lpn, Origin::Map, now));
                self.ftl.commit_write(lpn, to);
            }
            Class::Erase => {
                let block = self.geometry.block_of(from);
                self.witness(|oracles, now| oracles.block_erased(block, now));
            }
            Class::MapRead | Class::UserRead | Class::CollectRead => {
                unreachable!("a read ends in the register, not in the array")
            }
        }
    }

    /// The firmware goes on from a page programmed, or a block erased.
    fn conclude(&mut self, id: TransactionId) {
        let Transaction { class, plane, from, lpn, request, is_cached, .. } = self.transactions[id];
        match class {
            Class::UserProgram if request.is_none() => {
                self.transactions.remove(id);
                self.destaged(lpn);
            }
            Class::UserProgram => {
                self.page_done(id);
                if is_cached {
                    self.passed_cache(lpn);
                }
            }
            Class::CollectProgram => {
                self.transactions.remove(id);
                self.page_moved(self.geometry.plane_of(from));
            }
            Class::MapProgram => {
                self.transactions.remove(id);
                self.translation_programmed(lpn);
            }
            Class::Erase => {
                self.transactions.remove(id);
                self.block_erased(plane);
            }
            Class::MapRead | Class::UserRead | Class::CollectRead => {
                unreachable!("a read ends in the register, not in the array")
            }
        }
    }
}
