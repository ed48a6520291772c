//! Translation pages on their way: being read, being written back.

use crate::ids::Lpn;

use super::entries::{Chain, Change, Slot};
use super::{Action, EntryEvent, MappingCache, WaiterId};

/// Whether a translation page is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reading {
    #[default]
    No,
    /// As much of it as a miss needs.
    Part,
    Whole,
}

/// How far the write-back of a translation page has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WriteBack {
    #[default]
    None,
    /// Its content is being read.
    Wanted,
    /// Its content is in the buffer, and stays there until another page needs the place.
    Buffered,
    /// Its content is in DRAM; the program has not begun.
    Queued,
    /// The program is under way, with the changes that there were when it began.
    Programming,
}

/// What goes on with one translation page.
#[derive(Clone, Debug, Default)]
pub(super) struct Activity {
    pub(super) reading: Reading,
    pub(super) first_waiter: Option<WaiterId>,
    pub(super) last_waiter: Option<WaiterId>,
    write_back: WriteBack,
    /// The entries whose values the program under way carries.
    writing: Chain,
    /// Whether it has to be written back once more after that.
    again: bool,
}

impl Activity {
    /// Whether the content of the page is in DRAM, on its way to flash.
    pub(super) fn has_content(&self) -> bool {
        matches!(self.write_back, WriteBack::Buffered | WriteBack::Queued | WriteBack::Programming)
    }

    fn is_over(&self) -> bool {
        self.reading == Reading::No && self.write_back == WriteBack::None
    }
}

impl MappingCache {
    /// Whether the entry can be evicted within the limit of write-backs.
    pub(super) fn may_make_way(&self, slot: Slot) -> bool {
        let entry = self.entries.get(slot);
        let write_back = || {
            let activity = self.active.get(&self.table.page_of(entry.lpn));
            activity.map_or(WriteBack::None, |activity| activity.write_back)
        };
        match entry.change {
            Change::None | Change::Taken | Change::Writing => true,
            Change::Dirty | Change::Rewritten => {
                matches!(write_back(), WriteBack::Wanted | WriteBack::Buffered | WriteBack::Queued)
                    || self.write_backs.may_begin()
            }
        }
    }

    /// Has a translation page written back, once more when a write-back under way does not have all changes.
    pub(crate) fn write_back(&mut self, page: Lpn) {
        let always_reads = self.write_backs.always_reads();
        let all_in_dram = self.table.has_all_entries(page);
        let activity = self.active.entry(page).or_default();
        let is_read = activity.reading != Reading::No;
        match activity.write_back {
            WriteBack::Buffered if always_reads => {
                self.counters.write_backs += 1;
                if !is_read {
                    self.read(page, true);
                }
            }
            WriteBack::Wanted | WriteBack::Buffered | WriteBack::Queued => {}
            WriteBack::Programming => activity.again = true,
            WriteBack::None => {
                self.write_backs.begin();
                self.counters.write_backs += 1;
                if all_in_dram && !is_read && !always_reads {
                    self.counters.write_backs_without_read += 1;
                    self.hold(page);
                } else {
                    activity.write_back = WriteBack::Wanted;
                    if !is_read {
                        self.read(page, true);
                    }
                }
            }
        }
        if always_reads || self.write_backs.is_use() {
            self.take_changes(page);
        }
    }

    /// A write-back of a translation page takes the changes along that its entries have now.
    fn take_changes(&mut self, page: Lpn) {
        let mut chain = self.table.dirty(page);
        while let Some(slot) = self.entries.unchain(&mut chain) {
            let entry = self.entries.get_mut(slot);
            if entry.change != Change::Dirty {
                continue;
            }
            if self.write_backs.always_reads() {
                entry.change = Change::Taken;
            }
            if self.write_backs.is_use() && entry.is_resident {
                self.entries.touch(slot);
            }
        }
    }

    /// A read of a translation page has ended: what a write-back awaits of it is there, or is read now.
    pub(super) fn go_on_writing_back(&mut self, page: Lpn) {
        let Some(activity) = self.active.get_mut(&page) else { return };
        let read = std::mem::take(&mut activity.reading);
        if activity.write_back == WriteBack::Wanted {
            if read == Reading::Whole {
                self.hold(page);
                if self.write_backs.has_buffer() {
                    self.let_blocked_go();
                }
            } else {
                self.read(page, true);
            }
        } else if activity.is_over() {
            self.active.remove(&page);
        }
    }

    /// The content of a translation page is in DRAM: it goes into the buffer, if there is one, and what has to make way there is
    /// programmed.
    fn hold(&mut self, page: Lpn) {
        self.tell(EntryEvent::Held(page));
        let leaves = if self.write_backs.has_buffer() {
            self.set_write_back(page, WriteBack::Buffered);
            self.write_backs.put_off(page)
        } else {
            Some(page)
        };
        if let Some(page) = leaves {
            self.set_write_back(page, WriteBack::Queued);
            self.actions.push_back(Action::Program(page));
        }
    }

    fn set_write_back(&mut self, page: Lpn, write_back: WriteBack) {
        self.active.entry(page).or_default().write_back = write_back;
    }

    /// The program of a translation page begins: it carries what its entries say now.
    pub(crate) fn begin_program(&mut self, page: Lpn) {
        let Some(activity) = self.active.get_mut(&page) else { return };
        debug_assert_eq!(activity.write_back, WriteBack::Queued);
        activity.write_back = WriteBack::Programming;
        activity.writing = self.table.dirty(page);
        self.table.set_dirty(page, Chain::default());
        let mut chain = activity.writing;
        while let Some(slot) = self.entries.unchain(&mut chain) {
            self.entries.get_mut(slot).change = Change::Writing;
        }
    }

    /// A translation page has been programmed: what it carries is on flash, and who waited for that may go on.
    pub(crate) fn programmed(&mut self, page: Lpn) {
        let Some(activity) = self.active.get_mut(&page) else { return };
        let mut chain = std::mem::take(&mut activity.writing);
        let mut again = std::mem::take(&mut activity.again);
        activity.write_back = WriteBack::None;
        self.write_backs.end();
        while let Some(slot) = self.entries.unchain(&mut chain) {
            let entry = self.entries.get_mut(slot);
            let is_resident = entry.is_resident;
            match entry.change {
                Change::Rewritten => {
                    again |= !is_resident;
                    self.make_dirty(slot, page);
                }
                _ => {
                    entry.change = Change::None;
                    if !is_resident {
                        self.drop_entry(slot);
                    }
                }
            }
        }
        self.let_blocked_go();
        if again {
            self.write_back(page);
        }
        if self.active.get(&page).is_some_and(Activity::is_over) {
            self.active.remove(&page);
        }
    }

    /// A write-back is done: those that waited for room go on, the first of them even when no write-back is allowed still, so
    /// that nobody waits for ever.
    fn let_blocked_go(&mut self) {
        let mut granted = true;
        for turn in 0..self.blocked.parts() {
            let partition = self.blocked.in_turn(turn);
            while let Some(waiter) = self.blocked.first(partition) {
                let goes_on = self.bring(waiter, false) || (std::mem::take(&mut granted) && self.bring(waiter, true));
                if !goes_on {
                    break;
                }
                self.blocked.pop(partition);
                self.actions.push_back(Action::Resume(waiter.transaction));
            }
        }
        self.blocked.turn();
    }
}
