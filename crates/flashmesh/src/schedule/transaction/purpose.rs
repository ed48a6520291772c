//! Purposes of transactions, such as host reads and GC moves.

use super::TransactionClass;

/// Whether the device cache reserves a slot for the page until the transaction is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheReservation {
    /// No slot is reserved: the drive has no cache, the page bypasses the cache, or the cache destages the page.
    None,
    /// A slot is reserved for a read that fills it, or for a write that passes through the cache.
    Kept,
}

/// The reason for a read of a user page: a read request, or a partial write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPurpose {
    /// Read for a read request.
    Request,
    /// Read of the page that a partial write modifies (read-modify-write).
    Write,
}

/// The route of a page that collection or wear levelling moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveRoute {
    /// Move through the controller.
    Controller,
    /// Move within the plane, by copyback. If a program consists of several mapping units, they all move in one copyback.
    Plane,
    /// Move directly to the chip that programs the page (chip-to-chip).
    Chip,
    /// Move directly to the chip that programs the page, as one of the pages of a Clean command (Network-on-SSD, CAL 2012, section 3.4).
    Clean,
    /// Like [`Clean`](Self::Clean), for the last page of the Clean command, the only page whose program is acknowledged.
    CleanEnd,
}

impl MoveRoute {
    /// Returns whether the page goes directly to another chip.
    #[inline]
    pub const fn leaves_chip(self) -> bool {
        matches!(self, MoveRoute::Chip | MoveRoute::Clean | MoveRoute::CleanEnd)
    }

    /// Returns whether the page moves by a Clean command, which makes a chip send all valid pages of a block to another chip.
    #[inline]
    pub const fn is_clean(self) -> bool {
        matches!(self, MoveRoute::Clean | MoveRoute::CleanEnd)
    }
}

/// The purpose of a transaction: the kind of work, and the step in this work (such as the read or the program of a GC move).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Read of a translation page, because transactions wait for its entries or because the page is written back.
    MapRead,
    /// Program of a page of the mapping table or of its journal.
    MapProgram,
    /// Read of a page for a host read request.
    HostRead(CacheReservation),
    /// Read of the page that a partial write modifies (read-modify-write).
    ReadModify(CacheReservation),
    /// Program of a page of host data, for a write request or for a destage of the device cache.
    HostWrite(CacheReservation),
    /// Program that moves a page, read by a request, to a location chosen by the firmware policy.
    Reallocate,
    /// Read of a valid page of the victim block, by garbage collection or wear levelling.
    CollectRead(MoveRoute),
    /// Program of a page that garbage collection or wear levelling moves, at its new location.
    CollectProgram(MoveRoute),
    /// Erase of the victim block of garbage collection or wear levelling.
    Erase,
    /// Program of a replica: a copy of a page on another die, against read collisions.
    ReplicaProgram,
    /// Program of the parity of a superblock. Precedes all other programs of its die.
    Parity,
}

impl Purpose {
    /// Returns whether the transaction must be queued again or dropped if its page was moved or deallocated while the transaction was queued.
    #[inline(always)]
    pub const fn depends_on_map(self) -> bool {
        !matches!(self, Purpose::MapProgram | Purpose::HostWrite(_) | Purpose::Erase | Purpose::Parity)
    }

    /// Returns whether the transaction is a program whose plane the firmware policy can choose.
    #[inline(always)]
    pub const fn is_placed_by_policy(self) -> bool {
        matches!(
            self,
            Purpose::HostWrite(_)
                | Purpose::MapProgram
                | Purpose::Reallocate
                | Purpose::CollectProgram(MoveRoute::Controller)
        )
    }

    /// Returns the class, which selects the queue of the die.
    #[inline(always)]
    pub const fn class(self) -> TransactionClass {
        match self {
            Purpose::MapRead => TransactionClass::MapRead,
            Purpose::MapProgram | Purpose::Parity => TransactionClass::MapProgram,
            Purpose::HostRead(_) | Purpose::ReadModify(_) => TransactionClass::UserRead,
            Purpose::HostWrite(_) | Purpose::Reallocate => TransactionClass::UserProgram,
            Purpose::CollectRead(_) => TransactionClass::CollectRead,
            Purpose::CollectProgram(_) => TransactionClass::CollectProgram,
            Purpose::Erase => TransactionClass::Erase,
            Purpose::ReplicaProgram => TransactionClass::ReplicaProgram,
        }
    }

    /// Returns whether the transaction is a step of a host write.
    #[inline]
    pub const fn is_write(self) -> bool {
        matches!(self, Purpose::HostWrite(_) | Purpose::ReadModify(_))
    }

    /// Returns the reason for a read of a user page; meaningless for other transactions.
    #[inline]
    pub const fn read_for(self) -> ReadPurpose {
        if self.is_write() { ReadPurpose::Write } else { ReadPurpose::Request }
    }

    /// Returns whether the device cache reserves a slot for the page until the transaction is complete.
    #[inline]
    pub const fn has_cache_place(self) -> bool {
        matches!(
            self,
            Purpose::HostRead(CacheReservation::Kept)
                | Purpose::ReadModify(CacheReservation::Kept)
                | Purpose::HostWrite(CacheReservation::Kept)
        )
    }

    /// Returns whether the data moves directly from chip to chip.
    #[inline]
    pub const fn leaves_chip(self) -> bool {
        matches!(self, Purpose::CollectRead(route) | Purpose::CollectProgram(route) if route.leaves_chip())
    }

    /// Returns whether the transaction is a program that needs no data from the controller. All of its mapping units are queued together, so it does
    /// not wait for further units.
    #[inline]
    pub const fn is_whole(self) -> bool {
        matches!(
            self,
            Purpose::CollectProgram(MoveRoute::Plane | MoveRoute::Chip | MoveRoute::Clean | MoveRoute::CleanEnd)
        )
    }

    /// Returns whether the transaction is a copyback, which reads and programs the page within its plane.
    #[inline]
    pub const fn is_copyback(self) -> bool {
        matches!(self, Purpose::CollectProgram(MoveRoute::Plane))
    }

    /// Returns whether two programs may run in one operation. Their data must come from the same kind of source: both from another chip, or neither.
    /// A copyback runs with no other program, and parity runs only with parity.
    #[inline]
    pub fn may_run_with(self, other: Purpose) -> bool {
        self.leaves_chip() == other.leaves_chip()
            && !self.is_copyback()
            && !other.is_copyback()
            && (self == Purpose::Parity) == (other == Purpose::Parity)
    }

    /// Returns whether the transaction moves a page by a Clean command, which makes a chip send all valid pages of a block to another chip.
    #[inline]
    pub const fn is_clean(self) -> bool {
        matches!(self, Purpose::CollectRead(route) | Purpose::CollectProgram(route) if route.is_clean())
    }
}
