//! Scheduling: the [`Scheduler`] trait, which chooses the next transaction of a die, and the list of scheduling policies.

mod decision;
mod dispatch;
pub mod load;
pub mod multi_plane;
mod policies;
pub mod queues;
pub mod transaction;

use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;

use crate::config;
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, TransactionId};
use crate::units::Time;

pub use decision::{ChosenJoiners, Decision, Joiners};
pub use dispatch::{DieSet, DispatchView};
pub use policies::{fifo, out_of_order, sprinkler};
pub use transaction::{latency_account, purpose};

use load::LoadView;
use policies::{fair, paq};
use queues::{DieQueues, PlaneMasks, Transactions, planes};
use transaction::{Priority, Transaction, TransactionClass};

/// States of all dies: their operations in progress, and whether they request or use a path.
pub trait DieStates {
    /// Returns whether a die can accept an operation.
    fn accepts(&self, die: DieId) -> bool;

    /// Returns whether a die executes no operation, has no suspended operation, and holds no read data.
    fn is_idle(&self, die: DieId) -> bool;

    /// Returns the number of transactions that a die executes or has suspended, or whose read data it holds.
    fn in_progress(&self, die: DieId) -> usize;

    /// Returns whether a die waits for a path for its next command.
    fn requests_path(&self, die: DieId) -> bool;

    /// Returns whether a die transfers a command or data, or has requested a path.
    fn uses_path(&self, die: DieId) -> bool;
}

/// Input of a scheduling decision: the dies among which an operation is being chosen, and the queues and states of all dies of the drive. The
/// decision is for one die, or for all dies of a chip that executes one operation at a time.
pub struct SchedulerView<'a> {
    now: Time,
    dies: &'a dyn DieStates,
    first: DieId,
    queues: &'a DieQueues,
    transactions: &'a Transactions,
    ready: &'a [PlaneMasks],
    collection_first: bool,
    space_is_out: bool,
}

