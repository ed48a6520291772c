//! Page preallocation: a write is assigned its physical page when it is placed on a plane (`ftl.write-binding = "early"`).
//!
//! If the plane has no free page, the write is blocked until a program of the plane has ended or a block is erased. Blocked writes of a plane keep
//! their order of arrival. A partial write takes its position among the programs when the read of its page (read-modify-write) is queued.

use std::collections::VecDeque;

use crate::controller::Context;
use crate::controller::follow_ups::FollowUp;
use crate::datapath::Datapath;
use crate::ids::{PlaneId, TransactionId};
use crate::kernel::model::Model;
use crate::policies::PolicyEvent;

use super::{HostWrites, turn_into_read};

/// Writes that are blocked because their plane has no free page.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockedWrites {
    /// Blocked writes, by plane; empty if pages are bound late.
    by_plane: Vec<VecDeque<TransactionId>>,
    /// Number of blocked writes, over all planes.
    count: usize,
}

impl BlockedWrites {
    pub fn new(planes: u32) -> BlockedWrites {
        BlockedWrites { by_plane: vec![VecDeque::new(); planes as usize], count: 0 }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns whether a write waits on `plane` for a free page.
    #[inline]
    pub fn holds(&self, plane: PlaneId) -> bool {
        !self.is_empty() && !self.by_plane[plane.index()].is_empty()
    }

    /// Returns the planes with writes that wait for a free page, among the `count` planes from `first` on, as a bit mask; bit 0 is `first`.
    #[inline]
    pub fn planes(&self, first: PlaneId, count: u32) -> u8 {
        if self.is_empty() {
            return 0;
        }
        let waiting = |&plane: &u32| !self.by_plane[(first.0 + plane) as usize].is_empty();
        (0..count).filter(waiting).fold(0, |planes, plane| planes | 1 << plane)
    }
}

impl HostWrites {
    /// Places a write on a plane and assigns it a page there. If no page is free, blocks the write and triggers collection.
    pub(super) fn preallocate_write<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        let plane = self.placements.place(id, cx);
        cx.datapath.queues.transaction_mut(id).plane = plane;
        if self.blocked.by_plane[plane.index()].is_empty() && preallocate(id, cx) {
            return start_preallocated(id, cx);
        }
        let now = cx.kernel.now();
        let internal_busy = cx.datapath.dies.internal_busy(plane, now);
        cx.datapath.queues.transaction_mut(id).account.queue(now, internal_busy);
        self.blocked.by_plane[plane.index()].push_back(id);
        self.blocked.count += 1;
        cx.push(FollowUp::Collect(plane));
        if cx.shared.rules.alternates_with_destage {
            // A collection that waits for its turn may continue once its plane is out of space. Pages that arrived from other chips may have used up
            // the space.
            cx.push(FollowUp::TryIssue(cx.shared.geometry.die_of_plane(plane)));
        }
    }

    /// Assigns a free page of `plane`, if there is one, to the first write that waits on the plane, and starts the write.
    pub fn unblock<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        let Some(&id) = self.blocked.by_plane[plane.index()].front() else { return };
        if !preallocate(id, cx) {
            return;
        }
        self.blocked.by_plane[plane.index()].pop_front();
        self.blocked.count -= 1;
        cx.datapath.charge_queue_wait(id, cx.kernel.now());
        start_preallocated(id, cx);
        cx.push(FollowUp::Unblock(plane));
    }

    /// Removes and returns the writes of requests that wait for a free page, from all planes. Destages continue to wait.
    pub fn take_blocked_of_requests<M: Model>(&mut self, datapath: &Datapath<M>) -> Vec<TransactionId> {
        let is_of_request = |&id: &TransactionId| datapath.queues.transaction(id).owner.request.is_some();
        let mut taken = Vec::new();
        for blocked in &mut self.blocked.by_plane {
            taken.extend(blocked.iter().copied().filter(is_of_request));
            blocked.retain(|id| !is_of_request(id));
        }
        self.blocked.count -= taken.len();
        taken
    }
}

/// Releases the preallocated page of a cancelled write. The page stays unused until its block is erased. No-op without preallocation.
pub fn drop_page<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    if cx.shared.rules.preallocates {
        let to = cx.datapath.queues.transaction(id).to;
        cx.shared.ftl.blocks_mut().drop_preallocated(to);
        let plane = cx.shared.geometry.plane_of(to);
        if cx.datapath.queues.early_bound.unbind(to) {
            cx.push(FollowUp::TryIssue(cx.shared.geometry.die_of_plane(plane)));
        }
        cx.push(FollowUp::Unblock(plane));
    }
}

/// Assigns to a write the next page of its plane. Returns `false` if no page is free.
fn preallocate<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) -> bool {
    let transaction = cx.datapath.queues.transaction_mut(id);
    cx.shared.ftl.prefetch_older(transaction.lpn);
    let stream = cx.shared.stream_of_write(transaction);
    let Some(to) = cx.shared.ftl.blocks_mut().preallocate(transaction.plane, stream) else { return false };
    transaction.to = to;
    cx.shared.notify_policy::<M>(PolicyEvent::PageAllocated(transaction.class(), transaction.plane));
    cx.datapath.queues.early_bound.bind(to, cx.kernel);
    true
}

/// Enqueues a write that has its page. A partial write is enqueued as the read of its old page, any other write as a program.
fn start_preallocated<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    let from = cx.shared.page_to_modify(cx.datapath.queues.transaction(id));
    let order = cx.datapath.queues.take_order();
    match from {
        Some(from) => turn_into_read(id, from, cx),
        None => cx.datapath.queues.transaction_mut(id).order = order,
    }
    cx.push(FollowUp::Enqueue(id));
}
