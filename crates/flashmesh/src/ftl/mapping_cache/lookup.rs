//! Lookups of map entries, and misses.

use super::entries::Slot;
use super::write_back::PageReadState;
use super::{MapCacheAction, MappingCache, Waiter};
use crate::config::MapFill;
use crate::ids::{Lpn, StreamId, TransactionId};

impl MappingCache {
    /// Looks up the map entry of `lpn` for a transaction of `stream`. Returns whether the entry is in DRAM. If it is not, the transaction must wait:
    /// a [`MapCacheAction::Resume`] for it follows once the entry is in DRAM.
    #[inline]
    pub(crate) fn lookup(&mut self, stream: StreamId, lpn: Lpn, transaction: TransactionId) -> bool {
        match self.entries.find(lpn) {
            Some(slot) => {
                self.counters.hits += 1;
                if self.entries.get(slot).is_resident {
                    self.entries.touch(slot);
                } else {
                    self.readmit(stream, slot);
                }
                true
            }
            None => self.miss(stream, lpn, transaction),
        }
    }

    /// Makes the non-resident entry in `slot`, which waits for its write-back, resident again. Does nothing if the part of the cache that `stream`
    /// uses has stalled misses, or is full and can evict no entry.
    fn readmit(&mut self, stream: StreamId, slot: Slot) {
        let partition = self.blocked.part_of(stream);
        if self.blocked.is_empty(partition) && self.make_room(partition, false) {
            self.admit(slot, partition);
        }
    }

    fn miss(&mut self, stream: StreamId, lpn: Lpn, transaction: TransactionId) -> bool {
        let waiter = Waiter { transaction, lpn, partition: self.blocked.part_of(stream), next: None };
        let page = self.table.page_of(lpn);
        let activity = self.active.entry(page).or_default();
        if activity.has_content() {
            self.counters.joined_misses += 1;
            if self.blocked.is_empty(waiter.partition) && self.admit_for(waiter, false) {
                return true;
            }
            self.stall(waiter);
            return false;
        }
        let id = self.waiters.insert(waiter);
        match activity.last_waiter.replace(id) {
            Some(last) => self.waiters[last].next = Some(id),
            None => activity.first_waiter = Some(id),
        }
        if activity.reading == PageReadState::No {
            self.counters.misses += 1;
            let state = if self.reads_whole { PageReadState::Whole } else { PageReadState::Part };
            self.read(page, state, false);
        } else {
            self.counters.joined_misses += 1;
        }
        false
    }

    /// Requests the read of a translation page, in part or as a whole (`state`).
    fn read(&mut self, page: Lpn, state: PageReadState, for_write_back: bool) {
        self.active.entry(page).or_default().reading = state;
        self.actions.push_back(MapCacheAction::Read { page, for_write_back });
    }

    /// Requests the read of a whole translation page for its write-back.
    pub(super) fn read_for_write_back(&mut self, page: Lpn) {
        self.read(page, PageReadState::Whole, true);
    }

    /// Ends the read of the translation page `page`. Resumes or stalls the transactions that waited for the page, and continues its write-back.
    pub(crate) fn finish_read(&mut self, page: Lpn) {
        let Some(activity) = self.active.get_mut(&page) else { return };
        let mut next = activity.first_waiter.take();
        activity.last_waiter = None;
        // Evictions below may request a write-back of `page` itself, so the page counts as being read until all waiters are served.
        if let Some(first) = next
            && self.fill == MapFill::Page
        {
            self.fill_from(page, self.waiters[first].partition);
        }
        while let Some(id) = next {
            let waiter = self.waiters[id];
            self.waiters.remove(id);
            next = waiter.next;
            if self.blocked.is_empty(waiter.partition) && self.admit_for(waiter, false) {
                self.actions.push_back(MapCacheAction::Resume(waiter.transaction));
            } else {
                self.stall(waiter);
            }
        }
        self.continue_write_back(page);
    }

    fn stall(&mut self, waiter: Waiter) {
        self.counters.waits_for_room += 1;
        self.blocked.push(waiter);
    }
}
