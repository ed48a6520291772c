//! Which waiting transaction a die runs next: the seam, and the registry of policies.

pub mod account;
mod decision;
mod dispatch;
pub mod fair;
pub mod fifo;
pub mod fuse;
mod group;
pub mod load;
pub mod out_of_order;
pub mod paq;
mod precedence;
pub mod queues;
pub mod sprinkler;
pub mod transaction;
pub mod weighted_round_robin;
pub mod work;

use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;

use crate::config;
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, TransactionId};
use crate::units::Time;

pub use decision::{Chosen, Decision, Joiners};
pub use dispatch::{DieSet, Dispatch};

use load::Load;
use queues::{DieQueues, PlaneMasks, Transactions, planes};
use transaction::{Class, Priority, Transaction};

/// What dies do now.
pub trait DieStates {
    /// Whether a die may take an operation.
    fn accepts(&self, die: DieId) -> bool;

    /// Whether nothing goes on in a die.
    fn is_idle(&self, die: DieId) -> bool;

    /// Transactions that a die works on, or whose data it holds.
    fn working(&self, die: DieId) -> usize;

    /// Whether a die waits for a path for its next command.
    fn asks(&self, die: DieId) -> bool;

    /// Whether a die moves something over the interconnect, or waits for a path to do so.
    fn uses_path(&self, die: DieId) -> bool;
}

/// What a policy sees: the die that may take an operation, or all dies of a chip that takes one at a time, and around them the queues and
/// the state of every die of the drive.
pub struct Waiting<'a> {
    now: Time,
    dies: &'a dyn DieStates,
    first: DieId,
    queues: &'a DieQueues,
    transactions: &'a Transactions,
    ready: &'a [PlaneMasks],
    collection_first: bool,
    space_is_out: bool,
}

