//! A flash transaction: one page (or one block to erase) on its way through a die.

use crate::ids::{Lpn, PlaneId, Ppn, RequestId, StreamId, TransactionId};
use crate::units::Bytes;

use super::account::Account;
use super::work::{CachePlace, Work};

pub use crate::config::Priority;

/// What a transaction does next, in the order in which the out-of-order policy prefers user requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A translation page, for entries of the map that transactions wait for or to be written back.
    MapRead,
    /// A translation page is written back.
    MapProgram,
    /// A page a request wants.
    UserRead,
    /// A page a request writes.
    UserProgram,
    /// A valid page leaves the victim block.
    CollectRead,
    /// It is programmed into its new place (by copyback, both in one).
    CollectProgram,
    /// The victim block is erased.
    Erase,
    /// A copy of a page is programmed on another die, when that has nothing else to do.
    ReplicaProgram,
}

/// The number of classes.
pub const CLASSES: usize = 8;

impl Class {
    /// All classes, by their index.
    pub const ALL: [Class; CLASSES] = [
        Class::MapRead,
        Class::MapProgram,
        Class::UserRead,
        Class::UserProgram,
        Class::CollectRead,
        Class::CollectProgram,
        Class::Erase,
        Class::ReplicaProgram,
    ];

    /// Programs whose place is decided late, and that wait while their plane has none.
    pub const WAITING_PROGRAMS: [Class; 3] = [Class::UserProgram, Class::MapProgram, Class::ReplicaProgram];

    /// The reads that requests wait for: they may suspend what the array does.
    pub const AWAITED_READS: [Class; 2] = [Class::MapRead, Class::UserRead];

    /// All but replicas, which go when nothing else waits.
    pub const REQUIRED: [Class; CLASSES - 1] = [
        Class::MapRead,
        Class::MapProgram,
        Class::UserRead,
        Class::UserProgram,
        Class::CollectRead,
        Class::CollectProgram,
        Class::Erase,
    ];

    /// The classes of collection and wear levelling.
    pub const INTERNAL: [Class; 3] = [Class::CollectRead, Class::CollectProgram, Class::Erase];

    /// The position in a table by class.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether it programs a page.
    #[inline]
    pub const fn is_program(self) -> bool {
        matches!(self, Class::MapProgram | Class::UserProgram | Class::CollectProgram | Class::ReplicaProgram)
    }

    /// Whether it is one of the [`WAITING_PROGRAMS`](Class::WAITING_PROGRAMS).
    #[inline]
    pub const fn waits_for_page(self) -> bool {
        matches!(self, Class::UserProgram | Class::MapProgram | Class::ReplicaProgram)
    }

    /// Whether it is work of collection or wear levelling.
    #[inline]
    pub const fn is_internal(self) -> bool {
        matches!(self, Class::CollectRead | Class::CollectProgram | Class::Erase)
    }
}

/// A transaction, or none, in half the room of an `Option`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link(u32);

impl Link {
    /// No transaction: an arena never holds so many.
    pub const NONE: Link = Link(u32::MAX);

    /// To a transaction.
    #[inline(always)]
    pub fn to(id: TransactionId) -> Link {
        Link(id.0)
    }

    /// The transaction, when there is one.
    #[inline(always)]
    pub fn get(self) -> Option<TransactionId> {
        (self != Link::NONE).then_some(TransactionId(self.0))
    }
}

/// For whom a transaction is.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// The request that waits for it; `None` for work of the firmware, and for pages that the device cache writes to flash.
    pub request: Option<RequestId>,
    /// The stream of the request, or that wrote what the device cache writes to flash; the first one of other work.
    pub stream: StreamId,
    /// That of its stream.
    pub priority: Priority,
}

impl Owner {
    /// The firmware itself.
    pub const FIRMWARE: Owner = Owner { request: None, stream: StreamId(0), priority: Priority::Medium };
}

/// One page's worth of work, or one block to erase.
///
/// In this order, and at the beginning of a line of the processor's cache: who looks through a queue touches one line of each
/// transaction, of which more may wait than a cache holds.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Transaction {
    /// The next of those that run as one.
    next: Link,
    /// The page read, or moved from; the block of an erase is that of this page.
    pub from: Ppn,
    /// The logical page.
    pub lpn: Lpn,
    /// The plane it runs on.
    pub plane: PlaneId,
    /// The changes of the map there had been when `from` was looked up for a read.
    pub translated: u64,
    /// For whom.
    pub owner: Owner,
    /// The page programmed, decided when the path is granted, or before with `ftl.write-binding = "early"`.
    pub to: Ppn,
    /// Where in its page `bytes` begin; 0 but for reads.
    pub start: u32,
    /// Order of arrival among all transactions.
    pub order: u64,
    /// What it is for; decides where it queues.
    pub work: Work,
    /// Where its time goes.
    pub account: Account,
    /// User data the host asked for, or gave, in this page.
    pub bytes: Bytes,
    /// What leaves the die of a read, without the metadata of the page.
    pub moved: Bytes,
    /// The write of the same logical page that comes after this one.
    pub successor: Option<TransactionId>,
}

/// What is looked at of a transaction that waits is in its first line.
const _: () = assert!(std::mem::offset_of!(Transaction, account) == 64);

impl Default for Transaction {
    /// A read of the first page that nobody waits for.
    fn default() -> Transaction {
        let work = Work::HostRead(CachePlace::None);
        Transaction::new(work, Owner::FIRMWARE, Lpn(0), PlaneId(0), Ppn(0), Bytes::ZERO)
    }
}

impl Transaction {
    /// A transaction that has waited for nothing yet.
    #[inline(always)]
    pub fn new(work: Work, owner: Owner, lpn: Lpn, plane: PlaneId, from: Ppn, bytes: Bytes) -> Transaction {
        Transaction {
            work,
            owner,
            next: Link::NONE,
            successor: None,
            lpn,
            plane,
            from,
            translated: u64::MAX,
            to: from,
            bytes,
            start: 0,
            moved: bytes,
            order: 0,
            account: Account::default(),
        }
    }

    /// The queue of its die that it waits in.
    #[inline(always)]
    pub const fn class(&self) -> Class {
        self.work.class()
    }

    /// Whether it is a read that a request waits for and that has nothing to do with the device cache.
    #[inline(always)]
    pub fn is_plain_read(&self) -> bool {
        self.work == Work::HostRead(CachePlace::None) && self.owner.request.is_some()
    }

    /// The next of those that run as one with it.
    #[inline(always)]
    pub fn companion(&self) -> Option<TransactionId> {
        self.next.get()
    }

    /// `id` runs with it.
    #[inline]
    pub fn set_companion(&mut self, id: TransactionId) {
        self.next = Link::to(id);
    }

    /// Nothing runs with it and comes after it.
    #[inline]
    pub fn end_chain(&mut self) {
        self.next = Link::NONE;
    }
}
