//! The cache of the map: a page is used for a request only when its entry was in DRAM; an entry is brought in only by a read of its
//! translation page, of which there is one at a time; a changed entry stays until its translation page has been programmed with
//! the change; no more entries are resident than there is room for.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::Mapping;
use crate::flash::geometry::Geometry;
use crate::ftl::TranslationPages;
use crate::ftl::mapping_cache::EntryEvent;
use crate::ids::{Lpn, RequestId};
use crate::units::Time;

/// What goes on with an entry: a request, or what the device cache writes to flash.
type User = Option<RequestId>;

fn name(user: User) -> String {
    user.map_or("the device cache".to_owned(), |request| format!("request {}", request.0))
}

/// What is known of the cache.
#[derive(Debug)]
struct Shadow {
    pages: TranslationPages,
    /// Resident entries that there is room for.
    room: u64,
    residents: u64,
    /// The entries in DRAM; whether they are resident.
    entries: FxHashMap<Lpn, bool>,
    /// The entries that flash does not know; whether a program under way carries their value.
    unknown: BTreeMap<Lpn, bool>,
    /// Those of them that changed since everything was last settled.
    changed: Vec<Lpn>,
    /// Translation pages being read.
    reading: FxHashSet<Lpn>,
    /// Translation pages whose content is in DRAM to be programmed.
    leaving: FxHashSet<Lpn>,
    /// Those of them that no program was issued for.
    buffered: FxHashSet<Lpn>,
    /// The order in which reads ended and entries were dropped.
    order: u64,
    read: FxHashMap<Lpn, u64>,
    dropped: FxHashMap<Lpn, (u64, Time)>,
    /// Who waits for an entry, and since when in that order; `None` when its translation page was in DRAM.
    waiting: FxHashMap<Lpn, Vec<(User, Option<u64>)>>,
    /// The pages that each request in flight, and the device cache, may use.
    used: FxHashMap<User, Vec<Lpn>>,
}

/// The picture of the cache of the map; nothing when the whole map is in DRAM.
#[derive(Debug)]
pub(super) struct Entries {
    shadow: Option<Shadow>,
}

impl Entries {
    pub(super) const NAME: &'static str = "entries";

    pub(super) fn new(geometry: &Geometry, config: &Mapping) -> Entries {
        let shadow = TranslationPages::new(geometry, config).map(|pages| Shadow {
            pages,
            room: config.cache_capacity.unwrap_or_default().as_u64() / config.entry_size.as_u64().max(1),
            residents: 0,
            entries: FxHashMap::default(),
            unknown: BTreeMap::new(),
            changed: Vec::new(),
            reading: FxHashSet::default(),
            leaving: FxHashSet::default(),
            buffered: FxHashSet::default(),
            order: 0,
            read: FxHashMap::default(),
            dropped: FxHashMap::default(),
            waiting: FxHashMap::default(),
            used: FxHashMap::default(),
        });
        Entries { shadow }
    }

    fn with(&mut self, check: impl FnOnce(&mut Shadow) -> Result<(), String>) -> Result<(), String> {
        self.shadow.as_mut().map_or(Ok(()), check)
    }

    /// An entry is waited for.
    pub(super) fn wanted(&mut self, user: User, lpn: Lpn) {
        if let Some(shadow) = &mut self.shadow {
            shadow.order += 1;
            let is_at_hand = shadow.leaving.contains(&shadow.pages.page_of(lpn));
            let since = (!is_at_hand).then_some(shadow.order);
            shadow.waiting.entry(lpn).or_default().push((user, since));
        }
    }

    /// Something goes on with a page whose entry is said to be in DRAM.
    pub(super) fn used(&mut self, user: User, lpn: Lpn, now: Time) -> Result<(), String> {
        self.with(|shadow| {
            let was_there_now = shadow.dropped.get(&lpn).is_some_and(|(_, at)| *at == now);
            shadow.used.entry(user).or_default().push(lpn);
            if let Some(waiting) = shadow.waiting.get_mut(&lpn) {
                waiting.retain(|(waits, _)| *waits != user);
            }
            if shadow.entries.contains_key(&lpn) || was_there_now {
                return Ok(());
            }
            Err(format!("{} used the entry of logical page {}, which is not in DRAM", name(user), lpn.0))
        })
    }

