//! Calendar queue of pending arbitrations of wires, with at most one entry per wire. A wire is a link, or the two links of a half-duplex pair.
//!
//! The earliest entries, mostly for next hops of packets that have just moved, are in a sorted array. All others are chained in slots, by their cycle
//! modulo the number of slots. A bitmap finds the next used slot, so the cost of an entry does not depend on their number. An entry that is further
//! ahead than the number of slots shares its slot with nearer ones, and is skipped until it is due.
//!
//! Entries of the same cycle are dequeued last in, first out.

use crate::ids::LinkId;

const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;
/// Capacity of the sorted array.
const NEAR: usize = 32;
const NEVER: u64 = u64::MAX;
const NONE: u32 = u32::MAX;

/// An entry of the sorted array: an arbitration of `wire` at cycle `at`.
#[derive(Clone, Copy, Debug)]
struct SortedEntry {
    at: u64,
    wire: u32,
}

#[derive(Clone, Copy, Debug)]
struct CalendarEntry {
    at: u64,
    next: u32,
    previous: u32,
}

/// A calendar queue: a sorted array of the earliest entries, and slots by cycle for the others.
#[derive(Clone, Debug)]
pub(super) struct CalendarQueue {
    /// Sorted array, with the earliest entry last. No entry is later than an entry in the slots.
    near: [SortedEntry; NEAR],
    near_count: usize,
    /// Cycle of the earliest entry; [`NEVER`] if there is none.
    first: u64,
    /// Cycle of the earliest entry in the slots; [`NEVER`] if there is none.
    first_in_slots: u64,
    /// Entry of each wire, indexed by wire: its cycle ([`NEVER`] if no arbitration is pending) and, in a slot, the next and previous entry.
    entries: Vec<CalendarEntry>,
    slots: Vec<u32>,
    /// Bitmap of the slots with entries.
    used: [u64; WORDS],
    /// Bitmap of the words of `used` that are not zero.
    used_words: u64,
    in_slots: u32,
    /// Cycle of the last entry dequeued. No entry may be scheduled for an earlier cycle.
    reached: u64,
}

impl CalendarQueue {
    pub(super) fn new(wires: u32) -> CalendarQueue {
        CalendarQueue {
            near: [SortedEntry { at: NEVER, wire: NONE }; NEAR],
            near_count: 0,
            first: NEVER,
            first_in_slots: NEVER,
            entries: vec![CalendarEntry { at: NEVER, next: NONE, previous: NONE }; wires as usize],
            slots: vec![NONE; SLOTS],
            used: [0; WORDS],
            used_words: 0,
            in_slots: 0,
            reached: 0,
        }
    }

    /// Returns the cycle of the earliest entry; `None` if the calendar is empty.
    #[inline]
    pub(super) fn first(&self) -> Option<u64> {
        (self.first != NEVER).then_some(self.first)
    }

    /// Schedules an arbitration of `wire` at cycle `at`, unless one is pending at that cycle or earlier. Replaces a later pending one.
    #[inline(always)]
    pub(super) fn schedule(&mut self, wire: LinkId, at: u64) {
        debug_assert!(at >= self.reached, "a wire is scheduled for {at}, before {}", self.reached);
        let pending = self.entries[wire.index()].at;
        if pending <= at {
            return;
        }
        if pending != NEVER {
            self.remove(wire.0, pending);
        }
        self.first = self.first.min(at);
        if at > self.first_in_slots {
            return self.link(wire.0, at);
        }
        if self.near_count == NEAR {
            let SortedEntry { at: latest_at, wire: latest } = self.near[0];
            if at > latest_at {
                return self.link(wire.0, at);
            }
            self.link(latest, latest_at);
            self.near.copy_within(1.., 0);
            self.near_count -= 1;
        }
        // Entries are dequeued from the end of the array, and of equal cycles the newest must be first. So insert the new entry behind the older ones
        // of its cycle.
        let near = &mut self.near[..self.near_count + 1];
        let mut place = near.len() - 1;
        while place > 0 && near[place - 1].at < at {
            near[place] = near[place - 1];
            place -= 1;
        }
        near[place] = SortedEntry { at, wire: wire.0 };
        self.near_count += 1;
        self.entries[wire.index()].at = at;
    }

    /// Dequeues an entry of the earliest cycle; `None` if the calendar is empty or this cycle is after `to`. Returns the cycle and the wire.
    #[inline]
    pub(super) fn dequeue(&mut self, to: u64) -> Option<(u64, LinkId)> {
        let at = self.first;
        if at > to || at == NEVER {
            return None;
        }
        self.reached = at;
        let wire = match self.near[..self.near_count].last() {
            Some(near) => {
                let wire = near.wire;
                self.near_count -= 1;
                self.entries[wire as usize].at = NEVER;
                wire
            }
            None => {
                let wire = self.entry_at(at)?;
                self.unlink(wire, at);
                wire
            }
        };
        self.first = self.find_first();
        Some((at, LinkId(wire)))
    }

    /// Returns the cycle of the earliest entry: in the sorted array, unless that is empty; [`NEVER`] if there is no entry.
    #[inline(always)]
    fn find_first(&self) -> u64 {
        self.near[..self.near_count].last().map_or(self.first_in_slots, |near| near.at)
    }

    /// Removes the entry of `wire`, whose cycle is `at`, from the sorted array or from its slot.
    #[inline(never)]
    fn remove(&mut self, wire: u32, at: u64) {
        match self.near[..self.near_count].iter().position(|near| near.wire == wire) {
            Some(place) => {
                self.near.copy_within(place + 1..self.near_count, place);
                self.near_count -= 1;
                self.entries[wire as usize].at = NEVER;
            }
            None => self.unlink(wire, at),
        }
    }

