//! A path is granted: what the die runs is decided only now (late binding).

use crate::config::EraseOrder;
use crate::fabric::{Cause, Causes, Fabric, Grant, Granted, TransferPhase};
use crate::flash::die::DieRules;
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::queues::{NOTHING, PlaneMasks};
use crate::schedule::transaction::{Class, Priority};
use crate::schedule::{Choice, Decision, DieStates, Scheduler, Waiting};
use crate::units::Time;

use super::issue::has_awaited_read;
use super::path::PathGrant;
use super::{Beginning, Datapath, DieUnit, PageSource};

/// What follows from a path that was granted.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// What the die does with it is on its way.
    Done,
    /// Nothing is to be sent: [`Datapath::try_issue`] follows for the die, which may want something else.
    Look(DieId),
    /// The page of the transaction that was to lead has moved, or was forgotten, or its allocator has changed its mind: it is sent
    /// elsewhere, then [`Datapath::choose_again`] follows.
    Moved(Choosing),
    /// An operation of programs begins: each of them gets a page, and then [`Datapath::begin`] follows.
    Programs(Beginning),
    /// The first read of a Clean is on its way, with the list of the pages that are valid.
    Listed(TransactionId),
}

/// A choice that goes on once `moved` has been sent elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Choosing {
    pub moved: TransactionId,
    granted: GrantedPath,
}

