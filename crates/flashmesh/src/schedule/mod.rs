//! Which waiting transaction a die runs next: the seam, and the registry of policies.

mod decision;
pub mod fifo;
pub mod fuse;
pub mod out_of_order;
pub mod queues;
pub mod transaction;
pub mod weighted_round_robin;

use enum_dispatch::enum_dispatch;

use crate::config;
use crate::ids::{DieId, TransactionId};
use crate::units::Time;

pub use decision::{Chosen, Decision, Joiners};

use queues::{DieQueues, PlaneMasks, Transactions};
use transaction::{Class, Priority, Transaction};

/// What dies do now.
pub trait DieStates {
    /// Whether a die may take an operation.
    fn accepts(&self, die: DieId) -> bool;

    /// Whether nothing goes on in a die.
    fn is_idle(&self, die: DieId) -> bool;
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

/// The planes of a mask.
#[inline]
fn planes(mut mask: u8) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let plane = mask.trailing_zeros() as u8;
        mask &= mask - 1;
        Some(plane)
    })
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

    /// All that waits in the queues of any die of the drive, in no order; not all of it may run now.
    pub fn queued(
        &self,
        die: DieId,
        class: Class,
    ) -> impl Iterator<Item = (Choice, TransactionId, &'a Transaction)> + use<'a> {
        let (queues, transactions) = (self.queues, self.transactions);
        planes(queues.masks(die)[class.index()]).flat_map(move |plane| {
            queues.priorities().iter().flat_map(move |&priority| {
                let queue = Choice { die, class, plane, priority };
                let next = move |id: &TransactionId| transactions[*id].next;
                std::iter::successors(queues.head(queue), next).map(move |id| (queue, id, &transactions[id]))
            })
        })
    }

    /// Transactions that wait for a die.
    pub fn outstanding(&self, die: DieId) -> usize {
        Class::ALL.iter().map(|&class| self.queued(die, class).count()).sum()
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

    /// Whether a transaction of `class` may run.
    #[inline]
    pub fn is_ready(&self, class: Class) -> bool {
        self.ready.iter().any(|ready| ready[class.index()] != 0)
    }

    /// The transactions of `class` that may run: the longest waiting one of each plane, and of each priority where those count.
    #[inline]
    pub fn heads(&self, class: Class) -> impl Iterator<Item = (Choice, &'a Transaction)> + '_ {
        let dies = (self.first.0..).map(DieId).zip(self.ready);
        let queues = dies.flat_map(move |(die, ready)| planes(ready[class.index()]).map(move |plane| (die, plane)));
        queues.flat_map(move |(die, plane)| {
            self.queues.priorities().iter().filter_map(move |&priority| {
                let choice = Choice { die, class, plane, priority };
                Some((choice, &self.transactions[self.queues.head(choice)?]))
            })
        })
    }

    /// The transaction of `class` that waits longest.
    #[inline]
    pub fn oldest(&self, class: Class) -> Option<Choice> {
        if let ([ready], [priority]) = (self.ready, self.queues.priorities()) {
            let mask = ready[class.index()];
            if mask != 0 && mask & (mask - 1) == 0 {
                let plane = mask.trailing_zeros() as u8;
                return Some(Choice { die: self.first, class, plane, priority: *priority });
            }
        }
        oldest(self.heads(class))
    }
}

/// The longest waiting one of `heads`.
#[inline]
pub fn oldest<'a>(heads: impl Iterator<Item = (Choice, &'a Transaction)>) -> Option<Choice> {
    heads.min_by_key(|(_, transaction)| transaction.order).map(|(choice, _)| choice)
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
/// - It is deterministic: the same calls in the same order give the same answers.
///
/// The chosen transaction leads; [`fuse`] then lets other planes join it in a multi-plane operation.
#[enum_dispatch]
pub trait Scheduler {
    /// The queue whose first transaction leads the next operation.
    fn choose(&mut self, waiting: &Waiting<'_>) -> Option<Choice>;

    /// Which transaction leads the next operation, from anywhere in its queue, and which join it.
    #[inline]
    fn decide(&mut self, waiting: &Waiting<'_>) -> Option<Decision> {
        self.choose(waiting).map(Decision::from)
    }
}

/// The policies, one line each.
#[enum_dispatch(Scheduler)]
#[allow(missing_docs, reason = "each implementation carries its documentation")]
pub enum AnyScheduler {
    OutOfOrder(out_of_order::OutOfOrder),
    Fifo(fifo::Fifo),
    Custom(Custom),
}

/// A policy of the caller's own, for trying one out before it has a name in the configuration.
pub struct Custom(pub Box<dyn Scheduler + Send>);

impl Scheduler for Custom {
    fn choose(&mut self, waiting: &Waiting<'_>) -> Option<Choice> {
        self.0.choose(waiting)
    }

    fn decide(&mut self, waiting: &Waiting<'_>) -> Option<Decision> {
        self.0.decide(waiting)
    }
}

impl AnyScheduler {
    /// The choice of the default policy with its default options, compiled into plain drives.
    #[inline(always)]
    pub fn choose_plain(waiting: &Waiting<'_>) -> Option<Choice> {
        out_of_order::choose_plain(waiting)
    }

    /// Builds the policy that `config` names, for `dies` dies.
    pub fn new(config: &config::Schedule, dies: u32) -> AnyScheduler {
        match config.policy {
            config::SchedulePolicy::OutOfOrder => AnyScheduler::OutOfOrder(out_of_order::OutOfOrder::new(config, dies)),
            config::SchedulePolicy::Fifo => AnyScheduler::Fifo(fifo::Fifo),
        }
    }
}
