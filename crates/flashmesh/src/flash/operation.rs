//! What an array does with pages or blocks of one or more planes at once.

use crate::ids::TransactionId;
use crate::units::Time;

use super::geometry::PLANES_PER_DIE_MAX;
use super::timing::Pages;

/// What the array does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Array to register, tR.
    Read,
    /// Register to array, tPROG.
    Program,
    /// A block, tBERS.
    Erase,
    /// A read and a program in the same plane, without leaving the chip.
    Copyback,
}

impl OperationKind {
    /// All kinds, by their index.
    pub const ALL: [OperationKind; 4] =
        [OperationKind::Read, OperationKind::Program, OperationKind::Erase, OperationKind::Copyback];

    /// The position in a table by kind.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The transactions of an operation, one a plane.
#[derive(Clone, Copy, Debug)]
pub struct PlaneTransactions {
    pub(super) count: u32,
    pub(super) transactions: [TransactionId; PLANES_PER_DIE_MAX],
}

impl PlaneTransactions {
    pub(super) const NONE: PlaneTransactions =
        PlaneTransactions { count: 0, transactions: [TransactionId(0); PLANES_PER_DIE_MAX] };

    /// One plane.
    #[inline]
    pub fn one(transaction: TransactionId) -> PlaneTransactions {
        PlaneTransactions { count: 1, transactions: [transaction; PLANES_PER_DIE_MAX] }
    }

    /// Another plane joins.
    #[inline]
    pub fn join(&mut self, transaction: TransactionId) {
        self.transactions[self.count as usize] = transaction;
        self.count += 1;
    }

    /// The transactions in the order in which they joined.
    #[inline]
    pub fn transactions(&self) -> &[TransactionId] {
        &self.transactions[..self.count as usize]
    }
}

/// One operation over one or more planes.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// What the array does.
    pub kind: OperationKind,
    /// Whether it is work of the firmware (garbage collection, wear levelling) and not of a request.
    pub internal: bool,
    /// When the path was granted.
    pub started: Time,
    /// How long the array works on it, and on what comes first, such as the suspension of another one.
    pub array_time: Time,
    /// What the pages are that it works on.
    pub pages: Pages,
    /// What each of the planes works for.
    pub planes: PlaneTransactions,
}

impl Operation {
    /// What stands for one before the first.
    pub(super) fn none() -> Operation {
        Operation {
            kind: OperationKind::Read,
            internal: false,
            started: Time::ZERO,
            array_time: Time::ZERO,
            pages: Pages::default(),
            planes: PlaneTransactions::NONE,
        }
    }

    /// The transactions, one a plane.
    #[inline]
    pub fn transactions(&self) -> &[TransactionId] {
        self.planes.transactions()
    }
}
