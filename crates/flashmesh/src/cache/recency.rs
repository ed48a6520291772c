//! Pages in the order of their last use: lists linked through their slots.
//!
//! All pages of a part are in one list, each used last goes first. Those that can be evicted, and those that can be destaged, are in a
//! list of their own as well, whose order is the same. A page joins such a list where its last use puts it: its neighbours there are
//! the nearest of their kind in the list of all.

use super::slots::{Listed, SlotId, Slots};

/// The two ends of a list.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    /// The page used last.
    newest: Option<SlotId>,
    /// The page that was not used for longest.
    oldest: Option<SlotId>,
}

/// The neighbours of a slot in a list.
#[derive(Clone, Copy, Debug, Default)]
struct Links {
    newer: Option<SlotId>,
    older: Option<SlotId>,
}

/// The neighbours of a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbours {
    /// Among all pages.
    all: Links,
    /// Among those that are listed as it is.
    alike: Links,
}

/// The pages of one part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recency {
    all: Ends,
    clean: Ends,
    dirty: Ends,
}

impl Recency {
    /// The page that was not used for longest, of those that can be evicted.
    #[inline]
    pub fn oldest_clean(&self) -> Option<SlotId> {
        self.clean.oldest
    }

    /// The page that was not used for longest, of those that can be destaged.
    #[inline]
    pub fn oldest_dirty(&self) -> Option<SlotId> {
        self.dirty.oldest
    }

    /// Adds a page, which is listed nowhere, as the one used last.
    #[inline]
    pub fn add(&mut self, slots: &mut Slots, slot: SlotId) {
        self.all.link(slots, slot, Links { newer: None, older: self.all.newest }, |neighbours| &mut neighbours.all);
    }

    /// Forgets a page, which is listed nowhere.
    #[inline]
    pub fn forget(&mut self, slots: &mut Slots, slot: SlotId) {
        self.all.unlink(slots, slot, |neighbours| &mut neighbours.all);
    }

    /// Makes a page, which is listed nowhere, the one used last.
    #[inline]
    pub fn renew(&mut self, slots: &mut Slots, slot: SlotId) {
        if self.all.newest != Some(slot) {
            self.forget(slots, slot);
            self.add(slots, slot);
        }
    }

    /// Lists a page, which is listed nowhere, where its last use puts it.
    pub fn list(&mut self, slots: &mut Slots, slot: SlotId, listed: Listed) {
        let Some(newest) = self.of(listed).map(|ends| ends.newest) else { return };
        let is_newest = newest.is_none_or(|at| slots[at].used < slots[slot].used);
        let links = if is_newest { Links { newer: None, older: newest } } else { self.place(slots, slot, listed) };
        slots[slot].listed = listed;
        if let Some(ends) = self.of(listed) {
            ends.link(slots, slot, links, |neighbours| &mut neighbours.alike);
        }
    }

    /// Takes a page out of the list it is in beside that of all.
    pub fn unlist(&mut self, slots: &mut Slots, slot: SlotId) {
        let listed = std::mem::replace(&mut slots[slot].listed, Listed::Nowhere);
        if let Some(ends) = self.of(listed) {
            ends.unlink(slots, slot, |neighbours| &mut neighbours.alike);
        }
    }

    /// The neighbours that a page will have among those listed so. Looked for in both directions at once, as one of them is near: a page
    /// that has left flash behind is among the oldest.
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
        // One end of all pages was reached first: it is the end of this list, too.
        let ends = if listed == Listed::Clean { self.clean } else { self.dirty };
        match older {
            None => Links { newer: ends.oldest, older: None },
            Some(_) => Links { newer: None, older: ends.newest },
        }
    }

    fn of(&mut self, listed: Listed) -> Option<&mut Ends> {
        match listed {
            Listed::Nowhere => None,
            Listed::Clean => Some(&mut self.clean),
            Listed::Dirty => Some(&mut self.dirty),
        }
    }
}

impl Ends {
    /// Puts a page between its neighbours.
    #[inline]
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

    /// Joins the neighbours of a page.
    #[inline]
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
