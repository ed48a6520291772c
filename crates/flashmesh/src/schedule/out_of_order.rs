//! Out of order with read priority: reads before writes, whatever their order of arrival, and garbage collection before
//! or after them as its preemptibility and the space left demand.

use super::transaction::Class;
use super::{Choice, Scheduler, Waiting};

const USER_FIRST: [Class; 5] =
    [Class::UserRead, Class::UserProgram, Class::CollectRead, Class::CollectProgram, Class::Erase];
const COLLECTION_FIRST: [Class; 5] =
    [Class::CollectRead, Class::CollectProgram, Class::Erase, Class::UserRead, Class::UserProgram];

/// Reads, then programs, then erases; the oldest of each.
#[derive(Debug, Default)]
pub struct OutOfOrder;

impl Scheduler for OutOfOrder {
    #[inline]
    fn choose(&mut self, waiting: &Waiting<'_>) -> Option<Choice> {
        let classes = if waiting.collection_first() { COLLECTION_FIRST } else { USER_FIRST };
        classes.into_iter().find(|&class| waiting.is_ready(class)).and_then(|class| waiting.oldest(class))
    }
}
