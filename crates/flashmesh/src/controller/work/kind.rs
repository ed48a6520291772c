//! The contract of a kind of work, and the registry of kinds.

use crate::controller::Backend;
use crate::controller::shared::Shared;
use crate::ftl::OpenBlockKind;
use crate::ids::{BlockId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::Transaction;

/// A kind of work, which handles the events of its transactions.
///
/// # Contract
/// - A read gets [`read_done`](Self::read_done) when its data has left the die.
/// - A program or an erase gets [`programmed`](Self::programmed) when the array has finished, then [`acknowledged`](Self::acknowledged)
///   when the controller is notified. `acknowledged` removes the transaction, or passes it to the frontend.
/// - A queued transaction that is not [current](Self::is_current) gets [`rerouted`](Self::rerouted), which enqueues it again or removes it.
/// - Follow-up work is pushed as [`FollowUp`](crate::controller::follow_ups::FollowUp) steps. After an event, the caller performs the steps
///   that are still pending.
/// - The default event handlers panic. A kind defines those that its transactions can reach: a kind without reads omits `read_done`.
pub trait Kind {
    /// Continues a transaction whose mapping entry is in DRAM now, because it was cached or has been read.
    fn translated<M: Model>(_id: TransactionId, _backend: &mut Backend<M>) {
        unreachable!("the firmware knows the locations of its own transactions")
    }

    /// Handles a read whose data has left the die.
    fn read_done<M: Model>(_id: TransactionId, _purpose: Purpose, _backend: &mut Backend<M>) {
        unreachable!("a program or an erase brings no data")
    }

    /// Updates the map after the array has programmed a page or erased a block.
    fn programmed<M: Model>(_id: TransactionId, _purpose: Purpose, _backend: &mut Backend<M>) {
        unreachable!("a read ends in the register, not in the array")
    }

    /// Continues the work that waited for the end of a program or an erase.
    fn acknowledged<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        backend.datapath.queues.transactions.remove(id);
    }

    /// Enqueues a queued transaction again, or removes it, because its page was moved or deallocated.
    fn rerouted<M: Model>(_id: TransactionId, _backend: &mut Backend<M>) {
        unreachable!("the transaction does not depend on the map")
    }

    /// Drops a transaction of a host request, after the power was cut.
    fn dropped<M: Model>(_id: TransactionId, _backend: &mut Backend<M>) {
        unreachable!("the transaction is not of a request")
    }

    /// Returns whether the page of a queued transaction is still at the location for which the transaction was queued.
    fn is_current(_transaction: &Transaction, _shared: &Shared) -> bool {
        true
    }

    /// Returns the kind of open block to which a program goes; `None` for transactions that need no page of an open block.
    fn open_block(_transaction: &Transaction, _shared: &Shared) -> Option<OpenBlockKind> {
        None
    }

    /// Returns, without an allocation, the block and the page index that a program would get now; `None` if no page is free.
    #[inline]
    fn next_page(transaction: &Transaction, shared: &Shared) -> Option<(BlockId, u32)> {
        shared.ftl.blocks().next_page_offset(transaction.plane, Self::open_block(transaction, shared)?)
    }

    /// Allocates the page of a program that begins; `None` if no page is free.
    #[inline]
    fn allocate(transaction: &Transaction, shared: &mut Shared) -> Option<Ppn> {
        let kind = Self::open_block(transaction, shared)?;
        shared.ftl.prefetch_older(transaction.lpn);
        shared.ftl.allocate(transaction.plane, kind)
    }

    /// Handles the start of a program that was just assigned its page.
    #[inline(always)]
    fn began<M: Model>(_id: TransactionId, _backend: &mut Backend<M>) {}
}

/// Calls a function of the kind of work that handles transactions of a purpose. The match is the registry of kinds.
macro_rules! of_kind {
    ($purpose:expr, $function:ident($($argument:expr),*)) => {{
        use $crate::controller::work::{
            collect::Collections, host_read::HostReads, host_write::HostWrites, kind::Kind, map::CachedMap,
            parity::Parity, reallocate::Reallocations, replica::Replication,
        };
        use $crate::schedule::purpose::Purpose;
        match $purpose {
            Purpose::HostRead(_) => HostReads::$function($($argument),*),
            Purpose::ReadModify(_) | Purpose::HostWrite(_) => HostWrites::$function($($argument),*),
            Purpose::CollectRead(_) | Purpose::CollectProgram(_) | Purpose::Erase => {
                Collections::$function($($argument),*)
            }
            Purpose::MapRead | Purpose::MapProgram => CachedMap::$function($($argument),*),
            Purpose::Reallocate => Reallocations::$function($($argument),*),
            Purpose::ReplicaProgram => Replication::$function($($argument),*),
            Purpose::Parity => Parity::$function($($argument),*),
        }
    }};
}
pub(crate) use of_kind;

/// Returns the kind of open block to which a program goes; `None` for parity, and for transactions that are not programs.
#[inline]
pub fn open_block(transaction: &Transaction, shared: &Shared) -> Option<OpenBlockKind> {
    of_kind!(transaction.purpose, open_block(transaction, shared))
}
