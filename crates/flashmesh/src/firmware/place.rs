//! Which plane a page goes to: what the allocator is told and asked.

use rustc_hash::FxHashSet;

use crate::datapath::Datapath;
use crate::ftl::allocation::Allocator;
use crate::ftl::collection::VictimSelector;
use crate::ftl::{PageRead, PageWrite, RequestPart};
use crate::ids::{Lpn, PlaneId, RequestId, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::transaction::Transaction;

use super::policy::AnyPolicy;
use super::{Firmware, PageRequest};

/// What is kept for an allocator of the caller's own.
#[derive(Debug, Default)]
pub(super) struct Placements {
    /// By request: its first page and how many it touches. Those of requests that ended are overwritten by others.
    requests: Vec<(Lpn, u32)>,
    /// Writes that were placed a second time: they stay where they are.
    placed_again: FxHashSet<TransactionId>,
}

impl Firmware {
    /// Places pages by an allocator of the caller's own.
    pub fn set_allocator(&mut self, allocator: Box<dyn Allocator + Send>) {
        self.rules.asks_allocator = true;
        self.ftl.set_allocator(allocator);
    }

    /// Chooses victims by a policy of the caller's own.
    pub fn set_victim_selector(&mut self, selector: Box<dyn VictimSelector + Send>) {
        self.ftl.set_victim_selector(selector);
    }

    /// A request is about to read or write the pages from `first` to `last`.
    #[inline(always)]
    pub fn request_begins<M: Model>(&mut self, request: RequestId, first: Lpn, last: Lpn) {
        if M::FULL && self.rules.asks_allocator {
            self.keep_request(request, first, last);
        }
    }

    #[inline(never)]
    fn keep_request(&mut self, request: RequestId, first: Lpn, last: Lpn) {
        let requests = &mut self.writes.placements.requests;
        if requests.len() <= request.index() {
            requests.resize(request.index() + 1, (Lpn(0), 0));
        }
        requests[request.index()] = (first, last.0 - first.0 + 1);
    }

    /// Which part of a request a page is.
    fn part_of(&self, request: RequestId, lpn: Lpn) -> Option<RequestPart> {
        let &(first, pages) = self.writes.placements.requests.get(request.index())?;
        Some(RequestPart { request, pages, position: lpn.0 - first.0 })
    }

    fn page_write(&self, write: &Transaction) -> PageWrite {
        let request = write.request.and_then(|request| self.part_of(request, write.lpn));
        PageWrite { lpn: write.lpn, stream: Some(write.stream), request }
    }

    /// The plane that the allocator has for a write.
    #[inline]
    pub(super) fn ask_allocator<M: Model>(&mut self, id: TransactionId, datapath: &Datapath<M>) -> PlaneId {
        let transaction = datapath.transaction(id);
        if !M::FULL {
            return self.ftl.place_write(transaction.lpn, datapath.idle_dies());
        }
        let write = self.page_write(transaction);
        let states = datapath.states();
        self.ftl.place(&write, datapath.idle_dies(), Some(datapath.load(&states)))
    }

    /// The plane that the allocator has for a translation page.
    pub(super) fn ask_allocator_of_map<M: Model>(&mut self, page: Lpn, datapath: &Datapath<M>) -> PlaneId {
        let states = datapath.states();
        self.ftl.place(&PageWrite::of(page), datapath.idle_dies(), Some(datapath.load(&states)))
    }

    /// Whether a write, which could be programmed now, stays where it was placed: always when it was placed a second time, or
    /// the firmware has a way of its own to choose planes.
    pub(super) fn write_stays<M: Model>(&self, id: TransactionId, datapath: &Datapath<M>) -> bool {
        let write = datapath.transaction(id);
        let chooses = matches!(self.policy, AnyPolicy::Tbm(_) | AnyPolicy::Mbm(_));
        if chooses || write.has_page || write.is_reallocated || self.writes.placements.placed_again.contains(&id) {
            return true;
        }
        let states = datapath.states();
        self.ftl.stays(&self.page_write(write), write.plane, datapath.idle_dies(), datapath.load(&states))
    }

    /// A write that does not stay where it was placed is placed again, by the load of this moment.
    pub(super) fn place_again<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>) {
        let Transaction { lpn, plane, .. } = *datapath.transaction(id);
        self.ftl.unplace_write(lpn, plane);
        self.writes.placements.placed_again.insert(id);
        datapath.transaction_mut(id).plane = self.place_write(id, datapath);
    }

    /// A write has been programmed.
    #[inline]
    pub(super) fn forget_placement(&mut self, id: TransactionId) {
        if !self.writes.placements.placed_again.is_empty() {
            self.writes.placements.placed_again.remove(&id);
        }
    }

    /// Tells the allocator that a request reads a page.
    #[inline(never)]
    pub(super) fn tell_read(&mut self, page: &PageRequest) {
        let request = self.part_of(page.request, page.lpn);
        let plane = self.geometry.plane_of(self.ftl.location(page.lpn));
        self.ftl.tell_read(&PageRead { lpn: page.lpn, plane, stream: page.stream, request });
    }
}
