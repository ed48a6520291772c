//! How a request is cut: into pages, and a page into sectors.

use crate::cache::Sectors;
use crate::config;
use crate::ids::Lpn;
use crate::units::Bytes;
use crate::workload::IoRequest;

use super::Homes;

/// Sizes of what a drive is cut into, in bytes, and how many pages of it the host sees.
#[derive(Clone, Debug)]
pub(in crate::check) struct Cuts {
    page: u64,
    spare: u64,
    sector: u64,
    logical_pages: u64,
}

/// The logical pages that a request touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) struct Extent {
    first: u32,
    last: u32,
    /// Whether it covers a part of the first and of the last page only.
    partial: (bool, bool),
}

/// How many bytes the two ranges, each from the first up to the second number, have in common.
fn common(one: (u64, u64), other: (u64, u64)) -> u64 {
    one.1.min(other.1).saturating_sub(one.0.max(other.0))
}

/// The bytes of the drive that a request is about.
fn bytes_of(io: &IoRequest) -> (u64, u64) {
    (io.offset.as_u64(), io.offset.as_u64() + io.size.as_u64())
}

impl Cuts {
    pub(in crate::check) fn new(config: &config::Geometry) -> Cuts {
        let page = config.page_size.as_u64();
        let logical_pages = match config.capacity {
            Some(capacity) => capacity.as_u64() / page,
            None => (Homes::new(config).pages() as f64 * (1.0 - config.over_provisioning)) as u64,
        };
        Cuts { page, spare: config.page_spare.as_u64(), sector: config.sector_size.as_u64(), logical_pages }
    }

    /// Pages that the host sees.
    pub(in crate::check) fn logical_pages(&self) -> u32 {
        self.logical_pages as u32
    }

    /// The space that the host sees.
    pub(in crate::check) fn capacity(&self) -> Bytes {
        Bytes::new(self.logical_pages * self.page)
    }

    pub(in crate::check) fn page_size(&self) -> Bytes {
        Bytes::new(self.page)
    }

    pub(in crate::check) fn sector_size(&self) -> Bytes {
        Bytes::new(self.sector)
    }

    /// Sectors of a page.
    pub(in crate::check) fn sectors(&self) -> u32 {
        (self.page / self.sector) as u32
    }

    /// The logical page of the byte at `offset`.
    pub(in crate::check) fn page_at(&self, offset: Bytes) -> Lpn {
        Lpn((offset.as_u64() / self.page) as u32)
    }

    /// The bytes of a logical page.
    fn page_bytes(&self, lpn: Lpn) -> (u64, u64) {
        let start = u64::from(lpn.0) * self.page;
        (start, start + self.page)
    }

    /// How much of `lpn` a request is about.
    pub(in crate::check) fn bytes(&self, io: &IoRequest, lpn: Lpn) -> Bytes {
        Bytes::new(common(bytes_of(io), self.page_bytes(lpn)))
    }

    /// The pages that a request touches; one without bytes, the page that it names.
    pub(in crate::check) fn extent(&self, io: &IoRequest) -> Extent {
        let (start, end) = bytes_of(io);
        let (first, last) = (start / self.page, if start < end { (end - 1) / self.page } else { start / self.page });
        let is_partial = |page: u64| self.bytes(io, Lpn(page as u32)) < self.page_size();
        Extent { first: first as u32, last: last as u32, partial: (is_partial(first), is_partial(last)) }
    }

    /// The sectors of `lpn` that a request touches.
    pub(in crate::check) fn touched(&self, io: &IoRequest, lpn: Lpn) -> Sectors {
        let (start, _) = self.page_bytes(lpn);
        let is_touched = |sector: &u32| {
            let first = start + u64::from(*sector) * self.sector;
            common(bytes_of(io), (first, first + self.sector)) > 0
        };
        let touched = (0..self.sectors()).filter(is_touched);
        touched.fold(Sectors::NONE, |all, sector| all.or(Sectors::range(sector, sector + 1)))
    }

    /// User data with its share of the metadata of the page, as both move.
    pub(in crate::check) fn moved(&self, data: Bytes) -> Bytes {
        let shares = u128::from(data.as_u64()) * u128::from(self.spare);
        let page = u128::from(self.page);
        let share = shares / page + u128::from(!shares.is_multiple_of(page));
        data + Bytes::new(share as u64)
    }
}

impl Extent {
    pub(in crate::check) fn len(&self) -> usize {
        (self.last - self.first) as usize + 1
    }

    pub(in crate::check) fn pages(&self) -> impl Iterator<Item = Lpn> + use<> {
        (self.first..=self.last).map(Lpn)
    }

    /// The page at this position.
    pub(in crate::check) fn page(&self, at: usize) -> Lpn {
        Lpn(self.first + at as u32)
    }

    /// The position of `lpn` among its pages.
    pub(in crate::check) fn position(&self, lpn: Lpn) -> Option<usize> {
        (self.first..=self.last).contains(&lpn.0).then(|| (lpn.0 - self.first) as usize)
    }

    /// Whether it covers a part of `lpn` only.
    pub(in crate::check) fn is_partial(&self, lpn: Lpn) -> bool {
        (lpn.0 == self.first && self.partial.0) || (lpn.0 == self.last && self.partial.1)
    }
}
