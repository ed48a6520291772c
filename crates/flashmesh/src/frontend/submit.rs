//! Start of requests in the drive: admission, and division into pages.

use crate::controller::{Backend, Controller, Cores, PageRequest};
use crate::host::status::Status;
use crate::ids::{Lpn, RequestId, StreamId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::latency_account::LatencyBreakdown;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

use super::Frontend;
use super::host_side::Request;

impl<M: Model> Frontend<M> {
    /// Begins a request whose command could have begun at `since`, which is in the past if the command was held.
    #[inline(always)]
    pub(super) fn begin_request(&mut self, id: RequestId, since: Time, backend: &mut Backend<M>) {
        let (io, stream) = (self.host.requests[id].io(), self.host.requests[id].stream);
        let io = match self.admit(stream, &io) {
            Ok(offset) => IoRequest { offset, ..io },
            Err(status) => return self.refuse(id, status, &mut backend.controller, &mut backend.kernel),
        };
        backend.kernel.notify(|| Notice::RequestSubmitted(id, io));
        match io.kind {
            RequestKind::Read => self.read_pages(id, &io, since, backend),
            RequestKind::Write => {
                self.begin_write(id);
                self.write_pages(id, &io, since, backend);
            }
            RequestKind::Deallocate => {
                // The partial pages at both ends are kept: the standard allows a drive to deallocate less than requested.
                backend.deallocate(self.whole_pages(&io));
                self.host.respond(id, &LatencyBreakdown::default(), &mut backend.controller, &mut backend.kernel);
            }
            RequestKind::Flush => self.begin_flush(id, since, backend),
            RequestKind::WriteZeroes => self.write_zeroes(id, &io, since, backend),
        }
    }

    /// Checks a request, and returns its start address in the drive.
    ///
    /// # Errors
    /// The status with which the drive refuses the request.
    #[inline(always)]
    fn admit(&self, stream: StreamId, io: &IoRequest) -> Result<Bytes, Status> {
        let too_long = self.rules.transfer_max.is_some_and(|max| io.size > max);
        if (io.size == Bytes::ZERO && io.kind != RequestKind::Flush) || (too_long && io.kind.moves_data()) {
            return Err(Status::InvalidField);
        }
        if io.kind == RequestKind::WriteZeroes && self.rules.is_sata {
            return Err(Status::InvalidOpcode);
        }
        self.host.namespaces.locate(stream, io)
    }

    fn refuse(&mut self, id: RequestId, status: Status, controller: &mut Controller, kernel: &mut Kernel<M>) {
        self.host.requests[id].status = status;
        kernel.notify(|| Notice::RequestRefused(id));
        self.host.respond(id, &LatencyBreakdown::default(), controller, kernel);
    }

    /// Returns the first and the last logical page of a request.
    fn pages_of(&self, io: &IoRequest) -> (Lpn, Lpn) {
        let last_byte = io.offset + io.size - Bytes::new(1);
        (self.geometry.lpn_of(io.offset), self.geometry.lpn_of(last_byte))
    }

    pub(super) fn part_of(&self, id: RequestId, io: &IoRequest, since: Time, lpn: Lpn) -> PageRequest {
        let Request { stream, priority, .. } = self.host.requests[id];
        let page_size = self.geometry.page_size;
        let page_start = page_size * u64::from(lpn.0);
        let start = io.offset.max(page_start);
        let bytes = (io.offset + io.size).min(page_start + page_size) - start;
        PageRequest { request: id, stream, priority, lpn, start: start - page_start, bytes, since }
    }

    #[inline(always)]
    fn read_pages(&mut self, id: RequestId, io: &IoRequest, since: Time, backend: &mut Backend<M>) {
        let (first, last) = self.pages_of(io);
        backend.request_begins(id, first, last);
        backend.begin_read(first.0..=last.0, io.size);
        let split = M::ALL_FEATURES && backend.controller.cores().is_some_and(Cores::splits_reads);
        let end = if split {
            self.split_read(id, io, since, (first, last), &mut backend.controller, &mut backend.kernel)
        } else {
            last
        };
        let pages = (first.0..=end.0).map(|lpn| self.part_of(id, io, since, Lpn(lpn)));
        let completions = read_all(pages, backend);
        let remaining = &mut self.host.requests[id].remaining;
        *remaining = if split { *remaining + completions } else { completions };
    }

    fn write_pages(&mut self, id: RequestId, io: &IoRequest, since: Time, backend: &mut Backend<M>) {
        let (first, last) = self.pages_of(io);
        let pages = last.0 - first.0 + 1;
        backend.request_begins(id, first, last);
        self.host.requests[id].remaining = pages;
        backend.controller.count_written(pages);
        backend.datapath.interconnect.begin_batch();
        for lpn in first.0..=last.0 {
            let page = self.part_of(id, io, since, Lpn(lpn));
            backend.write(&page);
        }
        backend.end_pages();
    }

    fn whole_pages(&self, io: &IoRequest) -> std::ops::Range<u32> {
        let page_size = self.geometry.page_size.as_u64();
        let first = io.offset.as_u64().div_ceil(page_size);
        first as u32..((io.offset + io.size).as_u64() / page_size) as u32
    }

    /// Deallocates the whole pages of the request, which then read as zeros, and writes the partial pages at both ends.
    fn write_zeroes(&mut self, id: RequestId, io: &IoRequest, since: Time, backend: &mut Backend<M>) {
        let (first, last) = self.pages_of(io);
        let ends = if first == last { &[first][..] } else { &[first, last] };
        let parts: Vec<PageRequest> = ends
            .iter()
            .map(|&lpn| self.part_of(id, io, since, lpn))
            .filter(|page| page.bytes < self.geometry.page_size)
            .collect();
        backend.deallocate(self.whole_pages(io));
        if parts.is_empty() {
            return self.host.respond(id, &LatencyBreakdown::default(), &mut backend.controller, &mut backend.kernel);
        }
        self.host.requests[id].remaining = parts.len() as u32;
        backend.request_begins(id, first, last);
        backend.controller.count_written(parts.len() as u32);
        self.begin_write(id);
        for page in &parts {
            backend.write(page);
        }
        backend.end_pages();
    }
}

/// Reads pages of a request as one batch. Returns the number of completions to expect.
#[inline(always)]
pub(super) fn read_all<M: Model>(pages: impl Iterator<Item = PageRequest>, backend: &mut Backend<M>) -> u32 {
    backend.datapath.interconnect.begin_batch();
    let completions = pages.map(|page| backend.read(&page)).sum();
    backend.end_pages();
    completions
}
