//! Checkpoints: programs of all translation pages changed since their last program, a few at a time.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::Stamp;
use super::flash_map::FlashMap;
use crate::config;
use crate::ftl::TranslationPages;
use crate::ids::Lpn;

/// State of the current checkpoint, and the count of journal pages that triggers the next checkpoint.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    first: Lpn,
    interval: u32,
    writes_max: usize,
    /// Stamp (sequence number) of the last change of each translation page of the map and of the replication map; 0 if never changed.
    changed: Vec<Stamp>,
    /// Number of journal pages programmed since the last checkpoint began.
    journal_pages: u32,
    /// Stamp (sequence number) that limits the current checkpoint: its pages include all changes up to this stamp. `None` between checkpoints.
    end: Option<Stamp>,
    waiting: VecDeque<Lpn>,
    under_way: FxHashSet<Lpn>,
}

impl Checkpoint {
    pub(super) fn new(config: &config::Persistence, pages: TranslationPages) -> Checkpoint {
        let count = pages.map_pages().len() + pages.replica_pages().len();
        Checkpoint {
            first: Lpn(pages.all().start),
            interval: config.checkpoint_interval,
            writes_max: config.checkpoint_writes as usize,
            changed: vec![0; count],
            journal_pages: 0,
            end: None,
            waiting: VecDeque::new(),
            under_way: FxHashSet::default(),
        }
    }

    pub(super) fn changed(&mut self, page: Lpn, stamp: Stamp) {
        self.changed[(page.0 - self.first.0) as usize] = stamp;
    }

    fn is_dirty(&self, page: Lpn, image: &FlashMap) -> bool {
        self.changed[(page.0 - self.first.0) as usize] > image.complete_to(page)
    }

    pub(super) fn journal_page_ended(&mut self) {
        self.journal_pages += 1;
    }

    /// Returns the translation page to program next, and begins a checkpoint if one is due. Returns `None` if no page is left, or the maximum number
    /// of programs is in flight. The checkpoint covers the changes up to `durable_to`, which are already in the journal on flash, so that programs
    /// need not wait for the journal.
    pub(super) fn next_page(&mut self, image: &FlashMap, durable_to: Stamp) -> Option<Lpn> {
        if self.end.is_none() && self.journal_pages >= self.interval {
            self.journal_pages = 0;
            self.end = Some(durable_to);
            let pages = (self.first.0..self.first.0 + self.changed.len() as u32).map(Lpn);
            self.waiting = pages.filter(|&page| self.is_dirty(page, image)).collect();
        }
        if self.under_way.len() >= self.writes_max {
            return None;
        }
        while let Some(page) = self.waiting.pop_front() {
            // Skip pages that the mapping cache has written back since the checkpoint began: they already include all of its changes.
            if self.end.is_some_and(|end| image.complete_to(page) < end) {
                self.under_way.insert(page);
                return Some(page);
            }
        }
        None
    }

    /// Counts a page of the checkpoint as done after a program of the translation page `page`. Ignores a write-back that began before the checkpoint,
    /// because it may lack some of the changes.
    pub(super) fn page_ended(&mut self, page: Lpn, image: &FlashMap) {
        if self.end.is_some_and(|end| image.complete_to(page) >= end) {
            self.under_way.remove(&page);
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.end.is_some() && self.waiting.is_empty() && self.under_way.is_empty()
    }

    pub(super) fn end(&mut self) -> Stamp {
        self.end.take().unwrap_or(0)
    }
}
