//! Translation pages: the map of the drive as it lies on flash, when DRAM holds a part of it only (DFTL, ASPLOS 2009).
//!
//! They are logical pages beyond those that the host sees, so that the map (for them: the global translation directory, which
//! is always in DRAM), allocation, collection and wear levelling hold for them as for any page. Their programs and their moves
//! have open blocks of their own, so that blocks hold either data or translation pages.
//!
//! Where the map has to survive a cut of the power ([`persistence`](crate::persistence)) its checkpoints lie in translation pages as well,
//! and behind them are those with the replication map, and those of the journal.
//!
//! All of them are there from the start, whether or not anything was written: reading the map of a page never written costs a
//! read as well. They then lie in the first blocks of each plane and none is invalid \[choice\].

use std::ops::Range;

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ids::Lpn;
use crate::units::Bytes;

/// Bytes of an entry of the replication map (Patterned Read Collisions, IEEE Access 2023, section III.B).
const REPLICA_ENTRY_BYTES: u64 = 24;

/// Whether the map lies on flash, in part in DRAM or for a cut of the power.
pub(super) fn lies_on_flash(config: &Config) -> bool {
    config.mapping.cache_capacity.is_some() || config.persistence.has_journal()
}

/// Which logical pages are translation pages, and whose entries they hold.
#[derive(Clone, Copy, Debug)]
pub struct TranslationPages {
    logical_pages: u32,
    entries_per_page: u32,
    count: u32,
    /// At the end of all: pages of the replication map, then those of the journal.
    replica_pages: u32,
    journal_pages: u32,
    page_size: Bytes,
}

impl TranslationPages {
    /// The translation pages of a drive; `None` when the whole map is in DRAM, and taken to survive there.
    pub fn new(geometry: &Geometry, config: &Config) -> Option<TranslationPages> {
        if !lies_on_flash(config) {
            return None;
        }
        let page_size = geometry.page_size;
        let entries = page_size.as_u64() / config.mapping.stored_entry_size.as_u64().max(1);
        let entries_per_page = entries.clamp(1, u64::from(u32::MAX)) as u32;
        let logical_pages = geometry.logical_pages;
        let (mut replica_pages, journal_pages) = (0, config.persistence.journal_pages());
        if config.persistence.has_journal() && config.replication.enabled {
            let copies = u64::from(config.replication.copies_max(logical_pages));
            replica_pages = (copies * REPLICA_ENTRY_BYTES).div_ceil(page_size.as_u64().max(1)).max(1) as u32;
        }
        let of_map = logical_pages.div_ceil(entries_per_page);
        let count = of_map.saturating_add(replica_pages).saturating_add(journal_pages);
        Some(TranslationPages { logical_pages, entries_per_page, count, replica_pages, journal_pages, page_size })
    }

    pub(crate) fn page_size(&self) -> Bytes {
        self.page_size
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Their logical page numbers.
    pub fn all(&self) -> Range<u32> {
        self.logical_pages..self.logical_pages + self.count
    }

    #[inline]
    pub(crate) fn contains(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.logical_pages
    }

    /// Those with the entries of the map.
    pub(crate) fn of_map(&self) -> Range<u32> {
        self.logical_pages..self.logical_pages + self.count - self.replica_pages - self.journal_pages
    }

    /// Those with the replication map.
    pub(crate) fn of_replicas(&self) -> Range<u32> {
        self.of_map().end..self.of_map().end + self.replica_pages
    }

    pub(crate) fn of_journal(&self) -> Range<u32> {
        self.of_replicas().end..self.all().end
    }

    /// The page with the replica of `lpn`, where the replication map is kept on flash: entries are spread over its pages.
    pub(crate) fn replica_page_of(&self, lpn: Lpn) -> Option<Lpn> {
        (self.replica_pages > 0).then(|| Lpn(self.of_replicas().start + lpn.0 % self.replica_pages))
    }

    /// The translation page with the entry of `lpn`, a page of the host.
    #[inline]
    pub(crate) fn page_of(&self, lpn: Lpn) -> Lpn {
        Lpn(self.logical_pages + lpn.0 / self.entries_per_page)
    }

    /// The first translation page that has no entry of a page before `lpn`.
    pub(super) fn first_beginning_at(&self, lpn: u32) -> u32 {
        self.logical_pages + lpn.div_ceil(self.entries_per_page)
    }

    /// `count` translation pages above `logical_pages` pages of the host, like these in all else.
    pub(super) fn scaled(&self, logical_pages: u32, count: u32) -> TranslationPages {
        TranslationPages { logical_pages, count, replica_pages: 0, journal_pages: 0, ..*self }
    }

    /// The pages of the host whose entries `page` holds.
    pub(crate) fn entries_of(&self, page: Lpn) -> Range<u32> {
        let first = (page.0 - self.logical_pages) * self.entries_per_page;
        first..self.logical_pages.min(first.saturating_add(self.entries_per_page)).max(first)
    }
}
