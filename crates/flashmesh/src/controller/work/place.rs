//! Which plane a page goes to: what the allocator is told and asked.

use rustc_hash::FxHashSet;

use crate::controller::shared::Shared;
use crate::controller::{Context, PageRequest};
use crate::datapath::Datapath;
use crate::ftl::{PageRead, PageWrite, RequestPart, Stream};
use crate::ids::{Lpn, PlaneId, RequestId, TransactionId};
use crate::kernel::model::Model;
use crate::policies::{FirmwarePolicy, Placing};
use crate::schedule::transaction::Transaction;

/// What is kept for an allocator of the caller's own.
#[derive(Clone, Debug, Default)]
pub struct Placements {
    /// By request: its first page and how many it touches. Those of requests that ended are overwritten by others.
    requests: Vec<(Lpn, u32)>,
    /// Writes that were placed a second time: they stay where they are.
    placed_again: FxHashSet<TransactionId>,
}

impl Placements {
    /// A request is about to read or write the pages from `first` to `last`.
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

    /// The plane that a write goes to.
    #[inline]
    pub fn place<M: Model>(&self, id: TransactionId, cx: &mut Context<'_, M>) -> PlaneId {
        let Context { shared, datapath, .. } = cx;
        let transaction = datapath.transaction(id);
        let lpn = transaction.lpn;
        if !M::ALL_FEATURES {
            return shared.ftl.place_write(lpn, datapath.idle_dies());
        }
        let placing = shared.policy.placing();
        if placing == Placing::Late {
            return shared.ftl.static_plane(lpn);
        }
        let write = self.page_write(transaction);
        let states = datapath.states();
        let plane = shared.ftl.place(&write, datapath.idle_dies(), Some(datapath.load(&states)));
        let stream = shared.ftl.write_stream_beside(plane);
        shared.place_beside(lpn, plane, stream)
    }

    /// Whether a write, which could be programmed now, stays where it was placed: always when it was placed a second time, or
    /// the policy has a way of its own to choose planes.
    pub fn stays<M: Model>(&self, id: TransactionId, shared: &Shared, datapath: &Datapath<M>) -> bool {
        let write = datapath.transaction(id);
        let chooses = shared.policy.placing() != Placing::Allocator;
        if chooses || shared.rules.preallocates || self.placed_again.contains(&id) {
            return true;
        }
        let states = datapath.states();
        shared.ftl.stays(&self.page_write(write), write.plane, datapath.idle_dies(), datapath.load(&states))
    }

    /// A write that does not stay where it was placed is placed again, by the load of this moment.
    pub fn place_again<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        let Transaction { lpn, plane, .. } = *cx.datapath.transaction(id);
        cx.shared.ftl.unplace_write(lpn, plane);
        self.placed_again.insert(id);
        cx.datapath.transaction_mut(id).plane = self.place(id, cx);
    }

    /// A write has been programmed.
    #[inline]
    pub fn forget(&mut self, id: TransactionId) {
        if !self.placed_again.is_empty() {
            self.placed_again.remove(&id);
        }
    }

    /// Tells the allocator that a request reads a page.
    #[inline(never)]
    pub fn tell_read(&mut self, page: &PageRequest, shared: &mut Shared) {
        let request = self.part_of(page.request, page.lpn);
        let plane = shared.geometry.plane_of(shared.ftl.location(page.lpn));
        shared.ftl.tell_read(&PageRead { lpn: page.lpn, plane, stream: page.stream, request });
    }
}

impl Shared {
    /// The plane that the policy has for a page which was placed on `plane`.
    fn place_beside(&mut self, lpn: Lpn, plane: PlaneId, stream: Stream) -> PlaneId {
        if self.policy.placing() != Placing::Beside {
            return plane;
        }
        let beside = self.policy.place_write(plane, stream, &self.ftl);
        self.ftl.unplace_write(lpn, plane);
        let is_taken = beside == plane || self.ftl.may_go_beside(lpn, plane, beside);
        let goes_to = if is_taken { beside } else { plane };
        self.ftl.place_write_on(lpn, goes_to);
        self.policy.placed(goes_to);
        goes_to
    }

    /// The plane that a page of the map or of its journal goes to.
    pub fn place_map_write<M: Model>(&mut self, page: Lpn, datapath: &Datapath<M>) -> PlaneId {
        let states = datapath.states();
        let plane = self.ftl.place(&PageWrite::of(page), datapath.idle_dies(), Some(datapath.load(&states)));
        self.place_beside(page, plane, Stream::Translation)
    }
}
