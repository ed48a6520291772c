//! Queues of all dies: one for each class and plane; if priorities count (`schedule.priorities`), one for each class, plane and priority.

use std::hint::select_unpredictable;

use crate::engine::id_table::IdTable;
use crate::engine::pool::Pool;
use crate::engine::ring::Ring;
use crate::ids::{DieId, TransactionId};

use super::QueueId;
use super::transaction::{CLASSES, Priority, Transaction, TransactionClass};

pub type Transactions = Pool<TransactionId, Transaction>;

#[derive(Clone, Copy, Debug)]
struct QueueEntry {
    id: TransactionId,
    /// Page offset of the transaction in its block. Cached by the first search for a page, because the transactions themselves can exceed the CPU
    /// cache.
    page: u32,
}

impl QueueEntry {
    /// Value of `page` before the first search of the queue.
    const UNKNOWN: u32 = u32::MAX;

    const fn new(id: TransactionId) -> QueueEntry {
        QueueEntry { id, page: QueueEntry::UNKNOWN }
    }
}

impl Default for QueueEntry {
    /// Returns a placeholder for unused slots of the ring buffer of a queue.
    fn default() -> QueueEntry {
        QueueEntry::new(TransactionId(u32::MAX))
    }
}

/// A set of planes for each transaction class of a die, such as the planes with queued transactions. All sets share one word, with one bit per plane
/// and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneMasks(u64);

/// Empty mask: no plane of any class.
pub const NOTHING: PlaneMasks = PlaneMasks(0);

impl PlaneMasks {
    /// Creates a mask with all planes of each of the `classes`.
    pub const fn all_of(classes: &[TransactionClass]) -> PlaneMasks {
        let mut masks = 0;
        let mut at = 0;
        while at < classes.len() {
            masks |= (u8::MAX as u64) << PlaneMasks::shift(classes[at]);
            at += 1;
        }
        PlaneMasks(masks)
    }

    #[inline(always)]
    const fn shift(class: TransactionClass) -> u32 {
        class as u32 * u8::BITS
    }

    /// Returns the planes of one class, as a bit mask by index in the die.
    #[inline(always)]
    pub fn of(self, class: TransactionClass) -> u8 {
        (self.0 >> PlaneMasks::shift(class)) as u8
    }

    /// Returns the classes that have a plane in the mask, in order of their indices.
    #[inline]
    pub fn classes(self) -> impl Iterator<Item = TransactionClass> {
        let mut left = self;
        std::iter::from_fn(move || {
            let class = (left != NOTHING).then(|| left.first_class())?;
            left.0 &= !PlaneMasks::all_of(&[class]).0;
            Some(class)
        })
    }

    /// Returns the planes that are in both masks, class by class.
    #[inline(always)]
    pub fn and(self, other: PlaneMasks) -> PlaneMasks {
        PlaneMasks(self.0 & other.0)
    }

    /// Returns the planes that are in either mask, class by class.
    pub const fn or(self, other: PlaneMasks) -> PlaneMasks {
        PlaneMasks(self.0 | other.0)
    }

    /// Returns the planes of this mask that are not in `other`, class by class.
    #[inline(always)]
    pub fn without(self, other: PlaneMasks) -> PlaneMasks {
        PlaneMasks(self.0 & !other.0)
    }

    /// Adds `plane` to the planes of `class`.
    #[inline(always)]
    pub fn insert(&mut self, class: TransactionClass, plane: u8) {
        self.0 |= 1 << (PlaneMasks::shift(class) + u32::from(plane));
    }

    /// Returns the plane of `class` if it is the only plane in the whole mask; `None` if there are several planes or none, or if the only
    /// plane belongs to another class.
    #[inline(always)]
    pub fn only(self, class: TransactionClass) -> Option<u8> {
        let plane = (self.0 >> PlaneMasks::shift(class)).trailing_zeros();
        (self.0.is_power_of_two() && plane < u8::BITS).then_some(plane as u8)
    }

    /// Removes `plane` from the planes of `class`.
    #[inline(always)]
    pub fn remove(&mut self, class: TransactionClass, plane: u8) {
        self.0 &= !(1 << (PlaneMasks::shift(class) + u32::from(plane)));
    }

