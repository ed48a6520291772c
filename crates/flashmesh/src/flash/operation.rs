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
    pub(super) count: u8,
    pub(super) transactions: [TransactionId; PLANES_PER_DIE_MAX],
}

impl Operation {
    /// An operation of one plane.
    #[inline]
    pub fn new(kind: OperationKind, internal: bool, started: Time, transaction: TransactionId) -> Operation {
        Operation {
            kind,
            internal,
            started,
            array_time: Time::ZERO,
            pages: Pages::default(),
            count: 1,
            transactions: [transaction; PLANES_PER_DIE_MAX],
        }
    }

    /// Joins another plane to it.
    #[inline]
    pub fn join(&mut self, transaction: TransactionId) {
        self.transactions[usize::from(self.count)] = transaction;
        self.count += 1;
    }

    /// The transactions, one a plane.
    #[inline]
    pub fn transactions(&self) -> &[TransactionId] {
        &self.transactions[..usize::from(self.count)]
    }
}
