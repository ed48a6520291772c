//! Persistence of the map: the parts of it that are on flash and survive a power cut. A state machine without time.
//!
//! The map in DRAM is lost in a power cut. It is rebuilt from three sources on flash:
//!
//! - **Checkpoints.** The map is stored in translation pages, and the replication map in pages of its own (Patterned Read Collisions, IEEE Access
//!   2023, section III.B: both are synchronised together). A checkpoint programs the changed pages of both.
//! - **The journal.** Every change adds an entry to a buffer in DRAM. A page of entries is programmed when the page is full, or for a host flush.
//! - **The data pages.** A program writes the logical page number and a stamp, the sequence number of the write, into the spare area. Pages
//!   programmed after the last journal page are found by a scan of the blocks written since. A move or a copy keeps the stamp.
//!
//! So recovery finds every programmed page, with or without a journal entry; the journal limits the scan to a few blocks. Only a deallocation leaves
//! no trace in a data page. A deallocation is durable once its entry is in the journal on flash.

mod checkpoint;
mod flash_map;
mod journal;
mod recover;
mod scan;
#[cfg(test)]
mod tests;
mod uncovered_operations;

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, TranslationPages};
use crate::ids::{BlockId, Lpn, Ppn, RequestId};

use checkpoint::Checkpoint;
use flash_map::FlashMap;
use journal::{Journal, JournalChange};
use uncovered_operations::{ScannedPage, UncoveredOperations};

pub use recover::Recovered;
pub use scan::{Scan, ScanRead};

/// Sequence number of a change of the map, a program or an erase, from 1. Stamp 0 is before all of them.
pub type Stamp = u64;

