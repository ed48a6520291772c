//! First in, first out: the transaction that waits longest, whatever it is. Only collection that must go before requests
//! (it cannot be preempted, or space is nearly out) overtakes.

use super::transaction::Class;
use super::{Choice, Scheduler, Waiting};

/// In the order of arrival at the die.
#[derive(Clone, Debug, Default)]
pub struct Fifo;

impl Scheduler for Fifo {
    #[inline]
    fn choose(&mut self, waiting: &Waiting<'_>) -> Option<Choice> {
        let oldest = |classes: &[Class]| waiting.oldest_of(classes, |_| true);
        let collection = if waiting.collection_first() { oldest(&Class::INTERNAL) } else { None };
        collection.or_else(|| oldest(&Class::REQUIRED))
    }

    fn takes_only_queue(&self) -> bool {
        true
    }
}
