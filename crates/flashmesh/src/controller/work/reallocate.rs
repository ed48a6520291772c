//! Reallocation: pages that requests have just read are written to other dies, if the firmware policy chooses so. The data is already in the
//! controller, so the cost is a program only.

use crate::controller::Context;
use crate::controller::follow_ups::FollowUp;
use crate::ids::TransactionId;
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, Origin};
use crate::persistence::ProgramReason;
use crate::policies::{FirmwarePolicy, PolicyEvent};
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::{Owner, Transaction};

use super::host_write::HostWrites;

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

/// Commits the new location of a reallocated page that the array has programmed.
pub fn programmed<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    let write = *cx.datapath.queues.transaction(id);
    let Transaction { lpn, plane, from, to, .. } = write;
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

/// Cancels a reallocation whose page has changed meanwhile.
pub fn rerouted<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    let write = *cx.datapath.queues.transaction(id);
    cx.shared.ftl.withdraw_write(write.lpn, write.plane);
    cx.shared.policy.notify(PolicyEvent::WriteCancelled(&write));
    cx.datapath.queues.transactions.remove(id);
}
