//! First in, first out: the oldest transaction of any class goes. Collection may overtake only if it cannot be preempted, or if the die is nearly out
//! of space.

use super::transaction::Class;
use super::{Choice, Scheduler, Waiting};

/// The policy that chooses in order of arrival at the die.
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
