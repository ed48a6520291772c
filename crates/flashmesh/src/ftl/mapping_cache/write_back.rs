//! Translation pages in flight: reads and write-backs.

use crate::ids::Lpn;

use super::entries::{DirtyChain, EntryState, Slot};
use super::{EntryEvent, MapCacheAction, MappingCache, WaiterId};

/// Extent of the read in flight of a translation page (a part, or the whole page); `No` if no read of the page is in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PageReadState {
    #[default]
    No,
    /// A read of the `mapping.read-size` bytes that a miss needs.
    Part,
    Whole,
}

/// Stage of the write-back of a translation page; `None` if no write-back is in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WriteBack {
    #[default]
    None,
    /// The content of the page is being read.
    Wanted,
    /// The content of the page is in the write-back buffer, until another page needs the space.
    Buffered,
    /// The content of the page is in DRAM. Its program is requested, but has not begun.
    Queued,
    /// The program of the page is in flight, with the changes made before the program began.
    Programming,
}

/// Read and write-back in progress of one translation page.
#[derive(Clone, Debug, Default)]
pub(super) struct PageActivity {
    pub(super) reading: PageReadState,
    pub(super) first_waiter: Option<WaiterId>,
    pub(super) last_waiter: Option<WaiterId>,
    write_back: WriteBack,
    /// Chain of the entries whose values the program in flight carries.
    writing: DirtyChain,
    /// Whether the page has to be written back once more, because a write-back was requested while its program was in flight.
    needs_another: bool,
}

impl PageActivity {
    /// Returns whether the content of the page is in DRAM for a write-back, so that misses need no read.
    pub(super) fn has_content(&self) -> bool {
        matches!(self.write_back, WriteBack::Buffered | WriteBack::Queued | WriteBack::Programming)
    }

    fn is_over(&self) -> bool {
        self.reading == PageReadState::No && self.write_back == WriteBack::None
    }
}

impl MappingCache {
    /// Returns whether the entry in `slot` can be evicted: without a new write-back, or with one within the limit of write-backs in flight.
    pub(super) fn may_evict(&self, slot: Slot) -> bool {
        let entry = self.entries.get(slot);
        let write_back = || {
            let activity = self.active.get(&self.table.page_of(entry.lpn));
            activity.map_or(WriteBack::None, |activity| activity.write_back)
        };
        match entry.state {
            EntryState::Clean | EntryState::Covered | EntryState::Writing => true,
            EntryState::Dirty | EntryState::Rewritten => {
                matches!(write_back(), WriteBack::Wanted | WriteBack::Buffered | WriteBack::Queued)
                    || self.write_backs.may_begin()
            }
        }
    }

    /// Begins the write-back of the translation page `page`, unless one is in progress that will carry the current changes. Schedules another
    /// write-back if the program of the page is already in flight.
    pub(crate) fn write_back(&mut self, page: Lpn) {
        let always_reads = self.write_backs.always_reads();
        let all_in_dram = self.table.has_all_entries(page);
        let activity = self.active.entry(page).or_default();
        let is_read = activity.reading != PageReadState::No;
        match activity.write_back {
            WriteBack::Buffered if always_reads => {
                self.counters.write_backs += 1;
                if !is_read {
                    self.read_for_write_back(page);
                }
            }
            WriteBack::Wanted | WriteBack::Buffered | WriteBack::Queued => {}
            WriteBack::Programming => activity.needs_another = true,
            WriteBack::None => {
                self.write_backs.begin();
                self.counters.write_backs += 1;
                if all_in_dram && !is_read && !always_reads {
                    self.counters.write_backs_without_read += 1;
                    self.hold_content(page);
                } else {
                    activity.write_back = WriteBack::Wanted;
                    if !is_read {
                        self.read_for_write_back(page);
                    }
                }
            }
        }
        if always_reads || self.write_backs.counts_as_use() {
            self.cover_changes(page);
        }
    }

    /// Handles the dirty entries of `page`, which is being written back: marks their changes as covered by the read (`mapping.write-back-read =
    /// "always"`), and makes resident entries the most recently used (`mapping.write-back-is-use`).
    fn cover_changes(&mut self, page: Lpn) {
        let mut chain = self.table.dirty(page);
        while let Some(slot) = self.entries.pop_dirty(&mut chain) {
            let entry = self.entries.get_mut(slot);
            if entry.state != EntryState::Dirty {
                continue;
            }
            if self.write_backs.always_reads() {
                entry.state = EntryState::Covered;
            }
            if self.write_backs.counts_as_use() && entry.is_resident {
                self.entries.touch(slot);
            }
        }
    }