    /// A page was read or programmed.
    pub(super) fn page_done(&mut self, user: User, lpn: Lpn) -> Result<(), String> {
        self.with(|shadow| {
            let pages = shadow.used.get_mut(&user);
            let Some((pages, at)) =
                pages.and_then(|pages| pages.iter().position(|used| *used == lpn).map(|at| (pages, at)))
            else {
                return Err(format!("logical page {} was read or written for {} without its entry", lpn.0, name(user)));
            };
            // The next time the device cache writes the page it needs the entry anew.
            if user.is_none() {
                pages.swap_remove(at);
            }
            Ok(())
        })
    }

    pub(super) fn completed(&mut self, request: RequestId) {
        if let Some(shadow) = &mut self.shadow {
            shadow.used.remove(&Some(request));
        }
    }

    /// A page of the host is somewhere else now, or nowhere.
    pub(super) fn moved(&mut self, lpn: Lpn) {
        if let Some(shadow) = &mut self.shadow
            && !shadow.pages.contains(lpn)
        {
            shadow.unknown.insert(lpn, false);
            shadow.changed.push(lpn);
        }
    }

    /// Everything that happens at one event has happened: what changed has an entry in DRAM.
    pub(super) fn settled(&mut self) -> Result<(), String> {
        self.with(|shadow| {
            for lpn in std::mem::take(&mut shadow.changed) {
                if shadow.unknown.contains_key(&lpn) && !shadow.entries.contains_key(&lpn) {
                    return Err(format!("logical page {} has moved, and no entry in DRAM says so", lpn.0));
                }
            }
            Ok(())
        })
    }

    pub(super) fn changed(&mut self, event: EntryEvent, now: Time) -> Result<(), String> {
        self.with(|shadow| match event {
            EntryEvent::Cached(lpn) => shadow.cached(lpn),
            EntryEvent::Awaits(lpn) => shadow.awaits(lpn),
            EntryEvent::Dropped(lpn) => shadow.dropped(lpn, now),
            EntryEvent::Held(page) => shadow.held(page),
        })
    }

    pub(super) fn read_issued(&mut self, page: Lpn) -> Result<(), String> {
        self.with(|shadow| {
            if shadow.reading.insert(page) {
                return Ok(());
            }
            Err(format!("translation page {} is read twice at a time", page.0))
        })
    }

    pub(super) fn read_ended(&mut self, page: Lpn) -> Result<(), String> {
        self.with(|shadow| {
            shadow.order += 1;
            shadow.read.insert(page, shadow.order);
            if shadow.reading.remove(&page) {
                return Ok(());
            }
            Err(format!("a read of translation page {} ended that was not issued", page.0))
        })
    }

    pub(super) fn program_issued(&mut self, page: Lpn) -> Result<(), String> {
        self.with(|shadow| if shadow.buffered.remove(&page) { Ok(()) } else { shadow.leaves(page) })
    }

    /// The program of a translation page begins, with what its entries say now.
    pub(super) fn program_began(&mut self, page: Lpn) {
        if let Some(shadow) = &mut self.shadow {
            let entries = shadow.pages.entries_of(page);
            shadow.unknown.range_mut(Lpn(entries.start)..Lpn(entries.end)).for_each(|(_, carried)| *carried = true);
        }
    }

    /// A translation page was programmed.
    pub(super) fn programmed(&mut self, page: Lpn) {
        if let Some(shadow) = &mut self.shadow {
            let entries = shadow.pages.entries_of(page);
            let range = Lpn(entries.start)..Lpn(entries.end);
            let known: Vec<Lpn> =
                shadow.unknown.range(range).filter(|(_, carried)| **carried).map(|(lpn, _)| *lpn).collect();
            for lpn in known {
                shadow.unknown.remove(&lpn);
            }
        }
    }

    /// The controller knows that a translation page was programmed.
    pub(super) fn program_ended(&mut self, page: Lpn) -> Result<(), String> {
        self.with(|shadow| {
            if shadow.leaving.remove(&page) {
                return Ok(());
            }
            Err(format!("a program of translation page {} ended that was not issued", page.0))
        })
    }
}

