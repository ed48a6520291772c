//! Journal: changes of the map in order, programmed one page of entries at a time.

use std::collections::VecDeque;
use std::ops::Range;

use super::Stamp;
use crate::config;
use crate::ftl::TranslationPages;
use crate::ids::{Lpn, Ppn};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JournalChange {
    /// Program of new data at this physical page. The replica of the page becomes invalid.
    Written(Lpn, Ppn),
    Moved(Lpn, Ppn),
    Unmapped(Lpn),
    /// Program of a replica at this physical page. The stamp is that of the write whose data the replica contains.
    Replicated(Lpn, Ppn, Stamp),
    ReplicaDropped(Lpn),
    /// Promotion of the replica at this physical page to the original.
    ReplicaPromoted(Lpn, Ppn),
}

impl JournalChange {
    pub(super) fn lpn(self) -> Lpn {
        let (JournalChange::Written(lpn, _)
        | JournalChange::Moved(lpn, _)
        | JournalChange::Unmapped(lpn)
        | JournalChange::Replicated(lpn, ..)
        | JournalChange::ReplicaDropped(lpn)
        | JournalChange::ReplicaPromoted(lpn, _)) = self;
        lpn
    }
}

/// A change of the map, with its stamp (sequence number).
pub(super) type JournalEntry = (Stamp, JournalChange);

#[derive(Clone, Debug)]
struct JournalPage {
    entries: Vec<JournalEntry>,
    /// Stamp (sequence number) up to which all changes and programs are in this journal page or an earlier one.
    to: Stamp,
}

/// Journal buffer in DRAM and journal pages on flash.
///
/// Pages are programmed one at a time, so that they reach flash in order. The pages form a ring. A page is reused once a checkpoint has made its
/// entries obsolete; until then the buffer grows.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    slots: Range<u32>,
    /// Number of programs of journal pages begun; selects the next page of the ring.
    begun: u32,
    entries_per_page: usize,
    buffer: VecDeque<JournalEntry>,
    last_entry: Stamp,
    /// Stamp (sequence number) of the last entry that a flush has requested. Entries up to this stamp are programmed even in a partly filled page.
    wanted_to: Stamp,
    is_issued: bool,
    writing: Option<JournalPage>,
    durable: VecDeque<JournalPage>,
    durable_to: Stamp,
}

impl Journal {
    pub(super) fn new(config: &config::Persistence, pages: TranslationPages) -> Journal {
        let entries = pages.page_size().as_u64() / config.entry_size.as_u64().max(1);
        Journal {
            slots: pages.journal_pages(),
            begun: 0,
            entries_per_page: entries.max(1) as usize,
            buffer: VecDeque::new(),
            last_entry: 0,
            wanted_to: 0,
            is_issued: false,
            writing: None,
            durable: VecDeque::new(),
            durable_to: 0,
        }
    }

    pub(super) fn push(&mut self, stamp: Stamp, change: JournalChange) {
        self.buffer.push_back((stamp, change));
        self.last_entry = stamp;
    }

    pub(super) fn next_page(&mut self) -> Option<Lpn> {
        let is_wanted = self.buffer.len() >= self.entries_per_page
            || self.buffer.front().is_some_and(|&(stamp, _)| stamp <= self.wanted_to);
        if self.is_issued || !is_wanted || self.durable.len() >= self.slots.len() {
            return None;
        }
        self.is_issued = true;
        Some(Lpn(self.slots.start + self.begun % self.slots.len() as u32))
    }

    /// Begins to program the next journal page with the oldest buffered entries. If this empties the buffer, the page completes the journal up to
    /// stamp `now`.
    pub(super) fn page_began(&mut self, now: Stamp) {
        let count = self.buffer.len().min(self.entries_per_page);
        let entries: Vec<JournalEntry> = self.buffer.drain(..count).collect();
        let to = self.buffer.front().map_or(now, |&(next, _)| next - 1);
        self.begun += 1;
        self.writing = Some(JournalPage { entries, to });
    }

    /// Ends the program in flight. Returns the number of entries in the programmed page; 0 if no program is in flight.
    pub(super) fn page_ended(&mut self) -> u64 {
        self.is_issued = false;
        let Some(page) = self.writing.take() else { return 0 };
        let entries = page.entries.len() as u64;
        self.durable_to = page.to;
        self.durable.push_back(page);
        entries
    }

    /// Returns the stamp (sequence number) up to which the journal on flash covers all changes and programs.
    pub(super) fn durable_to(&self) -> Stamp {
        self.durable_to
    }

    pub(super) fn last_entry(&self) -> Stamp {
        self.last_entry
    }

    pub(super) fn has_unwritten(&self) -> bool {
        self.last_entry > self.durable_to
    }

    pub(super) fn flush(&mut self) {
        self.wanted_to = self.last_entry;
    }

    pub(super) fn discard_until(&mut self, to: Stamp) {
        while self.durable.front().is_some_and(|page| page.to <= to) {
            self.durable.pop_front();
        }
    }

    pub(super) fn durable_pages(&self) -> impl Iterator<Item = Lpn> + '_ {
        let (slots, count) = (self.slots.len() as u32, self.durable.len() as u32);
        let end = self.begun - u32::from(self.writing.is_some());
        (end - count..end).map(move |page| Lpn(self.slots.start + page % slots))
    }

    pub(super) fn durable_entries(&self) -> impl Iterator<Item = &JournalEntry> {
        self.durable.iter().flat_map(|page| &page.entries)
    }
}
