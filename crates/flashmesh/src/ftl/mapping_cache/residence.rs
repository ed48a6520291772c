//! Entries that come into DRAM, change there and leave.

use super::entries::{Change, Slot};
use super::{EntryEvent, MappingCache, Waiter};
use crate::ids::Lpn;

impl MappingCache {
    /// Brings the other entries of a page into DRAM, as far as nothing has to be written back for it.
    pub(super) fn fill_from(&mut self, page: Lpn, partition: usize) {
        for lpn in self.table.pages().entries_of(page).map(Lpn) {
            if self.entries.find(lpn).is_some() {
                continue;
            }
            if self.entries.is_full(partition) {
                let Some(oldest) = self.entries.oldest(partition) else { return };
                let oldest = *self.entries.get(oldest);
                if oldest.change != Change::None || self.table.page_of(oldest.lpn) == page {
                    return;
                }
                self.make_room(partition, false);
            }
            self.insert(lpn, partition);
        }
    }

    /// Brings the entry that a waiter wants into DRAM, unless it is there or no room can be made. `granted` permits one write-back
    /// over the limit. Returns whether the entry is there.
    pub(super) fn bring(&mut self, waiter: Waiter, granted: bool) -> bool {
        if self.entries.find(waiter.lpn).is_some() {
            return true;
        }
        if !self.make_room(waiter.partition, granted) {
            return false;
        }
        self.insert(waiter.lpn, waiter.partition);
        true
    }

    fn insert(&mut self, lpn: Lpn, partition: usize) {
        let slot = self.entries.insert(lpn);
        self.table.add_entry(lpn);
        self.admit(slot, partition);
    }

    pub(super) fn admit(&mut self, slot: Slot, partition: usize) {
        self.entries.admit(slot, partition);
        self.tell(EntryEvent::Cached(self.entries.get(slot).lpn));
    }

    /// Makes room for one entry. Returns whether there is some.
    pub(super) fn make_room(&mut self, partition: usize, granted: bool) -> bool {
        if !self.entries.is_full(partition) {
            return true;
        }
        let Some(oldest) = self.entries.oldest(partition) else { return false };
        if !granted && !self.may_make_way(oldest) {
            return false;
        }
        self.evict(oldest);
        true
    }

    fn evict(&mut self, slot: Slot) {
        self.counters.evictions += 1;
        self.entries.expel(slot);
        let entry = *self.entries.get(slot);
        match entry.change {
            Change::None => self.drop_entry(slot),
            Change::Taken | Change::Writing => self.tell(EntryEvent::Awaits(entry.lpn)),
            Change::Dirty | Change::Rewritten => {
                self.tell(EntryEvent::Awaits(entry.lpn));
                self.write_back(self.table.page_of(entry.lpn));
            }
        }
    }

    pub(super) fn drop_entry(&mut self, slot: Slot) {
        let lpn = self.entries.get(slot).lpn;
        self.entries.remove(slot);
        self.table.remove_entry(lpn);
        self.tell(EntryEvent::Dropped(lpn));
    }

    /// The entry of `lpn` has another value now. Returns the translation page that is to be written back for it
    /// ([`MappingCache::write_back`]), now or with others later: that of an entry that is not kept otherwise.
    pub(crate) fn update(&mut self, lpn: Lpn) -> Option<Lpn> {
        let page = self.table.page_of(lpn);
        let slot = match self.entries.find(lpn) {
            Some(slot) => slot,
            None => {
                let slot = self.entries.insert(lpn);
                self.table.add_entry(lpn);
                self.tell(EntryEvent::Awaits(lpn));
                slot
            }
        };
        match self.entries.get(slot).change {
            Change::None => self.make_dirty(slot, page),
            Change::Taken => self.entries.get_mut(slot).change = Change::Dirty,
            Change::Writing => self.entries.get_mut(slot).change = Change::Rewritten,
            Change::Dirty | Change::Rewritten => {}
        }
        (!self.entries.get(slot).is_resident).then_some(page)
    }

    pub(super) fn make_dirty(&mut self, slot: Slot, page: Lpn) {
        self.entries.get_mut(slot).change = Change::Dirty;
        let mut chain = self.table.dirty(page);
        self.entries.chain(&mut chain, slot);
        self.table.set_dirty(page, chain);
    }
}
