//! Array operations on one or more planes at once.

use crate::ids::TransactionId;
use crate::units::Time;

use super::geometry::PLANES_PER_DIE_MAX;
use super::timing::OperationPageTypes;

/// Kind of an array operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Sensing of a page into the register (tR).
    Read,
    /// Programming of the register into a page (tPROG).
    Program,
    /// Erasure of a block (tBERS).
    Erase,
    /// Read and program in the same plane, during which the data does not leave the chip.
    Copyback,
}

impl OperationKind {
    /// All kinds, in the order of their [`index`](Self::index).
    pub const ALL: [OperationKind; 4] =
        [OperationKind::Read, OperationKind::Program, OperationKind::Erase, OperationKind::Copyback];

    /// Returns the position of the kind in [`ALL`](Self::ALL).
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Part of a die that an operation occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The whole die.
    Die,
    /// The plane with this index in its die. It executes reads independently of the other planes (`flash.multi-plane = "independent"`).
    Plane(u8),
}

#[derive(Clone, Copy, Debug)]
pub struct PlaneTransactions {
    pub(super) count: u32,
    pub(super) transactions: [TransactionId; PLANES_PER_DIE_MAX],
}

impl PlaneTransactions {
    pub(super) const NONE: PlaneTransactions =
        PlaneTransactions { count: 0, transactions: [TransactionId(0); PLANES_PER_DIE_MAX] };

    #[inline]
    pub fn one(transaction: TransactionId) -> PlaneTransactions {
        PlaneTransactions { count: 1, transactions: [transaction; PLANES_PER_DIE_MAX] }
    }

    #[inline]
    pub fn join(&mut self, transaction: TransactionId) {
        self.transactions[self.count as usize] = transaction;
        self.count += 1;
    }

    /// Sorts the transactions by `key`. Their data leaves the die in this order.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl Fn(TransactionId) -> K) {
        self.transactions[..self.count as usize].sort_by_key(|&id| key(id));
    }

    #[inline]
    pub fn transactions(&self) -> &[TransactionId] {
        &self.transactions[..self.count as usize]
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub kind: OperationKind,
    /// Whether the operation is work of garbage collection or wear levelling.
    pub internal: bool,
    pub started: Time,
    /// Time for which the operation occupies the array. Includes the time to suspend another operation before the start.
    pub array_time: Time,
    pub page_types: OperationPageTypes,
    pub planes: PlaneTransactions,
}

impl Operation {
    pub(super) fn empty() -> Operation {
        Operation {
            kind: OperationKind::Read,
            internal: false,
            started: Time::ZERO,
            array_time: Time::ZERO,
            page_types: OperationPageTypes::default(),
            planes: PlaneTransactions::NONE,
        }
    }

    #[inline]
    pub fn transactions(&self) -> &[TransactionId] {
        self.planes.transactions()
    }
}
