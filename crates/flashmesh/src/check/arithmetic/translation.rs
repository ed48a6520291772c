//! Logical pages in which the drive stores its address map on flash, if the map does not fit into DRAM or has a journal.

use std::ops::Range;

use crate::config::{Config, PersistencePolicy};
use crate::ids::Lpn;

use super::PageSplit;

/// Range of translation pages, numbered after the logical pages of the host. Each translation page holds as many map entries as fit.
#[derive(Clone, Debug)]
pub(in super::super) struct MapPages {
    host_pages: u64,
    entries_in_a_page: u64,
    /// Number of pages for the replication map and the journal, which follow the translation pages; 0 without a journal.
    others: u64,
}

impl MapPages {
    /// Creates the range of translation pages; `None` if the whole map is in DRAM and no journal is configured.
    pub(in super::super) fn new(config: &Config) -> Option<MapPages> {
        let has_journal = config.persistence.policy == PersistencePolicy::Journal;
        if config.mapping.cache_capacity.is_none() && !has_journal {
            return None;
        }
        let cuts = PageSplit::new(config);
        let entry = config.mapping.stored_entry_size.as_u64();
        let mut entries_in_a_page = 1;
        if entry > 0 && cuts.page_size().as_u64() / entry > 1 {
            entries_in_a_page = cuts.page_size().as_u64() / entry;
        }
        let host_pages = u64::from(cuts.logical_pages());
        let mut others = 0;
        if has_journal {
            // The journal spans two checkpoint intervals; the replication map has 24 B for each replica.
            others = 2 * u64::from(config.persistence.checkpoint_interval);
            if config.replication.enabled {
                let bytes = 24 * (host_pages as f64 * config.replication.l_m) as u64;
                others += (1..).find(|pages| pages * cuts.page_size().as_u64() >= bytes).unwrap_or(1);
            }
        }
        Some(MapPages { host_pages, entries_in_a_page, others })
    }

    pub(in super::super) fn contains(&self, lpn: Lpn) -> bool {
        u64::from(lpn.0) >= self.host_pages
    }

    pub(in super::super) fn page_of(&self, lpn: Lpn) -> Lpn {
        Lpn((self.host_pages + u64::from(lpn.0) / self.entries_in_a_page) as u32)
    }

    pub(in super::super) fn all(&self) -> Range<u32> {
        let whole = self.host_pages / self.entries_in_a_page;
        let rest = u64::from(!self.host_pages.is_multiple_of(self.entries_in_a_page));
        self.host_pages as u32..(self.host_pages + whole + rest + self.others) as u32
    }

    pub(in super::super) fn entries_of(&self, page: Lpn) -> Range<Lpn> {
        // Pages of the replication map and the journal contain no map entries of host pages, so their range of entries is empty.
        let before = ((u64::from(page.0) - self.host_pages) * self.entries_in_a_page).min(self.host_pages);
        let end = (before + self.entries_in_a_page).min(self.host_pages);
        Lpn(before as u32)..Lpn(end as u32)
    }
}
