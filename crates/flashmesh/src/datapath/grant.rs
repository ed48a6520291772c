//! A path is granted: what the die runs is decided only now (late binding).

use crate::config::EraseOrder;
use crate::fabric::{Cause, Causes, Fabric, Grant, Granted, Message, Payload, TransferPhase};
use crate::flash::die::{DieRules, Operation, OperationKind};
use crate::ids::{DieId, PlaneId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::account::PathWait;
use crate::schedule::queues::{NOTHING, PlaneMasks};
use crate::schedule::transaction::{Class, Transaction};
use crate::schedule::{AnyScheduler, Choice, Decision, DieStates, Scheduler, Waiting};
use crate::units::{Bytes, Time};

use super::issue::has_awaited_read;
use super::path::PathGrant;
use super::{Datapath, DieUnit, PageSource};

/// The die whose operation programs pages of the host, or of the map, which it took as the operation began.
pub type Started = Option<DieId>;

/// The queue that goes next, and which of its transactions leads, when that is not the first.
pub(super) type Chosen = (Choice, Option<TransactionId>);

/// The dies as policies see them.
pub struct Units<'a>(pub(super) &'a [DieUnit], pub(super) &'a DieRules);

impl DieStates for Units<'_> {
    fn accepts(&self, die: DieId) -> bool {
        self.0[die.index()].state.accepts(self.1)
    }

    fn is_idle(&self, die: DieId) -> bool {
        self.0[die.index()].state.is_idle()
    }

    fn working(&self, die: DieId) -> usize {
        self.0[die.index()].state.outstanding()
    }

    fn asks(&self, die: DieId) -> bool {
        self.0[die.index()].path.wants_command()
    }

    fn uses_path(&self, die: DieId) -> bool {
        let DieUnit { state, path, .. } = &self.0[die.index()];
        path.wants_command() || path.wants_data() || state.is_moving()
    }
}

impl<M: Model> Datapath<M> {
    /// A path was granted. Gives the operation that began with it when that took pages of its planes for the host, or the map.
    #[inline]
    pub fn granted<S: PageSource<M>>(&mut self, granted: Granted, source: &mut S, kernel: &mut Kernel<M>) -> Started {
        let grant = granted.grant;
        let mut path = self.units[grant.die.index()].path.granted(&granted);
        if path.waited() > Time::ZERO {
            path.wait.causes = self.causes(&granted);
            let (causes, waited) = (path.wait.causes, path.waited());
            kernel.tell(|| Notice::PathBlocked(grant, causes, waited));
        }
        kernel.tell(|| Notice::PathGranted(grant));
        if self.dispatches() && grant.phase == TransferPhase::Command {
            self.candidates.changed();
        }
        match grant.phase {
            TransferPhase::Command => self.start_operation(grant, path, source, kernel),
            TransferPhase::DataOut | TransferPhase::Copy => {
                self.send_data(grant, path, kernel);
                None
            }
        }
    }

    /// What was in the way of a path that had to be waited for.
    #[inline]
    fn causes(&self, granted: &Granted) -> Causes {
        let Granted { grant, cause, .. } = *granted;
        let mut causes = Causes::default();
        match self.fabric.waited_for(grant) {
            None => causes.insert(cause),
            Some(waits) => {
                Cause::ALL
                    .into_iter()
                    .filter(|cause| waits[cause.index()] > Time::ZERO)
                    .for_each(|it| causes.insert(it));
            }
        }
        if !self.units[grant.die.index()].path.behind_itself[grant.phase.index()] {
            causes.insert_another();
        }
        causes
    }

    /// Counts a path that had to be waited for under each cause, with the time of that.
    #[inline]
    fn count_conflict(&mut self, grant: Grant, path: PathGrant) {
        match self.fabric.waited_for(grant) {
            None => self.counters.conflicts.count(path.cause, path.waited()),
            Some(waits) => self.count_conflicts(path, waits),
        }
    }

    #[inline(never)]
    fn count_conflicts(&mut self, path: PathGrant, waits: [Time; Cause::ALL.len()]) {
        // A die that asked while it was busy has waited for its path only since it was done: the last causes count.
        let mut left = path.waited();
        for cause in Cause::ALL.into_iter().rev().filter(|cause| path.wait.causes.contains(*cause)) {
            let waited = left.min(waits[cause.index()]);
            left -= waited;
            self.counters.conflicts.count(cause, waited);
        }
    }

    #[inline]
    fn count_transfer(&mut self, grant: Grant, path: PathGrant) {
        self.counters.transfers += 1;
        if path.waited() > Time::ZERO {
            self.count_conflict(grant, path);
        } else {
            self.counters.transfers_free += 1;
        }
    }

