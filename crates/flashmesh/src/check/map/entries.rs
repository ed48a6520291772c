//! Oracle `entries`, of the mapping cache: a page is accessed only after its map entry was in DRAM; an entry is loaded only by a read of its
//! translation page, one at a time; a changed entry stays until its translation page has been programmed with the change; no more entries are
//! resident than the cache can hold. The oracle keeps a model of the cache.

mod mapping_cache_model;

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::check::arithmetic::MapPages;
use crate::config::Config;
use crate::ftl::mapping_cache::EntryEvent;
use crate::ids::{Lpn, RequestId};
use crate::units::Time;

/// User of a map entry: a request, or `None` for destages of the device cache.
type User = Option<RequestId>;

fn name(user: User) -> String {
    user.map_or("the device cache".to_owned(), |request| format!("request {}", request.0))
}

#[derive(Clone, Debug)]
struct MappingCacheModel {
    pages: MapPages,
    room: u64,
    residents: u64,
    /// Map entries in DRAM, each with whether it is resident, that is, uses capacity of the mapping cache. The other entries await a write-back.
    entries: FxHashMap<Lpn, bool>,
    /// Map entries that are newer than on flash, each with whether a program in flight contains its newest change.
    unknown: BTreeMap<Lpn, bool>,
    /// Logical pages whose entry changed since the last check by [`Entries::settled`].
    changed: Vec<Lpn>,
    reading: FxHashSet<Lpn>,
    /// Translation pages in DRAM that are to be programmed, or whose program is in flight.
    leaving: FxHashSet<Lpn>,
    /// Translation pages in `leaving` whose program has not been issued.
    buffered: FxHashSet<Lpn>,
    /// Logical time, which advances when a user begins to wait, a read ends, or an entry is dropped.
    order: u64,
    read: FxHashMap<Lpn, u64>,
    dropped: FxHashMap<Lpn, (u64, Time)>,
    /// For each map entry, the requests and destages that wait for it, in order. Each has the logical time (`order`) at which its wait
    /// began, because it may use only a read of the translation page that ends later. `None` if no read is needed: the translation page was
    /// in DRAM, to be written back.
    waiting: FxHashMap<Lpn, Vec<(User, Option<u64>)>>,
    /// For each user, the logical pages whose map entries the user has used. Only these pages may be read or written for the user.
    used: FxHashMap<User, Vec<Lpn>>,
}

#[derive(Clone, Debug)]
pub(in super::super) struct Entries {
    shadow: Option<MappingCacheModel>,
}

impl Entries {
    pub(in super::super) const NAME: &'static str = "entries";

