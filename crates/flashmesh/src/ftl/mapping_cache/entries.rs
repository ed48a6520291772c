//! Map entries in DRAM, found by logical page. Resident entries are linked in LRU order, and dirty entries with the other dirty entries of
//! their translation page.

use crate::engine::prefetch::prefetch;
use crate::ids::{Lpn, id};

id!(
    /// Index of a cached entry in `slots`.
    Slot
);

/// Link without a target: the end of a list.
const NONE: u32 = u32::MAX;

/// State of an entry relative to its translation page on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryState {
    /// Clean: equal to the value on flash.
    Clean,
    /// Dirty; no program in flight carries the value.
    Dirty,
    /// Dirty, but covered: a write-back of the translation page was requested since the last change (only with `mapping.write-back-read = "always"`).
    /// An eviction of the entry requests neither another read nor another write-back.
    Covered,
    /// Dirty; the program of the translation page that is in flight carries the value.
    Writing,
    /// Dirty; the program of the translation page that is in flight carries an older value.
    Rewritten,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CachedEntry {
    pub(super) lpn: Lpn,
    /// Neighbours in LRU order, while this entry is resident: the next more recently used entry (`newer`), and the next less recently used one
    /// (`older`). `newer` also links free slots.
    newer: u32,
    older: u32,
    /// Slot of the next entry in the chain of dirty entries of the translation page.
    next_changed: u32,
    partition: u16,
    /// Whether the entry counts against the capacity of the cache and may be evicted. If false, the entry stays in DRAM only until its
    /// write-back ends.
    pub(super) is_resident: bool,
    pub(super) state: EntryState,
}

/// Head of a chain of dirty entries, most recently changed first: slot + 1, or 0 for an empty chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DirtyChain(u32);

/// Resident entries of one part of the cache (the whole cache, or the share of one stream), in LRU order.
#[derive(Clone, Copy, Debug)]
struct CachePart {
    newest: u32,
    oldest: u32,
    entries: u32,
    capacity: u32,
}

/// All entries in DRAM, resident or not.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    slots: Vec<CachedEntry>,
    free: u32,
    /// Slot + 1 of the map entry of each host page; 0 if the entry is not in DRAM. The operating system provides the table zeroed, and untouched
    /// parts take no memory.
    slot_of: Vec<u32>,
    partitions: Vec<CachePart>,
}

/// Maximum number of slots allocated in advance; with more entries in DRAM the table grows.
const ENTRIES_IN_ADVANCE: usize = 1 << 16;

impl Entries {
    /// Creates an empty cache for the entries of `logical_pages` host pages, in `partitions` parts of `capacity` entries each.
    pub(super) fn new(logical_pages: u32, partitions: usize, capacity: u32) -> Entries {
        let in_advance = ENTRIES_IN_ADVANCE.min(partitions.saturating_mul(capacity as usize));
        Entries {
            slots: Vec::with_capacity(in_advance),
            free: NONE,
            slot_of: vec![0; logical_pages as usize],
            partitions: vec![CachePart { newest: NONE, oldest: NONE, entries: 0, capacity }; partitions],
        }
    }

    #[inline]
    pub(super) fn find(&self, lpn: Lpn) -> Option<Slot> {
        self.slot_of[lpn.index()].checked_sub(1).map(Slot)
    }

    /// Prefetches the data that lookups of `lpns` read: their slots, then the entries, then the LRU neighbours of the entries. Each of these three
    /// passes covers all pages, so that CPU cache misses overlap.
    pub(super) fn prefetch(&self, lpns: impl Iterator<Item = Lpn> + Clone) {
        lpns.clone().for_each(|lpn| prefetch(&self.slot_of, lpn.index()));
        let slots = lpns.filter_map(|lpn| self.slot_of.get(lpn.index())?.checked_sub(1));
        slots.clone().for_each(|slot| prefetch(&self.slots, slot as usize));
        slots.filter_map(|slot| self.slots.get(slot as usize)).for_each(|entry| {
            prefetch(&self.slots, entry.newer as usize);
            prefetch(&self.slots, entry.older as usize);
        });
    }

    /// Returns the maximum number of resident entries, over all parts of the cache.
    pub(super) fn capacity(&self) -> u64 {
        self.partitions.iter().map(|partition| u64::from(partition.capacity)).sum()
    }

    #[inline]
    pub(super) fn get(&self, slot: Slot) -> &CachedEntry {
        &self.slots[slot.index()]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: Slot) -> &mut CachedEntry {
        &mut self.slots[slot.index()]
    }

    /// Returns whether `partition`, a part of the cache, has no room for another entry before one is evicted.
    #[inline]
    pub(super) fn is_full(&self, partition: usize) -> bool {
        let CachePart { entries, capacity, .. } = self.partitions[partition];
        entries >= capacity
    }