    /// The die takes what its scheduler chooses now.
    #[inline]
    fn start_operation<S: PageSource<M>>(
        &mut self,
        grant: Grant,
        path: PathGrant,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) -> Started {
        let now = kernel.now();
        let asker = grant.die;
        // A die that may only suspend what it works on; where dies take turns, none while the chip is free.
        let busy = if M::FULL {
            self.taker(asker).filter(|die| !self.units[die.index()].state.accepts(&self.rules.die))
        } else {
            None
        };
        if let Some(die) = busy
            && !self.suspend(die, source, kernel)
        {
            self.release(grant, kernel);
            return None;
        }
        let Some((choice, lead)) = self.choose(asker, source, kernel) else {
            self.release(grant, kernel);
            let (first, count) = self.takers(asker);
            if (first.0..first.0 + count).all(|die| self.ready(DieId(die), source) == NOTHING) {
                self.try_issue(asker, source, kernel);
            }
            return None;
        };
        let die = choice.die;
        self.count_transfer(grant, path);
        let waiting = self.queues.masks(die);
        self.count_overdue(choice, waiting, lead, now);
        self.prepare(lead, die, path, source, kernel);
        let kind = self.kind_of(choice.class);
        let mut operation = Operation::new(kind, choice.class.is_internal(), now, lead);
        operation.pages = self.pages_of(lead);
        operation.array_time = self.timing.array(kind, operation.pages);
        if busy.is_some() {
            operation.array_time += self.timing.suspend;
        }
        self.units[die.index()]
            .state
            .begin(&self.rules.die, operation, now)
            .expect("a die that was chosen for accepts");
        let mut bytes = Bytes::ZERO;
        if M::FULL && self.transactions[lead].is_cleaned {
            let pages = source.clean_begins(lead, self);
            bytes = self.keep(die, pages);
        } else {
            self.join_planes(choice, waiting, lead, path, source, kernel);
        }
        let planes = self.units[die.index()].state.operation().transactions().len();
        self.counters.multi_plane_operations += u64::from(planes > 1);
        let payload = Payload {
            message: Message::commanding(kind),
            planes: planes as u32,
            command: self.timing.command(kind, planes),
            bytes: bytes + self.data_of(die),
        };
        if self.dispatches() {
            self.scheduler.queue_changed(die);
        }
        if M::FULL && self.rules.dies_start_together && self.rules.tracks_idle {
            // None of them begins anything before all are done.
            self.dies_of_chip(die).for_each(|die| self.idle.set(die, false));
        }
        kernel.tell(|| Notice::OperationBegan(die, kind, planes));
        self.send(grant, path, payload, kernel);
        Class::WAITING_PROGRAMS.contains(&choice.class).then_some(die)
    }

    /// Counts what goes before requests of the other kind since it has waited too long; `waiting` is what waits for the die beside it.
    #[inline(always)]
    fn count_overdue(&mut self, queue: Choice, waiting: PlaneMasks, lead: TransactionId, now: Time) {
        let other = match queue.class {
            Class::UserRead => Class::UserProgram,
            Class::UserProgram => Class::UserRead,
            _ => return,
        };
        let is_contested = waiting.of(other) != 0;
        if is_contested && now - self.transactions[lead].account.queued() >= self.rules.age_bound {
            match queue.class {
                Class::UserRead => self.counters.overdue_reads += 1,
                _ => self.counters.overdue_programs += 1,
            }
        }
    }

    /// Sets aside what a die works on, for a read; `false` when there is none any more, or the operation is nearly done by now: it is let
    /// finish, and the end of it asks again.
    #[inline(never)]
    fn suspend<S: PageSource<M>>(&mut self, die: DieId, source: &S, kernel: &mut Kernel<M>) -> bool {
        let wanted = has_awaited_read(&self.queues.masks(die)) && self.may_suspend(die, source, kernel);
        if !wanted || self.units[die.index()].state.suspend(&self.rules.die, kernel.now()).is_err() {
            return false;
        }
        self.counters.suspensions += 1;
        kernel.tell(|| Notice::Suspended(die));
        true
    }

    /// The data that goes with the command of the operation that begins on a die.
    #[inline]
    fn data_of(&self, die: DieId) -> Bytes {
        let operation = self.units[die.index()].state.operation();
        let (transactions, programs) = (operation.transactions(), operation.kind == OperationKind::Program);
        if M::FULL && programs && self.transactions[transactions[0]].is_copied {
            return Bytes::ZERO;
        }
        if self.rules.partial_program && programs {
            return transactions.iter().map(|&id| self.with_spare(self.transactions[id].bytes)).sum();
        }
        // A product instead of a branch, which would often be mispredicted.
        self.with_spare(self.geometry.page_size) * (transactions.len() as u64 * u64::from(programs))
    }