    /// Returns the first class that has a plane in the mask, in index order; an arbitrary class for the empty mask.
    #[inline(always)]
    pub fn first_class(self) -> TransactionClass {
        TransactionClass::ALL[(self.0.trailing_zeros() / u8::BITS) as usize % CLASSES]
    }
}

#[inline]
/// Iterates over the planes of a bit mask.
pub fn planes(mut mask: u8) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let plane = mask.trailing_zeros() as u8;
        mask &= mask - 1;
        Some(plane)
    })
}

/// The queues of all dies.
#[derive(Clone, Debug)]
pub struct DieQueues {
    queues: Vec<Ring<QueueEntry>>,
    masks: IdTable<DieId, PlaneMasks>,
    planes_per_die: usize,
    /// Priorities that have separate queues. Contains only [`Priority::Medium`] if all priorities share one queue.
    priorities: &'static [Priority],
}

impl DieQueues {
    /// Creates empty queues for `dies` dies. With `by_priority`, each priority has separate queues.
    pub fn new(dies: u32, planes_per_die: u32, by_priority: bool) -> DieQueues {
        let planes_per_die = planes_per_die as usize;
        let priorities: &[Priority] = if by_priority { Priority::ALL } else { &[Priority::Medium] };
        DieQueues {
            queues: vec![Ring::default(); dies as usize * CLASSES * planes_per_die * priorities.len()],
            masks: IdTable::filled(NOTHING, dies as usize),
            planes_per_die,
            priorities,
        }
    }

    #[inline]
    fn slot(&self, at: QueueId) -> usize {
        let slot = (at.die.index() * CLASSES + at.class.index()) * self.planes_per_die + usize::from(at.plane);
        if self.priorities.len() == 1 { slot } else { slot * Priority::ALL.len() + at.priority.index() }
    }

