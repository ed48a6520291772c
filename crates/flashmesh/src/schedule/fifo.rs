//! First in, first out: the transaction that waits longest, whatever it is.

use super::transaction::Class;
use super::{Choice, Scheduler, Waiting};

/// In the order of arrival at the die.
#[derive(Debug, Default)]
pub struct Fifo;

impl Scheduler for Fifo {
    #[inline]
    fn choose(&mut self, waiting: &Waiting<'_>) -> Option<Choice> {
        Class::ALL
            .into_iter()
            .flat_map(|class| waiting.heads(class))
            .min_by_key(|(_, transaction)| transaction.order)
            .map(|(choice, _)| choice)
    }
}