    /// Inserts an entry of `wire` for cycle `at` at the head of the slot of that cycle.
    #[inline(never)]
    fn link(&mut self, wire: u32, at: u64) {
        let slot = at as usize % SLOTS;
        let next = std::mem::replace(&mut self.slots[slot], wire);
        if next == NONE {
            self.used[slot / 64] |= 1 << (slot % 64);
            self.used_words |= 1 << (slot / 64);
        } else {
            self.entries[next as usize].previous = wire;
        }
        self.entries[wire as usize] = CalendarEntry { at, next, previous: NONE };
        self.in_slots += 1;
        self.first_in_slots = self.first_in_slots.min(at);
    }

    /// Removes the entry of `wire` from the slot of its cycle, `at`.
    fn unlink(&mut self, wire: u32, at: u64) {
        let CalendarEntry { next, previous, .. } = self.entries[wire as usize];
        let slot = at as usize % SLOTS;
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
        if previous != NONE {
            self.entries[previous as usize].next = next;
        } else {
            self.slots[slot] = next;
            if next == NONE {
                self.used[slot / 64] &= !(1 << (slot % 64));
                if self.used[slot / 64] == 0 {
                    self.used_words &= !(1 << (slot / 64));
                }
            }
        }
        self.entries[wire as usize].at = NEVER;
        self.in_slots -= 1;
        if at == self.first_in_slots {
            self.first_in_slots = self.find();
        }
    }

    /// Returns the wire of the first entry in the slots for cycle `at`; `None` if there is none.
    #[inline]
    fn entry_at(&self, at: u64) -> Option<u32> {
        let mut wire = self.slots[at as usize % SLOTS];
        while wire != NONE {
            let entry = &self.entries[wire as usize];
            if entry.at == at {
                return Some(wire);
            }
            wire = entry.next;
        }
        None
    }

    /// Finds and returns the cycle of the earliest entry in the slots; [`NEVER`] if there is none.
    fn find(&self) -> u64 {
        if self.in_slots == 0 {
            return NEVER;
        }
        let mut ahead = 0;
        while let Some(distance) = self.next_used(ahead) {
            let at = self.reached + distance as u64;
            if self.entry_at(at).is_some() {
                return at;
            }
            ahead = distance + 1;
        }
        let near = &self.near[..self.near_count];
        let in_slots = self.entries.iter().zip(0..).filter(|&(_, wire)| near.iter().all(|near| near.wire != wire));
        in_slots.map(|(entry, _)| entry.at).min().unwrap_or(NEVER)
    }

    /// Returns the distance, in cycles after `reached`, of the first used slot at least `ahead` cycles away; `None` if there is none within [`SLOTS`]
    /// cycles.
    #[inline]
    fn next_used(&self, ahead: usize) -> Option<usize> {
        if ahead >= SLOTS {
            return None;
        }
        let origin = self.reached as usize % SLOTS;
        let from = (origin + ahead) % SLOTS;
        let slot = self.used_from(from).or_else(|| self.used_from(0))?;
        let distance = (slot + SLOTS - origin) % SLOTS;
        (distance >= ahead).then_some(distance)
    }

    /// Returns the number of the first used slot at or after `slot`; `None` if there is none up to the last slot.
    #[inline]
    fn used_from(&self, slot: usize) -> Option<usize> {
        let (word, bit) = (slot / 64, slot % 64);
        let here = self.used[word] & (u64::MAX << bit);
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        // A single shift by `word` + 1 would overflow for the last word, 63.
        let words = self.used_words & ((u64::MAX << word) << 1);
        if words == 0 {
            return None;
        }
        let word = words.trailing_zeros() as usize;
        Some(word * 64 + self.used[word].trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::SimRng;

    #[test]
    fn entries_come_in_the_order_of_their_cycles_like_those_of_a_plain_table() {
        let mut random = SimRng::new(3);
        for spread in [4, 300, SLOTS as u32, 5 * SLOTS as u32] {
            let mut calendar = CalendarQueue::new(40);
            // Reference model: pending cycle of each wire and sequence number of its scheduling. Of equal cycles the last scheduled comes first.
            let mut table = [(NEVER, 0); 40];
            let (mut now, mut scheduled) = (0, 0);
            for _ in 0..20_000 {
                if random.below(3) > 0 {
                    let (wire, at) = (random.below(40), now + 1 + u64::from(random.below(spread)));
                    calendar.schedule(LinkId(wire), at);
                    if at < table[wire as usize].0 {
                        scheduled += 1;
                        table[wire as usize] = (at, scheduled);
                    }
                }
                let first = table.iter().zip(0..).min_by_key(|((at, order), _)| (*at, std::cmp::Reverse(*order)));
                let first = first.map(|((at, _), wire)| (*at, LinkId(wire))).filter(|(at, _)| *at != NEVER);
                assert_eq!(calendar.first(), first.map(|(at, _)| at));
                if random.below(2) == 0 {
                    let to = now + u64::from(random.below(spread));
                    match calendar.dequeue(to) {
                        Some((at, wire)) => {
                            assert_eq!(Some((at, wire)), first);
                            assert!(at <= to);
                            table[wire.index()] = (NEVER, 0);
                            now = at;
                        }
                        None => assert!(first.is_none_or(|(at, _)| at > to)),
                    }
                }
            }
        }
    }
}
