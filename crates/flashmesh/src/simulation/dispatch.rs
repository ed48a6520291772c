//! A path is granted: what the die runs is decided only now (late binding).

use crate::config::EraseOrder;
use crate::fabric::{Cause, Causes, Fabric, FabricEvent, Grant, Granted, Leg, Message, Payload};
use crate::flash::die::{Operation, OperationKind};
use crate::ids::{DieId, TransactionId};
use crate::schedule::queues::{NOTHING, PlaneMasks};
use crate::schedule::transaction::{Class, Transaction};
use crate::schedule::{Choice, Scheduler, Waiting};
use crate::units::{Bytes, Time};

use crate::ftl::Stream;

use super::Simulation;
use super::event::{Event, lane};
use super::ready::has_awaited_read;

/// A die that got its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    /// Since when it wanted one.
    asked: Time,
    /// When the try began that found it: later, when something was in the way.
    tried: Time,
    /// What was in the way.
    cause: Cause,
}

impl Asking {
    /// How long something was in the way.
    #[inline]
    fn waited(&self) -> Time {
        self.tried - self.asked
    }
}

impl Simulation {
    /// A path was granted.
    #[inline]
    pub(super) fn granted(&mut self, granted: Granted) {
        let grant = granted.grant;
        let asked = &mut self.asked[grant.die.index()];
        let since = match grant.leg {
            Leg::Command => asked.command.take(),
            Leg::DataOut | Leg::Copy => asked.data.take(),
        };
        let asked = since.expect("a path is granted only to a die that asked for it");
        // The die may have become ready only while the path was set up for it.
        let asking = Asking { asked, tried: asked.later(granted.since), cause: granted.cause };
        self.witness(|oracles, now| oracles.path_granted(grant, now));
        match grant.leg {
            Leg::Command => self.start_operation(grant, asking),
            Leg::DataOut | Leg::Copy => self.send_data(grant, asking),
        }
    }

    fn count_transfer(&mut self, grant: Grant, asking: Asking) {
        let waited = asking.waited();
        self.asked[grant.die.index()].waited[grant.leg.index()] = waited > Time::ZERO;
        self.measures.transfers += 1;
        if waited > Time::ZERO {
            self.measures.conflicts.count(asking.cause, waited);
        } else {
            self.measures.transfers_free += 1;
        }
    }

    /// The die takes what its scheduler chooses now.
    fn start_operation(&mut self, grant: Grant, asking: Asking) {
        let now = self.now();
        let asker = grant.die;
        // A die that may only suspend what it works on; where dies take turns, none while the chip is free.
        let busy = self.taker(asker).filter(|die| !self.dies[die.index()].accepts(&self.rules));
        let suspends = busy.is_some();
        if let Some(die) = busy {
            let wanted = has_awaited_read(&self.queues.masks(die)) && self.may_suspend(die);
            // An operation that is nearly done by now is let finish; the end of it asks again.
            if !wanted || self.dies[die.index()].suspend(&self.rules, now).is_err() {
                self.release(grant);
                return;
            }
            self.measures.flash.suspensions += 1;
            self.witness(|oracles, now| oracles.suspended(die, now));
        }
        let Some((choice, lead)) = self.choose(asker) else {
            self.release(grant);
            let (first, count) = self.takers(asker);
            if (first.0..first.0 + count).all(|die| self.ready(DieId(die)) == NOTHING) {
                self.kick(asker);
            }
            return;
        };
        let die = choice.die;
        self.count_transfer(grant, asking);
        let mut operation = Operation::new(self.kind_of(choice.class), choice.class.is_internal(), now, lead);
        if suspends {
            operation.delay = self.timing.suspend;
        }
        self.prepare(lead, asking);
        operation.pages = self.pages_of(lead);
        self.join_planes(choice, lead, asking, &mut operation);
        let planes = operation.transactions().len();
        self.measures.flash.multi_plane_operations += u64::from(planes > 1);
        let carried = match operation.kind {
            OperationKind::Program if self.transactions[lead].is_copied => Bytes::ZERO,
            OperationKind::Program if self.config.flash.partial_program => {
                operation.transactions().iter().map(|&id| self.with_spare(self.transactions[id].bytes)).sum()
            }
            OperationKind::Program => self.with_spare(self.geometry.page_size) * planes as u64,
            OperationKind::Read | OperationKind::Erase | OperationKind::Copyback => Bytes::ZERO,
        };
        let payload = Payload {
            message: Message::commanding(operation.kind),
            planes: planes as u32,
            command: self.timing.command(operation.kind, planes),
            bytes: carried,
        };
        self.dies[die.index()].begin(&self.rules, operation, now).expect("a die that was chosen for accepts");
        self.witness(|oracles, now| oracles.operation_began(die, operation.kind, planes, now));
        self.send(grant, payload);
        if matches!(choice.class, Class::UserProgram | Class::MapProgram) {
            for at in 0..planes {
                self.collect_if_needed(self.transactions[operation.transactions()[at]].plane);
            }
        }
    }

