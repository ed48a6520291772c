//! Pages on their way through the device cache: reads find what is there, writes end there, and dirty pages leave it.
//!
//! The data of a read that the cache keeps is written to DRAM behind the back of the request. The data of a write that
//! the cache has just taken and sends to flash at once is not read from DRAM again.

mod device;

use std::ops::Range;

use crate::cache::{Admitted, Cache, Destaged, PageWrite, Sectors, SlotId};
use crate::datapath::Datapath;
use crate::ids::{Lpn, RequestId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::units::{Bytes, Time};

use super::write::Writer;
use super::{Done, Firmware, PageRequest, in_cache};

pub use device::DeviceCache;

use device::{Access, Then};

impl Firmware {
    /// A page of a read: what is in the cache comes from there, the rest from flash. Gives in how many parts.
    pub(super) fn read_through_cache<M: Model>(
        &mut self,
        page: &PageRequest,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) -> u32 {
        let PageRequest { request, stream, lpn, bytes, .. } = *page;
        let is_stable = !self.writes.in_flight.contains_key(&lpn);
        let Some(device) = &mut self.cache else { return 0 };
        let may_fill = is_stable && device.has_data(lpn);
        let wanted = device.sectors_of(page);
        let found = device.cache.read(stream, lpn, wanted, may_fill);
        let missing = device.bytes_of(found.missing);
        self.cache_changed(kernel);
        let mut from_flash = bytes;
        if let Some((slot, sectors)) = found.here {
            kernel.tell(|| Notice::CacheFound(request, lpn, sectors));
            let from_dram = bytes - bytes.min(missing);
            from_flash = bytes - from_dram;
            self.access_memory(slot, sectors, kernel.now(), Then::Deliver(request, from_dram), kernel);
        }
        if !found.missing.is_empty() {
            self.read_from_flash(page, from_flash, found.fills, datapath, kernel);
        }
        self.send_destages(datapath, kernel);
        u32::from(found.here.is_some()) + u32::from(!found.missing.is_empty())
    }

    /// A page of a write: it ends in the cache, passes through it, or goes past it.
    pub(super) fn write_through_cache<M: Model>(
        &mut self,
        page: &PageRequest,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let PageRequest { request, stream, priority, lpn, bytes, .. } = *page;
        let Some(device) = &mut self.cache else { return };
        let sectors = device.sectors_of(page);
        let write = PageWrite { request, stream, priority, lpn, sectors, bytes, since: kernel.now() };
        let admitted = device.cache.offer(write);
        self.cache_changed(kernel);
        if let Some(admitted) = admitted {
            self.admitted(&write, admitted, datapath, kernel);
        }
        self.send_destages(datapath, kernel);
    }

    /// The data of a write goes where the cache sends it.
    fn admitted<M: Model>(
        &mut self,
        write: &PageWrite,
        admitted: Admitted,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let PageWrite { request, stream, priority, lpn, sectors, bytes, since } = *write;
        let writer = Writer::Request(request, stream, priority);
        match admitted {
            Admitted::InDram(slot) => {
                kernel.tell(|| Notice::CacheTook { request, lpn, sectors, stays: true });
                self.access_memory(slot, sectors, since, Then::Accept(request), kernel);
            }
            Admitted::InBoth(slot) => {
                kernel.tell(|| Notice::CacheTook { request, lpn, sectors, stays: false });
                self.access_memory(slot, sectors, since, Then::Program(writer, lpn, bytes), kernel);
            }
            Admitted::OnFlash => {
                let waited = kernel.now() - since;
                self.write_to_flash(writer, lpn, bytes, false, waited, datapath, kernel);
            }
        }
    }

    fn access_memory<M: Model>(
        &mut self,
        slot: SlotId,
        sectors: Sectors,
        since: Time,
        then: Then,
        kernel: &mut Kernel<M>,
    ) {
        let Some(device) = &mut self.cache else { return };
        let done = device.access(kernel.now(), slot, sectors);
        device.accesses.push_back(Access { since, then });
        kernel.schedule(lane::MEMORY, done, Event::Memory);
    }

    /// The access to DRAM that was queued first is done.
    pub fn memory_done<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let access = self.cache.as_mut().and_then(|device| device.accesses.pop_front());
        let Some(Access { since, then }) = access else { return };
        let spent = in_cache(kernel.now() - since);
        match then {
            Then::Deliver(request, read) => self.done.push(Done::Cached { request, read, spent }),
            Then::Accept(request) => self.done.push(Done::Cached { request, read: Bytes::ZERO, spent }),
            // The power is cut, and nobody waits for it.
            Then::Program(Writer::Request(..), lpn, _) if self.power_loss.is_cut_off => {
                self.passed_cache(lpn, datapath, kernel)
            }
            Then::Program(writer, lpn, bytes) => {
                let is_cached = matches!(writer, Writer::Request(..));
                self.write_to_flash(writer, lpn, bytes, is_cached, spent.cache, datapath, kernel);
            }
        }
    }

    /// Sends the pages that the cache wants on flash on their way, and lets in the writes that need not wait any more.
    fn send_destages<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        loop {
            self.send_due(datapath, kernel);
            let Some(device) = &mut self.cache else { return };
            let Some((write, admitted)) = device.cache.admit_next() else { break };
            device.waited += kernel.now() - write.since;
            self.cache_changed(kernel);
            self.admitted(&write, admitted, datapath, kernel);
        }
        self.send_due(datapath, kernel);
    }

    fn send_due<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        while let Some(destaged) = self.cache.as_mut().and_then(|device| device.cache.next_destage()) {
            self.destage(destaged, datapath, kernel);
        }
    }

    fn destage<M: Model>(&mut self, destaged: Destaged, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Destaged { lpn, stream, slot, sectors, is_at_hand } = destaged;
        kernel.tell(|| Notice::DestageBegan(lpn, sectors));
        let Some(device) = &self.cache else { return };
        let bytes = device.bytes_of(sectors);
        let writer = Writer::Cache(stream);
        if is_at_hand {
            self.write_to_flash(writer, lpn, bytes, false, Time::ZERO, datapath, kernel);
        } else {
            self.access_memory(slot, sectors, kernel.now(), Then::Program(writer, lpn, bytes), kernel);
        }
    }

    /// The array has programmed a page that the cache sent; gives whether the page was deallocated meanwhile.
    pub(super) fn destage_programmed(&mut self, lpn: Lpn) -> bool {
        let Some(device) = &mut self.cache else { return false };
        device.cache.programmed(lpn);
        device.cache.is_forgotten(lpn)
    }

    /// Whether a page that the cache has sent was deallocated on its way.
    pub(super) fn is_destage_forgotten(&self, lpn: Lpn) -> bool {
        self.cache.as_ref().is_some_and(|device| device.cache.is_forgotten(lpn))
    }

    /// Flash has the data of a page, or has it no longer.
    pub(super) fn page_written(&mut self, lpn: Lpn, is_written: bool) {
        if let Some(device) = &mut self.cache {
            device.set_written(lpn, is_written);
        }
    }

    /// Flash has a page that the cache sent.
    pub(super) fn destaged<M: Model>(&mut self, lpn: Lpn, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.tell_cache(|cache| cache.saved(lpn), datapath, kernel);
    }

    /// A write that went through the cache is done.
    pub(super) fn passed_cache<M: Model>(&mut self, lpn: Lpn, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.tell_cache(|cache| cache.passed(lpn), datapath, kernel);
    }

    /// The host no longer needs a page.
    pub(super) fn forget_cached<M: Model>(&mut self, lpn: Lpn, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.page_written(lpn, false);
        self.tell_cache(|cache| cache.deallocate(lpn), datapath, kernel);
    }

    /// A page that was read from flash for `request` stays in the cache.
    pub(super) fn fill_cache<M: Model>(
        &mut self,
        request: RequestId,
        lpn: Lpn,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let Some(device) = &mut self.cache else { return };
        if let Some((slot, sectors)) = device.cache.filled(lpn) {
            device.access(kernel.now(), slot, sectors);
            kernel.tell(|| Notice::CacheFilled(request, lpn, sectors));
        }
        self.cache_changed(kernel);
        self.send_destages(datapath, kernel);
    }

    /// The completion of a request has reached the host.
    #[inline]
    pub fn acknowledge(&mut self, request: RequestId) {
        if let Some(device) = &mut self.cache {
            device.cache.acknowledge(request);
        }
    }

    /// Tells the cache of something, and does what it asks for then.
    pub(super) fn tell_cache<M: Model>(
        &mut self,
        tell: impl FnOnce(&mut Cache),
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let Some(device) = &mut self.cache else { return };
        tell(&mut device.cache);
        self.cache_changed(kernel);
        self.send_destages(datapath, kernel);
        while let Some(waiter) = self.cache.as_mut().and_then(|device| device.cache.take_flushed()) {
            self.data_flushed(waiter);
        }
        self.settle_journal(datapath, kernel);
    }

    /// Tells the probes, when there are any, of the pages that the cache holds no more.
    fn cache_changed<M: Model>(&mut self, kernel: &mut Kernel<M>) {
        if kernel.is_probed()
            && let Some(device) = &mut self.cache
        {
            device.cache.take_removed().into_iter().for_each(|lpn| kernel.tell(|| Notice::CacheRemoved(lpn)));
        }
    }

    /// Begins to write everything dirty in `pages` to flash; [`Done::Flush`] says when it is there.
    pub fn flush<M: Model>(
        &mut self,
        waiter: Option<RequestId>,
        pages: Range<u32>,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if self.cache.is_some() {
            self.tell_cache(|cache| cache.flush(waiter, pages), datapath, kernel);
        } else {
            self.data_flushed(waiter);
        }
        self.settle_journal(datapath, kernel);
    }
}
