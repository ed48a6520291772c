//! Translation pages: the map as stored on flash, if DRAM holds only a part of it (DFTL, ASPLOS 2009).
//!
//! Translation pages are logical pages beyond those of the host, so the map, allocation, garbage collection and wear levelling treat them like host
//! pages. The locations of translation pages (global translation directory of DFTL) are always in DRAM. Written and moved translation pages have open
//! blocks of their own, so each block holds either data or translation pages.
//!
//! If the map has to survive a power cut ([`persistence`](crate::persistence)), its checkpoints are stored in translation pages as well. The pages of
//! the map are followed by the pages of the replication map, then by those of the journal.
//!
//! All translation pages are on flash from the start, even if nothing was written, because a lookup of a page never written also costs a read. At the
//! start they are stored in the first blocks of each plane, and none is invalid \[choice\].

use std::ops::Range;

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ids::Lpn;
use crate::units::Bytes;

/// Size of an entry of the replication map in bytes (Patterned Read Collisions, IEEE Access 2023, section III.B).
const REPLICA_ENTRY_BYTES: u64 = 24;

/// Returns whether the map is stored on flash, because DRAM holds only a part of it or because it has to survive a power cut.
pub(in super::super) fn is_map_on_flash(config: &Config) -> bool {
    config.mapping.cache_capacity.is_some() || config.persistence.has_journal()
}

/// Ranges of the translation pages, and the host pages whose entries they hold.
#[derive(Clone, Copy, Debug)]
pub struct TranslationPages {
    logical_pages: u32,
    entries_per_page: u32,
    count: u32,
    /// Number of pages of the replication map. The pages of the replication map, then those of the journal, are the last translation pages.
    replica_pages: u32,
    journal_pages: u32,
    page_size: Bytes,
}

impl TranslationPages {
    /// Returns the translation pages of a drive; `None` if the map is not stored on flash: all of it is in DRAM, and need not survive a power cut.
    pub fn new(geometry: &Geometry, config: &Config) -> Option<TranslationPages> {
        if !is_map_on_flash(config) {
            return None;
        }
        let page_size = geometry.page_size;
        let entries = page_size.as_u64() / config.mapping.stored_entry_size.as_u64().max(1);
        let entries_per_page = entries.clamp(1, u64::from(u32::MAX)) as u32;
        let logical_pages = geometry.logical_pages;
        let (mut replica_pages, journal_pages) = (0, config.persistence.journal_pages());
        if config.persistence.has_journal() && config.replication.enabled {
            let copies = u64::from(config.replication.replicas_max(logical_pages));
            replica_pages = (copies * REPLICA_ENTRY_BYTES).div_ceil(page_size.as_u64().max(1)).max(1) as u32;
        }
        let of_map = logical_pages.div_ceil(entries_per_page);
        let count = of_map.saturating_add(replica_pages).saturating_add(journal_pages);
        Some(TranslationPages { logical_pages, entries_per_page, count, replica_pages, journal_pages, page_size })
    }

    pub(crate) fn page_size(&self) -> Bytes {
        self.page_size
    }

    /// Returns the number of translation pages of the drive, including those of the replication map and the journal.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the logical page numbers of all translation pages, including those of the replication map and the journal.
    pub fn all(&self) -> Range<u32> {
        self.logical_pages..self.logical_pages + self.count
    }

    #[inline]
    pub(crate) fn contains(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.logical_pages
    }

    /// Returns the translation pages with entries of the map, without those of the replication map and the journal.
    pub(crate) fn map_pages(&self) -> Range<u32> {
        self.logical_pages..self.logical_pages + self.count - self.replica_pages - self.journal_pages
    }

    /// Returns the translation pages of the replication map; empty unless the replication map is stored on flash.
    pub(crate) fn replica_pages(&self) -> Range<u32> {
        self.map_pages().end..self.map_pages().end + self.replica_pages
    }

    pub(crate) fn journal_pages(&self) -> Range<u32> {
        self.replica_pages().end..self.all().end
    }

    /// Returns the page with the replication entry of `lpn`; `None` unless the replication map is stored on flash. Entries are spread evenly over the
    /// pages of this map.
    pub(crate) fn replica_page_of(&self, lpn: Lpn) -> Option<Lpn> {
        (self.replica_pages > 0).then(|| Lpn(self.replica_pages().start + lpn.0 % self.replica_pages))
    }

    /// Returns the translation page that holds the map entry of host page `lpn`.
    #[inline]
    pub(crate) fn page_of(&self, lpn: Lpn) -> Lpn {
        Lpn(self.logical_pages + lpn.0 / self.entries_per_page)
    }

    /// Returns the first translation page that holds no entry of a page before `lpn`.
    pub(in super::super) fn first_beginning_at(&self, lpn: u32) -> u32 {
        self.logical_pages + lpn.div_ceil(self.entries_per_page)
    }

    /// Returns a copy for a sample (simulated planes): `count` translation pages after `logical_pages` host pages, none of them for the replication
    /// map or the journal.
    pub(in super::super) fn scaled(&self, logical_pages: u32, count: u32) -> TranslationPages {
        TranslationPages { logical_pages, count, replica_pages: 0, journal_pages: 0, ..*self }
    }

    /// Returns the host pages whose entries the translation page `page` holds; empty for a page of the replication map or the journal.
    pub(crate) fn entries_of(&self, page: Lpn) -> Range<u32> {
        let first = (page.0 - self.logical_pages) * self.entries_per_page;
        first..self.logical_pages.min(first.saturating_add(self.entries_per_page)).max(first)
    }
}
