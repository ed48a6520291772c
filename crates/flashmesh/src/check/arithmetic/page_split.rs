//! Division of requests into pages, and of pages into sectors.

use crate::cache::Sectors;
use crate::config::Config;
use crate::ids::Lpn;
use crate::units::Bytes;
use crate::workload::IoRequest;

use super::ArrayTree;
use super::mapping_units::array_in_units;

/// Sizes of pages, sectors and the drive, in bytes.
#[derive(Clone, Debug)]
pub(in super::super) struct PageSplit {
    page: u64,
    /// Size of an array page in bytes, without its `spare` bytes of metadata. `page` is the size of a logical page, which is a mapping unit.
    array_page: u64,
    spare: u64,
    sector: u64,
    logical_pages: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Extent {
    first: u32,
    last: u32,
    /// Whether the request covers only a part of its first page, and whether it covers only a part of its last page.
    partial: (bool, bool),
}

/// Returns the number of bytes that two half-open ranges have in common.
fn common(one: (u64, u64), other: (u64, u64)) -> u64 {
    one.1.min(other.1).saturating_sub(one.0.max(other.0))
}

fn bytes_of(io: &IoRequest) -> (u64, u64) {
    (io.offset.as_u64(), io.offset.as_u64() + io.size.as_u64())
}

impl PageSplit {
    pub(in super::super) fn new(config: &Config) -> PageSplit {
        let shape = array_in_units(config);
        let page = shape.page_size.as_u64();
        let logical_pages = match shape.capacity {
            Some(capacity) => capacity.as_u64() / page,
            None => (ArrayTree::new(&shape).pages() as f64 * (1.0 - shape.over_provisioning)) as u64,
        };
        let (spare, sector) = (shape.page_spare.as_u64(), shape.sector_size.as_u64());
        PageSplit { page, array_page: config.geometry.page_size.as_u64(), spare, sector, logical_pages }
    }

    pub(in super::super) fn logical_pages(&self) -> u32 {
        self.logical_pages as u32
    }

    pub(in super::super) fn capacity(&self) -> Bytes {
        Bytes::new(self.logical_pages * self.page)
    }

    pub(in super::super) fn page_size(&self) -> Bytes {
        Bytes::new(self.page)
    }

    pub(in super::super) fn sector_size(&self) -> Bytes {
        Bytes::new(self.sector)
    }

    pub(in super::super) fn sectors(&self) -> u32 {
        (self.page / self.sector) as u32
    }

    pub(in super::super) fn page_at(&self, offset: Bytes) -> Lpn {
        Lpn((offset.as_u64() / self.page) as u32)
    }

    fn page_bytes(&self, lpn: Lpn) -> (u64, u64) {
        let start = u64::from(lpn.0) * self.page;
        (start, start + self.page)
    }

    pub(in super::super) fn bytes(&self, io: &IoRequest, lpn: Lpn) -> Bytes {
        Bytes::new(common(bytes_of(io), self.page_bytes(lpn)))
    }

    /// Returns the range of bytes within the page `lpn` that a request covers. Offset 0 is the start of the page.
    pub(in super::super) fn part(&self, io: &IoRequest, lpn: Lpn) -> std::ops::Range<Bytes> {
        let (first, last) = self.page_bytes(lpn);
        let (start, end) = bytes_of(io);
        Bytes::new(start.max(first) - first)..Bytes::new(end.min(last) - first)
    }

    /// Returns the logical pages that a request covers. A request without bytes covers the page at its offset.
    pub(in super::super) fn extent(&self, io: &IoRequest) -> Extent {
        let (start, end) = bytes_of(io);
        let (first, last) = (start / self.page, if start < end { (end - 1) / self.page } else { start / self.page });
        let is_partial = |page: u64| self.bytes(io, Lpn(page as u32)) < self.page_size();
        Extent { first: first as u32, last: last as u32, partial: (is_partial(first), is_partial(last)) }
    }

    pub(in super::super) fn touched(&self, io: &IoRequest, lpn: Lpn) -> Sectors {
        let (start, _) = self.page_bytes(lpn);
        let is_touched = |sector: &u32| {
            let first = start + u64::from(*sector) * self.sector;
            common(bytes_of(io), (first, first + self.sector)) > 0
        };
        let touched = (0..self.sectors()).filter(is_touched);
        touched.fold(Sectors::NONE, |all, sector| all.or(Sectors::range(sector, sector + 1)))
    }

    /// Returns `data` plus the metadata that belongs to it: a share of the spare bytes of an array page, rounded up to a byte.
    pub(in super::super) fn with_metadata(&self, data: Bytes) -> Bytes {
        let shares = u128::from(data.as_u64()) * u128::from(self.spare);
        let page = u128::from(self.array_page);
        let share = shares / page + u128::from(!shares.is_multiple_of(page));
        data + Bytes::new(share as u64)
    }
}

impl Extent {
    pub(in super::super) fn len(&self) -> usize {
        (self.last - self.first) as usize + 1
    }

    pub(in super::super) fn pages(&self) -> impl Iterator<Item = Lpn> + use<> {
        (self.first..=self.last).map(Lpn)
    }

    pub(in super::super) fn page(&self, at: usize) -> Lpn {
        Lpn(self.first + at as u32)
    }

    pub(in super::super) fn position(&self, lpn: Lpn) -> Option<usize> {
        (self.first..=self.last).contains(&lpn.0).then(|| (lpn.0 - self.first) as usize)
    }

    pub(in super::super) fn is_partial(&self, lpn: Lpn) -> bool {
        (lpn.0 == self.first && self.partial.0) || (lpn.0 == self.last && self.partial.1)
    }
}