    /// The plane of the transaction at a place in the operation of a die, when the operation has so many.
    #[inline]
    pub fn plane_at_work(&self, die: DieId, place: usize) -> Option<PlaneId> {
        let id = *self.units[die.index()].state.operation().transactions().get(place)?;
        Some(self.transactions[id].plane)
    }

    /// The data of the next plane leaves the register.
    #[inline(always)]
    fn send_data(&mut self, grant: Grant, path: PathGrant, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        self.count_transfer(grant, path);
        let die = self.die_of(grant);
        let unit = &mut self.units[die.index()];
        let id = unit.state.outgoing().expect("a die asks only with data in its register");
        let (since, waited_before) =
            unit.state.count_path_wait(path.waited()).expect("a die asks only with data in its register");
        let request =
            if M::FULL && die != grant.die { &mut self.units[grant.die.index()].path } else { &mut unit.path };
        if waited_before == Time::ZERO {
            request.causes = Causes::default();
        }
        if path.waited() > Time::ZERO {
            request.causes.join(path.wait.causes);
        }
        let causes = request.causes;
        let transaction = &mut self.transactions[id];
        transaction.account.leaves(now, since, waited_before, PathWait { causes, ..path.wait });
        let page = self.geometry.page_size;
        let bytes = match (transaction.class.is_internal(), transaction.is_read_modify_write) {
            (false, false) if M::FULL && transaction.is_whole => page,
            (false, false) => transaction.bytes,
            (false, true) if self.rules.partial_program => page - transaction.bytes,
            _ => page,
        };
        let message = if grant.phase == TransferPhase::Copy { Message::Copy } else { Message::Data };
        let payload = Payload { message, planes: 1, command: Time::ZERO, bytes: self.with_spare(bytes) };
        self.send(grant, path, payload, kernel);
    }

    /// Gives a path back; whoever waits for it may get it.
    #[inline]
    pub fn release(&mut self, grant: Grant, kernel: &mut Kernel<M>) {
        kernel.tell(|| Notice::PathReleased(grant));
        self.fabric.release(grant, kernel.now(), &mut self.outbox);
    }

    #[inline(always)]
    fn send(&mut self, grant: Grant, path: PathGrant, payload: Payload, kernel: &mut Kernel<M>) {
        let sent = self.fabric.send(grant, payload, kernel.now(), &mut self.outbox);
        if kernel.is_probed() {
            let die = self.die_of(grant);
            kernel.tell(|| Notice::Sent(grant, die, payload, sent));
        }
        let request = &mut self.units[grant.die.index()].path;
        request.paths[grant.phase.index()] = grant.path;
        request.least[grant.phase.index()] = sent.least;
        request.waited[grant.phase.index()] = path.waited() > Time::ZERO;
        if let Some(at) = sent.delivered {
            let lane = match grant.phase {
                TransferPhase::Command => lane::COMMAND,
                TransferPhase::DataOut | TransferPhase::Copy => lane::DATA,
            };
            kernel.schedule(lane, at, Event::delivered(grant.phase, grant.die));
        }
    }

    /// Takes the transaction that leads the next operation; those whose page has moved meanwhile go elsewhere.
    #[inline]
    fn choose<S: PageSource<M>>(
        &mut self,
        asker: DieId,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) -> Option<(Choice, TransactionId)> {
        let chosen = self.choose_first(asker, source, kernel)?;
        if self.is_settled(chosen.1, source) {
            return Some(chosen);
        }
        self.choose_another(asker, chosen.1, source, kernel)
    }

    /// The page of `moved`, which was to lead the next operation, has moved, or was forgotten, or its allocator has changed its mind: it goes
    /// elsewhere, and another one leads.
    #[inline(never)]
    fn choose_another<S: PageSource<M>>(
        &mut self,
        asker: DieId,
        mut moved: TransactionId,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) -> Option<(Choice, TransactionId)> {
        // The die counts as having asked: what goes elsewhere on the same die must not make it resume what it has
        // suspended, or ask for a second path.
        self.units[asker.index()].path.ask_command(kernel.now());
        let chosen = loop {
            if M::MEASURES {
                self.tell_left(moved, kernel);
            }
            let Transaction { class, request, plane, .. } = self.transactions[moved];
            let die = self.geometry.die_of_plane(plane);
            kernel.tell(|| Notice::Rerouted(die, class, request));
            source.reroute(moved, self, kernel);
            let chosen = self.choose_first(asker, source, kernel);
            match chosen {
                Some((_, lead)) if !self.is_settled(lead, source) => moved = lead,
                _ => break chosen,
            }
        };
        self.units[asker.index()].path.forget_command();
        chosen
    }