    /// Continues the write-back of `page` after a read of it, if the write-back waits for that read. If the whole page was read, keeps its content in
    /// DRAM; otherwise begins a read of the whole page.
    pub(super) fn continue_write_back(&mut self, page: Lpn) {
        let Some(activity) = self.active.get_mut(&page) else { return };
        let read = std::mem::take(&mut activity.reading);
        if activity.write_back == WriteBack::Wanted {
            if read == PageReadState::Whole {
                self.hold_content(page);
                if self.write_backs.has_buffer() {
                    self.resume_stalled();
                }
            } else {
                self.read_for_write_back(page);
            }
        } else if activity.is_over() {
            self.active.remove(&page);
        }
    }

    /// Puts the content of the translation page `page`, which is in DRAM, into the write-back buffer, and programs the page that thereby leaves the
    /// buffer, if any. Without a buffer, programs `page` itself.
    fn hold_content(&mut self, page: Lpn) {
        self.record_event(EntryEvent::Held(page));
        let leaves = if self.write_backs.has_buffer() {
            self.set_write_back(page, WriteBack::Buffered);
            self.write_backs.buffer_write_back(page)
        } else {
            Some(page)
        };
        if let Some(page) = leaves {
            self.set_write_back(page, WriteBack::Queued);
            self.actions.push_back(MapCacheAction::Program(page));
        }
    }

    fn set_write_back(&mut self, page: Lpn, write_back: WriteBack) {
        self.active.entry(page).or_default().write_back = write_back;
    }

    /// Begins the program of the translation page `page`, which carries the current values of its dirty entries.
    pub(crate) fn begin_program(&mut self, page: Lpn) {
        let Some(activity) = self.active.get_mut(&page) else { return };
        debug_assert_eq!(activity.write_back, WriteBack::Queued);
        activity.write_back = WriteBack::Programming;
        activity.writing = self.table.dirty(page);
        self.table.set_dirty(page, DirtyChain::default());
        let mut chain = activity.writing;
        while let Some(slot) = self.entries.pop_dirty(&mut chain) {
            self.entries.get_mut(slot).state = EntryState::Writing;
        }
    }

    /// Ends the program of the translation page `page`: entries not changed since the program began become clean, and leave DRAM unless they are
    /// resident. Resumes stalled misses, and begins another write-back of `page` if one is needed.
    pub(crate) fn finish_program(&mut self, page: Lpn) {
        let Some(activity) = self.active.get_mut(&page) else { return };
        let mut chain = std::mem::take(&mut activity.writing);
        let mut again = std::mem::take(&mut activity.needs_another);
        activity.write_back = WriteBack::None;
        self.write_backs.end();
        while let Some(slot) = self.entries.pop_dirty(&mut chain) {
            let entry = self.entries.get_mut(slot);
            let is_resident = entry.is_resident;
            match entry.state {
                EntryState::Rewritten => {
                    again |= !is_resident;
                    self.make_dirty(slot, page);
                }
                _ => {
                    entry.state = EntryState::Clean;
                    if !is_resident {
                        self.drop_entry(slot);
                    }
                }
            }
        }
        self.resume_stalled();
        if again {
            self.write_back(page);
        }
        if self.active.get(&page).is_some_and(PageActivity::is_over) {
            self.active.remove(&page);
        }
    }

    /// Resumes stalled misses for which there is room, after a write-back has ended or moved to the write-back buffer. One miss may exceed the limit
    /// of write-backs, so that no miss stalls forever.
    fn resume_stalled(&mut self) {
        let mut granted = true;
        for turn in 0..self.blocked.parts() {
            let partition = self.blocked.part_at_turn(turn);
            while let Some(waiter) = self.blocked.first(partition) {
                let goes_on =
                    self.admit_for(waiter, false) || (std::mem::take(&mut granted) && self.admit_for(waiter, true));
                if !goes_on {
                    break;
                }
                self.blocked.pop(partition);
                self.actions.push_back(MapCacheAction::Resume(waiter.transaction));
            }
        }
        self.blocked.advance_turn();
    }
}
