//! Residence of entries in DRAM: admission, change and eviction.

use super::entries::{EntryState, Slot};
use super::{EntryEvent, MappingCache, Waiter};
use crate::ids::Lpn;

impl MappingCache {
    /// Fills `partition`, a part of the cache, with the entries of translation page `page` that are not in DRAM yet. The page was just read. Stops
    /// when the part is full and the next entry to evict is dirty or belongs to `page` itself.
    pub(super) fn fill_from(&mut self, page: Lpn, partition: usize) {
        for lpn in self.table.pages().entries_of(page).map(Lpn) {
            if self.entries.find(lpn).is_some() {
                continue;
            }
            if self.entries.is_full(partition) {
                let Some(oldest) = self.entries.oldest(partition) else { return };
                let oldest = *self.entries.get(oldest);
                if oldest.state != EntryState::Clean || self.table.page_of(oldest.lpn) == page {
                    return;
                }
                self.make_room(partition, false);
            }
            self.insert(lpn, partition);
        }
    }

    /// Admits the entry for which `waiter` waits, unless it is in DRAM already. `granted` permits one write-back beyond the limit. Returns whether
    /// the entry is in DRAM; if not, no entry could be evicted.
    pub(super) fn admit_for(&mut self, waiter: Waiter, granted: bool) -> bool {
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
        self.record_event(EntryEvent::Cached(self.entries.get(slot).lpn));
    }

    /// Makes room for one entry in `partition`, evicting one if needed. `granted` permits one write-back beyond the limit. Returns whether there is
    /// room.
    pub(super) fn make_room(&mut self, partition: usize, granted: bool) -> bool {
        if !self.entries.is_full(partition) {
            return true;
        }
        let Some(oldest) = self.entries.oldest(partition) else { return false };
        if !granted && !self.may_evict(oldest) {
            return false;
        }
        self.evict(oldest);
        true
    }

    fn evict(&mut self, slot: Slot) {
        self.counters.evictions += 1;
        self.entries.make_nonresident(slot);
        let entry = *self.entries.get(slot);
        match entry.state {
            EntryState::Clean => self.drop_entry(slot),
            EntryState::Covered | EntryState::Writing => self.record_event(EntryEvent::Awaits(entry.lpn)),
            EntryState::Dirty | EntryState::Rewritten => {
                self.record_event(EntryEvent::Awaits(entry.lpn));
                self.write_back(self.table.page_of(entry.lpn));
            }
        }
    }

    pub(super) fn drop_entry(&mut self, slot: Slot) {
        let lpn = self.entries.get(slot).lpn;
        self.entries.remove(slot);
        self.table.remove_entry(lpn);
        self.record_event(EntryEvent::Dropped(lpn));
    }

    /// Marks the entry of `lpn` as changed. If the entry is not resident, returns its translation page; the caller must write that page back
    /// ([`MappingCache::write_back`]), at once or together with later changes. Returns `None` for a resident entry, which is written back when it is
    /// evicted.
    pub(crate) fn update(&mut self, lpn: Lpn) -> Option<Lpn> {
        let page = self.table.page_of(lpn);
        let slot = match self.entries.find(lpn) {
            Some(slot) => slot,
            None => {
                let slot = self.entries.insert(lpn);
                self.table.add_entry(lpn);
                self.record_event(EntryEvent::Awaits(lpn));
                slot
            }
        };
        match self.entries.get(slot).state {
            EntryState::Clean => self.make_dirty(slot, page),
            EntryState::Covered => self.entries.get_mut(slot).state = EntryState::Dirty,
            EntryState::Writing => self.entries.get_mut(slot).state = EntryState::Rewritten,
            EntryState::Dirty | EntryState::Rewritten => {}
        }
        (!self.entries.get(slot).is_resident).then_some(page)
    }

    pub(super) fn make_dirty(&mut self, slot: Slot, page: Lpn) {
        self.entries.get_mut(slot).state = EntryState::Dirty;
        let mut chain = self.table.dirty(page);
        self.entries.push_dirty(&mut chain, slot);
        self.table.set_dirty(page, chain);
    }
}
