//! The map and the replication map as stored in translation pages on flash.

use rustc_hash::FxHashMap;

use super::Stamp;
use super::journal::{Journal, JournalChange};
use crate::ftl::{Ftl, TranslationPages};
use crate::ids::{Lpn, Ppn};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MapEntry {
    ppn: Option<Ppn>,
    stamp: Stamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReplicaEntry {
    pub ppn: Ppn,
    pub stamp: Stamp,
}

#[derive(Clone, Debug)]
enum MapPageContent {
    Map(Vec<MapEntry>),
    Replicas(FxHashMap<Lpn, ReplicaEntry>),
}

#[derive(Clone, Debug)]
pub(super) struct FlashMap {
    pages: TranslationPages,
    /// Physical page + 1 of each host page; 0 if the host page is unmapped.
    forward: Vec<u32>,
    stamps: Vec<Stamp>,
    pub(super) replicas: FxHashMap<Lpn, ReplicaEntry>,
    /// Stamp (sequence number) up to which each translation page on flash includes all changes. The pages of the map come first, then the pages of
    /// the replication map.
    complete_to: Vec<Stamp>,
    writing: FxHashMap<Lpn, (Stamp, MapPageContent)>,
}

impl FlashMap {
    pub(super) fn new(pages: TranslationPages, logical_pages: u32, ftl: &Ftl) -> FlashMap {
        let count = pages.map_pages().len() + pages.replica_pages().len();
        FlashMap {
            pages,
            forward: (0..logical_pages).map(|lpn| ftl.lookup(Lpn(lpn)).map_or(0, |ppn| ppn.0 + 1)).collect(),
            stamps: vec![0; logical_pages as usize],
            replicas: FxHashMap::default(),
            complete_to: vec![0; count],
            writing: FxHashMap::default(),
        }
    }

    fn number_of(&self, page: Lpn) -> usize {
        (page.0 - self.pages.all().start) as usize
    }

    pub(super) fn complete_to(&self, page: Lpn) -> Stamp {
        self.complete_to[self.number_of(page)]
    }

    pub(super) fn map_page_began(&mut self, page: Lpn, now: Stamp, stamps: &[Stamp], ftl: &Ftl) {
        let home = |lpn| MapEntry { ppn: ftl.lookup(lpn), stamp: stamps[lpn.index()] };
        let homes = self.pages.entries_of(page).map(|lpn| home(Lpn(lpn))).collect();
        self.writing.insert(page, (now, MapPageContent::Map(homes)));
    }

    /// Begins the program of a page of the replication map. The page includes only changes that the journal on flash contains. Otherwise a power cut
    /// could lose a promoted replica: neither the replication map nor the journal on flash would have it, and the old original may have been erased.
    pub(super) fn replica_page_began(&mut self, page: Lpn, journal: &Journal) {
        let is_here = |lpn: Lpn| self.pages.replica_page_of(lpn) == Some(page);
        let on_flash = self.replicas.iter().filter(|(lpn, _)| is_here(**lpn));
        let mut copies: FxHashMap<Lpn, ReplicaEntry> = on_flash.map(|(&lpn, &copy)| (lpn, copy)).collect();
        let complete_to = self.complete_to(page);
        for &(at, change) in journal.durable_entries() {
            if at > complete_to && is_here(change.lpn()) {
                apply_to_replicas(&mut copies, change);
            }
        }
        self.writing.insert(page, (journal.durable_to(), MapPageContent::Replicas(copies)));
    }

    pub(super) fn page_ended(&mut self, page: Lpn) {
        let Some((stamp, content)) = self.writing.remove(&page) else { return };
        match content {
            MapPageContent::Map(homes) => {
                for (lpn, MapEntry { ppn, stamp }) in self.pages.entries_of(page).zip(homes) {
                    self.set(Lpn(lpn), ppn, stamp);
                }
            }
            MapPageContent::Replicas(copies) => {
                let pages = self.pages;
                self.replicas.retain(|&lpn, _| pages.replica_page_of(lpn) != Some(page));
                self.replicas.extend(copies);
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

    /// Drops the replicas whose stamp differs from that of their page, and those that became the original.
    pub(super) fn drop_stale_replicas(&mut self) {
        let (stamps, forward) = (&self.stamps, &self.forward);
        self.replicas.retain(|lpn, copy| stamps[lpn.index()] == copy.stamp && forward[lpn.index()] != copy.ppn.0 + 1);
    }

    pub(super) fn lpns(&self) -> impl Iterator<Item = Lpn> + use<> {
        (0..self.forward.len() as u32).map(Lpn)
    }

    /// Applies the journal entry `change` with stamp `at` to the map and to the replication map, unless the translation page already includes the
    /// change.
    pub(super) fn replay(&mut self, at: Stamp, change: JournalChange) {
        let lpn = change.lpn();
        if at > self.complete_to(self.pages.page_of(lpn)) {
            match change {
                JournalChange::Written(_, ppn) => self.set(lpn, Some(ppn), at),
                JournalChange::Unmapped(_) => self.set(lpn, None, at),
                JournalChange::Moved(_, ppn) | JournalChange::ReplicaPromoted(_, ppn) => {
                    self.set(lpn, Some(ppn), self.stamp(lpn))
                }
                JournalChange::Replicated(..) | JournalChange::ReplicaDropped(_) => {}
            }
        }
        if self.pages.replica_page_of(lpn).is_some_and(|page| at > self.complete_to(page)) {
            apply_to_replicas(&mut self.replicas, change);
        }
    }
}

fn apply_to_replicas(copies: &mut FxHashMap<Lpn, ReplicaEntry>, change: JournalChange) {
    match change {
        JournalChange::Replicated(lpn, ppn, stamp) => {
            copies.insert(lpn, ReplicaEntry { ppn, stamp });
        }
        JournalChange::Written(lpn, _)
        | JournalChange::Unmapped(lpn)
        | JournalChange::ReplicaDropped(lpn)
        | JournalChange::ReplicaPromoted(lpn, _) => {
            copies.remove(&lpn);
        }
        JournalChange::Moved(..) => {}
    }
}
