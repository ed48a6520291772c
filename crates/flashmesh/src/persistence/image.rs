//! The map as its pages on flash have it.

use rustc_hash::FxHashMap;

use super::Stamp;
use super::journal::Change;
use crate::ftl::{Ftl, TranslationPages};
use crate::ids::{Lpn, Ppn};

/// Where a page is, and the stamp of what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Home {
    ppn: Option<Ppn>,
    stamp: Stamp,
}

/// Where the copy of a page is, and the stamp of what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copy {
    pub ppn: Ppn,
    pub stamp: Stamp,
}

/// What a program of a page carries.
#[derive(Clone, Debug)]
enum Content {
    Map(Vec<Home>),
    Copies(Vec<(Lpn, Copy)>),
}

/// The map and the replication map.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pages: TranslationPages,
    /// By page of the host: its physical page + 1, or 0.
    forward: Vec<u32>,
    stamps: Vec<Stamp>,
    pub(super) copies: FxHashMap<Lpn, Copy>,
    /// By page of the map, and of the replication map behind it: all changes up to this one are in it.
    complete_to: Vec<Stamp>,
    /// Programs under way.
    writing: FxHashMap<Lpn, (Stamp, Content)>,
}

impl Image {
    pub(super) fn new(pages: TranslationPages, logical_pages: u32, ftl: &Ftl) -> Image {
        let count = pages.of_map().len() + pages.of_replicas().len();
        Image {
            pages,
            forward: (0..logical_pages).map(|lpn| ftl.lookup(Lpn(lpn)).map_or(0, |ppn| ppn.0 + 1)).collect(),
            stamps: vec![0; logical_pages as usize],
            copies: FxHashMap::default(),
            complete_to: vec![0; count],
            writing: FxHashMap::default(),
        }
    }

    fn number_of(&self, page: Lpn) -> usize {
        (page.0 - self.pages.all().start) as usize
    }

    /// All changes up to this one are in `page` on flash.
    pub(super) fn complete_to(&self, page: Lpn) -> Stamp {
        self.complete_to[self.number_of(page)]
    }

    pub(super) fn page_began(&mut self, page: Lpn, now: Stamp, stamps: &[Stamp], ftl: &Ftl) {
        let content = if self.pages.of_map().contains(&page.0) {
            let home = |lpn| Home { ppn: ftl.lookup(lpn), stamp: stamps[lpn.index()] };
            Content::Map(self.pages.entries_of(page).map(|lpn| home(Lpn(lpn))).collect())
        } else {
            let is_here = |lpn: Lpn| self.pages.replica_page_of(lpn) == Some(page);
            let here = ftl.replicas().filter(|&(lpn, _)| is_here(lpn));
            Content::Copies(here.map(|(lpn, ppn)| (lpn, Copy { ppn, stamp: stamps[lpn.index()] })).collect())
        };
        self.writing.insert(page, (now, content));
    }

    pub(super) fn page_ended(&mut self, page: Lpn) {
        let Some((stamp, content)) = self.writing.remove(&page) else { return };
        match content {
            Content::Map(homes) => {
                for (lpn, Home { ppn, stamp }) in self.pages.entries_of(page).zip(homes) {
                    self.set(Lpn(lpn), ppn, stamp);
                }
            }
            Content::Copies(copies) => {
                let pages = self.pages;
                self.copies.retain(|&lpn, _| pages.replica_page_of(lpn) != Some(page));
                self.copies.extend(copies);
            }
        }
        let number = self.number_of(page);
        self.complete_to[number] = stamp;
    }

    pub(super) fn get(&self, lpn: Lpn) -> Option<Ppn> {
        self.forward[lpn.index()].checked_sub(1).map(Ppn)
    }

    pub(super) fn stamp(&self, lpn: Lpn) -> Stamp {
        self.stamps[lpn.index()]
    }

    pub(super) fn set(&mut self, lpn: Lpn, ppn: Option<Ppn>, stamp: Stamp) {
        self.forward[lpn.index()] = ppn.map_or(0, |ppn| ppn.0 + 1);
        self.stamps[lpn.index()] = stamp;
    }

    /// Forgets copies of older versions than the map has.
    pub(super) fn drop_stale_copies(&mut self) {
        let stamps = &self.stamps;
        self.copies.retain(|lpn, copy| stamps[lpn.index()] == copy.stamp);
    }

    pub(super) fn lpns(&self) -> impl Iterator<Item = Lpn> + use<> {
        (0..self.forward.len() as u32).map(Lpn)
    }

    /// Replays an entry of the journal, as far as the pages on flash are older.
    pub(super) fn replay(&mut self, at: Stamp, change: Change) {
        let is_new = |image: &Image, lpn| at > image.complete_to(image.pages.page_of(lpn));
        let is_new_of_copy =
            |image: &Image, lpn| image.pages.replica_page_of(lpn).is_some_and(|page| at > image.complete_to(page));
        match change {
            Change::Written(lpn, ppn) => {
                if is_new(self, lpn) {
                    self.set(lpn, Some(ppn), at);
                }
                if is_new_of_copy(self, lpn) {
                    self.copies.remove(&lpn);
                }
            }
            Change::Unmapped(lpn) => {
                if is_new(self, lpn) {
                    self.set(lpn, None, at);
                }
                if is_new_of_copy(self, lpn) {
                    self.copies.remove(&lpn);
                }
            }
            Change::Moved(lpn, ppn) => {
                if is_new(self, lpn) {
                    self.set(lpn, Some(ppn), self.stamp(lpn));
                }
            }
            Change::Copied(lpn, ppn, stamp) => {
                if is_new_of_copy(self, lpn) {
                    self.copies.insert(lpn, Copy { ppn, stamp });
                }
            }
            Change::Uncopied(lpn) => {
                if is_new_of_copy(self, lpn) {
                    self.copies.remove(&lpn);
                }
            }
            Change::Kept(lpn, ppn) => {
                if is_new(self, lpn) {
                    self.set(lpn, Some(ppn), self.stamp(lpn));
                }
                if is_new_of_copy(self, lpn) {
                    self.copies.remove(&lpn);
                }
            }
        }
    }
}
