//! Pages in the order of their last use: a list linked through their slots.

use super::slots::{SlotId, Slots};

/// How far a page is looked for among the newest alone: about as many requests are under way at a time.
const NEWEST: usize = 64;

/// One such list; a slot is in one of them at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recency {
    /// The page used last.
    newest: Option<SlotId>,
    oldest: Option<SlotId>,
}

/// The neighbours of a slot in its list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Links {
    newer: Option<SlotId>,
    older: Option<SlotId>,
}

impl Recency {
    /// The page that was not used for longest.
    #[inline]
    pub fn oldest(&self) -> Option<SlotId> {
        self.oldest
    }

    /// Adds `slot` where its last use puts it.
    ///
    /// Looked for among the newest first, where nearly every page belongs, then from both ends at once: one that has been
    /// dirty until its turn came is among the oldest.
    pub fn insert(&mut self, slots: &mut Slots, slot: SlotId) {
        let used = slots[slot].used;
        let (mut newer, mut older) = (self.oldest, self.newest);
        for _ in 0..NEWEST {
            match older {
                Some(at) if slots[at].used > used => older = slots[at].links.older,
                _ => break,
            }
        }
        let (newer, older) = loop {
            match older {
                Some(at) if slots[at].used > used => older = slots[at].links.older,
                found => break (found.map_or(self.oldest, |at| slots[at].links.newer), found),
            }
            match newer {
                Some(at) if slots[at].used < used => newer = slots[at].links.newer,
                found => break (found, found.map_or(self.newest, |at| slots[at].links.older)),
            }
        };
        slots[slot].links = Links { newer, older };
        match newer {
            Some(newer) => slots[newer].links.older = Some(slot),
            None => self.newest = Some(slot),
        }
        match older {
            Some(older) => slots[older].links.newer = Some(slot),
            None => self.oldest = Some(slot),
        }
    }

    /// Takes `slot`, which is in this list, out of it.
    pub fn remove(&mut self, slots: &mut Slots, slot: SlotId) {
        let Links { newer, older } = slots[slot].links;
        match newer {
            Some(newer) => slots[newer].links.older = older,
            None => self.newest = older,
        }
        match older {
            Some(older) => slots[older].links.newer = newer,
            None => self.oldest = newer,
        }
    }
}
