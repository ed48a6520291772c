//! Reallocation: pages that requests have just read are written to other dies, if the firmware policy chooses so. The data is already in the
//! controller, so the cost is a program only.

use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::controller::{Backend, Context};
use crate::ftl::OpenBlockKind;
use crate::ids::TransactionId;
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, Origin};
use crate::persistence::ProgramReason;
use crate::policies::{FirmwarePolicy, PolicyEvent};
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::{Owner, Transaction};

use super::host_write::HostWrites;
use super::kind::Kind;

/// The kind of work whose transactions are programs of pages that the firmware policy rewrites on other dies after a read.
pub struct Reallocations;

/// Begins the reallocation of a page that was just read, if the policy requests it.
pub fn read_done<M: Model>(read: TransactionId, writes: &HostWrites, cx: &mut Context<'_, M>) {
    let Some(plane) = cx.shared.policy.rewrite_plane(read) else { return };
    let Transaction { lpn, from, owner, .. } = *cx.datapath.queues.transaction(read);
    if writes.is_under_way(lpn) || cx.shared.ftl.lookup(lpn) != Some(from) {
        return;
    }
    let owner = Owner { request: None, ..owner };
    let bytes = cx.shared.geometry.page_size;
    let id = cx.begin(Transaction::new(Purpose::Reallocate, owner, lpn, plane, from, bytes));
    cx.push(FollowUp::Enqueue(id));
}

impl Kind for Reallocations {
    fn programmed<M: Model>(id: TransactionId, _: Purpose, backend: &mut Backend<M>) {
        let cx = &mut backend.context();
        let Transaction { lpn, plane, from, to, .. } = *cx.datapath.queues.transaction(id);
        let shared = &mut *cx.shared;
        shared.counters.gc.pages_reallocated += 1;
        cx.kernel.notify(|| Notice::PageProgrammed(to, lpn, Origin::Moved(from)));
        shared.ftl.withdraw_write(lpn, plane);
        shared.policy.notify(PolicyEvent::Rewritten);
        let is_wanted = shared.ftl.commit_move(lpn, from, to);
        shared.persist_program(lpn, to, if is_wanted { ProgramReason::Moved } else { ProgramReason::Superseded });
        if is_wanted {
            cx.push(FollowUp::EntryChanged(lpn));
        }
    }

    /// Cancels the reallocation of a page that was written, moved or deallocated meanwhile.
    fn rerouted<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let cx = &mut backend.context();
        let write = *cx.datapath.queues.transaction(id);
        cx.shared.ftl.withdraw_write(write.lpn, write.plane);
        cx.shared.policy.notify(PolicyEvent::WriteCancelled(&write));
        cx.datapath.queues.transactions.remove(id);
    }

    fn is_current(write: &Transaction, shared: &Shared) -> bool {
        shared.ftl.lookup(write.lpn) == Some(write.from)
    }

    /// Reallocated pages go to the open block of host writes, never to the SLC cache.
    fn open_block(write: &Transaction, shared: &Shared) -> Option<OpenBlockKind> {
        Some(shared.ftl.blocks().host_block_kind(write.plane, None))
    }
}