    /// Returns the least recently used entry of `partition`; `None` if it has no resident entry.
    #[inline]
    pub(super) fn oldest(&self, partition: usize) -> Option<Slot> {
        let CachePart { oldest, .. } = self.partitions[partition];
        (oldest != NONE).then_some(Slot(oldest))
    }

    /// Adds a clean entry for `lpn`, which must not have one. The entry is not resident yet. Returns its slot.
    pub(super) fn insert(&mut self, lpn: Lpn) -> Slot {
        let entry = CachedEntry {
            lpn,
            newer: NONE,
            older: NONE,
            next_changed: NONE,
            partition: 0,
            is_resident: false,
            state: EntryState::Clean,
        };
        let slot = if self.free == NONE {
            self.slots.push(entry);
            Slot(self.slots.len() as u32 - 1)
        } else {
            let slot = Slot(self.free);
            self.free = self.slots[slot.index()].newer;
            self.slots[slot.index()] = entry;
            slot
        };
        self.slot_of[lpn.index()] = slot.0 + 1;
        slot
    }

    /// Removes a non-resident entry from DRAM.
    pub(super) fn remove(&mut self, slot: Slot) {
        let entry = &mut self.slots[slot.index()];
        debug_assert!(!entry.is_resident, "a resident entry is linked to others");
        self.slot_of[entry.lpn.index()] = 0;
        entry.newer = self.free;
        self.free = slot.0;
    }

    /// Makes an entry resident in `partition`, as its most recently used entry. The caller must have made room.
    pub(super) fn admit(&mut self, slot: Slot, partition: usize) {
        let entry = &mut self.slots[slot.index()];
        debug_assert!(!entry.is_resident);
        entry.is_resident = true;
        entry.partition = partition as u16;
        self.partitions[partition].entries += 1;
        self.link_newest(slot);
    }

    /// Makes a resident entry non-resident, so that it does not count against the capacity.
    pub(super) fn make_nonresident(&mut self, slot: Slot) {
        self.unlink(slot);
        let entry = &mut self.slots[slot.index()];
        debug_assert!(entry.is_resident);
        entry.is_resident = false;
        self.partitions[usize::from(entry.partition)].entries -= 1;
    }

    /// Makes a resident entry the most recently used one of its part.
    #[inline]
    pub(super) fn touch(&mut self, slot: Slot) {
        let entry = &self.slots[slot.index()];
        if self.partitions[usize::from(entry.partition)].newest != slot.0 {
            self.unlink(slot);
            self.link_newest(slot);
        }
    }

    #[inline]
    fn unlink(&mut self, slot: Slot) {
        let CachedEntry { newer, older, partition, .. } = self.slots[slot.index()];
        let ends = &mut self.partitions[usize::from(partition)];
        match newer {
            NONE => ends.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => ends.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }

    #[inline]
    fn link_newest(&mut self, slot: Slot) {
        let ends = &mut self.partitions[usize::from(self.slots[slot.index()].partition)];
        let older = std::mem::replace(&mut ends.newest, slot.0);
        match older {
            NONE => ends.oldest = slot.0,
            older => self.slots[older as usize].newer = slot.0,
        }
        let entry = &mut self.slots[slot.index()];
        (entry.newer, entry.older) = (NONE, older);
    }

    /// Pushes the entry in `slot` to the head of `chain`.
    #[inline]
    pub(super) fn push_dirty(&mut self, chain: &mut DirtyChain, slot: Slot) {
        self.slots[slot.index()].next_changed = std::mem::replace(&mut chain.0, slot.0 + 1).wrapping_sub(1);
    }

    /// Removes and returns the entry at the head of `chain`; `None` if the chain is empty.
    #[inline]
    pub(super) fn pop_dirty(&self, chain: &mut DirtyChain) -> Option<Slot> {
        let slot = Slot(chain.0.checked_sub(1)?);
        chain.0 = self.slots[slot.index()].next_changed.wrapping_add(1);
        Some(slot)
    }
}

impl From<u32> for DirtyChain {
    fn from(head: u32) -> DirtyChain {
        DirtyChain(head)
    }
}

impl From<DirtyChain> for u32 {
    fn from(chain: DirtyChain) -> u32 {
        chain.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a cache with room for one entry in each of its two parts.
    #[test]
    fn an_entry_that_is_no_longer_resident_leaves_its_room_to_another() {
        let mut entries = Entries::new(8, 2, 1);
        let [first, second] = [3, 5].map(|lpn| entries.insert(Lpn(lpn)));
        entries.admit(first, 1);
        assert_eq!([0, 1].map(|part| entries.is_full(part)), [false, true]);
        entries.make_nonresident(first);
        assert_eq!((entries.is_full(1), entries.oldest(1)), (false, None));
        assert_eq!(entries.find(Lpn(3)), Some(first), "the entry stays in DRAM until its write-back ends");
        entries.admit(second, 1);
        assert_eq!((entries.is_full(1), entries.oldest(1)), (true, Some(second)));
    }
}
