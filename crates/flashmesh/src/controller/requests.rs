//! Calls from the frontend: page reads and writes, deallocations and flushes.

use std::ops::{Range, RangeInclusive};

use crate::ids::{DieId, Lpn, RequestId, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::policies::FirmwarePolicy;
use crate::schedule::purpose::{CacheReservation, Purpose};
use crate::units::{Bytes, Time};

use super::follow_ups::FollowUp;
use super::work::host_read;
use super::work::host_write::FlashWrite;
use super::{Backend, PageRequest, Work};

impl<M: Model> Backend<M> {
    /// Records the pages `first` to `last` of a request, for a user-supplied allocator. Must precede the reads or writes of these pages.
    #[inline(always)]
    pub fn request_begins(&mut self, request: RequestId, first: Lpn, last: Lpn) {
        if M::ALL_FEATURES && self.controller.shared.rules.asks_allocator {
            self.controller.work.writes.placements.keep_request(request, first, last);
        }
    }

    /// Lets the firmware policy plan the read of the logical pages `pages`, `bytes` in total. Next, call [`read`](Self::read) for each
    /// page.
    #[inline]
    pub fn begin_read(&mut self, pages: RangeInclusive<u32>, bytes: Bytes) {
        if M::ALL_FEATURES {
            self.controller.shared.policy.plan_read(
                *pages.start()..pages.end() + 1,
                bytes,
                &self.controller.shared.ftl,
            );
        }
    }

    /// Reads a page for a request. Returns the number of completions ([`CompletedWork`](super::CompletedWork)) to expect for the page.
    #[inline(always)]
    pub fn read(&mut self, page: &PageRequest) -> u32 {
        if self.controller.work.cache.is_some() {
            return self.read_through_cache(page);
        }
        let (Work { writes, .. }, cx) = &mut self.parts();
        let id = host_read::begin(page, page.start, page.bytes, CacheReservation::None, &mut writes.placements, cx);
        self.start_read(id, Purpose::HostRead(CacheReservation::None));
        1
    }

    fn read_through_cache(&mut self, page: &PageRequest) -> u32 {
        let (Work { writes, cache: Some(cache), .. }, cx) = &mut self.parts() else {
            return 0;
        };
        let read = cache.read(page, writes, cx);
        if let Some(id) = read.from_flash {
            let work = self.datapath.queues.transaction(id).purpose;
            self.start_read(id, work);
        }
        self.controller.shared.follow_ups.push(FollowUp::SettleCache);
        self.run();
        read.parts
    }

    /// Looks up the mapping entry of a read. If the entry is in DRAM, enqueues the read; otherwise the read waits for the entry.
    #[inline(always)]
    fn start_read(&mut self, id: TransactionId, work: Purpose) {
        match &mut self.parts() {
            (Work { map: None, .. }, _) => self.enqueue_for(id, work),
            (Work { map: Some(map), .. }, cx) => {
                if map.look_up(id, cx) {
                    cx.push(FollowUp::SettleMap);
                }
            }
        }
        self.run();
    }

    /// Starts the write of a page of a host request: in the device cache, or to flash.
    #[inline]
    pub fn write(&mut self, page: &PageRequest) {
        let (Work { writes, cache, map, .. }, cx) = &mut self.parts();
        match cache {
            Some(cache) => cache.write(page, writes, cx),
            None => {
                let PageRequest { lpn, bytes, .. } = *page;
                let (place, in_cache) = (CacheReservation::None, Time::ZERO);
                let write = FlashWrite { writer: page.into(), lpn, bytes, place, in_cache };
                if let Some(id) = writes.enter(write, cx) {
                    writes.start(id, map.as_deref_mut(), cx);
                }
            }
        }
        self.run();
    }

    /// Ends the batch of the pages of a request, and queues the DRAM access that its pages in the device cache share, if any.
    #[inline]
    pub fn end_pages(&mut self) {
        self.datapath.interconnect.end_batch();
        if let Some(cache) = &mut self.controller.work.cache {
            cache.end_group(&mut self.kernel);
        }
    }

    /// Deallocates logical pages: unmaps them, and removes them from the device cache.
    pub fn deallocate(&mut self, pages: Range<u32>) {
        for lpn in pages.map(Lpn) {
            let cx = &mut self.context();
            let had_copy = cx.shared.replication.is_some() && cx.shared.ftl.replica_of(lpn).is_some();
            let was_mapped = cx.shared.ftl.deallocate(lpn);
            if was_mapped || had_copy {
                cx.shared.persist(|state| state.unmapped(lpn));
            }
            cx.kernel.notify(|| Notice::Deallocated(lpn));
            cx.superseded(lpn);
            if was_mapped {
                cx.push(FollowUp::EntryChanged(lpn));
            }
            self.run();
            if let (Work { cache: Some(cache), .. }, cx) = &mut self.parts() {
                cache.forget(lpn, cx);
                self.run();
            }
        }
        self.controller.shared.follow_ups.push(FollowUp::SettleJournal);
        self.run();
        self.collect_idle_dies();
    }

    /// Resumes the collections that are in progress when the run begins.
    pub fn resume_collections(&mut self) {
        for begun in self.controller.shared.ftl.take_initial_collections() {
            let (Work { collections, .. }, cx) = &mut self.parts();
            collections.resume(&begun, cx);
            self.run();
        }
    }

    /// Starts the background collections, and the folds of SLC cache blocks, that idle dies need.
    pub fn collect_idle_dies(&mut self) {
        if !self.controller.shared.rules.collects_in_background {
            return;
        }
        for die in (0..self.controller.shared.geometry.dies()).map(DieId) {
            if self.datapath.activity().is_idle(die) {
                let (Work { collections, .. }, cx) = &mut self.parts();
                collections.idle(die, cx);
                self.run();
            }
        }
    }

    /// Begins a flush of the logical pages `pages`, which destages their dirty data unless data in the cache survives a power loss. At its
    /// end, [`CompletedWork::Flush`](super::CompletedWork::Flush) reports `waiter`, the request that issued the flush; `None` if no request
    /// did.
    pub fn flush(&mut self, waiter: Option<RequestId>, pages: Range<u32>) {
        self.controller.shared.flushes += 1;
        let is_safe = self.controller.work.cache.as_ref().is_some_and(|cache| cache.is_safe(waiter));
        if M::ALL_FEATURES && !is_safe {
            (0..self.controller.shared.geometry.dies())
                .for_each(|die| self.datapath.queues.flush_partial_programs(DieId(die), &mut self.kernel));
        }
        match &mut self.parts() {
            (Work { cache: Some(cache), .. }, cx) if !is_safe => cache.flush(waiter, pages, cx),
            (_, cx) => {
                cx.shared.data_flushed(waiter);
                cx.push(FollowUp::SettleJournal);
            }
        }
        self.run();
    }
}