    /// The data of the next plane leaves the register.
    fn send_data(&mut self, grant: Grant, asking: Asking) {
        let now = self.now();
        self.count_transfer(grant, asking);
        let Asking { asked, tried, cause } = asking;
        let die = self.die_of(grant);
        let state = &mut self.dies[die.index()];
        let id = state.outgoing().expect("a die asks only with data in its register");
        let (since, waited_before) =
            state.count_path_wait(asking.waited()).expect("a die asks only with data in its register");
        let transaction = &mut self.transactions[id];
        // Until the register was free the die was busy with older data; since then with the data of the planes before
        // this one, and with waiting for their paths, which is the same path.
        transaction.spent.die_wait += since - transaction.array_mark;
        transaction.spent.transfer += asked - since - waited_before + (now - tried);
        transaction.spent.path_wait += waited_before + asking.waited();
        let causes = &mut self.asked[grant.die.index()].causes;
        if waited_before == Time::ZERO {
            *causes = Causes::default();
        }
        if asking.waited() > Time::ZERO {
            causes.insert(cause);
        }
        transaction.conflict.join(*causes);
        transaction.array_mark = now;
        let page = self.geometry.page_size;
        let bytes = match (transaction.class.is_internal(), transaction.reads_first) {
            (false, false) => transaction.bytes,
            (false, true) if self.config.flash.partial_program => page - transaction.bytes,
            _ => page,
        };
        let message = if grant.leg == Leg::Copy { Message::Copy } else { Message::Data };
        let payload = Payload { message, planes: 1, command: Time::ZERO, bytes: self.with_spare(bytes) };
        self.send(grant, payload);
    }

    /// Gives a path back; whoever waits for it may get it.
    pub(super) fn release(&mut self, grant: Grant) {
        self.witness(|oracles, now| oracles.path_released(grant, now));
        self.fabric.release(grant, self.queue.now(), &mut self.outbox);
    }

    fn send(&mut self, grant: Grant, payload: Payload) {
        let sent = self.fabric.send(grant, payload, self.queue.now(), &mut self.outbox);
        if self.oracles.is_some() {
            let die = self.die_of(grant);
            self.witness(|oracles, now| oracles.sent(grant, die, payload, sent, now));
        }
        self.asked[grant.die.index()].least[grant.leg.index()] = sent.least;
        if let Some(at) = sent.delivered {
            let lane = match grant.leg {
                Leg::Command => lane::COMMAND,
                Leg::DataOut | Leg::Copy => lane::DATA,
            };
            self.queue.schedule(lane, at, Event::Fabric(FabricEvent::Delivered(grant)));
        }
    }

    /// Takes the transaction that leads the next operation; those whose page has moved meanwhile go elsewhere.
    fn choose(&mut self, asker: DieId) -> Option<(Choice, TransactionId)> {
        // The die counts as having asked: what goes elsewhere on the same die must not make it resume what it has
        // suspended, or ask for a second path.
        self.asked[asker.index()].command = Some(self.now());
        let chosen = self.choose_current(asker);
        self.asked[asker.index()].command = None;
        chosen
    }

    fn choose_current(&mut self, asker: DieId) -> Option<(Choice, TransactionId)> {
        loop {
            let choice = match self.takers(asker) {
                (die, 1) => {
                    let ready = self.ready(die);
                    self.choose_among(die, &[ready])
                }
                (first, count) => self.choose_of_chip(first, count),
            }?;
            let lead = self.queues.pop(&mut self.transactions, choice)?;
            if self.is_current(lead) {
                return Some((choice, lead));
            }
            self.reroute(lead);
        }
    }

    /// Asks the scheduler which transaction goes next on the dies from `first` on, of which `ready` may.
    #[inline(always)]
    pub(super) fn choose_among(&mut self, first: DieId, ready: &[PlaneMasks]) -> Option<Choice> {
        if ready.iter().all(|ready| *ready == NOTHING) {
            return None;
        }
        let dies = || (first.0..).map(DieId).take(ready.len());
        let collection_first = dies().any(|die| self.collection_first(die));
        // Asked of a policy that may put it off.
        let space_is_out =
            self.config.schedule.erases == EraseOrder::Last && dies().any(|die| self.collects_for_space(die));
        let now = self.queue.now();
        let waiting = Waiting::new(now, first, &self.queues, &self.transactions, ready, collection_first, space_is_out);
        self.scheduler.choose(&waiting)
    }

