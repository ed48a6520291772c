//! Events of the reads, programs and erases of garbage collection and wear levelling.

use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::controller::work::chip_to_chip::clean;
use crate::controller::work::kind::Kind;
use crate::controller::{Backend, Work};
use crate::ftl::OpenBlockKind;
use crate::ids::{BlockId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::purpose::{MoveRoute, Purpose};
use crate::schedule::transaction::Transaction;

use super::{Collections, in_plane};

impl Kind for Collections {
    fn read_done<M: Model>(id: TransactionId, purpose: Purpose, backend: &mut Backend<M>) {
        let (Work { collections, moves, .. }, cx) = &mut backend.parts();
        let Purpose::CollectRead(route) = purpose else { unreachable!("a program or an erase brings no data") };
        if route.is_clean() {
            if let Some(die) = moves.cleaning.arrived(id, cx) {
                cx.push(FollowUp::TryIssue(die));
            }
        } else if M::ALL_FEATURES && cx.asks_core_to_move(id) {
            // A processor core handles the page first; `Backend::move_handled` continues the move.
        } else {
            collections.page_read(id, route, moves, cx);
        }
    }

    #[inline]
    fn programmed<M: Model>(id: TransactionId, purpose: Purpose, backend: &mut Backend<M>) {
        let (Work { collections, moves, map, .. }, cx) = &mut backend.parts();
        match purpose {
            Purpose::CollectProgram(route) => collections.commit(id, route, moves, map.as_deref_mut(), cx),
            Purpose::Erase => {
                let block = cx.shared.geometry.block_of(cx.datapath.queues.transaction(id).from);
                cx.kernel.notify(|| Notice::BlockErased(block));
                cx.shared.persist(|state| state.erased(block));
            }
            _ => unreachable!("a read ends in the register, not in the array"),
        }
    }

    #[inline]
    fn acknowledged<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { collections, moves, .. }, cx) = &mut backend.parts();
        let Transaction { purpose, plane, from, .. } = *cx.datapath.queues.transaction(id);
        let is_last_unit = cx.datapath.queues.transactions.companion(id).is_none();
        cx.datapath.queues.transactions.remove(id);
        if purpose == Purpose::Erase {
            return collections.erased(plane, cx);
        }
        let victim = cx.shared.geometry.plane_of(from);
        if purpose.is_clean() {
            return match purpose {
                _ if !is_last_unit => {}
                Purpose::CollectProgram(MoveRoute::CleanEnd) => clean::ended(victim, backend),
                _ => moves.cleaning.go_on(victim, cx),
            };
        }
        collections.moved(victim, cx);
        cx.push(FollowUp::Advance(victim));
    }

    /// Drops the move of a page that is no longer valid, and continues the collection.
    fn rerouted<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { collections, moves, .. }, cx) = &mut backend.parts();
        let Transaction { purpose, from, .. } = *cx.datapath.queues.transaction(id);
        if purpose.is_copyback() && cx.datapath.queues.gathers() {
            return collections.split_copyback(id, cx);
        }
        collections.move_dropped(purpose, cx.shared.geometry.plane_of(from), cx);
        moves.rerouted(id, cx);
    }

    fn is_current(transaction: &Transaction, shared: &Shared) -> bool {
        match transaction.purpose {
            Purpose::Erase => true,
            purpose if purpose.is_copyback() && shared.geometry.gathers_units() => {
                in_plane::is_whole(transaction, shared)
            }
            _ => shared.ftl.is_at(transaction.lpn, transaction.from),
        }
    }

    #[inline]
    fn open_block(transaction: &Transaction, shared: &Shared) -> Option<OpenBlockKind> {
        let Purpose::CollectProgram(route) = transaction.purpose else { return None };
        let kind =
            if route.leaves_chip() { OpenBlockKind::Incoming } else { shared.ftl.move_block_kind(transaction.from) };
        Some(kind)
    }

    #[inline]
    fn next_page(transaction: &Transaction, shared: &Shared) -> Option<(BlockId, u32)> {
        shared.ftl.blocks().next_move_offset(transaction.plane, Self::open_block(transaction, shared)?)
    }

    #[inline]
    fn allocate(transaction: &Transaction, shared: &mut Shared) -> Option<Ppn> {
        shared.ftl.allocate_move(transaction.plane, Self::open_block(transaction, shared)?)
    }
}