    /// Returns the priorities that have separate queues: only [`Priority::Medium`] if all priorities share one queue.
    #[inline]
    pub fn priorities(&self) -> &'static [Priority] {
        self.priorities
    }

    /// Returns the queues of all priorities for the class and plane of `first`: `first` itself, then the others from the highest priority to the lowest.
    pub fn of_all_priorities(&self, first: QueueId) -> impl Iterator<Item = QueueId> + use<> {
        let others = self.priorities.iter().copied().filter(move |&other| other != first.priority);
        std::iter::once(first.priority).chain(others).map(move |priority| QueueId { priority, ..first })
    }

    /// Appends a transaction to its queue.
    #[inline(always)]
    pub fn push(&mut self, transactions: &mut Transactions, die: DieId, plane: u8, id: TransactionId) {
        let class = transactions[id].class();
        self.push_with_class(transactions, die, class, plane, id);
    }

    /// Like [`push`](Self::push), for callers that already know the `class` of the transaction.
    #[inline(always)]
    pub fn push_with_class(
        &mut self,
        transactions: &mut Transactions,
        die: DieId,
        class: TransactionClass,
        plane: u8,
        id: TransactionId,
    ) {
        let transaction = &mut transactions[id];
        transaction.end_chain();
        let priority = transaction.owner.priority;
        let slot = self.slot(QueueId { die, class, plane, priority });
        let queue = &mut self.queues[slot];
        if queue.is_empty() {
            self.masks[die].insert(class, plane);
        }
        queue.push_back(QueueEntry::new(id));
    }

    /// Inserts a transaction into its queue by its arrival number, before all transactions that arrived later.
    pub fn insert(&mut self, transactions: &mut Transactions, die: DieId, plane: u8, id: TransactionId) {
        let Transaction { order, .. } = transactions[id];
        let (class, priority) = (transactions[id].class(), transactions[id].owner.priority);
        let slot = self.slot(QueueId { die, class, plane, priority });
        let is_before = |waiting: &QueueEntry| transactions[waiting.id].order < order;
        let queue = &self.queues[slot];
        if queue.back().is_none_or(is_before) {
            return self.push_with_class(transactions, die, class, plane, id);
        }
        let at = queue.iter().take_while(|waiting| is_before(waiting)).count();
        transactions[id].end_chain();
        self.queues[slot].insert(at, QueueEntry::new(id));
    }

    /// Inserts a transaction behind the transactions at the front of its queue that match `ahead`. Its companions (further mapping units of the same
    /// program) stay chained to it.
    pub fn insert_behind(
        &mut self,
        transactions: &Transactions,
        die: DieId,
        plane: u8,
        id: TransactionId,
        ahead: impl Fn(&Transaction) -> bool,
    ) {
        let (class, priority) = (transactions[id].class(), transactions[id].owner.priority);
        let slot = self.slot(QueueId { die, class, plane, priority });
        let at = self.queues[slot].iter().take_while(|waiting| ahead(&transactions[waiting.id])).count();
        self.masks[die].insert(class, plane);
        self.queues[slot].insert(at, QueueEntry::new(id));
    }

    /// Returns the first transaction of a queue; `None` if the queue is empty.
    #[inline]
    pub fn head(&self, at: QueueId) -> Option<TransactionId> {
        self.queues[self.slot(at)].front().map(|first| first.id)
    }

    /// Returns the transactions of a queue, in order.
    #[inline]
    pub fn queued(&self, at: QueueId) -> impl Iterator<Item = TransactionId> {
        self.queues[self.slot(at)].iter().map(|waiting| waiting.id)
    }

    /// Returns the head of the first non-empty queue of a die, in the order of class, plane and priority; `None` if all queues are empty.
    #[inline(always)]
    pub fn first(&self, die: DieId) -> Option<TransactionId> {
        let masks = self.masks(die);
        if masks == NOTHING {
            return None;
        }
        let class = masks.first_class();
        let plane = masks.of(class).trailing_zeros() as u8;
        if let &[priority] = self.priorities {
            return self.head(QueueId { die, class, plane, priority });
        }
        self.priorities.iter().find_map(|&priority| self.head(QueueId { die, class, plane, priority }))
    }

    /// Returns the plane with the oldest head, among the queues of `class` in `planes`. None of these queues may be empty, and all
    /// priorities must share one queue.
    #[inline(never)]
    pub fn oldest(&self, transactions: &Transactions, die: DieId, class: TransactionClass, planes: u8) -> u8 {
        let order_of = |plane| {
            let first = self.head(QueueId { die, class, plane, priority: Priority::Medium });
            first.map_or(u64::MAX, |id| transactions[id].order)
        };
        let mut oldest = (u64::MAX, 0);
        for plane in self::planes(planes) {
            let order = order_of(plane);
            // Branch-free, because a branch would often be mispredicted.
            oldest = select_unpredictable(order < oldest.0, (order, plane), oldest);
        }
        oldest.1
    }

    /// Returns the oldest transaction of a class that is queued at a die; `None` if no such transaction is queued.
    #[inline]
    pub fn oldest_of<'a>(
        &self,
        transactions: &'a Transactions,
        die: DieId,
        class: TransactionClass,
    ) -> Option<&'a Transaction> {
        let mut oldest: Option<&Transaction> = None;
        for plane in planes(self.masks(die).of(class)) {
            for &priority in self.priorities {
                let head = self.head(QueueId { die, class, plane, priority }).map(|id| &transactions[id]);
                if head.is_some_and(|head| oldest.is_none_or(|oldest| head.order < oldest.order)) {
                    oldest = head;
                }
            }
        }
        oldest
    }

    /// Dequeues the first transaction of a queue; `None` if the queue is empty.
    #[inline(always)]
    pub fn pop(&mut self, transactions: &mut Transactions, at: QueueId) -> Option<TransactionId> {
        let slot = self.slot(at);
        let queue = &mut self.queues[slot];
        let first = queue.pop_front()?.id;
        match queue.front() {
            // The queues can exceed the CPU cache. Prefetch the new head now; the load completes while the die executes `first`.
            Some(next) => transactions.prefetch(next.id),
            None => self.clear_mask_if_empty(at),
        }
        Some(first)
    }

    /// Like [`pop`](Self::pop), for the only non-empty queue of a die. All priorities must share one queue.
    #[inline(always)]
    pub fn pop_only(
        &mut self,
        transactions: &mut Transactions,
        die: DieId,
        class: TransactionClass,
        plane: u8,
    ) -> TransactionId {
        let slot = (die.index() * CLASSES + class.index()) * self.planes_per_die + usize::from(plane);
        let queue = &mut self.queues[slot];
        let first = queue.take_first().id;
        match queue.front() {
            Some(next) => transactions.prefetch(next.id),
            None => self.masks[die] = NOTHING,
        }
        first
    }

    /// Removes transaction `id` from a queue. Returns whether the queue contained the transaction.
    pub fn dequeue(&mut self, transactions: &mut Transactions, queue: QueueId, id: TransactionId) -> bool {
        if self.head(queue) == Some(id) {
            return self.pop(transactions, queue).is_some();
        }
        let at = self.queues[self.slot(queue)].iter().position(|waiting| waiting.id == id);
        at.is_some_and(|at| self.take_at(transactions, queue, at).is_some())
    }

    /// Removes and returns the first transaction that matches `fits`, among the first `lookahead` transactions of a queue; `None` if none matches.
    #[inline]
    pub fn dequeue_first(
        &mut self,
        transactions: &mut Transactions,
        queue: QueueId,
        lookahead: u32,
        fits: impl Fn(&Transaction) -> bool,
    ) -> Option<TransactionId> {
        let waiting = self.queues[self.slot(queue)].iter().take(lookahead as usize);
        let at = waiting.into_iter().position(|waiting| fits(&transactions[waiting.id]))?;
        self.take_at(transactions, queue, at)
    }

    /// Like [`dequeue_first`](Self::dequeue_first), but only for transactions with page offset `page` in their block. `page_of` returns the offset of
    /// a transaction, which must not change while it is queued.
    #[inline]
    pub fn dequeue_first_on_page(
        &mut self,
        transactions: &mut Transactions,
        queue: QueueId,
        lookahead: u32,
        (page, page_of): (u32, impl Fn(&Transaction) -> u32),
        fits: impl Fn(&Transaction) -> bool,
    ) -> Option<TransactionId> {
        let slot = self.slot(queue);
        let waiting = &mut self.queues[slot];
        let mut at = 0;
        // A plain loop, because iterator adaptors would not be inlined.
        while at < lookahead as usize {
            let other = waiting.get_mut(at)?;
            if other.page == QueueEntry::UNKNOWN {
                other.page = page_of(&transactions[other.id]);
            }
            debug_assert_eq!(other.page, page_of(&transactions[other.id]), "a page has changed that a die is to read");
            if other.page == page && fits(&transactions[other.id]) {
                return self.take_at(transactions, queue, at);
            }
            at += 1;
        }
        None
    }

    /// Removes and returns the transaction at index `at` of a queue; `None` if the queue is shorter.
    #[inline]
    fn take_at(&mut self, transactions: &mut Transactions, queue: QueueId, at: usize) -> Option<TransactionId> {
        if at == 0 {
            return self.pop(transactions, queue);
        }
        let slot = self.slot(queue);
        self.queues[slot].remove(at).map(|taken| taken.id)
    }

    /// Updates the mask of queued planes after a queue became empty.
    #[inline]
    fn clear_mask_if_empty(&mut self, queue: QueueId) {
        if self.is_plane_empty(queue) {
            self.masks[queue.die].remove(queue.class, queue.plane);
        }
    }

    /// Returns whether the queues of all priorities are empty in the plane of `queue`. `queue` itself must be empty.
    #[inline]
    fn is_plane_empty(&self, queue: QueueId) -> bool {
        self.priorities.len() == 1
            || self.priorities.iter().all(|&priority| self.head(QueueId { priority, ..queue }).is_none())
    }

    /// Returns the first `limit` transactions of each queue of a die for `class`, each with its queue and id, queue by queue and in queue order.
    pub fn waiting<'a>(
        &'a self,
        transactions: &'a Transactions,
        die: DieId,
        class: TransactionClass,
        limit: usize,
    ) -> impl Iterator<Item = (QueueId, TransactionId, &'a Transaction)> + use<'a> {
        planes(self.masks(die).of(class)).flat_map(move |plane| {
            self.priorities.iter().flat_map(move |&priority| {
                let queue = QueueId { die, class, plane, priority };
                let waiting = self.queues[self.slot(queue)].iter().take(limit);
                waiting.map(move |waiting| (queue, waiting.id, &transactions[waiting.id]))
            })
        })
    }

    /// Returns the planes of a die with queued transactions, by class.
    #[inline]
    pub fn masks(&self, die: DieId) -> PlaneMasks {
        self.masks[die]
    }

    /// Returns whether any transaction is queued at the die.
    #[inline]
    pub fn has_work(&self, die: DieId) -> bool {
        self.masks[die] != NOTHING
    }
}
