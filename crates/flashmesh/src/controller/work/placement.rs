//! Placement of pages on planes by the allocator and the firmware policy.

use rustc_hash::FxHashSet;

use crate::controller::shared::Shared;
use crate::controller::{Context, PageRequest};
use crate::datapath::Datapath;
use crate::ftl::{OpenBlockKind, PageRead, PageWrite, RequestPart};
use crate::ids::{Lpn, PlaneId, RequestId, TransactionId};
use crate::kernel::model::Model;
use crate::policies::{FirmwarePolicy, PlacementStage};
use crate::schedule::transaction::Transaction;

/// Records of requests and of placed writes, for a user-supplied allocator.
#[derive(Clone, Debug, Default)]
pub struct Placements {
    /// First page and number of pages of each request, indexed by request id. An entry is overwritten when its id is reused.
    requests: Vec<(Lpn, u32)>,
    /// Writes that were placed a second time. These writes stay on their second plane.
    placed_again: FxHashSet<TransactionId>,
}

impl Placements {
    /// Records the pages of a request that begins.
    #[inline(never)]
    pub fn keep_request(&mut self, request: RequestId, first: Lpn, last: Lpn) {
        if self.requests.len() <= request.index() {
            self.requests.resize(request.index() + 1, (Lpn(0), 0));
        }
        self.requests[request.index()] = (first, last.0 - first.0 + 1);
    }

    fn part_of(&self, request: RequestId, lpn: Lpn) -> Option<RequestPart> {
        let &(first, pages) = self.requests.get(request.index())?;
        Some(RequestPart { request, pages, position: lpn.0 - first.0 })
    }

    fn page_write(&self, write: &Transaction) -> PageWrite {
        let request = write.owner.request.and_then(|request| self.part_of(request, write.lpn));
        PageWrite { lpn: write.lpn, stream: Some(write.owner.stream), request }
    }

    /// Returns the plane to which a write goes, chosen by the allocator or the firmware policy.
    #[inline]
    pub fn place<M: Model>(&self, id: TransactionId, cx: &mut Context<'_, M>) -> PlaneId {
        let Context { shared, datapath, .. } = cx;
        let transaction = datapath.queues.transaction(id);
        let lpn = transaction.lpn;
        if !M::ALL_FEATURES {
            return shared.ftl.place_write(lpn, datapath.dies.idle_dies());
        }
        let placing = shared.policy.placement_stage();
        if placing == PlacementStage::AtDispatch {
            return shared.ftl.static_order().plane_of(lpn);
        }
        let write = self.page_write(transaction);
        let states = datapath.dies.states();
        let plane = shared.ftl.place(&write, datapath.dies.idle_dies(), Some(datapath.queues.load(&states)));
        let stream = shared.ftl.superblock_write_kind(plane);
        shared.place_beside(lpn, plane, stream)
    }

    /// Returns whether a write that is ready to be programmed stays on its plane. Always true if pages are preallocated, if the firmware policy
    /// chooses planes, or if the write was already placed a second time.
    pub fn stays<M: Model>(&self, id: TransactionId, shared: &Shared, datapath: &Datapath<M>) -> bool {
        let write = datapath.queues.transaction(id);
        let chooses = shared.policy.placement_stage() != PlacementStage::Allocator;
        if chooses || shared.rules.preallocates || self.placed_again.contains(&id) {
            return true;
        }
        let states = datapath.dies.states();
        shared.ftl.keeps_plane(
            &self.page_write(write),
            write.plane,
            datapath.dies.idle_dies(),
            datapath.queues.load(&states),
        )
    }

    /// Chooses a plane anew for a write, because the allocator rejects the old plane under the current load.
    pub fn place_again<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        let Transaction { lpn, plane, .. } = *cx.datapath.queues.transaction(id);
        cx.shared.ftl.withdraw_write(lpn, plane);
        self.placed_again.insert(id);
        cx.datapath.queues.transaction_mut(id).plane = self.place(id, cx);
    }

    /// Removes the record of a write that has been programmed.
    #[inline]
    pub fn forget(&mut self, id: TransactionId) {
        if !self.placed_again.is_empty() {
            self.placed_again.remove(&id);
        }
    }

    /// Notifies the allocator that a request reads a page.
    #[inline(never)]
    pub fn tell_read(&mut self, page: &PageRequest, shared: &mut Shared) {
        let request = self.part_of(page.request, page.lpn);
        let plane = shared.geometry.plane_of(shared.ftl.location(page.lpn));
        shared.ftl.notify_read(&PageRead { lpn: page.lpn, plane, stream: page.stream, request });
    }
}

impl Shared {
    /// Lets the firmware policy replace `plane`, which the allocator chose for a page. Returns the plane that is used.
    fn place_beside(&mut self, lpn: Lpn, plane: PlaneId, stream: OpenBlockKind) -> PlaneId {
        if self.policy.placement_stage() != PlacementStage::AfterAllocator {
            return plane;
        }
        let beside = self.policy.place_write(plane, stream, &self.ftl);
        self.ftl.withdraw_write(lpn, plane);
        let is_taken = beside == plane || self.ftl.may_redirect(lpn, plane, beside);
        let goes_to = if is_taken { beside } else { plane };
        self.ftl.record_placement(lpn, goes_to);
        self.policy.placed(goes_to);
        goes_to
    }

    /// Returns the plane for a page of the map or of its journal.
    pub fn place_map_write<M: Model>(&mut self, page: Lpn, datapath: &Datapath<M>) -> PlaneId {
        let states = datapath.dies.states();
        let plane =
            self.ftl.place(&PageWrite::new(page), datapath.dies.idle_dies(), Some(datapath.queues.load(&states)));
        self.place_beside(page, plane, OpenBlockKind::Translation)
    }
}