impl Shadow {
    /// The content of a translation page is in DRAM from now on, to be programmed.
    fn leaves(&mut self, page: Lpn) -> Result<(), String> {
        let entries = self.pages.entries_of(page);
        let was_read = self.read.contains_key(&page);
        if !was_read && !entries.clone().all(|lpn| self.entries.contains_key(&Lpn(lpn))) {
            return Err(format!("translation page {} is written back, but its other entries are unknown", page.0));
        }
        if self.leaving.insert(page) {
            return Ok(());
        }
        Err(format!("translation page {} is written back twice at a time", page.0))
    }

    fn held(&mut self, page: Lpn) -> Result<(), String> {
        self.buffered.insert(page);
        self.leaves(page)
    }

    fn cached(&mut self, lpn: Lpn) -> Result<(), String> {
        let before = self.entries.insert(lpn, true);
        self.residents += 1;
        if self.residents > self.room {
            return Err(format!("{} entries are resident, and there is room for {}", self.residents, self.room));
        }
        match before {
            Some(true) => Err(format!("the entry of logical page {} was cached twice", lpn.0)),
            Some(false) => Ok(()),
            None if self.unknown.contains_key(&lpn) => {
                Err(format!("the entry of logical page {} was cached from flash, which has an older one", lpn.0))
            }
            None => {
                let page = self.pages.page_of(lpn);
                let dropped = self.dropped.get(&lpn).map_or(0, |(order, _)| *order);
                let read = self.read.get(&page).copied().unwrap_or(0);
                // What a request waits for was kept for it, though the entry was there meanwhile and is gone again.
                let is_kept = |waiting: &Vec<(User, Option<u64>)>| {
                    waiting.iter().any(|(_, since)| since.is_none_or(|since| read > since))
                };
                if read > dropped || self.leaving.contains(&page) || self.waiting.get(&lpn).is_some_and(is_kept) {
                    return Ok(());
                }
                Err(format!(
                    "the entry of logical page {} was cached without a read of translation page {}",
                    lpn.0, page.0
                ))
            }
        }
    }

    fn awaits(&mut self, lpn: Lpn) -> Result<(), String> {
        match self.entries.insert(lpn, false) {
            Some(true) => {
                self.residents -= 1;
                Ok(())
            }
            None if self.unknown.contains_key(&lpn) => Ok(()),
            _ => Err(format!("the entry of logical page {} awaits a write-back for nothing", lpn.0)),
        }
    }