impl<'a> SchedulerView<'a> {
    /// Creates the view for a decision about the dies from `first` on. `ready` contains, for each of these dies, the planes with a transaction that
    /// may run now, by class. `dies` are the states of all dies of the drive. `collection_first` is whether garbage collection precedes user
    /// requests. `space_is_out` is whether writes find no free page, or soon will not, so that collection must precede them.
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
    ) -> SchedulerView<'a> {
        SchedulerView { now, dies, first, queues, transactions, ready, collection_first, space_is_out }
    }

    /// Returns the time of the decision.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the first of the dies for which an operation is being chosen.
    #[inline]
    pub fn first_die(&self) -> DieId {
        self.first
    }

    /// Returns the dies for which an operation is being chosen.
    pub fn dies(&self) -> impl Iterator<Item = DieId> + use<> {
        (self.first.0..self.first.0 + self.ready.len() as u32).map(DieId)
    }

    /// Returns the states of all dies of the drive: their operations in progress, and whether they request or use a path.
    pub fn states(&self) -> &dyn DieStates {
        self.dies
    }

    /// Returns the queues and states of all dies.
    #[inline]
    pub fn load(&self) -> LoadView<'a> {
        LoadView::new(self.dies, self.queues, self.transactions)
    }

    /// Returns whether garbage collection precedes user requests in this decision.
    #[inline]
    pub fn collection_first(&self) -> bool {
        self.collection_first
    }

    /// Returns whether one of the dies in this decision must collect garbage before it can take more writes: it is nearly out of free pages, or
    /// writes wait for a fold of the SLC cache. Not computed for schedulers that never defer erases: always `false`.
    #[inline]
    pub fn space_is_out(&self) -> bool {
        self.space_is_out
    }

    /// Returns the planes of `die` with a transaction of `class` that may run, as a bit mask. `die` must be one of [`dies`](Self::dies).
    #[inline]
    pub fn ready_planes(&self, die: DieId, class: TransactionClass) -> u8 {
        self.ready[(die.0 - self.first.0) as usize].of(class)
    }

    /// Returns the only queue with host requests (user reads or programs) that may run; `None` if there are several or none. Also `None`, without a
    /// search, if the decision is for several dies or priorities have separate queues.
    #[inline]
    pub fn only_queue(&self) -> Option<QueueId> {
        let ([ready], [priority]) = (self.ready, self.queues.priorities()) else { return None };
        let (reads, programs) = (ready.of(TransactionClass::UserRead), ready.of(TransactionClass::UserProgram));
        let (class, planes) =
            if programs == 0 { (TransactionClass::UserRead, reads) } else { (TransactionClass::UserProgram, programs) };
        let is_only = planes.is_power_of_two() && (reads == 0 || programs == 0);
        is_only.then(|| QueueId { die: self.first, class, plane: planes.trailing_zeros() as u8, priority: *priority })
    }

    /// Returns whether a transaction of `class` may run on any of the dies for which an operation is being chosen.
    #[inline]
    pub fn is_ready(&self, class: TransactionClass) -> bool {
        self.ready.iter().any(|ready| ready.of(class) != 0)
    }

    /// Returns the queue heads of `class` on the planes where this class may run, each with its queue: one for each plane, or for each plane and
    /// priority if priorities have separate queues.
    #[inline]
    pub fn heads(&self, class: TransactionClass) -> impl Iterator<Item = (QueueId, &'a Transaction)> + '_ {
        let dies = (self.first.0..).map(DieId).zip(self.ready);
        let queues = dies.flat_map(move |(die, ready)| planes(ready.of(class)).map(move |plane| (die, plane)));
        queues.flat_map(move |(die, plane)| {
            self.queues.priorities().iter().filter_map(move |&priority| {
                let choice = QueueId { die, class, plane, priority };
                Some((choice, &self.transactions[self.queues.head(choice)?]))
            })
        })
    }

    /// Calls `see` with the head of each queue of `class` on the planes where this class may run. Like [`heads`](SchedulerView::heads), but much
    /// faster, because it uses plain loops instead of iterators.
    #[inline(always)]
    pub(crate) fn each_head(&self, class: TransactionClass, mut see: impl FnMut(QueueId, &'a Transaction)) {
        self.each_queue(class, |queue| {
            if let Some(head) = self.queues.head(queue) {
                see(queue, &self.transactions[head]);
            }
        });
    }

    /// Calls `see` with each transaction in the queues of `class`, in queue order, on the planes where this class may run.
    #[inline(always)]
    pub(crate) fn each_queued(
        &self,
        class: TransactionClass,
        mut see: impl FnMut(QueueId, TransactionId, &'a Transaction),
    ) {
        self.each_queue(class, |queue| {
            self.queues.queued(queue).for_each(|id| see(queue, id, &self.transactions[id]));
        });
    }

    /// Calls `see` with each queue of `class` on the planes where this class may run. Some queues may be empty if priorities have separate queues.
    #[inline(always)]
    fn each_queue(&self, class: TransactionClass, mut see: impl FnMut(QueueId)) {
        for (die, ready) in (self.first.0..).map(DieId).zip(self.ready) {
            let mut left = ready.of(class);
            while left != 0 {
                let plane = left.trailing_zeros() as u8;
                left &= left - 1;
                for &priority in self.queues.priorities() {
                    see(QueueId { die, class, plane, priority });
                }
            }
        }
    }

    /// Returns the queue of the oldest transaction of `classes` that may run, among the queues that `may` accepts; `None` if there is none.
    #[inline(always)]
    pub(crate) fn oldest_of(&self, classes: &[TransactionClass], may: impl Fn(QueueId) -> bool) -> Option<QueueId> {
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

    /// Returns the queue of the oldest transaction of `class` that may run; `None` if no transaction of `class` may run.
    #[inline]
    pub fn oldest(&self, class: TransactionClass) -> Option<QueueId> {
        if let ([ready], [priority]) = (self.ready, self.queues.priorities()) {
            let mask = ready.of(class);
            if mask != 0 && mask & (mask - 1) == 0 {
                let plane = mask.trailing_zeros() as u8;
                return Some(QueueId { die: self.first, class, plane, priority: *priority });
            }
        }
        self.oldest_of(&[class], |_| true)
    }
}

/// Identifier of a queue. Small enough to be returned in a CPU register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueId {
    /// Die of the queue.
    pub die: DieId,
    /// Class of the queue.
    pub class: TransactionClass,
    /// Index of the plane in the die.
    pub plane: u8,
    /// Priority of the transactions; [`Priority::Medium`] if all priorities share one queue.
    pub priority: Priority,
}

/// A scheduling policy.
///
/// # Contract
/// - The policy is called after a path has been granted to a die that can accept an operation, or to a chip with such a die. It returns a queue of
///   the [`SchedulerView`] with transactions that may run, or `None` to leave the die idle until another transaction is queued for it.
/// - A policy that chooses within a queue, or that chooses the joiners (transactions of other planes), implements [`decide`](Scheduler::decide).
///   Other policies implement [`choose`](Scheduler::choose): the head of the chosen queue is the lead, and [`Joiners::First`] applies.
/// - The policy sees the queues and states of all dies of the drive, and changes none of them.
/// - The policy never leaves a die idle for good while user requests are ready.
/// - By default a die requests a path as soon as it could start an operation, and the interconnect decides the order. With a policy that
///   [`dispatches`](Scheduler::dispatches), a die requests a path only when [`next_die`](Scheduler::next_die) returns the die. `next_die` is called
///   after each event that made a die a candidate (able to start an operation) or granted its path, until it returns `None`. It must not return
///   `None` while nothing is in progress in the drive.
/// - The policy may ignore [`TransactionClass::ReplicaProgram`]: if it returns `None`, a queued replica (page copy against read collisions) is
///   programmed.
/// - The policy is deterministic: equal calls in equal order return equal results.
///
/// The chosen transaction is the lead (first transaction) of the operation; transactions of other planes may then join by the rules of
/// [`multi_plane`].
#[enum_dispatch]
#[auto_impl(Box)]
pub trait Scheduler {
    /// Returns the queue whose head is the first transaction (lead) of the next operation; `None` to leave the die idle.
    fn choose(&mut self, waiting: &SchedulerView<'_>) -> Option<QueueId>;

    /// Returns the lead (first transaction of the next operation), from anywhere in its queue, and the joiners (transactions of other planes); `None`
    /// to leave the die idle.
    #[inline]
    fn decide(&mut self, waiting: &SchedulerView<'_>) -> Option<Decision> {
        self.choose(waiting).map(Decision::from)
    }

    /// Returns whether the policy always chooses the head of a queue if all other queues of the die are empty. The call may then be omitted, so the
    /// policy's state must not depend on these choices, nor the choices on transactions behind the head.
    fn takes_only_queue(&self) -> bool {
        false
    }

    /// Returns whether the policy decides which dies request paths, and in which order.
    fn dispatches(&self) -> bool {
        false
    }

    /// Returns the next die to request a path, one of the [candidates](DispatchView::candidates) (dies that could start an operation); `None` to wait
    /// for the next event. Called only if the policy [`dispatches`](Scheduler::dispatches).
    fn next_die(&mut self, dispatch: &DispatchView<'_>) -> Option<DieId> {
        dispatch.candidates().iter().next()
    }

    /// Notifies the policy that a transaction of a die was enqueued or dequeued, or that an operation started there. Called only if the policy
    /// [`dispatches`](Scheduler::dispatches).
    fn queue_changed(&mut self, _die: DieId) {}
}

impl Clone for Box<dyn Scheduler + Send> {
    /// Panics: a drive with a custom scheduler is never cloned.
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
    /// A policy supplied by the caller, without a name in the configuration.
    Custom(Box<dyn Scheduler + Send>),
}

impl AnyScheduler {
    /// Returns the queue that the default policy with default options chooses for one die. `ready` contains the planes with transactions that may
    /// run. Used by plain drives (compiled without optional features).
    #[inline(always)]
    pub fn choose_plain(
        &mut self,
        die: DieId,
        ready: PlaneMasks,
        collection_first: bool,
        now: Time,
        queues: &DieQueues,
        transactions: &Transactions,
    ) -> QueueId {
        let mut class = out_of_order::choose_plain(ready, collection_first);
        if class == TransactionClass::UserRead && ready.of(TransactionClass::UserProgram) != 0 {
            class = self.late_plain(die, ready, now, queues, transactions);
        }
        let planes = ready.of(class);
        let plane = if planes.is_power_of_two() {
            planes.trailing_zeros() as u8
        } else {
            queues.oldest(transactions, die, class, planes)
        };
        QueueId { die, class, plane, priority: Priority::Medium }
    }

    #[inline(never)]
    fn late_plain(
        &mut self,
        die: DieId,
        ready: PlaneMasks,
        now: Time,
        queues: &DieQueues,
        transactions: &Transactions,
    ) -> TransactionClass {
        let AnyScheduler::OutOfOrder(policy) = self else { unreachable!("plain drives have the default policy") };
        policy.late_plain(die, ready, now, queues, transactions)
    }

    /// Creates the policy that `config` selects (`schedule.policy`).
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
