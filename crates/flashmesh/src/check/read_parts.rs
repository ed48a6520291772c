//! Check that belongs to the oracle `cores`: a read command of several pages of flash is split at the boundaries of these pages, and each part but
//! the first is read only after its job on a core.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::{Config, FirmwarePolicy};
use crate::ids::{Lpn, Ppn, RequestId};
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

/// A read command in flight.
#[derive(Clone, Debug)]
struct Read {
    first: u32,
    /// Page of flash that held each logical page of the command when it was submitted; `None` if the oracle does not know the page.
    flash_pages: Vec<Option<u32>>,
    /// First logical page of each part whose job is queued or done.
    starts: FxHashSet<u32>,
    /// Logical pages whose job is not done.
    waiting: FxHashSet<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct ReadParts {
    is_split: bool,
    unit: u64,
    units_per_page: u32,
    reads: FxHashMap<RequestId, Read>,
}

impl ReadParts {
    pub(super) fn new(config: &Config) -> ReadParts {
        let page = config.geometry.page_size;
        let unit = config.ftl.mapping_unit.unwrap_or(page);
        ReadParts {
            is_split: config.firmware.split_time > Time::ZERO && config.ftl.policy != FirmwarePolicy::Mbm,
            unit: unit.as_u64(),
            units_per_page: (page.as_u64() / unit.as_u64()).max(1) as u32,
            reads: FxHashMap::default(),
        }
    }

    /// Records a command that the drive admitted. `location` returns the location of a logical page in flash, if it is known.
    pub(super) fn submitted(&mut self, id: RequestId, io: &IoRequest, location: impl Fn(Lpn) -> Option<Ppn>) {
        if !self.is_split || io.kind != RequestKind::Read || io.size == Bytes::ZERO {
            return;
        }
        let (first, end) = (io.offset.as_u64() / self.unit, (io.offset + io.size).as_u64().div_ceil(self.unit));
        let flash_pages =
            (first..end).map(|lpn| location(Lpn(lpn as u32)).map(|ppn| ppn.0 / self.units_per_page)).collect();
        let read =
            Read { first: first as u32, flash_pages, starts: FxHashSet::default(), waiting: FxHashSet::default() };
        self.reads.insert(id, read);
    }

    /// Records the queued job of the part of `pages` logical pages from `first` on.
    pub(super) fn queued(&mut self, id: RequestId, Lpn(first): Lpn, pages: u32) {
        if let Some(read) = self.reads.get_mut(&id) {
            read.starts.insert(first);
            read.waiting.extend(first..first + pages);
        }
    }

    /// Records the end of the job of a part.
    pub(super) fn done(&mut self, id: RequestId, Lpn(first): Lpn, pages: u32) {
        if let Some(read) = self.reads.get_mut(&id) {
            (first..first + pages).for_each(|lpn| {
                read.waiting.remove(&lpn);
            });
        }
    }

    /// Checks a logical page that the array reads for a command: the job of its part must be done, and it must be in the same part as a neighbour if
    /// and only if both are in one page of flash. `untouched` is the location of the page, if the page has been neither written, moved nor
    /// deallocated since the start of the run.
    pub(super) fn read(&mut self, id: RequestId, Lpn(lpn): Lpn, untouched: Option<Ppn>) -> Result<(), String> {
        let Some(read) = self.reads.get_mut(&id) else { return Ok(()) };
        if read.waiting.contains(&lpn) {
            return Err(format!("page {lpn} of request {} is read before its job is done", id.0));
        }
        let at = (lpn - read.first) as usize;
        if read.flash_pages[at].is_none() {
            read.flash_pages[at] = untouched.map(|ppn| ppn.0 / self.units_per_page);
        }
        for end in [at, at + 1] {
            let Some(&[Some(before), Some(own)]) = read.flash_pages.get(end.saturating_sub(1)..=end) else { continue };
            let start = read.first + end as u32;
            if read.starts.contains(&start) != (before != own) {
                return Err(format!("request {} is split at page {start}: {}", id.0, before == own));
            }
        }
        Ok(())
    }

    pub(super) fn completed(&mut self, id: RequestId) {
        self.reads.remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: IoRequest = IoRequest {
        arrival: Time::ZERO,
        kind: RequestKind::Read,
        offset: Bytes::from_kib(4),
        size: Bytes::from_kib(16),
        stream: 0,
    };
    const ID: RequestId = RequestId(0);

    /// Returns the oracle after a read of logical pages 1 to 4 was submitted. Pages 1 and 2 share a flash page.
    fn submitted() -> ReadParts {
        let mut config = Config::default();
        config.geometry.page_size = Bytes::from_kib(16);
        config.ftl.mapping_unit = Some(Bytes::from_kib(4));
        config.firmware.split_time = Time::from_us(1);
        let mut parts = ReadParts::new(&config);
        parts.submitted(ID, &READ, |lpn| Some(Ppn([0, 40, 41, 80, 44][lpn.0 as usize])));
        parts
    }

    #[test]
    fn a_part_is_read_after_its_job() {
        let mut parts = submitted();
        parts.queued(ID, Lpn(3), 1);
        parts.queued(ID, Lpn(4), 1);
        assert_eq!((parts.read(ID, Lpn(1), None), parts.read(ID, Lpn(2), None)), (Ok(()), Ok(())));
        assert!(parts.read(ID, Lpn(3), None).is_err());
        parts.done(ID, Lpn(3), 1);
        assert_eq!(parts.read(ID, Lpn(3), None), Ok(()));
        assert!(parts.read(ID, Lpn(4), None).is_err());
    }

    #[test]
    fn a_split_within_a_page_of_flash_is_caught() {
        let mut parts = submitted();
        parts.queued(ID, Lpn(2), 1);
        parts.done(ID, Lpn(2), 1);
        assert!(parts.read(ID, Lpn(2), None).is_err());
    }

    #[test]
    fn a_missing_split_is_caught() {
        let mut parts = submitted();
        assert_eq!(parts.read(ID, Lpn(1), None), Ok(()));
        assert!(parts.read(ID, Lpn(2), None).is_err());
        assert!(parts.read(ID, Lpn(3), None).is_err());
    }

    /// Reads pages whose locations are unknown to the oracle until it checks their reads.
    #[test]
    fn a_missing_split_between_pages_of_the_start_is_caught() {
        let mut parts = submitted();
        parts.submitted(ID, &READ, |_| None);
        assert_eq!(parts.read(ID, Lpn(1), Some(Ppn(40))), Ok(()));
        assert_eq!(parts.read(ID, Lpn(2), Some(Ppn(41))), Ok(()));
        assert!(parts.read(ID, Lpn(3), Some(Ppn(80))).is_err());
    }
}
