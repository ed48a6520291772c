//! Which waiting transaction a die runs next: the seam, and the registry of policies.

pub mod fifo;
pub mod fuse;
pub mod out_of_order;
pub mod queues;
pub mod transaction;

use enum_dispatch::enum_dispatch;

use crate::config;
use crate::ids::{DieId, TransactionId};
use crate::units::Time;

use queues::{DieQueues, PlaneMasks, Transactions};
use transaction::{Class, Transaction};

/// What a policy sees of one die that may take an operation.
#[derive(Debug)]
pub struct Waiting<'a> {
    now: Time,
    die: DieId,
    queues: &'a DieQueues,
    transactions: &'a Transactions,
    ready: PlaneMasks,
    collection_first: bool,
}

impl<'a> Waiting<'a> {
    /// The view of `die`. `ready` says which planes have a transaction that may run now, for each class;
    /// `collection_first` whether garbage collection goes before user requests.
    #[inline]
    pub fn new(
        now: Time,
        die: DieId,
        queues: &'a DieQueues,
        transactions: &'a Transactions,
        ready: PlaneMasks,
        collection_first: bool,
    ) -> Waiting<'a> {
        Waiting { now, die, queues, transactions, ready, collection_first }
    }

    /// The time of the decision.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether garbage collection goes before user requests here and now.
    #[inline]
    pub fn collection_first(&self) -> bool {
        self.collection_first
    }

    /// Whether a transaction of `class` may run.
    #[inline]
    pub fn is_ready(&self, class: Class) -> bool {
        self.ready[class.index()] != 0
    }

    /// The transactions of `class` that may run: the longest waiting one of each plane.
    #[inline]
    pub fn heads(&self, class: Class) -> impl Iterator<Item = (Choice, &'a Transaction)> + '_ {
        let mut mask = self.ready[class.index()];
        std::iter::from_fn(move || {
            if mask == 0 {
                return None;
            }
            let plane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let id: TransactionId = self.queues.head(self.die, class, plane)?;
            Some((Choice { class, plane }, &self.transactions[id]))
        })
    }

    /// The transaction of `class` that waits longest.
    #[inline]
    pub fn oldest(&self, class: Class) -> Option<Choice> {
        let mask = self.ready[class.index()];
        if mask != 0 && mask & (mask - 1) == 0 {
            return Some(Choice { class, plane: mask.trailing_zeros() as usize });
        }
        self.heads(class).min_by_key(|(_, transaction)| transaction.order).map(|(choice, _)| choice)
    }
}

/// The queue whose first transaction leads the next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its class.
    pub class: Class,
    /// The plane in the die.
    pub plane: usize,
}

/// A scheduling policy.
///
/// # Contract
/// - Asked when a die may take an operation and its path has been granted. The answer is one of the choices that
///   [`Waiting`] offers, or `None` to leave the die idle until something new arrives for it.
/// - It never leaves a die idle for good while user requests are ready.
/// - It is deterministic: the same calls in the same order give the same answers.
///
/// The chosen transaction leads; [`fuse`] then lets other planes join it in a multi-plane operation.
#[enum_dispatch]
pub trait Scheduler {
    /// Which transaction leads the next operation.
    fn choose(&mut self, waiting: &Waiting<'_>) -> Option<Choice>;
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
}

impl AnyScheduler {
    /// Builds the policy that `config` names.
    pub fn new(config: &config::Schedule) -> AnyScheduler {
        match config.policy {
            config::SchedulePolicy::OutOfOrder => AnyScheduler::OutOfOrder(out_of_order::OutOfOrder),
            config::SchedulePolicy::Fifo => AnyScheduler::Fifo(fifo::Fifo),
        }
    }
}