    fn dropped(&mut self, lpn: Lpn, now: Time) -> Result<(), String> {
        self.order += 1;
        self.dropped.insert(lpn, (self.order, now));
        self.residents -= u64::from(self.entries.remove(&lpn) == Some(true));
        if self.unknown.contains_key(&lpn) {
            return Err(format!(
                "the entry of logical page {} was dropped, and its change was not written back",
                lpn.0
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::planted::{assert_fails, assert_silent, config, oracles_with, program, read, submit, us, write};
    use super::super::{Oracles, Origin};
    use super::EntryEvent::{Awaits, Cached, Dropped};
    use crate::ids::{Lpn, RequestId};
    use crate::units::Bytes;
    use crate::workload::RequestKind::{Read, Write};

    const PAGE: u64 = 4096;
    /// The translation page of all logical pages.
    const MAP: Lpn = Lpn(128);
    const ID: RequestId = RequestId(5);

    /// Oracles of a drive whose cache has two entries.
    fn oracles() -> Oracles {
        let mut config = config();
        config.mapping.cache_capacity = Some(Bytes::new(16));
        oracles_with(&config)
    }

    /// The translation page was read, and the entry of logical page 7 cached, for request 5.
    fn cached() -> Oracles {
        let mut oracles = oracles();
        submit(&mut oracles, ID.0, Write, 7 * PAGE, PAGE, us(0));
        oracles.entry_wanted(Some(ID), Lpn(7), us(0));
        oracles.translation_read_issued(MAP, us(0));
        oracles.translation_read_ended(MAP, us(1));
        oracles.entry_changed(Cached(Lpn(7)), us(1));
        oracles.entry_used(Some(ID), Lpn(7), us(1));
        oracles
    }

    /// Logical page 7 was written since.
    fn changed() -> Oracles {
        let mut oracles = cached();
        program(&mut oracles, 0, 7, Origin::User(ID), us(1));
        oracles
    }

    #[test]
    fn an_entry_that_is_read_used_changed_written_back_and_dropped_is_right() {
        let mut oracles = changed();
        oracles.entry_changed(Awaits(Lpn(7)), us(200));
        oracles.translation_program_issued(MAP, us(200));
        oracles.translation_program_began(MAP, us(200));
        program(&mut oracles, 8, MAP.0, Origin::Map, us(200));
        oracles.translation_program_ended(MAP, us(300));
        oracles.entry_changed(Dropped(Lpn(7)), us(300));
        assert_silent(&oracles);
    }

    #[test]
    fn a_request_that_goes_on_without_its_entry_is_caught() {
        let mut oracles = oracles();
        submit(&mut oracles, ID.0, Read, 7 * PAGE, PAGE, us(0));
        oracles.entry_used(Some(ID), Lpn(7), us(0));
        assert_fails(&oracles, "entries", "request 5 used the entry of logical page 7, which is not in DRAM");
    }

    #[test]
    fn a_page_read_or_written_for_a_request_that_did_not_look_its_entry_up_is_caught() {
        let mut reads = oracles();
        submit(&mut reads, ID.0, Read, 7 * PAGE, PAGE, us(0));
        read(&mut reads, 12, 7, Some(ID.0), us(0));
        assert_fails(&reads, "entries", "logical page 7 was read or written for request 5 without its entry");

        let mut writes = oracles();
        write(&mut writes, ID.0, 0, 7, us(0));
        assert_fails(&writes, "entries", "logical page 7 was read or written for request 5 without its entry");
    }

    #[test]
    fn an_entry_from_nowhere_is_caught() {
        let mut never_read = oracles();
        never_read.entry_changed(Cached(Lpn(7)), us(0));
        assert_fails(&never_read, "entries", "was cached without a read of translation page 128");

        let mut read_before = cached();
        read_before.entry_changed(Dropped(Lpn(7)), us(2));
        read_before.entry_changed(Cached(Lpn(7)), us(3));
        assert_fails(&read_before, "entries", "was cached without a read of translation page 128");
    }

    #[test]
    fn a_change_that_is_forgotten_is_caught() {
        let mut dropped = changed();
        dropped.entry_changed(Dropped(Lpn(7)), us(200));
        assert_fails(&dropped, "entries", "was dropped, and its change was not written back");

        // The program had begun before the change.
        let mut early = cached();
        early.translation_program_issued(MAP, us(1));
        early.translation_program_began(MAP, us(1));
        program(&mut early, 8, 7, Origin::User(ID), us(1));
        program(&mut early, 0, MAP.0, Origin::Map, us(101));
        early.entry_changed(Dropped(Lpn(7)), us(201));
        assert_fails(&early, "entries", "was dropped, and its change was not written back");
    }

    #[test]
    fn translation_pages_read_or_written_twice_at_a_time_are_caught() {
        let mut reads = oracles();
        reads.translation_read_issued(MAP, us(0));
        reads.translation_read_issued(MAP, us(1));
        assert_fails(&reads, "entries", "translation page 128 is read twice at a time");

        let mut programs = cached();
        programs.translation_program_issued(MAP, us(0));
        programs.translation_program_issued(MAP, us(1));
        assert_fails(&programs, "entries", "translation page 128 is written back twice at a time");
    }

    #[test]
    fn a_write_back_of_entries_that_nobody_knows_is_caught() {
        let mut oracles = oracles();
        oracles.translation_program_issued(MAP, us(0));
        assert_fails(&oracles, "entries", "translation page 128 is written back, but its other entries are unknown");
    }

    #[test]
    fn more_entries_than_there_is_room_for_are_caught() {
        let mut oracles = cached();
        oracles.entry_changed(Cached(Lpn(8)), us(1));
        assert_silent(&oracles);
        oracles.entry_changed(Cached(Lpn(9)), us(1));
        assert_fails(&oracles, "entries", "3 entries are resident, and there is room for 2");
    }
}