impl<'a> Waiting<'a> {
    /// The view of the dies from `first` on, among all `dies` of the drive. `ready` says, for each of them, which planes have a transaction that may run now,
    /// for each class; `collection_first` whether garbage collection goes before user requests, `space_is_out` whether it has to, whatever
    /// the policy says: writes find no page, or will not soon.
    #[inline]
    #[allow(clippy::too_many_arguments, reason = "it is a view of as many things")]
    pub fn new(
        now: Time,
        dies: &'a dyn DieStates,
        first: DieId,
        queues: &'a DieQueues,
        transactions: &'a Transactions,
        ready: &'a [PlaneMasks],
        collection_first: bool,
        space_is_out: bool,
    ) -> Waiting<'a> {
        Waiting { now, dies, first, queues, transactions, ready, collection_first, space_is_out }
    }

    /// The time of the decision.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The first of the dies that the decision is about.
    #[inline]
    pub fn first_die(&self) -> DieId {
        self.first
    }

    /// The dies that the decision is about.
    pub fn dies(&self) -> impl Iterator<Item = DieId> + use<> {
        (self.first.0..self.first.0 + self.ready.len() as u32).map(DieId)
    }

    /// What each die of the drive does now.
    pub fn states(&self) -> &dyn DieStates {
        self.dies
    }

    /// The queues and states of all dies.
    #[inline]
    pub fn load(&self) -> Load<'a> {
        Load::new(self.dies, self.queues, self.transactions)
    }

    /// Whether garbage collection goes before user requests here and now.
    #[inline]
    pub fn collection_first(&self) -> bool {
        self.collection_first
    }

    /// Whether space is nearly out, so that only collection lets writes go on.
    #[inline]
    pub fn space_is_out(&self) -> bool {
        self.space_is_out
    }

    /// The planes of one of these dies with a transaction of `class` that may run, a bit a plane.
    #[inline]
    pub fn ready_planes(&self, die: DieId, class: Class) -> u8 {
        self.ready[(die.0 - self.first.0) as usize].of(class)
    }

    /// The only queue with transactions of requests that may run, when there is only one: whatever a policy prefers, its first goes.
    #[inline]
    pub fn only_queue(&self) -> Option<Choice> {
        let ([ready], [priority]) = (self.ready, self.queues.priorities()) else { return None };
        let (reads, programs) = (ready.of(Class::UserRead), ready.of(Class::UserProgram));
        let (class, planes) = if programs == 0 { (Class::UserRead, reads) } else { (Class::UserProgram, programs) };
        let is_only = planes.is_power_of_two() && (reads == 0 || programs == 0);
        is_only.then(|| Choice { die: self.first, class, plane: planes.trailing_zeros() as u8, priority: *priority })
    }

    /// Whether a transaction of `class` may run.
    #[inline]
    pub fn is_ready(&self, class: Class) -> bool {
        self.ready.iter().any(|ready| ready.of(class) != 0)
    }

    /// The transactions of `class` that may run: the longest waiting one of each plane, and of each priority where those count.
    #[inline]
    pub fn heads(&self, class: Class) -> impl Iterator<Item = (Choice, &'a Transaction)> + '_ {
        let dies = (self.first.0..).map(DieId).zip(self.ready);
        let queues = dies.flat_map(move |(die, ready)| planes(ready.of(class)).map(move |plane| (die, plane)));
        queues.flat_map(move |(die, plane)| {
            self.queues.priorities().iter().filter_map(move |&priority| {
                let choice = Choice { die, class, plane, priority };
                Some((choice, &self.transactions[self.queues.head(choice)?]))
            })
        })
    }

    /// Calls `see` with the head of each ready queue of `class`, as [`heads`](Waiting::heads) gives them. Loops take a small part of the time of
    /// iterators over dies, planes and priorities.
    #[inline(always)]
    pub(crate) fn each_head(&self, class: Class, mut see: impl FnMut(Choice, &'a Transaction)) {
        self.each_queue(class, |queue| {
            if let Some(head) = self.queues.head(queue) {
                see(queue, &self.transactions[head]);
            }
        });
    }

    /// Calls `see` with each transaction in the ready queues of `class`, in queue order.
    #[inline(always)]
    pub(crate) fn each_queued(&self, class: Class, mut see: impl FnMut(Choice, TransactionId, &'a Transaction)) {
        self.each_queue(class, |queue| {
            self.queues.queued(queue).for_each(|id| see(queue, id, &self.transactions[id]));
        });
    }

    /// Calls `see` with each queue of `class` in a ready plane; it may be empty where priorities count.
    #[inline(always)]
    fn each_queue(&self, class: Class, mut see: impl FnMut(Choice)) {
        for (die, ready) in (self.first.0..).map(DieId).zip(self.ready) {
            let mut left = ready.of(class);
            while left != 0 {
                let plane = left.trailing_zeros() as u8;
                left &= left - 1;
                for &priority in self.queues.priorities() {
                    see(Choice { die, class, plane, priority });
                }
            }
        }
    }

    /// The transaction of some classes that waits longest, of those that `may` lead.
    #[inline(always)]
    pub(crate) fn oldest_of(&self, classes: &[Class], may: impl Fn(Choice) -> bool) -> Option<Choice> {
        let mut oldest = (u64::MAX, None);
        for &class in classes {
            self.each_head(class, |choice, head| {
                if may(choice) && head.order < oldest.0 {
                    oldest = (head.order, Some(choice));
                }
            });
        }
        oldest.1
    }

    /// The transaction of `class` that waits longest.
    #[inline]
    pub fn oldest(&self, class: Class) -> Option<Choice> {
        if let ([ready], [priority]) = (self.ready, self.queues.priorities()) {
            let mask = ready.of(class);
            if mask != 0 && mask & (mask - 1) == 0 {
                let plane = mask.trailing_zeros() as u8;
                return Some(Choice { die: self.first, class, plane, priority: *priority });
            }
        }
        self.oldest_of(&[class], |_| true)
    }
}

/// The queue whose first transaction leads the next operation; so small that it is returned in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The die.
    pub die: DieId,
    /// Its class.
    pub class: Class,
    /// The plane in the die.
    pub plane: u8,
    /// Its priority; the default one where priorities do not count.
    pub priority: Priority,
}

/// A scheduling policy.
///
/// # Contract
/// - Asked when a die, or one of the dies of a chip, may take an operation and its path has been granted. The answer is one of the choices that
///   [`Waiting`] offers, or `None` to leave the die idle until something new arrives for it.
/// - A policy that also chooses within a queue, or who joins, answers [`decide`](Scheduler::decide); others answer
///   [`choose`](Scheduler::choose) and leave the rest to the rules.
/// - It sees the queues and states of all dies of the drive, and changes none of them.
/// - It never leaves a die idle for good while user requests are ready.
/// - A die asks for a path as soon as it may begin something, and the interconnect says who comes first. A policy that
///   [`dispatches`](Scheduler::dispatches) says it instead: a die asks only when [`next_die`](Scheduler::next_die) names it. It is asked
///   after an event through which a die became a candidate or got its path, until it names none. It must not name none while nothing goes on
///   in the drive.
/// - It need not know [`Class::ReplicaProgram`]: where it answers `None`, a replica that waits is programmed.
/// - It is deterministic: the same calls in the same order give the same answers.
///
/// The chosen transaction leads; [`fuse`] then lets other planes join it in a multi-plane operation.
#[enum_dispatch]
#[auto_impl(Box)]
pub trait Scheduler {
    /// The queue whose first transaction leads the next operation.
    fn choose(&mut self, waiting: &Waiting<'_>) -> Option<Choice>;

    /// Which transaction leads the next operation, from anywhere in its queue, and which join it.
    #[inline]
    fn decide(&mut self, waiting: &Waiting<'_>) -> Option<Decision> {
        self.choose(waiting).map(Decision::from)
    }

    /// Whether the first of the only queue in which anything waits for a die always goes, so that it need not be asked: its state does not depend on
    /// such choices, nor they on what waits behind the first.
    fn takes_only_queue(&self) -> bool {
        false
    }

    /// Whether it names the dies that ask for paths.
    fn dispatches(&self) -> bool {
        false
    }

    /// The die that asks for a path next, one of the [candidates](Dispatch::candidates); `None` to let them wait for the next event. Only
    /// where it [`dispatches`](Scheduler::dispatches).
    fn next_die(&mut self, dispatch: &Dispatch<'_>) -> Option<DieId> {
        dispatch.candidates().iter().next()
    }

    /// The queue of the die changed. Called only where it [`dispatches`](Scheduler::dispatches).
    fn queue_changed(&mut self, _die: DieId) {}
}

impl Clone for Box<dyn Scheduler + Send> {
    /// Drives that are copied have no scheduler of the caller's own.
    fn clone(&self) -> Self {
        unreachable!("a drive with a scheduler of the caller's own is not copied")
    }
}

#[enum_dispatch(Scheduler)]
#[allow(missing_docs, reason = "each implementation carries its documentation")]
#[derive(Clone)]
pub enum AnyScheduler {
    OutOfOrder(out_of_order::OutOfOrder),
    Fifo(fifo::Fifo),
    Sprinkler(sprinkler::Sprinkler),
    Paq(paq::Paq),
    Fair(fair::Fair),
    /// A policy of the caller, which has no name in the configuration.
    Custom(Box<dyn Scheduler + Send>),
}

impl AnyScheduler {
    /// The choice of the default policy with its default options for one die, on which the planes in `ready` have something to run: compiled
    /// into plain drives, which have no priorities.
    #[inline(always)]
    pub fn choose_plain(
        &mut self,
        die: DieId,
        ready: PlaneMasks,
        collection_first: bool,
        now: Time,
        queues: &DieQueues,
        transactions: &Transactions,
    ) -> Choice {
        let mut class = out_of_order::choose_plain(ready, collection_first);
        if class == Class::UserRead && ready.of(Class::UserProgram) != 0 {
            class = self.late_plain(die, ready, now, queues, transactions);
        }
        let planes = ready.of(class);
        let plane = if planes.is_power_of_two() {
            planes.trailing_zeros() as u8
        } else {
            queues.oldest(transactions, die, class, planes)
        };
        Choice { die, class, plane, priority: Priority::Medium }
    }

    #[inline(never)]
    fn late_plain(
        &mut self,
        die: DieId,
        ready: PlaneMasks,
        now: Time,
        queues: &DieQueues,
        transactions: &Transactions,
    ) -> Class {
        let AnyScheduler::OutOfOrder(policy) = self else { unreachable!("plain drives have the default policy") };
        policy.late_plain(die, ready, now, queues, transactions)
    }

    /// Builds the policy that `config` names.
    pub fn new(config: &config::Config, geometry: &Geometry) -> AnyScheduler {
        let schedule = &config.schedule;
        match config.schedule_policy() {
            config::SchedulePolicy::OutOfOrder => {
                AnyScheduler::OutOfOrder(out_of_order::OutOfOrder::new(schedule, geometry.dies()))
            }
            config::SchedulePolicy::Fifo => AnyScheduler::Fifo(fifo::Fifo),
            config::SchedulePolicy::Sprinkler => AnyScheduler::Sprinkler(sprinkler::Sprinkler::new(config, geometry)),
            config::SchedulePolicy::Paq => AnyScheduler::Paq(paq::Paq::new(config, geometry)),
            config::SchedulePolicy::Fair => AnyScheduler::Fair(fair::Fair::new(config, geometry)),
        }
    }
}
