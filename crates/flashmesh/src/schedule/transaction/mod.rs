//! Flash transactions: an operation on one page, or the erase of one block, on its way through a die.

pub mod latency_account;
pub mod purpose;

use crate::ids::{Lpn, PlaneId, Ppn, RequestId, StreamId, TransactionId};
use crate::units::Bytes;

use latency_account::LatencyAccount;
use purpose::{CacheReservation, Purpose};

pub use crate::config::Priority;

/// The class of a transaction. The order of the variants is the order of preference in the out-of-order policy if user requests precede garbage
/// collection and reads precede programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionClass {
    /// Read of a translation page, because transactions wait for its entries or because the page is written back.
    MapRead,
    /// Program of a page of the mapping table or of its journal, or of superblock parity.
    MapProgram,
    /// Read of a user page, for a request or for a partial write.
    UserRead,
    /// Program of a user page: for a request, for the device cache, or to reallocate the page.
    UserProgram,
    /// Read of a valid page of the victim block, by garbage collection or wear levelling.
    CollectRead,
    /// Program of a page that garbage collection or wear levelling moves. A copyback reads and programs in one transaction.
    CollectProgram,
    /// Erase of the victim block of garbage collection or wear levelling.
    Erase,
    /// Program of a replica (copy of a page on another die, against read collisions), if that die has no other work.
    ReplicaProgram,
}

/// Number of transaction classes.
pub const CLASSES: usize = 8;

impl TransactionClass {
    /// All classes, in index order.
    pub const ALL: [TransactionClass; CLASSES] = [
        TransactionClass::MapRead,
        TransactionClass::MapProgram,
        TransactionClass::UserRead,
        TransactionClass::UserProgram,
        TransactionClass::CollectRead,
        TransactionClass::CollectProgram,
        TransactionClass::Erase,
        TransactionClass::ReplicaProgram,
    ];

    /// Classes of programs that have no reserve of free pages, so that these programs wait while their plane has no free page.
    pub const WAITING_PROGRAMS: [TransactionClass; 3] =
        [TransactionClass::UserProgram, TransactionClass::MapProgram, TransactionClass::ReplicaProgram];

    /// Classes of reads: for requests, for the map, and for garbage collection.
    pub const READS: [TransactionClass; 3] =
        [TransactionClass::MapRead, TransactionClass::UserRead, TransactionClass::CollectRead];

    /// Classes of reads that requests wait for. These reads may suspend an operation.
    pub const AWAITED_READS: [TransactionClass; 2] = [TransactionClass::MapRead, TransactionClass::UserRead];

    /// All classes except programs of page replicas, which run only if nothing else is queued.
    pub const REQUIRED: [TransactionClass; CLASSES - 1] = [
        TransactionClass::MapRead,
        TransactionClass::MapProgram,
        TransactionClass::UserRead,
        TransactionClass::UserProgram,
        TransactionClass::CollectRead,
        TransactionClass::CollectProgram,
        TransactionClass::Erase,
    ];

    /// Classes of garbage collection and wear levelling.
    pub const INTERNAL: [TransactionClass; 3] =
        [TransactionClass::CollectRead, TransactionClass::CollectProgram, TransactionClass::Erase];

    /// Returns the index of this class in tables with one entry for each class.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns whether the class programs a page.
    #[inline]
    pub const fn is_program(self) -> bool {
        matches!(
            self,
            TransactionClass::MapProgram
                | TransactionClass::UserProgram
                | TransactionClass::CollectProgram
                | TransactionClass::ReplicaProgram
        )
    }

    /// Returns whether the class is one of [`WAITING_PROGRAMS`](TransactionClass::WAITING_PROGRAMS).
    #[inline]
    pub const fn waits_for_page(self) -> bool {
        matches!(self, TransactionClass::UserProgram | TransactionClass::MapProgram | TransactionClass::ReplicaProgram)
    }

    /// Returns whether the class is work of garbage collection or wear levelling.
    #[inline]
    pub const fn is_internal(self) -> bool {
        matches!(self, TransactionClass::CollectRead | TransactionClass::CollectProgram | TransactionClass::Erase)
    }
}

/// An optional transaction id, half as large as an `Option<TransactionId>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextInChain(u32);

impl NextInChain {
    /// No transaction. A pool never has as many transactions as this id.
    pub const NONE: NextInChain = NextInChain(u32::MAX);

    /// Creates a link to the transaction `id`.
    #[inline(always)]
    pub fn to(id: TransactionId) -> NextInChain {
        NextInChain(id.0)
    }

