//! What transactions are for.

use super::transaction::Class;

/// Whether the device cache keeps a place for the page of a transaction until that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePlace {
    /// It does not: the drive has no cache, or the page passes it by, or leaves it.
    None,
    /// A read fills the place; a write goes through it.
    Kept,
}

/// What a read of a user page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFor {
    /// A request reads the page.
    Request,
    /// A write of a part of the page needs the rest (read-modify-write).
    Write,
}

/// Which way a page goes that collection or wear levelling moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Through the controller.
    Controller,
    /// Within its plane, without leaving the chip (copyback): where programs gather, with all others that fill one with it.
    Plane,
    /// Straight to the chip that programs it.
    Chip,
    /// The same, as a page that a Clean lists (Network-on-SSD, CAL 2012, section 3.4).
    Clean,
    /// The last page that a Clean lists: the end of its program is acknowledged.
    CleanEnd,
}

impl Route {
    /// Whether the page goes straight to another chip.
    #[inline]
    pub const fn leaves_chip(self) -> bool {
        matches!(self, Route::Chip | Route::Clean | Route::CleanEnd)
    }

    /// Whether the page is one that a Clean lists.
    #[inline]
    pub const fn is_clean(self) -> bool {
        matches!(self, Route::Clean | Route::CleanEnd)
    }
}

/// What a transaction is for, and in which step of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A translation page is read, for entries of the map that transactions wait for or that are written back.
    MapRead,
    /// A page of the map or of its journal is programmed.
    MapProgram,
    /// A request reads a page.
    HostRead(CachePlace),
    /// A write of a part of a page reads the rest first (read-modify-write).
    ReadModify(CachePlace),
    /// A page is written, for a request or for the device cache.
    HostWrite(CachePlace),
    /// The firmware policy has a page written elsewhere that it read for a request.
    Reallocate,
    /// A valid page leaves the victim block.
    CollectRead(Route),
    /// It is programmed into its new place.
    CollectProgram(Route),
    /// The victim block is erased.
    Erase,
    /// A copy of a page is programmed on another die.
    ReplicaProgram,
    /// Parity of a superblock is programmed, before what else waits for its die.
    Parity,
}

impl Work {
    /// Whether it has to go elsewhere when the page that it was queued for has moved.
    #[inline(always)]
    pub const fn depends_on_map(self) -> bool {
        !matches!(self, Work::MapProgram | Work::HostWrite(_) | Work::Erase | Work::Parity)
    }

    /// The queue of a die that it waits in.
    #[inline(always)]
    pub const fn class(self) -> Class {
        match self {
            Work::MapRead => Class::MapRead,
            Work::MapProgram | Work::Parity => Class::MapProgram,
            Work::HostRead(_) | Work::ReadModify(_) => Class::UserRead,
            Work::HostWrite(_) | Work::Reallocate => Class::UserProgram,
            Work::CollectRead(_) => Class::CollectRead,
            Work::CollectProgram(_) => Class::CollectProgram,
            Work::Erase => Class::Erase,
            Work::ReplicaProgram => Class::ReplicaProgram,
        }
    }

    /// Whether a page is written for the host, in whichever step.
    #[inline]
    pub const fn is_write(self) -> bool {
        matches!(self, Work::HostWrite(_) | Work::ReadModify(_))
    }

    /// What a read of a user page is for.
    #[inline]
    pub const fn read_for(self) -> ReadFor {
        if self.is_write() { ReadFor::Write } else { ReadFor::Request }
    }

    /// Whether the device cache keeps a place for its page.
    #[inline]
    pub const fn has_cache_place(self) -> bool {
        matches!(
            self,
            Work::HostRead(CachePlace::Kept) | Work::ReadModify(CachePlace::Kept) | Work::HostWrite(CachePlace::Kept)
        )
    }

    /// Whether its data goes, or came, straight from chip to chip.
    #[inline]
    pub const fn leaves_chip(self) -> bool {
        matches!(self, Work::CollectRead(route) | Work::CollectProgram(route) if route.leaves_chip())
    }

    /// Whether it is a program of which nothing comes over the path: where programs gather, all that one writes is together before it is
    /// queued, and waits there for nothing more.
    #[inline]
    pub const fn is_whole(self) -> bool {
        matches!(self, Work::CollectProgram(Route::Plane | Route::Chip | Route::Clean | Route::CleanEnd))
    }

    /// Whether a page moves within its plane, read and programmed in one.
    #[inline]
    pub const fn is_copyback(self) -> bool {
        matches!(self, Work::CollectProgram(Route::Plane))
    }

    /// Whether two programs may run as one operation: the data comes over the path for both or for none, copybacks run alone, and parity runs
    /// with parity alone.
    #[inline]
    pub fn may_run_with(self, other: Work) -> bool {
        self.leaves_chip() == other.leaves_chip()
            && !self.is_copyback()
            && !other.is_copyback()
            && (self == Work::Parity) == (other == Work::Parity)
    }

    /// Whether it moves a page that a Clean lists.
    #[inline]
    pub const fn is_clean(self) -> bool {
        matches!(self, Work::CollectRead(route) | Work::CollectProgram(route) if route.is_clean())
    }
}
