//! LRU order of pages: doubly linked lists through the slots.
//!
//! All pages of a part are in one list, newest use first. Clean pages, which can be evicted, are also in a second list in the same order, and dirty
//! pages, which can be destaged, in a third. A page is inserted into the second or third list at the position of its last use: next to the nearest
//! clean or dirty page in the list of all pages.

use super::slots::{Listed, SlotId, Slots};

#[derive(Clone, Copy, Debug, Default)]
struct ListEnds {
    newest: Option<SlotId>,
    oldest: Option<SlotId>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Links {
    newer: Option<SlotId>,
    older: Option<SlotId>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbours {
    all: Links,
    /// Links to the neighbours in the list of clean pages, or in the list of dirty pages.
    alike: Links,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LruLists {
    all: ListEnds,
    clean: ListEnds,
    dirty: ListEnds,
}

impl LruLists {
    /// Returns the least recently used page that can be evicted; `None` if there is no clean page.
    pub fn oldest_clean(&self) -> Option<SlotId> {
        self.clean.oldest
    }

    /// Returns the least recently used page that can be destaged; `None` if there is no dirty page.
    pub fn oldest_dirty(&self) -> Option<SlotId> {
        self.dirty.oldest
    }

    /// Adds a new page as the most recently used.
    pub fn add(&mut self, slots: &mut Slots, slot: SlotId) {
        self.all.link(slots, slot, Links { newer: None, older: self.all.newest }, |neighbours| &mut neighbours.all);
    }

    pub fn forget(&mut self, slots: &mut Slots, slot: SlotId) {
        self.all.unlink(slots, slot, |neighbours| &mut neighbours.all);
    }

    /// Makes a page the most recently used in the list of all pages. The page must not be in the clean or dirty list at this time, because these have
    /// the same order; [`list`](Self::list) inserts it again.
    pub fn renew(&mut self, slots: &mut Slots, slot: SlotId) {
        if self.all.newest != Some(slot) {
            self.forget(slots, slot);
            self.add(slots, slot);
        }
    }

    /// Inserts a page into the clean or dirty list at the position of its last use.
    pub fn list(&mut self, slots: &mut Slots, slot: SlotId, listed: Listed) {
        let Some(newest) = self.of(listed).map(|ends| ends.newest) else { return };
        let is_newest = newest.is_none_or(|at| slots[at].used < slots[slot].used);
        let links = if is_newest { Links { newer: None, older: newest } } else { self.place(slots, slot, listed) };
        slots[slot].listed = listed;
        if let Some(ends) = self.of(listed) {
            ends.link(slots, slot, links, |neighbours| &mut neighbours.alike);
        }
    }

    /// Removes a page from the clean or dirty list.
    pub fn unlist(&mut self, slots: &mut Slots, slot: SlotId) {
        let listed = std::mem::replace(&mut slots[slot].listed, Listed::Nowhere);
        if let Some(ends) = self.of(listed) {
            ends.unlink(slots, slot, |neighbours| &mut neighbours.alike);
        }
    }

    /// Returns the links of a page to be inserted into the clean or dirty list. Searches the list of all pages in both directions in turn, because a
    /// page just destaged is near the old end.
    fn place(&self, slots: &Slots, slot: SlotId, listed: Listed) -> Links {
        let Links { mut newer, mut older } = slots[slot].neighbours.all;
        loop {
            match older.map(|at| (at, &slots[at])) {
                Some((_, page)) if page.listed != listed => older = page.neighbours.all.older,
                Some((at, page)) => return Links { newer: page.neighbours.alike.newer, older: Some(at) },
                None => break,
            }
            match newer.map(|at| (at, &slots[at])) {
                Some((_, page)) if page.listed != listed => newer = page.neighbours.all.newer,
                Some((at, page)) => return Links { newer: Some(at), older: page.neighbours.alike.older },
                None => break,
            }
        }
        // The search reached one end of the list of all pages, so the page goes to that end of the clean or dirty list.
        let ends = if listed == Listed::Clean { self.clean } else { self.dirty };
        match older {
            None => Links { newer: ends.oldest, older: None },
            Some(_) => Links { newer: None, older: ends.newest },
        }
    }

    fn of(&mut self, listed: Listed) -> Option<&mut ListEnds> {
        match listed {
            Listed::Nowhere => None,
            Listed::Clean => Some(&mut self.clean),
            Listed::Dirty => Some(&mut self.dirty),
        }
    }
}

impl ListEnds {
    fn link(&mut self, slots: &mut Slots, slot: SlotId, links: Links, of: fn(&mut Neighbours) -> &mut Links) {
        *of(&mut slots[slot].neighbours) = links;
        match links.newer {
            Some(newer) => of(&mut slots[newer].neighbours).older = Some(slot),
            None => self.newest = Some(slot),
        }
        match links.older {
            Some(older) => of(&mut slots[older].neighbours).newer = Some(slot),
            None => self.oldest = Some(slot),
        }
    }

    fn unlink(&mut self, slots: &mut Slots, slot: SlotId, of: fn(&mut Neighbours) -> &mut Links) {
        let Links { newer, older } = *of(&mut slots[slot].neighbours);
        match newer {
            Some(newer) => of(&mut slots[newer].neighbours).older = older,
            None => self.newest = older,
        }
        match older {
            Some(older) => of(&mut slots[older].neighbours).newer = newer,
            None => self.oldest = newer,
        }
    }
}