    /// Returns the transaction; `None` for [`NextInChain::NONE`].
    #[inline(always)]
    pub fn get(self) -> Option<TransactionId> {
        (self != NextInChain::NONE).then_some(TransactionId(self.0))
    }
}

/// Owner of a transaction: the request and stream, or the firmware.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// Request that waits for the transaction; `None` for firmware work and for destages of the device cache.
    pub request: Option<RequestId>,
    /// Stream of the request; of a destage, the stream that wrote the page; stream 0 for firmware work.
    pub stream: StreamId,
    /// Priority of `stream`.
    pub priority: Priority,
}

impl Owner {
    /// The firmware as owner.
    pub const FIRMWARE: Owner = Owner { request: None, stream: StreamId(0), priority: Priority::Medium };
}

/// A flash transaction: an operation on one page, or the erase of one block.
///
/// The field order and the alignment serve searches through a queue: they read one cache line of each transaction, because the transactions can
/// exceed the CPU cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Transaction {
    /// Next companion (further mapping unit of the same program or read on this plane), in an intrusive list.
    next: NextInChain,
    /// Page to read, to move or to replicate; for an erase, any page of the block.
    pub from: Ppn,
    /// Logical page of user data, of the mapping table or of its journal; 0 for erases and parity.
    pub lpn: Lpn,
    /// Plane of the operation.
    pub plane: PlaneId,
    /// Version of the mapping table at the time when `from` was looked up, for reads.
    pub map_version: u64,
    /// Owner of the transaction.
    pub owner: Owner,
    /// Page to program, assigned when the path is granted, or earlier with `ftl.write-binding = "early"`.
    pub to: Ppn,
    /// Offset in bytes of the requested data in its page; 0 except for reads.
    pub start: u32,
    /// Sequence number, in order of arrival of all transactions.
    pub order: u64,
    /// Purpose (host read, GC move, …). Determines the class, and so the queue.
    pub purpose: Purpose,
    /// Time account, which attributes the latency of the transaction.
    pub account: LatencyAccount,
    /// Size of the host data of this page: requested by a read, or to be written.
    pub bytes: Bytes,
    /// Size of the data that a read transfers out of the die, without metadata of the page.
    pub transfer_bytes: Bytes,
    /// Next write of the same logical page, which starts after this one; `None` if there is none.
    pub successor: Option<TransactionId>,
}

/// Searches through queues use only the first cache line, which ends before `account`.
const _: () = assert!(std::mem::offset_of!(Transaction, account) == 64);

impl Default for Transaction {
    /// Returns a read of page 0 that no request waits for.
    fn default() -> Transaction {
        let work = Purpose::HostRead(CacheReservation::None);
        Transaction::new(work, Owner::FIRMWARE, Lpn(0), PlaneId(0), Ppn(0), Bytes::ZERO)
    }
}

impl Transaction {
    /// Creates a transaction with an empty time account.
    #[inline(always)]
    pub fn new(work: Purpose, owner: Owner, lpn: Lpn, plane: PlaneId, from: Ppn, bytes: Bytes) -> Transaction {
        Transaction {
            purpose: work,
            owner,
            next: NextInChain::NONE,
            successor: None,
            lpn,
            plane,
            from,
            map_version: u64::MAX,
            to: from,
            bytes,
            start: 0,
            transfer_bytes: bytes,
            order: 0,
            account: LatencyAccount::default(),
        }
    }

    /// Returns the class, which selects the queue of the die.
    #[inline(always)]
    pub const fn class(&self) -> TransactionClass {
        self.purpose.class()
    }

    /// Returns whether this is a host read whose data bypasses the device cache.
    #[inline(always)]
    pub fn is_plain_read(&self) -> bool {
        self.purpose == Purpose::HostRead(CacheReservation::None) && self.owner.request.is_some()
    }

    /// Returns the next companion (further mapping unit of the same program or read on the same plane); `None` for the last unit.
    #[inline(always)]
    pub fn companion(&self) -> Option<TransactionId> {
        self.next.get()
    }

    /// Chains `id` behind this transaction, as its next companion (further mapping unit of the same program or read on the same plane).
    #[inline]
    pub fn set_companion(&mut self, id: TransactionId) {
        self.next = NextInChain::to(id);
    }

    /// Makes this transaction the last of its chain of companions (mapping units of the same program or read on the same plane).
    #[inline]
    pub fn end_chain(&mut self) {
        self.next = NextInChain::NONE;
    }
}
