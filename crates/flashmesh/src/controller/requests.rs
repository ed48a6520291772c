//! Calls from the frontend: page reads and writes, deallocations and flushes.

use std::ops::{Range, RangeInclusive};

use crate::datapath::Datapath;
use crate::ids::{DieId, Lpn, RequestId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::policies::FirmwarePolicy;
use crate::schedule::purpose::{CacheReservation, Purpose};
use crate::units::{Bytes, Time};

use super::follow_ups::FollowUp;
use super::work::host_read;
use super::work::host_write::FlashWrite;
use super::{Context, Controller, PageRequest};

impl Controller {
    /// Records the pages `first` to `last` of a request, for a user-supplied allocator. Must precede the reads or writes of these pages.
    #[inline(always)]
    pub fn request_begins<M: Model>(&mut self, request: RequestId, first: Lpn, last: Lpn) {
        if M::ALL_FEATURES && self.shared.rules.asks_allocator {
            self.writes.placements.keep_request(request, first, last);
        }
    }

    /// Lets the firmware policy plan the read of the logical pages `pages`, `bytes` in total. Next, call [`read`](Self::read) for each
    /// page.
    #[inline]
    pub fn begin_read<M: Model>(&mut self, pages: RangeInclusive<u32>, bytes: Bytes) {
        if M::ALL_FEATURES {
            self.shared.policy.plan_read(*pages.start()..pages.end() + 1, bytes, &self.shared.ftl);
        }
    }

    /// Reads a page for a request. Returns the number of completions ([`CompletedWork`](super::CompletedWork)) to expect for the page.
    #[inline(always)]
    pub fn read<M: Model>(&mut self, page: &PageRequest, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) -> u32 {
        if self.cache.is_some() {
            return self.read_through_cache(page, datapath, kernel);
        }
        let Controller { shared, writes, .. } = self;
        let cx = &mut Context { shared, datapath, kernel };
        let id = host_read::begin(page, page.start, page.bytes, CacheReservation::None, &mut writes.placements, cx);
        self.start_read(id, Purpose::HostRead(CacheReservation::None), datapath, kernel);
        1
    }

    fn read_through_cache<M: Model>(
        &mut self,
        page: &PageRequest,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) -> u32 {
        let Controller { shared, writes, cache: Some(cache), .. } = self else { return 0 };
        let read = cache.read(page, writes, &mut Context { shared, datapath, kernel });
        if let Some(id) = read.from_flash {
            let work = datapath.queues.transaction(id).purpose;
            self.start_read(id, work, datapath, kernel);
        }
        self.shared.follow_ups.push(FollowUp::SettleCache);
        self.run(datapath, kernel);
        read.parts
    }

    /// Looks up the mapping entry of a read. If the entry is in DRAM, enqueues the read; otherwise the read waits for the entry.
    #[inline(always)]
    fn start_read<M: Model>(
        &mut self,
        id: TransactionId,
        work: Purpose,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        match &mut self.map {
            None => self.enqueue_for(id, work, datapath, kernel),
            Some(map) => {
                let cx = &mut Context { shared: &mut self.shared, datapath, kernel };
                if map.look_up(id, cx) {
                    cx.push(FollowUp::SettleMap);
                }
            }
        }
        self.run(datapath, kernel);
    }

    /// Starts the write of a page of a host request: in the device cache, or to flash.
    #[inline]
    pub fn write<M: Model>(&mut self, page: &PageRequest, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Controller { shared, writes, cache, map, .. } = self;
        let cx = &mut Context { shared, datapath, kernel };
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
        self.run(datapath, kernel);
    }

    /// Ends the batch of the pages of a request, and queues the DRAM access that its pages in the device cache share, if any.
    #[inline]
    pub fn end_pages<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        datapath.interconnect.end_batch();
        if let Some(cache) = &mut self.cache {
            cache.end_group(kernel);
        }
    }

    /// Counts the pages that a request writes.
    pub fn count_written(&mut self, pages: u32) {
        self.shared.counters.flash.pages_written += u64::from(pages);
    }

    /// Prefetches the mapping entries of `pages` into the CPU cache.
    pub fn prefetch(&self, pages: &[Lpn]) {
        if let Some(map) = &self.map {
            map.state().prefetch(pages.iter().copied());
        }
        pages.iter().for_each(|&lpn| self.shared.ftl.map().prefetch(lpn));
    }

    /// Deallocates logical pages: unmaps them, and removes them from the device cache.
    pub fn deallocate<M: Model>(&mut self, pages: Range<u32>, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        for lpn in pages.map(Lpn) {
            let cx = &mut Context { shared: &mut self.shared, datapath, kernel };
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
            self.run(datapath, kernel);
            if let Some(cache) = &mut self.cache {
                cache.forget(lpn, &mut Context { shared: &mut self.shared, datapath, kernel });
                self.run(datapath, kernel);
            }
        }
        self.shared.follow_ups.push(FollowUp::SettleJournal);
        self.run(datapath, kernel);
        self.collect_idle_dies(datapath, kernel);
    }

    /// Resumes the collections that are in progress when the run begins.
    pub fn resume_collections<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        for begun in self.shared.ftl.take_initial_collections() {
            let cx = &mut Context { shared: &mut self.shared, datapath, kernel };
            self.collections.resume(&begun, cx);
            self.run(datapath, kernel);
        }
    }

    /// Starts the background collections, and the folds of SLC cache blocks, that idle dies need.
    pub fn collect_idle_dies<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if !self.shared.rules.collects_in_background {
            return;
        }
        for die in (0..self.shared.geometry.dies()).map(DieId) {
            if datapath.activity().is_idle(die) {
                self.collections.idle(die, &mut Context { shared: &mut self.shared, datapath, kernel });
                self.run(datapath, kernel);
            }
        }
    }

    /// Begins a flush of the logical pages `pages`, which destages their dirty data unless data in the cache survives a power loss. At its
    /// end, [`CompletedWork::Flush`](super::CompletedWork::Flush) reports `waiter`, the request that issued the flush; `None` if no request
    /// did.
    pub fn flush<M: Model>(
        &mut self,
        waiter: Option<RequestId>,
        pages: Range<u32>,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        self.shared.flushes += 1;
        let is_safe = self.cache.as_ref().is_some_and(|cache| cache.is_safe(waiter));
        if M::ALL_FEATURES && !is_safe {
            (0..self.shared.geometry.dies()).for_each(|die| datapath.queues.flush_partial_programs(DieId(die), kernel));
        }
        match &mut self.cache {
            Some(cache) if !is_safe => {
                cache.flush(waiter, pages, &mut Context { shared: &mut self.shared, datapath, kernel });
            }
            _ => {
                self.shared.data_flushed(waiter);
                self.shared.follow_ups.push(FollowUp::SettleJournal);
            }
        }
        self.run(datapath, kernel);
    }

    /// Records that the completion of a request has reached the host.
    #[inline]
    pub fn acknowledge(&mut self, request: RequestId) {
        if let Some(cache) = &mut self.cache {
            cache.acknowledge(request);
        }
    }
}
