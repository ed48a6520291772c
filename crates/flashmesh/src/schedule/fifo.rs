//! First in, first out: serves the oldest transaction of any class except replicas. Garbage collection may overtake requests only if it
//! cannot be preempted, or if the die is nearly out of space.

use super::transaction::TransactionClass;
use super::{QueueId, Scheduler, SchedulerView};

/// The policy that chooses in order of arrival at the die.
#[derive(Clone, Debug, Default)]
pub struct Fifo;

impl Scheduler for Fifo {
    #[inline]
    fn choose(&mut self, waiting: &SchedulerView<'_>) -> Option<QueueId> {
        let oldest = |classes: &[TransactionClass]| waiting.oldest_of(classes, |_| true);
        let collection = if waiting.collection_first() { oldest(&TransactionClass::INTERNAL) } else { None };
        collection.or_else(|| oldest(&TransactionClass::REQUIRED))
    }

    fn takes_only_queue(&self) -> bool {
        true
    }
}