    pub(in super::super) fn new(config: &Config) -> Entries {
        let mapping = &config.mapping;
        let of_cache = MapPages::new(config).filter(|_| mapping.cache_capacity.is_some());
        let shadow = of_cache.map(|pages| MappingCacheModel {
            pages,
            room: mapping.cache_capacity.unwrap_or_default().as_u64() / mapping.entry_size.as_u64().max(1),
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

    pub(in super::super) fn is_of_host(&self, lpn: Lpn) -> bool {
        self.shadow.as_ref().is_none_or(|shadow| !shadow.pages.contains(lpn))
    }

    fn with(&mut self, check: impl FnOnce(&mut MappingCacheModel) -> Result<(), String>) -> Result<(), String> {
        self.shadow.as_mut().map_or(Ok(()), check)
    }

    pub(in super::super) fn wanted(&mut self, user: User, lpn: Lpn) {
        if let Some(shadow) = &mut self.shadow {
            shadow.order += 1;
            let is_at_hand = shadow.leaving.contains(&shadow.pages.page_of(lpn));
            let since = (!is_at_hand).then_some(shadow.order);
            shadow.waiting.entry(lpn).or_default().push((user, since));
        }
    }

    pub(in super::super) fn used(&mut self, user: User, lpn: Lpn, now: Time) -> Result<(), String> {
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

    pub(in super::super) fn page_done(&mut self, user: User, lpn: Lpn) -> Result<(), String> {
        self.with(|shadow| {
            let pages = shadow.used.get_mut(&user);
            let Some((pages, at)) =
                pages.and_then(|pages| pages.iter().position(|used| *used == lpn).map(|at| (pages, at)))
            else {
                return Err(format!("logical page {} was read or written for {} without its entry", lpn.0, name(user)));
            };
            // A destage has no request id, so its permission to access the page ends here: the next destage of the page must use the entry
            // again.
            if user.is_none() {
                pages.swap_remove(at);
            }
            Ok(())
        })
    }

    pub(in super::super) fn completed(&mut self, request: RequestId) {
        if let Some(shadow) = &mut self.shadow {
            shadow.used.remove(&Some(request));
        }
    }

    pub(in super::super) fn moved(&mut self, lpn: Lpn) {
        if let Some(shadow) = &mut self.shadow
            && !shadow.pages.contains(lpn)
        {
            shadow.unknown.insert(lpn, false);
            shadow.changed.push(lpn);
        }
    }

    /// Checks that DRAM has the map entry of every page whose location an event changed. Runs after all effects of the event.
    pub(in super::super) fn settled(&mut self) -> Result<(), String> {
        self.with(|shadow| {
            for lpn in std::mem::take(&mut shadow.changed) {
                if shadow.unknown.contains_key(&lpn) && !shadow.entries.contains_key(&lpn) {
                    return Err(format!("logical page {} has moved, and no entry in DRAM says so", lpn.0));
                }
            }
            Ok(())
        })
    }

    pub(in super::super) fn changed(&mut self, event: EntryEvent, now: Time) -> Result<(), String> {
        self.with(|shadow| match event {
            EntryEvent::Cached(lpn) => shadow.cached(lpn),
            EntryEvent::Awaits(lpn) => shadow.awaits(lpn),
            EntryEvent::Dropped(lpn) => shadow.dropped(lpn, now),
            EntryEvent::Held(page) => shadow.held(page),
        })
    }

    pub(in super::super) fn read_issued(&mut self, page: Lpn) -> Result<(), String> {
        self.with(|shadow| {
            if shadow.reading.insert(page) {
                return Ok(());
            }
            Err(format!("translation page {} is read twice at a time", page.0))
        })
    }

    pub(in super::super) fn read_ended(&mut self, page: Lpn) -> Result<(), String> {
        self.with(|shadow| {
            shadow.order += 1;
            shadow.read.insert(page, shadow.order);
            if shadow.reading.remove(&page) {
                return Ok(());
            }
            Err(format!("a read of translation page {} ended that was not issued", page.0))
        })
    }

    pub(in super::super) fn program_issued(&mut self, page: Lpn) -> Result<(), String> {
        self.with(|shadow| if shadow.buffered.remove(&page) { Ok(()) } else { shadow.leaves(page) })
    }

    pub(in super::super) fn program_began(&mut self, page: Lpn) {
        if let Some(shadow) = &mut self.shadow {
            let entries = shadow.pages.entries_of(page);
            shadow.unknown.range_mut(entries).for_each(|(_, carried)| *carried = true);
        }
    }

    pub(in super::super) fn programmed(&mut self, page: Lpn) {
        if let Some(shadow) = &mut self.shadow {
            let entries = shadow.pages.entries_of(page);
            let known: Vec<Lpn> =
                shadow.unknown.range(entries).filter(|(_, carried)| **carried).map(|(lpn, _)| *lpn).collect();
            for lpn in known {
                shadow.unknown.remove(&lpn);
            }
        }
    }

    pub(in super::super) fn program_ended(&mut self, page: Lpn) -> Result<(), String> {
        self.with(|shadow| {
            if shadow.leaving.remove(&page) {
                return Ok(());
            }
            Err(format!("a program of translation page {} ended that was not issued", page.0))
        })
    }
}

#[cfg(test)]
mod tests;
