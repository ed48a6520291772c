//! The queues of every die: one for each class and plane, linked through the transactions themselves.

use crate::engine::arena::Arena;
use crate::ids::{DieId, TransactionId};

use super::transaction::{CLASSES, Class, Transaction};

/// The transactions in flight.
pub type Transactions = Arena<TransactionId, Transaction>;

#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    head: Option<TransactionId>,
    tail: Option<TransactionId>,
}

/// Which planes of a die have something waiting, a bit a plane, for each class.
pub type PlaneMasks = [u8; CLASSES];

/// What waits for each die.
#[derive(Debug)]
pub struct DieQueues {
    queues: Vec<Queue>,
    masks: Vec<PlaneMasks>,
    planes_per_die: usize,
}

impl DieQueues {
    /// Empty queues for `dies` dies.
    pub fn new(dies: u32, planes_per_die: u32) -> DieQueues {
        let planes_per_die = planes_per_die as usize;
        DieQueues {
            queues: vec![Queue::default(); dies as usize * CLASSES * planes_per_die],
            masks: vec![[0; CLASSES]; dies as usize],
            planes_per_die,
        }
    }

    #[inline]
    fn slot(&self, die: DieId, class: Class, plane: usize) -> usize {
        (die.index() * CLASSES + class.index()) * self.planes_per_die + plane
    }

    /// Puts a transaction at the end of its queue.
    #[inline]
    pub fn push(&mut self, transactions: &mut Transactions, die: DieId, plane: usize, id: TransactionId) {
        let class = transactions[id].class;
        transactions[id].next = None;
        let slot = self.slot(die, class, plane);
        match self.queues[slot].tail.replace(id) {
            Some(tail) => transactions[tail].next = Some(id),
            None => {
                self.queues[slot].head = Some(id);
                self.masks[die.index()][class.index()] |= 1 << plane;
            }
        }
    }

    /// The first transaction of a queue.
    #[inline]
    pub fn head(&self, die: DieId, class: Class, plane: usize) -> Option<TransactionId> {
        self.queues[self.slot(die, class, plane)].head
    }

    /// Takes the first transaction of a queue.
    #[inline]
    pub fn pop(
        &mut self,
        transactions: &mut Transactions,
        die: DieId,
        class: Class,
        plane: usize,
    ) -> Option<TransactionId> {
        let head = self.head(die, class, plane)?;
        self.unlink(transactions, die, class, plane, None, head);
        Some(head)
    }

    /// Takes the first of the first `lookahead` transactions of a queue that `fits`.
    #[inline]
    pub fn take_first(
        &mut self,
        transactions: &mut Transactions,
        (die, class, plane): (DieId, Class, usize),
        lookahead: u32,
        fits: impl Fn(&Transaction) -> bool,
    ) -> Option<TransactionId> {
        let mut before = None;
        let mut at = self.head(die, class, plane);
        for _ in 0..lookahead {
            let id = at?;
            if fits(&transactions[id]) {
                self.unlink(transactions, die, class, plane, before, id);
                return Some(id);
            }
            before = Some(id);
            at = transactions[id].next;
        }
        None
    }

    #[inline]
    fn unlink(
        &mut self,
        transactions: &mut Transactions,
        die: DieId,
        class: Class,
        plane: usize,
        before: Option<TransactionId>,
        id: TransactionId,
    ) {
        let next = transactions[id].next;
        let slot = self.slot(die, class, plane);
        match before {
            Some(before) => transactions[before].next = next,
            None => self.queues[slot].head = next,
        }
        if next.is_none() {
            self.queues[slot].tail = before;
            if before.is_none() {
                self.masks[die.index()][class.index()] &= !(1 << plane);
            }
        }
    }

    /// Which planes have something waiting, for each class.
    #[inline]
    pub fn masks(&self, die: DieId) -> PlaneMasks {
        self.masks[die.index()]
    }

    /// Whether anything waits for the die.
    #[inline]
    pub fn has_work(&self, die: DieId) -> bool {
        self.masks[die.index()] != [0; CLASSES]
    }
}