    /// Whether a transaction runs where it waited: the page that it reads is still there, or the one that it writes is to go there.
    #[inline(always)]
    fn is_settled<S: PageSource<M>>(&self, lead: TransactionId, source: &S) -> bool {
        let transaction = &self.transactions[lead];
        source.is_current(transaction)
            && (!M::FULL || transaction.class != Class::UserProgram || source.stays(lead, self))
    }

    /// Takes what the scheduler chooses, wherever its page is.
    #[inline(always)]
    fn choose_first<S: PageSource<M>>(
        &mut self,
        asker: DieId,
        source: &S,
        kernel: &Kernel<M>,
    ) -> Option<(Choice, TransactionId)> {
        let (choice, lead) = match self.takers(asker) {
            (die, 1) => {
                let ready = self.ready(die, source);
                self.choose_among(die, &[ready], source, kernel)
            }
            (first, count) => self.choose_of_chip(first, count, source, kernel),
        }?;
        let lead = match lead {
            Some(lead) if M::FULL && self.has_room(lead, source) => {
                let is_there = self.queues.take(&mut self.transactions, choice, lead);
                assert!(is_there, "a policy named a lead that does not wait in the queue it named");
                lead
            }
            _ => self.queues.pop(&mut self.transactions, choice)?,
        };
        Some((choice, lead))
    }

    /// Whether a transaction that a policy took from behind the first of its queue finds a page. Where each stream of the host writes to an open
    /// block of its own, only the first is known to: it leads instead.
    #[inline(never)]
    fn has_room<S: PageSource<M>>(&self, lead: TransactionId, source: &S) -> bool {
        let transaction = &self.transactions[lead];
        transaction.class != Class::UserProgram
            || source.shares_open_block()
            || transaction.has_page
            || source.next_page(transaction).is_some()
    }

    /// Asks the scheduler which transaction goes next on the dies from `first` on, of which `ready` may; whom it lets join is kept in
    /// [`joiners`](Datapath::joiners).
    #[inline(always)]
    pub(super) fn choose_among<S: PageSource<M>>(
        &mut self,
        first: DieId,
        ready: &[PlaneMasks],
        source: &S,
        kernel: &Kernel<M>,
    ) -> Option<Chosen> {
        if ready.iter().all(|ready| *ready == NOTHING) {
            return None;
        }
        if let ([ready], false) = (ready, M::FULL) {
            let collection_first = source.collection_first(first);
            let (queues, transactions, units) = (&self.queues, &self.transactions, &mut self.units);
            let late = (kernel.now(), self.rules.age_bound);
            let choice = AnyScheduler::choose_plain(
                first,
                *ready,
                collection_first,
                late,
                || &mut units[first.index()].yields,
                queues,
                transactions,
            );
            return Some((choice, None));
        }
        let dies = || (first.0..).map(DieId).take(ready.len());
        let collection_first = dies().any(|die| source.collection_first(die));
        // Asked of a policy that may put it off.
        let space_is_out = self.rules.erases == EraseOrder::Last && dies().any(|die| source.collects_for_space(die));
        let now = kernel.now();
        let dies = Units(&self.units, &self.rules.die);
        let waiting =
            Waiting::new(now, &dies, first, &self.queues, &self.transactions, ready, collection_first, space_is_out);
        let replica = || waiting.oldest(Class::ReplicaProgram).map(Decision::from);
        let Decision { queue, lead, joiners } = self.scheduler.decide(&waiting).or_else(replica)?;
        self.joiners = joiners;
        Some((queue, lead))
    }

    #[inline]
    pub(super) fn kind_of(&self, class: Class) -> OperationKind {
        match class {
            Class::MapRead | Class::UserRead | Class::CollectRead => OperationKind::Read,
            Class::CollectProgram if self.rules.copyback => OperationKind::Copyback,
            Class::MapProgram | Class::UserProgram | Class::CollectProgram | Class::ReplicaProgram => {
                OperationKind::Program
            }
            Class::Erase => OperationKind::Erase,
        }
    }

    /// Accounts for the time a transaction waited, and gives a program its page.
    #[inline(always)]
    pub(super) fn prepare<S: PageSource<M>>(
        &mut self,
        id: TransactionId,
        die: DieId,
        path: PathGrant,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) {
        let now = kernel.now();
        let transaction = &mut self.transactions[id];
        transaction.account.taken(now, path.wait, self.units[die.index()].state.internal_busy(now));
        let Transaction { class, has_page, request, .. } = *transaction;
        kernel.tell(|| Notice::Taken(die, class, request));
        if class.is_program() && !(M::PREALLOCATES && has_page) {
            let page = source.allocate(transaction, kernel);
            transaction.to = page.expect(
                "programs of the host and of the map wait for a free page, collection has its reserve, and arrivals are let in with a place",
            );
        }
    }
}
