//! First in, first out: serves the oldest transaction of any class; programs of page replicas (copies against read collisions) go last. Garbage
//! collection overtakes requests only if it is not preemptible (`gc.preemptible`), if a die is nearly out of free pages, or if writes wait for a fold
//! of the SLC cache.

use crate::schedule::transaction::TransactionClass;
use crate::schedule::{QueueId, Scheduler, SchedulerView};

/// The policy that serves transactions in order of arrival at the die.
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
