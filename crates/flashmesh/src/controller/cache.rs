//! Reads and writes of pages through the device cache, and destages of dirty pages.
//!
//! Filling the cache with read data does not delay the request. A page that was just written is destaged without a read from DRAM.

mod device;
mod stripes;
mod throttle;

use std::ops::Range;

use crate::cache::{Admitted, DueDestage, PageWrite, Sectors, SlotId};
use crate::ids::{DieId, Lpn, RequestId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::latency_account::LatencyBreakdown;
use crate::schedule::purpose::CacheReservation;
use crate::units::{Bytes, Time};

use super::follow_ups::FollowUp;
use super::work::collect::Collections;
use super::work::host_read;
use super::work::host_write::{FlashWrite, HostWrites, Writer};
use super::{CompletedWork, Context, PageRequest};

pub use device::DeviceCache;

use device::{AccessAction, AccessGroup, DramAccess};
use stripes::StripeDecision;

/// Outcome of a page read through the device cache.
pub(super) struct CachedRead {
    /// Number of completions ([`CompletedWork`]) to expect for the page: one for data in DRAM, one for data from flash.
    pub parts: u32,
    /// Flash read of the missing sectors, for the caller to enqueue; `None` if all sectors are cached.
    pub from_flash: Option<TransactionId>,
}

impl DeviceCache {
    /// Reads a page for a request: cached sectors from DRAM, the others from flash.
    pub(super) fn read<M: Model>(
        &mut self,
        page: &PageRequest,
        writes: &mut HostWrites,
        cx: &mut Context<'_, M>,
    ) -> CachedRead {
        let PageRequest { request, stream, lpn, bytes, since, .. } = *page;
        let may_fill = !writes.is_under_way(lpn) && self.has_data(lpn);
        let wanted = self.sectors_of(page);
        let found = self.cache.read(stream, lpn, wanted, may_fill);
        let missing = self.bytes_of(found.missing);
        self.tell_removed(cx.kernel);
        let (mut start, mut from_flash) = (page.start, bytes);
        if let Some((slot, sectors)) = found.here {
            cx.kernel.notify(|| Notice::CacheFound(request, lpn, sectors));
            let from_dram = bytes - bytes.min(missing);
            (start, from_flash) = (self.start_of(found.missing), bytes - from_dram);
            self.access_memory((slot, sectors), since, AccessAction::Deliver(request, from_dram), cx.kernel);
        }
        let parts = u32::from(found.here.is_some()) + u32::from(!found.missing.is_empty());
        let from_flash = (!found.missing.is_empty()).then(|| {
            let place = if found.fills { CacheReservation::Kept } else { CacheReservation::None };
            let id = host_read::begin(page, start, from_flash, place, &mut writes.placements, cx);
            let waited = cx.kernel.now() - since;
            if waited > Time::ZERO {
                cx.datapath.queues.transaction_mut(id).account.charge_cache(waited);
            }
            id
        });
        CachedRead { parts, from_flash }
    }

    /// Writes a page for a request. The data stays in the cache, passes through the cache to flash, or bypasses it, as configured.
    pub(super) fn write<M: Model>(&mut self, page: &PageRequest, writes: &mut HostWrites, cx: &mut Context<'_, M>) {
        let PageRequest { request, stream, priority, lpn, bytes, since, .. } = *page;
        let sectors = self.sectors_of(page);
        let write = PageWrite { request, stream, priority, lpn, sectors, bytes, since };
        self.close_or_open(cx.kernel.now());
        let admitted = self.cache.offer(write);
        self.tell_removed(cx.kernel);
        if let Some(admitted) = admitted {
            self.waited += cx.kernel.now() - since;
            self.admitted(&write, admitted, writes, cx);
        }
        cx.push(FollowUp::SettleCache);
    }

    /// Continues a write that the cache has admitted, with an access to DRAM or with a write to flash.
    fn admitted<M: Model>(
        &mut self,
        write: &PageWrite,
        admitted: Admitted,
        writes: &mut HostWrites,
        cx: &mut Context<'_, M>,
    ) {
        let PageWrite { request, stream, priority, lpn, sectors, bytes, since } = *write;
        let writer = Writer::Request(request, stream, priority);
        match admitted {
            Admitted::InDram(slot) => {
                if let Some(throttle) = &mut self.throttle {
                    throttle.admitted(cx.shared.foreground.dies(), cx.kernel.now());
                }
                cx.kernel.notify(|| Notice::CacheTook { request, lpn, sectors, stays: true });
                self.access_memory((slot, sectors), since, AccessAction::Accept(request), cx.kernel);
            }
            Admitted::InBoth(slot) => {
                cx.kernel.notify(|| Notice::CacheTook { request, lpn, sectors, stays: false });
                self.access_memory((slot, sectors), since, AccessAction::Program(writer, lpn, bytes), cx.kernel);
            }
            Admitted::OnFlash => {
                let in_cache = cx.kernel.now() - since;
                writes.begin(FlashWrite { writer, lpn, bytes, place: CacheReservation::None, in_cache }, cx);
            }
        }
    }

    fn access_memory<M: Model>(
        &mut self,
        (slot, sectors): (SlotId, Sectors),
        since: Time,
        then: AccessAction,
        kernel: &mut Kernel<M>,
    ) {
        let access = DramAccess { since, then, is_joined: false };
        match then.grouped_request() {
            Some(request) if self.groups_accesses => self.group_access(request, (slot, sectors), access, kernel),
            _ => {
                self.end_group(kernel);
                let done = self.access(kernel.now(), slot, sectors);
                self.accesses.push_back(access);
                kernel.schedule(lane::MEMORY, done, Event::Memory);
            }
        }
    }

    /// Adds a page to the group of pages of its request that share one DRAM access. If the current group belongs to another request, ends
    /// it first.
    #[inline(never)]
    fn group_access<M: Model>(
        &mut self,
        request: RequestId,
        (slot, sectors): (SlotId, Sectors),
        access: DramAccess,
        kernel: &mut Kernel<M>,
    ) {
        if self.group.as_ref().is_some_and(|group| group.request != request) {
            self.end_group(kernel);
        }
        let (address, size, had_waited) =
            (self.address_of(slot, sectors), self.bytes_of(sectors), access.since < kernel.now());
        let group = self.group.get_or_insert_with(|| AccessGroup {
            request,
            had_waited,
            address,
            size: Bytes::ZERO,
            accesses: Vec::new(),
        });
        group.size += size;
        group.accesses.push(access);
    }

    /// Queues one DRAM access for all pages of the current group; no-op if there is no group.
    pub(super) fn end_group<M: Model>(&mut self, kernel: &mut Kernel<M>) {
        let Some(AccessGroup { address, size, mut accesses, .. }) = self.group.take() else { return };
        let done = self.access_at(kernel.now(), address, size);
        let joined = accesses.len() - 1;
        accesses[..joined].iter_mut().for_each(|access| access.is_joined = true);
        self.accesses.extend(accesses);
        kernel.schedule(lane::MEMORY, done, Event::Memory);
    }

    /// Handles the end of the oldest DRAM access. If several pages share the access, handles all of them.
    pub(super) fn memory_done<M: Model>(&mut self, writes: &mut HostWrites, cx: &mut Context<'_, M>) {
        while self.end_access(writes, cx) {}
    }

    /// Ends the DRAM access of the first page in the queue. Returns whether the next page shares the access, so that it ends too.
    fn end_access<M: Model>(&mut self, writes: &mut HostWrites, cx: &mut Context<'_, M>) -> bool {
        let Some(DramAccess { since, then, is_joined }) = self.accesses.pop_front() else { return false };
        let in_cache = cx.kernel.now() - since;
        let spent = LatencyBreakdown { cache: in_cache, ..LatencyBreakdown::default() };
        match then {
            AccessAction::Deliver(request, read) => cx.shared.done.push(CompletedWork::Cached { request, read, spent }),
            AccessAction::Accept(request) => {
                cx.shared.done.push(CompletedWork::Cached { request, read: Bytes::ZERO, spent })
            }
            // After a power cut no request waits for the write, so drop it.
            AccessAction::Program(Writer::Request(..), lpn, _) if cx.shared.is_cut_off => self.passed(lpn, cx),
            AccessAction::Program(writer, lpn, bytes) => {
                let is_of_request = matches!(writer, Writer::Request(..));
                if let Some(stripes) = self.stripes.as_mut().filter(|_| !is_of_request) {
                    stripes.read();
                    cx.push(FollowUp::SettleCache);
                }
                let place = if is_of_request { CacheReservation::Kept } else { CacheReservation::None };
                writes.begin(FlashWrite { writer, lpn, bytes, place, in_cache }, cx);
            }
        }
        is_joined
    }

    /// Begins the next due destage. If no destage may begin, admits the next waiting write instead, provided that `admits` is true.
    pub(super) fn settle<M: Model>(
        &mut self,
        admits: bool,
        writes: &mut HostWrites,
        collections: &mut Collections,
        cx: &mut Context<'_, M>,
    ) {
        if self.may_send(collections, cx)
            && let Some(destaged) = self.cache.next_destage()
        {
            if let Some(stripes) = &mut self.stripes {
                stripes.sent(!destaged.is_newest_write);
            }
            self.destage(destaged, writes, cx);
            return cx.push(if admits { FollowUp::SettleCache } else { FollowUp::SendDestages });
        }
        if !admits {
            return;
        }
        self.close_or_open(cx.kernel.now());
        let Some((write, admitted)) = self.cache.admit_next() else {
            if self.group.as_ref().is_some_and(|group| group.had_waited) {
                self.end_group(cx.kernel);
                cx.datapath.interconnect.end_batch();
            }
            self.await_throttle(cx.kernel);
            if self.cache.has_waiting() {
                self.allow_suspension(cx);
            }
            return cx.push(FollowUp::SendDestages);
        };
        self.waited += cx.kernel.now() - write.since;
        self.tell_removed(cx.kernel);
        let is_first = self.group.as_ref().is_none_or(|group| group.request != write.request);
        if self.groups_accesses && is_first {
            cx.datapath.interconnect.begin_batch();
        }
        self.admitted(&write, admitted, writes, cx);
        cx.push(FollowUp::SettleCache);
        self.allow_suspension(cx);
    }

    /// Lets dies with queued reads try to issue, unless a write waits for space: only then are reads forbidden to suspend operations
    /// (`cache.suspend-when-full = false`).
    fn allow_suspension<M: Model>(&self, cx: &mut Context<'_, M>) {
        if !cx.shared.rules.suspends_when_full && !self.is_full() {
            for die in (0..cx.shared.geometry.dies()).map(DieId) {
                if cx.datapath.gate().has_waiting_reads(die) {
                    cx.push(FollowUp::TryIssue(die));
                }
            }
        }
    }

    /// Returns whether the next due page may be destaged now. Always true without stripes. With stripes, may also begin a stripe, begin the page
    /// moves that garbage collection owes (`gc.paced`), or issue partly filled programs.
    fn may_send<M: Model>(&mut self, collections: &mut Collections, cx: &mut Context<'_, M>) -> bool {
        let Some(stripes) = &mut self.stripes else { return true };
        if collections.pace.is_turn_of_collection() {
            return false;
        }
        let due = self.cache.due();
        match stripes.next(due, self.cache.has_waiting() || self.cache.is_flushing()) {
            StripeDecision::Destage => true,
            StripeDecision::Hold => false,
            StripeDecision::FlushPrograms => {
                (0..cx.shared.geometry.dies())
                    .for_each(|die| cx.datapath.queues.flush_partial_programs(DieId(die), cx.kernel));
                false
            }
            StripeDecision::BeginStripe => {
                let is_after_collection = !collections.begin_turn(cx);
                if is_after_collection {
                    stripes.begin(due);
                }
                is_after_collection
            }
        }
    }

    fn destage<M: Model>(&mut self, destaged: DueDestage, writes: &mut HostWrites, cx: &mut Context<'_, M>) {
        let DueDestage { lpn, stream, slot, sectors, is_newest_write: is_at_hand } = destaged;
        cx.kernel.notify(|| Notice::DestageBegan(lpn, sectors));
        let bytes = self.bytes_of(sectors);
        let writer = Writer::Cache(stream);
        if is_at_hand {
            writes.begin(FlashWrite { writer, lpn, bytes, place: CacheReservation::None, in_cache: Time::ZERO }, cx);
        } else {
            self.access_memory((slot, sectors), cx.kernel.now(), AccessAction::Program(writer, lpn, bytes), cx.kernel);
        }
    }

    /// Records that the array has programmed a destaged page. Returns whether the page was deallocated meanwhile.
    pub(super) fn destage_programmed(&mut self, lpn: Lpn) -> bool {
        self.cache.programmed(lpn);
        self.cache.is_forgotten(lpn)
    }

    /// Returns whether a page in destage was deallocated meanwhile.
    pub(super) fn is_forgotten(&self, lpn: Lpn) -> bool {
        self.cache.is_forgotten(lpn)
    }

    /// Ends the destage of a page after its program was acknowledged.
    pub(super) fn destaged<M: Model>(&mut self, lpn: Lpn, cx: &mut Context<'_, M>) {
        self.cache.saved(lpn);
        if let Some(stripes) = &mut self.stripes {
            stripes.saved();
        }
        self.changed(cx);
    }

    /// Ends a write that passed through the cache to flash, because it was programmed or dropped.
    pub(super) fn passed<M: Model>(&mut self, lpn: Lpn, cx: &mut Context<'_, M>) {
        self.cache.end_write_through(lpn);
        self.changed(cx);
    }

    /// Removes a deallocated page from the cache.
    pub(super) fn forget<M: Model>(&mut self, lpn: Lpn, cx: &mut Context<'_, M>) {
        self.set_written(lpn, false);
        self.cache.deallocate(lpn);
        self.changed(cx);
    }

    /// Fills the cache with a page that was read from flash for `request`.
    pub(super) fn fill<M: Model>(&mut self, request: RequestId, lpn: Lpn, cx: &mut Context<'_, M>) {
        if let Some((slot, sectors)) = self.cache.filled(lpn) {
            self.end_group(cx.kernel);
            self.access(cx.kernel.now(), slot, sectors);
            cx.kernel.notify(|| Notice::CacheFilled(request, lpn, sectors));
        }
        self.tell_removed(cx.kernel);
        cx.push(FollowUp::SettleCache);
    }

    /// Cancels the fill of a page whose read was dropped.
    pub(super) fn not_filled<M: Model>(&mut self, lpn: Lpn, cx: &mut Context<'_, M>) {
        self.cache.not_filled(lpn);
        self.changed(cx);
    }

    /// Returns whether a write waits for space in the cache, or because of the throttle.
    #[inline]
    pub(super) fn has_waiting_writes(&self) -> bool {
        self.cache.has_waiting()
    }

    /// Returns whether a write waits for space in the cache. A write that the throttle delays counts only while more than seven eighths of the dirty
    /// limit are dirty.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.cache.is_out_of_space()
    }

    /// Lets the cache admit the next write, because the delay of the throttle has ended.
    pub(super) fn admit_throttled<M: Model>(&mut self, cx: &mut Context<'_, M>) {
        if let Some(throttle) = &mut self.throttle {
            throttle.opens(cx.kernel.now());
        }
        cx.push(FollowUp::SettleCache);
    }

    fn close_or_open(&mut self, now: Time) {
        if let Some(throttle) = &self.throttle {
            self.cache.close(throttle.is_closed(now));
        }
    }

    fn await_throttle<M: Model>(&mut self, kernel: &mut Kernel<M>) {
        if let Some(throttle) = &mut self.throttle
            && throttle.is_closed(kernel.now())
            && self.cache.has_waiting()
        {
            throttle.wait(kernel);
        }
    }

    /// Drops the data of writes that wait for space, after a power cut.
    pub(super) fn drop_waiting(&mut self) {
        self.cache.drop_waiting();
    }

    /// Begins a flush, which destages all dirty data of the logical pages `pages`. At its end, [`CompletedWork::Flush`] reports `waiter`,
    /// the request that issued the flush; `None` if no request did.
    pub(super) fn flush<M: Model>(&mut self, waiter: Option<RequestId>, pages: Range<u32>, cx: &mut Context<'_, M>) {
        self.cache.flush(waiter, pages);
        self.changed(cx);
    }

    /// Records that the completion of a request has reached the host.
    #[inline]
    pub(super) fn acknowledge(&mut self, request: RequestId) {
        self.cache.acknowledge(request);
    }

    /// Starts recording pages that are removed from the cache, for probes.
    pub(super) fn keep_removed(&mut self) {
        self.cache.keep_removed();
    }

    /// Stops recording pages that are removed from the cache.
    pub(super) fn drop_removed(&mut self) {
        self.cache.drop_removed();
    }

    /// Notifies probes of removed pages, after a change of the cache. Schedules the steps that the change may allow: for destages, flushes
    /// and the journal.
    fn changed<M: Model>(&mut self, cx: &mut Context<'_, M>) {
        self.tell_removed(cx.kernel);
        cx.push(FollowUp::SettleCache);
        cx.push(FollowUp::Flushed);
        cx.push(FollowUp::SettleJournal);
    }

    /// Continues the flushes whose pages are all on flash: each flush completes, or waits until the journal of the map is on flash.
    pub(super) fn flushed<M: Model>(&mut self, cx: &mut Context<'_, M>) {
        while let Some(waiter) = self.cache.take_flushed() {
            cx.shared.data_flushed(waiter);
        }
    }

    /// Notifies the probes, if any, of pages that were removed from the cache.
    fn tell_removed<M: Model>(&mut self, kernel: &mut Kernel<M>) {
        if kernel.is_probed() {
            self.cache.take_removed().into_iter().for_each(|lpn| kernel.notify(|| Notice::CacheRemoved(lpn)));
        }
    }
}