/// Reason why a host page was programmed. `Superseded`: the page was written or deallocated while its program was in flight, so that its data is
/// invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramReason {
    Written,
    Moved,
    Replicated,
    Superseded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersistenceAction {
    Journal(Lpn),
    Checkpoint(Lpn),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PersistenceCounts {
    pub journal_pages: u64,
    pub journal_entries: u64,
    pub checkpoints: u64,
    /// Number of translation pages programmed, by checkpoints and by write-backs of the mapping cache.
    pub checkpoint_pages: u64,
}

/// Host request whose flush waits for the journal; `None` for a flush by the drive itself (at the end of the run or after a power cut).
type FlushWaiter = Option<RequestId>;

/// State of the map on flash, and the changes that are still in DRAM or in flight.
#[derive(Clone, Debug)]
pub struct Persistence {
    pages: TranslationPages,
    pages_per_block: u32,
    last: Stamp,
    /// Stamp of the last write or deallocation of each host page; 0 if the page was neither written nor deallocated during the run.
    stamps: Vec<Stamp>,
    /// Host pages that were deallocated and not written since. A page stays in this set even if a read has mapped it again.
    deallocated: FxHashSet<Lpn>,
    journal: Journal,
    checkpoint: Checkpoint,
    image: FlashMap,
    recent: UncoveredOperations,
    waiters: VecDeque<(FlushWaiter, Stamp)>,
    counts: PersistenceCounts,
}

impl Persistence {
    /// Creates the state in which the whole map of `ftl` is on flash; `None` if the configuration has no journal.
    pub fn new(config: &Config, geometry: &Geometry, ftl: &Ftl) -> Option<Box<Persistence>> {
        if !config.persistence.has_journal() {
            return None;
        }
        let pages = ftl.translation_pages()?;
        Some(Box::new(Persistence {
            pages,
            pages_per_block: geometry.pages_per_block,
            last: 0,
            stamps: vec![0; geometry.logical_pages as usize],
            deallocated: FxHashSet::default(),
            journal: Journal::new(&config.persistence, pages),
            checkpoint: Checkpoint::new(&config.persistence, pages),
            image: FlashMap::new(pages, geometry.logical_pages, ftl),
            recent: UncoveredOperations::default(),
            waiters: VecDeque::new(),
            counts: PersistenceCounts::default(),
        }))
    }

    pub fn counts(&self) -> PersistenceCounts {
        self.counts
    }

    pub fn is_map_page(&self, page: Lpn) -> bool {
        self.pages.map_pages().contains(&page.0)
    }

    pub fn is_journal_page(&self, page: Lpn) -> bool {
        self.pages.journal_pages().contains(&page.0)
    }

    fn next_stamp(&mut self) -> Stamp {
        self.last += 1;
        self.last
    }

    fn log(&mut self, change: JournalChange) {
        let stamp = self.next_stamp();
        self.journal.push(stamp, change);
        let lpn = change.lpn();
        if !matches!(change, JournalChange::Replicated(..) | JournalChange::ReplicaDropped(_)) {
            self.checkpoint.changed(self.pages.page_of(lpn), stamp);
        }
        if matches!(
            change,
            JournalChange::Replicated(..) | JournalChange::ReplicaDropped(_) | JournalChange::ReplicaPromoted(..)
        ) {
            self.mark_replica_page(lpn);
        }
    }

    pub fn programmed(&mut self, lpn: Lpn, ppn: Ppn, what: ProgramReason) {
        if self.pages.contains(lpn) {
            return;
        }
        match what {
            ProgramReason::Written => {
                self.log(JournalChange::Written(lpn, ppn));
                self.stamps[lpn.index()] = self.last;
                self.deallocated.remove(&lpn);
            }
            ProgramReason::Moved => self.log(JournalChange::Moved(lpn, ppn)),
            ProgramReason::Replicated => self.log(JournalChange::Replicated(lpn, ppn, self.stamps[lpn.index()])),
            ProgramReason::Superseded => {
                self.next_stamp();
            }
        }
        let stamp = if what == ProgramReason::Superseded { 0 } else { self.stamps[lpn.index()] };
        let is_copy = what == ProgramReason::Replicated;
        self.recent.programmed(ScannedPage { at: self.last, ppn, lpn, stamp, is_replica: is_copy });
    }

    /// Records that a read has mapped the unmapped page `lpn` to `ppn`, without a program.
    pub fn mapped_by_read(&mut self, lpn: Lpn, ppn: Ppn) {
        self.log(JournalChange::Moved(lpn, ppn));
        if self.pages.replica_page_of(lpn).is_some() {
            self.log(JournalChange::ReplicaDropped(lpn));
        }
    }

    pub fn unmapped(&mut self, lpn: Lpn) {
        self.log(JournalChange::Unmapped(lpn));
        self.stamps[lpn.index()] = self.last;
        self.deallocated.insert(lpn);
    }

    pub fn replica_dropped(&mut self, lpn: Lpn) {
        self.log(JournalChange::ReplicaDropped(lpn));
    }

    /// Records that the replica of `lpn` at `ppn` became the original.
    pub fn replica_promoted(&mut self, lpn: Lpn, ppn: Ppn) {
        self.log(JournalChange::ReplicaPromoted(lpn, ppn));
    }

    /// Marks the page of the replication map that contains the entry of `lpn` as changed by the last journal entry. Called after a write or a
    /// deallocation has invalidated the replica of `lpn`.
    pub fn mark_replica_page(&mut self, lpn: Lpn) {
        if let Some(page) = self.pages.replica_page_of(lpn) {
            self.checkpoint.changed(page, self.last);
        }
    }

    pub fn erased(&mut self, block: BlockId) {
        let stamp = self.next_stamp();
        self.recent.erased(block, stamp);
    }

    pub fn next_action(&mut self) -> Option<PersistenceAction> {
        loop {
            if let Some(page) = self.journal.next_page() {
                return Some(PersistenceAction::Journal(page));
            }
            let page = self.checkpoint.next_page(&self.image, self.journal.durable_to());
            if page.is_some() || !self.checkpoint.is_over() {
                return page.map(PersistenceAction::Checkpoint);
            }
            self.journal.discard_until(self.checkpoint.end());
            self.counts.checkpoints += 1;
        }
    }

    pub fn program_began(&mut self, page: Lpn, ftl: &Ftl) {
        if self.is_journal_page(page) {
            self.journal.page_began(self.last);
        } else if self.is_map_page(page) {
            self.image.map_page_began(page, self.last, &self.stamps, ftl);
        } else {
            self.image.replica_page_began(page, &self.journal);
        }
    }

    pub fn program_ended(&mut self, page: Lpn) {
        if self.is_journal_page(page) {
            self.counts.journal_pages += 1;
            self.counts.journal_entries += self.journal.page_ended();
            self.checkpoint.journal_page_ended();
            self.recent.discard_until(self.journal.durable_to());
        } else {
            self.counts.checkpoint_pages += 1;
            self.image.page_ended(page);
            self.checkpoint.page_ended(page, &self.image);
        }
    }

    pub fn has_unwritten(&self) -> bool {
        self.journal.has_unwritten()
    }

    /// Requests the program of all buffered journal entries. [`Persistence::take_flushed`] returns `waiter` once they are on flash.
    pub fn flush(&mut self, waiter: FlushWaiter) {
        self.journal.flush();
        self.waiters.push_back((waiter, self.journal.last_entry()));
    }

    pub fn take_flushed(&mut self) -> Option<FlushWaiter> {
        let &(waiter, stamp) = self.waiters.front()?;
        if stamp > self.journal.durable_to() {
            return None;
        }
        self.waiters.pop_front();
        Some(waiter)
    }
}
