//! An operation on its way: command and data arrive, the array works, data leaves.

use crate::check::Origin;
use crate::config::Suspension;
use crate::fabric::{FabricEvent, Grant, Leg};
use crate::flash::die::OperationKind;
use crate::ids::{DieId, TransactionId};
use crate::schedule::transaction::{Class, Transaction};

use super::Simulation;
use super::event::{Event, array_lane};

impl Simulation {
    pub(super) fn fabric_event(&mut self, event: FabricEvent) {
        match event {
            FabricEvent::Delivered(grant) => self.delivered(grant),
        }
    }

    /// Command and data have reached the die, or read data the controller.
    fn delivered(&mut self, grant: Grant) {
        self.witness(|oracles, now| oracles.delivered(grant, now));
        self.release(grant);
        match grant.leg {
            Leg::Command => self.start_array(grant.die),
            Leg::DataOut => self.data_arrived(grant.die),
        }
    }

    fn start_array(&mut self, die: DieId) {
        let now = self.now();
        let timing = &self.timing;
        let (operation, until) = self.dies[die.index()]
            .start_array(now, |operation| timing.array(operation.kind) + operation.delay)
            .expect("a command is delivered to the die that began the operation");
        let kind = operation.kind;
        for &id in operation.transactions() {
            let transaction = &mut self.transactions[id];
            transaction.spent.transfer += now - operation.started;
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
        if let Some(asked) = &mut self.asked[die.index()].command {
            *asked = now;
        }
        let operation = *self.dies[die.index()].finish_array(now).expect("the end of the operation has come");
        self.witness(|oracles, now| oracles.array_ended(die, now));
        let nominal = self.timing.array(operation.kind) + operation.delay;
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
                for &id in operation.transactions() {
                    self.array_work_done(id);
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

    /// The data of one plane has reached the controller.
    fn data_arrived(&mut self, die: DieId) {
        let now = self.now();
        let state = &mut self.dies[die.index()];
        let id = state.outgoing().expect("data arrives from a register that holds some");
        state.data_left(now).expect("data arrives from a register that holds some");
        self.witness(|oracles, now| oracles.data_left(die, now));
        let transaction = &mut self.transactions[id];
        transaction.spent.transfer += now - transaction.array_mark;
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
            _ if transaction.reads_first => {
                self.turn_into_program(id);
                self.enqueue(id);
            }
            _ => {
                let now = self.queue.now();
                let bytes = transaction.bytes;
                self.measures.flash.user_reads += 1;
                self.link_to_host.send_data(now, bytes);
                self.page_done(id);
            }
        }
    }

    /// A page has been programmed, or a block erased.
    fn array_work_done(&mut self, id: TransactionId) {
        let transaction = self.transactions[id];
        match transaction.class {
            Class::UserProgram => {
                self.measures.flash.user_programs += 1;
                let request = transaction.request.expect("a user program belongs to a request");
                self.witness(|oracles, now| {
                    oracles.page_programmed(transaction.to, transaction.lpn, Origin::User(request), now);
                });
                self.ftl.commit_write(transaction.lpn, transaction.to);
                match transaction.successor {
                    Some(next) => self.start_write(next),
                    None => {
                        self.writes_in_flight.remove(&transaction.lpn);
                    }
                }
                self.page_done(id);
            }
            Class::CollectProgram => {
                self.measures.gc.pages_moved += 1;
                self.witness(|oracles, now| {
                    oracles.page_programmed(transaction.to, transaction.lpn, Origin::Moved(transaction.from), now);
                });
                self.ftl.commit_move(transaction.lpn, transaction.from, transaction.to);
                self.transactions.remove(id);
                self.page_moved(transaction.plane);
            }
            Class::Erase => {
                let block = self.geometry.block_of(transaction.from);
                self.witness(|oracles, now| oracles.block_erased(block, now));
                self.transactions.remove(id);
                self.block_erased(transaction.plane);
            }
            Class::UserRead | Class::CollectRead => unreachable!("a read ends in the register, not in the array"),
        }
    }
}