    fn kind_of(&self, class: Class) -> OperationKind {
        match class {
            Class::MapRead | Class::UserRead | Class::CollectRead => OperationKind::Read,
            Class::CollectProgram if self.config.gc.copyback => OperationKind::Copyback,
            Class::MapProgram | Class::UserProgram | Class::CollectProgram => OperationKind::Program,
            Class::Erase => OperationKind::Erase,
        }
    }

    /// Whether the page that a transaction reads or moves still is where it was when it was queued.
    pub(super) fn is_current(&self, id: TransactionId) -> bool {
        let transaction = &self.transactions[id];
        match transaction.class {
            Class::MapRead | Class::UserRead | Class::CollectRead | Class::CollectProgram => {
                self.ftl.lookup(transaction.lpn) == Some(transaction.from)
            }
            Class::MapProgram | Class::UserProgram | Class::Erase => true,
        }
    }

    /// Sends a transaction whose page has moved, or was forgotten, where it has to go now.
    #[inline(never)]
    fn reroute(&mut self, id: TransactionId) {
        let transaction = &mut self.transactions[id];
        let plane = transaction.plane;
        if transaction.class.is_internal() {
            let Transaction { from, is_copied, .. } = *transaction;
            if is_copied {
                self.copy_ended(plane);
                self.witness(|oracles, now| oracles.copy_dropped(plane, now));
            }
            self.transactions.remove(id);
            self.page_moved(self.geometry.plane_of(from));
            return;
        }
        let now = self.queue.now();
        let die = self.geometry.die_of_plane(plane);
        let internal_busy = self.dies[die.index()].internal_busy(now);
        transaction.count_die_wait(now, internal_busy);
        if transaction.reads_first && self.ftl.lookup(transaction.lpn).is_none() {
            self.turn_into_program(id);
        } else {
            let lpn = transaction.lpn;
            let from = self.translate_read(lpn);
            let transaction = &mut self.transactions[id];
            transaction.from = from;
            transaction.plane = self.geometry.plane_of(from);
            self.settle_map();
        }
        self.enqueue(id);
    }

    /// Accounts for the time a transaction waited, and gives a program its page.
    pub(super) fn prepare(&mut self, id: TransactionId, asking: Asking) {
        let now = self.queue.now();
        let transaction = &mut self.transactions[id];
        let die = self.geometry.die_of_plane(transaction.plane);
        let die_ready = asking.asked.later(transaction.queued);
        let tried = asking.tried.later(die_ready);
        transaction.count_die_wait(die_ready, self.dies[die.index()].internal_busy(now));
        transaction.spent.path_wait += tried - die_ready;
        transaction.spent.transfer += now - tried;
        if tried > die_ready {
            transaction.conflict.insert(asking.cause);
        }
        let Transaction { class, plane, lpn, has_page, .. } = *transaction;
        if has_page {
            return;
        }
        let Some(stream) = self.stream_of(id) else { return };
        self.transactions[id].to = self
            .ftl
            .allocate(plane, stream)
            .expect("programs of the host and of the map wait for a free page, collection has its reserve, and arrivals are let in with a place");
        if class == Class::MapProgram {
            self.translation_program_began(lpn);
        }
    }

    /// Which open block a program goes to; `None` when it is something else.
    #[inline]
    pub(super) fn stream_of(&self, id: TransactionId) -> Option<Stream> {
        let transaction = &self.transactions[id];
        match transaction.class {
            Class::UserProgram => Some(self.stream_of_write(id)),
            Class::MapProgram => Some(Stream::Translation),
            Class::CollectProgram if transaction.is_copied => Some(Stream::Arrival),
            Class::CollectProgram => Some(self.ftl.stream_of_move(transaction.from)),
            Class::MapRead | Class::UserRead | Class::CollectRead | Class::Erase => None,
        }
    }

    /// Which open block of its plane a write goes to.
    #[inline]
    pub(super) fn stream_of_write(&self, id: TransactionId) -> Stream {
        let transaction = &self.transactions[id];
        let stream = transaction.request.map(|request| self.requests[request].stream);
        self.ftl.host_stream(transaction.plane, stream)
    }
}
