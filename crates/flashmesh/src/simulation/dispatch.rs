//! Dies ask for paths, and what they run is decided when the path is granted (late binding).

use crate::fabric::{Cause, Causes, Fabric, FabricEvent, Grant, Granted, Leg, Message, Payload};
use crate::flash::die::{Operation, OperationKind};
use crate::ids::{DieId, PlaneId, Ppn, TransactionId};
use crate::schedule::fuse::{InPlane, may_join};
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::{CLASSES, Class, Transaction};
use crate::schedule::{Choice, Scheduler, Waiting};
use crate::units::{Bytes, Time};

use crate::ftl::Stream;

use super::Simulation;
use super::event::{Event, array_lane, lane};

const NOTHING: PlaneMasks = [0; CLASSES];

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
    /// Something changed for this die: it may want its next operation, or to resume one.
    pub(super) fn kick(&mut self, die: DieId) {
        if self.asked[die.index()].command.is_some() {
            return;
        }
        let ready = self.ready(die);
        let held_back = self.queues.masks(die)[Class::UserProgram.index()] & !ready[Class::UserProgram.index()];
        if held_back != 0 && !self.dies[die.index()].has_suspended() && self.collect_held_back(die, held_back) {
            return;
        }
        let state = &self.dies[die.index()];
        if state.accepts(&self.rules) {
            if ready != NOTHING {
                self.ask_command(die);
            } else if state.has_suspended() {
                self.resume(die);
            } else if !self.queues.has_work(die) {
                self.went_idle(die);
            }
        } else if ready[Class::UserRead.index()] != 0 && self.may_suspend(die) {
            self.ask_command(die);
        }
    }

    /// Starts collecting the planes of `planes`, which hold programs back for want of a free page: what made something
    /// collectable there may have been no program of theirs. Gives whether the die has asked for a path meanwhile.
    fn collect_held_back(&mut self, die: DieId, mut planes: u8) -> bool {
        while planes != 0 {
            let plane = planes.trailing_zeros();
            planes &= planes - 1;
            self.collect_if_needed(PlaneId(self.geometry.first_plane(die).0 + plane));
        }
        self.asked[die.index()].command.is_some()
    }

    /// Whether reads may suspend what the array does: not collection while that goes before requests.
    fn may_suspend(&self, die: DieId) -> bool {
        let state = &self.dies[die.index()];
        state.may_suspend(&self.rules, self.now()) && !(state.works_internally() && self.collection_first(die))
    }

    fn ask_command(&mut self, die: DieId) {
        let now = self.now();
        self.asked[die.index()].command = Some(now);
        self.witness(|oracles, now| oracles.path_asked(die, Leg::Command, now));
        self.fabric.acquire(die, Leg::Command, now, &mut self.outbox);
    }

    /// Asks for a path for the data in the register.
    pub(super) fn ask_data(&mut self, die: DieId) {
        let now = self.now();
        self.asked[die.index()].data = Some(now);
        match self.copy_destination(die) {
            Some(to) => {
                self.witness(|oracles, now| oracles.path_asked(die, Leg::Copy, now));
                self.fabric.acquire_copy(die, to, now, &mut self.outbox);
            }
            None => {
                self.witness(|oracles, now| oracles.path_asked(die, Leg::DataOut, now));
                self.fabric.acquire(die, Leg::DataOut, now, &mut self.outbox);
            }
        }
    }

    fn resume(&mut self, die: DieId) {
        let now = self.now();
        let until = self.dies[die.index()]
            .resume(&self.rules, now, self.timing.resume)
            .expect("a die that accepts an operation and has one suspended resumes it");
        self.queue.schedule(array_lane(OperationKind::Erase), now + self.timing.resume, Event::Resumed(die));
        self.queue.schedule(array_lane(OperationKind::Erase), until, Event::ArrayEnd(die));
        self.witness(|oracles, now| oracles.resumed(die, now, until));
    }

    fn went_idle(&mut self, die: DieId) {
        if self.tracks_idle {
            self.idle.set(die, true);
        }
        self.collect_in_background(die);
    }

    /// Which planes of a die have a transaction that may run now, for each class.
    ///
    /// A plane without a free page for the host holds its programs back, and is collected; while an operation is
    /// suspended only reads of requests run, and nothing when it is a collection that goes before them.
    fn ready(&mut self, die: DieId) -> PlaneMasks {
        let mut masks = self.queues.masks(die);
        let state = &self.dies[die.index()];
        if state.has_suspended() {
            if state.has_suspended_internal() && self.collection_first(die) {
                return NOTHING;
            }
            masks = NOTHING;
            masks[Class::UserRead.index()] = self.queues.masks(die)[Class::UserRead.index()];
            return masks;
        }
        let programs = &mut masks[Class::UserProgram.index()];
        let mut unchecked = *programs;
        while unchecked != 0 {
            let plane = unchecked.trailing_zeros();
            unchecked &= unchecked - 1;
            let plane_id = PlaneId(self.geometry.first_plane(die).0 + plane);
            if self.ftl.next_page_offset(plane_id, Stream::Host).is_none() {
                *programs &= !(1 << plane);
            }
        }
        masks
    }

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
        let die = grant.die;
        let suspends = !self.dies[die.index()].accepts(&self.rules);
        if suspends {
            let wanted = self.queues.masks(die)[Class::UserRead.index()] != 0 && self.may_suspend(die);
            // An operation that is nearly done by now is let finish; the end of it asks again.
            if !wanted || self.dies[die.index()].suspend(&self.rules, now).is_err() {
                self.release(grant);
                return;
            }
            self.measures.flash.suspensions += 1;
            self.witness(|oracles, now| oracles.suspended(die, now));
        }
        let Some((choice, lead)) = self.choose(die) else {
            self.release(grant);
            if self.ready(die) == NOTHING {
                self.kick(die);
            }
            return;
        };
        self.count_transfer(grant, asking);
        let mut operation = Operation::new(self.kind_of(choice.class), choice.class.is_internal(), now, lead);
        if suspends {
            operation.delay = self.timing.suspend;
        }
        self.prepare(lead, asking);
        self.join_planes(die, choice, lead, asking, &mut operation);
        let planes = operation.transactions().len();
        self.measures.flash.multi_plane_operations += u64::from(planes > 1);
        let carried = match operation.kind {
            OperationKind::Program if self.transactions[lead].is_copied => Bytes::ZERO,
            OperationKind::Program => self.with_spare(self.geometry.page_size) * planes as u64,
            OperationKind::Read | OperationKind::Erase | OperationKind::Copyback => Bytes::ZERO,
        };
        let payload = Payload {
            message: Message::commanding(operation.kind),
            planes: planes as u32,
            command: self.timing.command(planes),
            bytes: carried,
        };
        self.dies[die.index()].begin(&self.rules, operation, now).expect("a die that was chosen for accepts");
        self.witness(|oracles, now| oracles.operation_began(die, operation.kind, planes, now));
        self.send(grant, payload);
        if choice.class == Class::UserProgram {
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
        let state = &mut self.dies[grant.die.index()];
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
        let whole_page = transaction.reads_first || transaction.class.is_internal();
        let bytes = if whole_page { self.geometry.page_size } else { transaction.bytes };
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
        self.witness(|oracles, now| oracles.sent(grant, payload, sent, now));
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
    fn choose(&mut self, die: DieId) -> Option<(Choice, TransactionId)> {
        // The die counts as having asked: what goes elsewhere on the same die must not make it resume what it has
        // suspended, or ask for a second path.
        self.asked[die.index()].command = Some(self.now());
        let chosen = self.choose_current(die);
        self.asked[die.index()].command = None;
        chosen
    }

    fn choose_current(&mut self, die: DieId) -> Option<(Choice, TransactionId)> {
        loop {
            let ready = self.ready(die);
            if ready == NOTHING {
                return None;
            }
            let collection_first = self.collection_first(die);
            let waiting =
                Waiting::new(self.queue.now(), die, &self.queues, &self.transactions, ready, collection_first);
            let choice = self.scheduler.choose(&waiting)?;
            let lead = self.queues.pop(&mut self.transactions, die, choice.class, choice.plane)?;
            if self.is_current(lead) {
                return Some((choice, lead));
            }
            self.reroute(lead);
        }
    }

    fn kind_of(&self, class: Class) -> OperationKind {
        match class {
            Class::UserRead | Class::CollectRead => OperationKind::Read,
            Class::CollectProgram if self.config.gc.copyback => OperationKind::Copyback,
            Class::UserProgram | Class::CollectProgram => OperationKind::Program,
            Class::Erase => OperationKind::Erase,
        }
    }

    /// Whether the page that a transaction reads or moves still is where it was when it was queued.
    fn is_current(&self, id: TransactionId) -> bool {
        let transaction = &self.transactions[id];
        match transaction.class {
            Class::UserRead | Class::CollectRead | Class::CollectProgram => {
                self.ftl.lookup(transaction.lpn) == Some(transaction.from)
            }
            Class::UserProgram | Class::Erase => true,
        }
    }

    /// Sends a transaction whose page has moved, or was forgotten, where it has to go now.
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
        }
        self.enqueue(id);
    }

    /// Accounts for the time a transaction waited, and gives a program its page.
    fn prepare(&mut self, id: TransactionId, asking: Asking) {
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
        let stream = match transaction.class {
            Class::UserProgram => Stream::Host,
            Class::CollectProgram if transaction.is_copied => Stream::Arrival,
            Class::CollectProgram => Stream::Collection,
            Class::UserRead | Class::CollectRead | Class::Erase => return,
        };
        transaction.to = self
            .ftl
            .allocate(transaction.plane, stream)
            .expect("the host's programs wait for a free page, collection has its reserve, and arrivals are let in with a place");
    }

    /// Lets other planes of the die join the operation, each with at most one transaction.
    fn join_planes(
        &mut self,
        die: DieId,
        choice: Choice,
        lead: TransactionId,
        asking: Asking,
        operation: &mut Operation,
    ) {
        let class = choice.class;
        let mut others = self.queues.masks(die)[class.index()] & !(1 << choice.plane);
        if others == 0 || operation.kind == OperationKind::Copyback {
            return;
        }
        let rule = self.config.flash.multi_plane;
        let lead_at = self.place_of(lead);
        while others != 0 {
            let plane = others.trailing_zeros() as usize;
            others &= others - 1;
            let plane_id = PlaneId(self.geometry.first_plane(die).0 + plane as u32);
            let joins = match class {
                Class::UserRead | Class::CollectRead => {
                    let (ftl, geometry) = (&self.ftl, &self.geometry);
                    self.queues.take_first(
                        &mut self.transactions,
                        (die, class, plane),
                        self.config.schedule.lookahead,
                        |other| {
                            let (block, page) = (geometry.block_of(other.from), geometry.page_in_block(other.from));
                            let at = InPlane { block: block.0 % geometry.blocks_per_plane, page };
                            may_join(rule, lead_at, at) && ftl.lookup(other.lpn) == Some(other.from)
                        },
                    )
                }
                Class::UserProgram | Class::CollectProgram => {
                    // The data comes over the path for all of them or for none.
                    let is_copied = self.transactions[lead].is_copied;
                    let stream = match class {
                        Class::UserProgram => Stream::Host,
                        _ if is_copied => Stream::Arrival,
                        _ => Stream::Collection,
                    };
                    let next = self.ftl.next_page_offset(plane_id, stream);
                    let fits = next.is_some_and(|(block, page)| {
                        let at = InPlane { block: block.0 % self.geometry.blocks_per_plane, page };
                        may_join(rule, lead_at, at)
                    });
                    let head = self.queues.head(die, class, plane).filter(|&head| {
                        fits && self.transactions[head].is_copied == is_copied && self.is_current(head)
                    });
                    head.and_then(|_| self.queues.pop(&mut self.transactions, die, class, plane))
                }
                Class::Erase => {
                    let fits = |head: &TransactionId| may_join(rule, lead_at, self.place_of(*head));
                    let head = self.queues.head(die, class, plane).filter(fits);
                    head.and_then(|_| self.queues.pop(&mut self.transactions, die, class, plane))
                }
            };
            if let Some(id) = joins {
                self.prepare(id, asking);
                operation.join(id);
            }
        }
    }

    /// Where in its plane a transaction works: the page it reads or programs, or the block it erases.
    fn place_of(&self, id: TransactionId) -> InPlane {
        let transaction = &self.transactions[id];
        let ppn: Ppn = match transaction.class {
            Class::UserProgram | Class::CollectProgram => transaction.to,
            Class::UserRead | Class::CollectRead | Class::Erase => transaction.from,
        };
        let block = self.geometry.block_of(ppn).0 % self.geometry.blocks_per_plane;
        let page = if transaction.class == Class::Erase { 0 } else { self.geometry.page_in_block(ppn) };
        InPlane { block, page }
    }
}