/// A path for a command, and whether something is suspended for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct GrantedPath {
    pub grant: Grant,
    pub path: PathGrant,
    pub suspends: bool,
}

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
    /// A path was granted.
    #[inline(always)]
    pub fn granted<S: PageSource<M>>(&mut self, granted: Granted, source: &S, kernel: &mut Kernel<M>) -> Next {
        let grant = granted.grant;
        let has_siblings = self.arrivals.has_siblings();
        let request = &mut self.units[grant.die].path;
        let mut path = request.granted(&granted);
        let is_exclusive = self.interconnect.fabric.has_exclusive_paths();
        // With siblings and exclusive paths the transaction that occupies the path decides.
        let is_by_another = if is_exclusive { !has_siblings } else { !request.behind_itself[grant.phase.index()] };
        if path.waited() > Time::ZERO {
            path.wait.causes = self.causes(&granted, is_by_another);
            let (causes, waited) = (path.wait.causes, path.waited());
            kernel.tell(|| Notice::PathBlocked(grant, causes, waited));
        }
        kernel.tell(|| Notice::PathGranted(grant));
        if self.dispatches() && grant.phase == TransferPhase::Command {
            self.scheduling.candidates.changed();
        }
        // In each arm the phase is a constant, on which much of the sending hangs; only full drives copy.
        match grant.phase {
            TransferPhase::Command => {
                self.start_operation(Grant { phase: TransferPhase::Command, ..grant }, path, source, kernel)
            }
            TransferPhase::Copy if M::ALL_FEATURES => {
                self.send_data(grant, path, kernel);
                Next::Done
            }
            TransferPhase::DataOut | TransferPhase::Copy => {
                self.send_data(Grant { phase: TransferPhase::DataOut, ..grant }, path, kernel);
                Next::Done
            }
        }
    }

    /// What was in the way of a path that had to be waited for.
    #[inline]
    fn causes(&self, granted: &Granted, is_by_another: bool) -> Causes {
        let Granted { grant, cause, .. } = *granted;
        let mut causes = Causes::default();
        match self.interconnect.fabric.waited_for(grant) {
            None => causes.insert(cause),
            Some(waits) => {
                Cause::ALL
                    .into_iter()
                    .filter(|cause| waits[cause.index()] > Time::ZERO)
                    .for_each(|it| causes.insert(it));
            }
        }
        if is_by_another {
            causes.insert_another();
        }
        causes
    }

    /// The die takes what its scheduler chooses now.
    #[inline(always)]
    fn start_operation<S: PageSource<M>>(
        &mut self,
        grant: Grant,
        path: PathGrant,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Next {
        let asker = grant.die;
        if !M::ALL_FEATURES {
            let granted = GrantedPath { grant, path, suspends: false };
            return match self.queues.masks(asker).only(Class::UserRead) {
                Some(plane) => self.start_only(asker, plane, granted, source, kernel),
                None => self.start_any(asker, granted, source, kernel),
            };
        }
        if self.rules.first_goes
            && let Some(plane) = self.queues.masks(asker).only(Class::UserRead)
            && self.units[asker].state.is_free(&self.rules.die)
        {
            return self.start_only(asker, plane, GrantedPath { grant, path, suspends: false }, source, kernel);
        }
        // A die that may only suspend what it works on; where dies take turns, none while the chip is free.
        if self.rules.suspends_chips {
            return self.start_on_chip(grant, path, source, kernel);
        }
        let busy = self.taker(asker).filter(|&die| !self.units[die].state.accepts(&self.rules.die));
        if let Some(die) = busy
            && !self.suspend(die, source, kernel)
        {
            self.release(grant, kernel);
            return Next::Done;
        }
        let granted = GrantedPath { grant, path, suspends: busy.is_some() };
        self.start_on(asker, granted, source, kernel)
    }

    /// Nothing waits for a die but reads of requests of one plane: there is nothing to choose, and nobody joins.
    #[inline(always)]
    fn start_only<S: PageSource<M>>(
        &mut self,
        die: DieId,
        plane: u8,
        mut granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Next {
        let class = Class::UserRead;
        let lead = self.queues.pop_only(&mut self.transactions, die, class, plane);
        if !self.is_settled(lead, source) {
            self.units[die].path.ask_command(kernel.now());
            return self.moved(lead, granted, kernel);
        }
        self.attribute_wait(lead, granted.grant, &mut granted.path, kernel.now());
        self.count_transfer(granted.grant, granted.path);
        self.taken(lead, die, granted.path, kernel);
        let queue = Choice { die, class, plane, priority: Priority::Medium };
        self.begin(Beginning::of(queue, lead, granted, 0), kernel);
        Next::Done
    }

    /// Out of line, beside what reads alone need.
    #[inline(never)]
    fn start_any<S: PageSource<M>>(
        &mut self,
        die: DieId,
        granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Next {
        self.start_on(die, granted, source, kernel)
    }

    /// The die that asked, or one of the dies that it speaks for, takes what its scheduler chooses now.
    #[inline(always)]
    pub(super) fn start_on<S: PageSource<M>>(
        &mut self,
        asker: DieId,
        granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Next {
        match self.choose_first(asker, source, kernel) {
            Some((_, lead)) if !self.is_settled(lead, source) => {
                // The die counts as having asked: what goes elsewhere on the same die must not make it resume what it has
                // suspended, or ask for a second path.
                self.units[asker].path.ask_command(kernel.now());
                self.moved(lead, granted, kernel)
            }
            chosen => self.begin_chosen(chosen, granted, source, kernel),
        }
    }

    #[inline(never)]
    fn moved(&mut self, moved: TransactionId, granted: GrantedPath, kernel: &mut Kernel<M>) -> Next {
        self.count_left(moved);
        self.tell_rerouted(moved, kernel);
        Next::Moved(Choosing { moved, granted })
    }

    /// Chooses again, after what was to lead the next operation has been sent elsewhere.
    #[inline(never)]
    pub fn choose_again<S: PageSource<M>>(&mut self, choosing: Choosing, source: &S, kernel: &mut Kernel<M>) -> Next {
        let granted = choosing.granted;
        let asker = granted.grant.die;
        match self.choose_first(asker, source, kernel) {
            Some((_, lead)) if !self.is_settled(lead, source) => self.moved(lead, granted, kernel),
            chosen => {
                self.units[asker].path.forget_command();
                self.begin_chosen(chosen, granted, source, kernel)
            }
        }
    }

    /// The die begins what was chosen, or gives its path back.
    #[inline(always)]
    fn begin_chosen<S: PageSource<M>>(
        &mut self,
        chosen: Option<(Choice, TransactionId)>,
        mut granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Next {
        let Some((queue, lead)) = chosen else {
            let asker = granted.grant.die;
            self.release(granted.grant, kernel);
            let (first, count) = self.takers(asker);
            let has_nothing = (first.0..first.0 + count).all(|die| self.ready(DieId(die), source) == NOTHING);
            return if has_nothing { Next::Look(asker) } else { Next::Done };
        };
        self.attribute_wait(lead, granted.grant, &mut granted.path, kernel.now());
        // Compiled apart for reads of requests: much of what follows depends on the class, and most operations are of this one.
        match queue.class {
            Class::UserRead => {
                let queue = Choice { class: Class::UserRead, ..queue };
                match self.take_lead(queue, lead, granted, source, kernel) {
                    // Built in either arm: one that others may join is kept in memory.
                    0 => self.begin(Beginning::of(queue, lead, granted, 0), kernel),
                    others => self.begin_joined(Beginning::of(queue, lead, granted, others), source, kernel),
                }
                Next::Done
            }
            class if class.is_program() => Next::Programs(self.lead(queue, lead, granted, source, kernel)),
            _ => self.begin_other(queue, lead, granted, source, kernel),
        }
    }

    /// Sets aside what a die works on, for a read; `false` when there is none any more, or the operation is nearly done by now: it is let
    /// finish, and the end of it asks again.
    #[inline(never)]
    fn suspend<S: PageSource<M>>(&mut self, die: DieId, source: &S, kernel: &mut Kernel<M>) -> bool {
        let wanted = has_awaited_read(&self.queues.masks(die)) && self.may_suspend(die, source, kernel);
        if !wanted || self.units[die].state.suspend(&self.rules.die, kernel.now()).is_err() {
            return false;
        }
        self.counters.suspensions += 1;
        kernel.tell(|| Notice::Suspended(die));
        true
    }

    /// Whether a transaction runs where it waited: the page that it reads is still there, or the one that it writes is to go there.
    #[inline(always)]
    fn is_settled<S: PageSource<M>>(&self, lead: TransactionId, source: &S) -> bool {
        let transaction = &self.transactions[lead];
        source.is_current(transaction)
            && (!M::ALL_FEATURES || transaction.class() != Class::UserProgram || source.stays(lead, self))
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
        if self.gathers() && self.has_page(choice.class) {
            return self.take_gathered(choice, lead);
        }
        let lead = match lead {
            Some(lead) if M::ALL_FEATURES && self.has_room(lead, source) => {
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
        transaction.class() != Class::UserProgram
            || source.shares_open_block()
            || self.has_page(transaction.class())
            || source.next_page(transaction).is_some()
    }

    /// Asks the scheduler which transaction goes next on the dies from `first` on, of which `ready` may; whom it lets join is kept in
    /// [`Scheduling::joiners`](super::scheduling::Scheduling::joiners).
    #[inline(always)]
    fn choose_among<S: PageSource<M>>(
        &mut self,
        first: DieId,
        ready: &[PlaneMasks],
        source: &S,
        kernel: &Kernel<M>,
    ) -> Option<Chosen> {
        if ready.iter().all(|ready| *ready == NOTHING) {
            return None;
        }
        if let ([ready], false) = (ready, M::ALL_FEATURES) {
            let collection_first = source.collection_first(first);
            let (queues, transactions) = (&self.queues, &self.transactions);
            let scheduler = &mut self.scheduling.scheduler;
            let choice = scheduler.choose_plain(first, *ready, collection_first, kernel.now(), queues, transactions);
            return Some((choice, None));
        }
        let dies = || (first.0..).map(DieId).take(ready.len());
        let collection_first = dies().any(|die| self.collection_first(die, source));
        // Asked of a policy that may put it off.
        let space_is_out = self.rules.erases == EraseOrder::Last && dies().any(|die| source.collects_for_space(die));
        let now = kernel.now();
        let dies = Units(self.units.values(), &self.rules.die);
        let waiting =
            Waiting::new(now, &dies, first, &self.queues, &self.transactions, ready, collection_first, space_is_out);
        let replica = || waiting.oldest(Class::ReplicaProgram).map(Decision::from);
        let Decision { queue, lead, joiners } = self.scheduling.scheduler.decide(&waiting).or_else(replica)?;
        self.scheduling.joiners = joiners;
        Some((queue, lead))
    }

    /// Asks the scheduler which transaction goes next on the `count` dies from `first` on.
    fn choose_of_chip<S: PageSource<M>>(
        &mut self,
        first: DieId,
        count: u32,
        source: &S,
        kernel: &Kernel<M>,
    ) -> Option<Chosen> {
        let mut ready = std::mem::take(&mut self.scheduling.ready_of_chip);
        ready.clear();
        for die in (first.0..first.0 + count).map(DieId) {
            ready.push(self.ready(die, source));
        }
        let choice = self.choose_among(first, &ready, source, kernel);
        self.scheduling.ready_of_chip = ready;
        choice
    }
}
