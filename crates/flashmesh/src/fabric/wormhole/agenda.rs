//! When each wire is next looked at: a calendar with at most one entry a wire.
//!
//! Entries are chained in one slot a cycle, and a bit map finds the next slot in use, so that an entry costs the same
//! however many there are. An entry further ahead than there are slots shares one with nearer cycles and is passed
//! over.

use crate::ids::LinkId;

const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;
const NEVER: u64 = u64::MAX;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u64,
    next: u32,
    previous: u32,
}

/// The entries of all wires, and the first of them.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    entries: Vec<Entry>,
    slots: Vec<u32>,
    /// A bit for each slot that has entries, and one for each word of bits that is not zero.
    used: [u64; WORDS],
    used_words: u64,
    pending: u32,
    /// No entry is before this cycle.
    reached: u64,
    first: u64,
}

impl Agenda {
    /// An empty agenda for `wires`.
    pub(super) fn new(wires: u32) -> Agenda {
        Agenda {
            entries: vec![Entry { at: NEVER, next: NONE, previous: NONE }; wires as usize],
            slots: vec![NONE; SLOTS],
            used: [0; WORDS],
            used_words: 0,
            pending: 0,
            reached: 0,
            first: NEVER,
        }
    }

    /// The cycle of the first entry.
    #[inline]
    pub(super) fn first(&self) -> Option<u64> {
        (self.first != NEVER).then_some(self.first)
    }

    /// Makes sure that `wire` is looked at by cycle `at`.
    #[inline]
    pub(super) fn schedule(&mut self, wire: LinkId, at: u64) {
        debug_assert!(at >= self.reached, "a wire is scheduled for {at}, before {}", self.reached);
        let pending = self.entries[wire.index()].at;
        if pending <= at {
            return;
        }
        if pending != NEVER {
            self.unlink(wire.0);
        }
        let slot = at as usize % SLOTS;
        let next = std::mem::replace(&mut self.slots[slot], wire.0);
        if next == NONE {
            self.used[slot / 64] |= 1 << (slot % 64);
            self.used_words |= 1 << (slot / 64);
        } else {
            self.entries[next as usize].previous = wire.0;
        }
        self.entries[wire.index()] = Entry { at, next, previous: NONE };
        self.pending += 1;
        self.first = self.first.min(at);
    }

    /// Takes an entry of the first cycle, when that is not after `to`.
    #[inline]
    pub(super) fn take(&mut self, to: u64) -> Option<(u64, LinkId)> {
        if self.first > to || self.first == NEVER {
            return None;
        }
        let at = self.first;
        self.reached = at;
        let wire = self.entry_at(at)?;
        self.unlink(wire);
        self.entries[wire as usize].at = NEVER;
        self.first = self.find();
        Some((at, LinkId(wire)))
    }

    fn unlink(&mut self, wire: u32) {
        let Entry { at, next, previous } = self.entries[wire as usize];
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
        self.pending -= 1;
    }

    /// An entry of exactly cycle `at`.
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

    /// The cycle of the first entry, from the one reached on.
    fn find(&self) -> u64 {
        if self.pending == 0 {
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
        self.entries.iter().map(|entry| entry.at).min().unwrap_or(NEVER)
    }

    /// The distance from the cycle reached to the first slot in use that is `ahead` or more cycles away.
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

    /// The first slot in use that is not before `slot`.
    #[inline]
    fn used_from(&self, slot: usize) -> Option<usize> {
        let (word, bit) = (slot / 64, slot % 64);
        let here = self.used[word] & (u64::MAX << bit);
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        // Shifted in two steps: a shift by 64 is not one by 63 and one.
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
            let mut agenda = Agenda::new(40);
            let mut table = [NEVER; 40];
            let mut now = 0;
            for _ in 0..20_000 {
                if random.below(3) > 0 {
                    let (wire, at) = (random.below(40), now + 1 + u64::from(random.below(spread)));
                    agenda.schedule(LinkId(wire), at);
                    table[wire as usize] = table[wire as usize].min(at);
                }
                let first = table.iter().copied().min().filter(|&at| at != NEVER);
                assert_eq!(agenda.first(), first);
                if random.below(2) == 0 {
                    let to = now + u64::from(random.below(spread));
                    match agenda.take(to) {
                        Some((at, wire)) => {
                            assert_eq!((Some(at), table[wire.index()]), (first, at));
                            assert!(at <= to);
                            table[wire.index()] = NEVER;
                            now = at;
                        }
                        None => assert!(first.is_none_or(|at| at > to)),
                    }
                }
            }
        }
    }
}
