//! Precedence rules common to all policies: for transactions of the firmware (map, garbage collection, erases), and for overdue transactions.

use crate::config::EraseOrder;
use crate::schedule::transaction::TransactionClass;
use crate::schedule::{QueueId, SchedulerView};
use crate::units::Time;

const MAP: [TransactionClass; 2] = [TransactionClass::MapRead, TransactionClass::MapProgram];
const MOVES: [TransactionClass; 2] = [TransactionClass::CollectRead, TransactionClass::CollectProgram];
const REQUESTS: [TransactionClass; 2] = [TransactionClass::UserRead, TransactionClass::UserProgram];

/// Chooses the next transaction of any class except replica programs; `None` if no transaction may run. Transactions of the mapping table run first,
/// because many requests may wait for one translation page. `user` chooses among host requests. Garbage collection precedes or follows them,
/// depending on preemptibility and free space. `erases` is whether erases run first, last, or with garbage collection.
#[inline]
pub(super) fn among_classes<T: From<QueueId>>(
    waiting: &SchedulerView<'_>,
    erases: EraseOrder,
    mut user: impl FnMut() -> Option<T>,
) -> Option<T> {
    if let Some(map) = in_order(waiting, MAP) {
        return Some(map.into());
    }
    let firmware = |choice: Option<QueueId>| choice.map(T::from);
    match erases {
        EraseOrder::WithCollection => {}
        EraseOrder::First => {
            if let Some(erase) = waiting.oldest(TransactionClass::Erase) {
                return Some(erase.into());
            }
        }
        EraseOrder::Last if waiting.space_is_out() => {}
        EraseOrder::Last => {
            let others = if waiting.collection_first() {
                firmware(in_order(waiting, MOVES)).or_else(user)
            } else {
                user().or_else(|| firmware(in_order(waiting, MOVES)))
            };
            return others.or_else(|| firmware(waiting.oldest(TransactionClass::Erase)));
        }
    }
    if waiting.collection_first() {
        firmware(in_order(waiting, TransactionClass::INTERNAL)).or_else(user)
    } else {
        user().or_else(|| firmware(in_order(waiting, TransactionClass::INTERNAL)))
    }
}

/// Returns the queue of the oldest transaction that may run, of the first of `classes` that has one; `None` if no class has one.
#[inline]
pub(super) fn in_order<const N: usize>(waiting: &SchedulerView<'_>, classes: [TransactionClass; N]) -> Option<QueueId> {
    classes.into_iter().find(|&class| waiting.is_ready(class)).and_then(|class| waiting.oldest(class))
}

/// Returns the queue of the oldest request transaction if the head of any request queue has waited for `bound` or longer; otherwise `None`.
pub(super) fn overdue_queue(waiting: &SchedulerView<'_>, bound: Time) -> Option<QueueId> {
    let now = waiting.now();
    let mut is_late = false;
    for class in REQUESTS {
        waiting.each_head(class, |_, head| is_late |= now - head.account.queued() >= bound);
    }
    if is_late { waiting.oldest_of(&REQUESTS, |_| true) } else { None }
}
