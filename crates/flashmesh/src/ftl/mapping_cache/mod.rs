//! Cached mapping table of DFTL (Gupta, Kim and Urgaonkar, ASPLOS 2009): DRAM holds single entries of the map, and others are read from translation
//! pages on demand.
//!
//! The cache is a pure state machine without time. The controller looks up entries ([`MappingCache::lookup`]) and reports changes
//! ([`MappingCache::update`]). The cache responds with [`MapCacheAction`]s: translation pages to read or program, and waiting transactions to resume.
//! The controller reports their progress ([`MappingCache::finish_read`], [`MappingCache::begin_program`], [`MappingCache::finish_program`]). The
//! cache does not store locations: the map of [`Ftl`](super::Ftl) is always up to date, and the cache only determines the cost of a lookup.
//!
//! # Rules
//!
//! - The least recently used entry is evicted. If it is dirty, its translation page is written back. The page is first read, unless all of its
//!   entries are in DRAM or it is being read already. The program carries all changes made before it begins (the batch update of DFTL).
//! - Until the program ends, the entry waits for its write-back. Such an entry does not count against the capacity, but can be used. A use makes the
//!   entry resident again if the cache has room or can evict another entry.
//! - At most one read of a translation page is in flight; further misses of the page join it. While the content of the page is in DRAM for a
//!   write-back, misses need no read.
//! - At most `mapping.write-backs` write-backs for evicted entries are in flight. A miss that needs one more stalls, in order within its part of the
//!   cache. Each write-back that ends resumes at least one stalled miss, if any.
//! - With `mapping.write-back-buffer`, a translation page to be written back stays in DRAM until another page needs its space in the buffer. Misses
//!   of the page need no read, further changes are included, and the write-back does not count as in flight.
//! - With `mapping.write-back-read = "always"`, a page is read before its write-back even if all of its entries are in DRAM. A page in the buffer is
//!   read again if an evicted entry has changed since the last write-back was requested. That read covers all changes of the page, so entries
//!   unchanged since then are evicted without another read.
//! - With `mapping.write-back-is-use`, the entries whose changes a write-back carries count as used when the write-back is requested.
//! - A change of a page without an entry in DRAM causes no read and no eviction: the entry waits for a write-back, like an evicted one. DFTL does
//!   this for pages moved by garbage collection, and writes the changes of a victim together. Writes whose entry was evicted meanwhile, and
//!   deallocations, are handled the same way \[choice\]. These changes never wait for space in the cache, so garbage collection never waits for the
//!   map.
//! - With `mapping.sharing = "per-stream"`, the capacity is divided into one part for each stream. An entry counts against the part of the stream
//!   whose miss fetched it. Any stream may use it \[choice\].

mod entries;
mod lookup;
mod residency;
mod stalled_misses;
#[cfg(test)]
mod tests;
mod translation_page_states;
mod write_back;
mod write_back_limit;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::TranslationPages;
use crate::config::{self, MapFill, MapSharing};
use crate::engine::arena::Arena;
use crate::ids::{Lpn, TransactionId, id};
use crate::quantities;
use entries::Entries;
use stalled_misses::StalledMisses;
use translation_page_states::TranslationPageStates;
use write_back::PageActivity;
use write_back_limit::WriteBacks;

id!(
    /// Identifier of a transaction that waits for the read of a translation page.
    WaiterId
);

#[derive(Clone, Copy, Debug)]
struct Waiter {
    transaction: TransactionId,
    lpn: Lpn,
    partition: usize,
    next: Option<WaiterId>,
}

/// Action that the cache requests from the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapCacheAction {
    /// Read of a translation page, for a write-back or for misses.
    Read {
        /// Translation page to read.
        page: Lpn,
        /// Whether the read is for a write-back, not for a miss. Reads of the two kinds can transfer different numbers of bytes.
        for_write_back: bool,
    },
    /// Program of this translation page. The controller allocates a physical page for it.
    Program(Lpn),
    /// Resumption of this transaction, whose map entry was admitted to DRAM.
    Resume(TransactionId),
}

/// Change of state of an entry or a translation page, for observers that mirror the cache. Each variant holds a logical page number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryEvent {
    /// The entry of this host page is in DRAM and counts against the capacity.
    Cached(Lpn),
    /// The entry of this host page does not count against the capacity, and stays in DRAM until its change is on flash.
    Awaits(Lpn),
    /// The entry of this host page has left DRAM.
    Dropped(Lpn),
    /// This translation page is in DRAM as a whole until it is programmed, independent of its entries.
    Held(Lpn),
}

quantities! {
    /// Lookups and transfers of the cache of the map.
    #[derive(Default, Eq)]
    Counters {
        /// Entries found in DRAM; each page of a request is one lookup.
        hits: u64, in "entries";
        /// Entries for which a translation page was read.
        misses: u64, in "entries";
        /// Entries not found whose translation page was already being read or written back.
        joined_misses: u64, in "entries";
        /// Misses that stalled until a write-back made room.
        waits_for_room: u64, in "entries";
        /// Entries evicted to make room for others.
        evictions: u64, in "entries";
        /// Translation pages selected for a write-back.
        write_backs: u64, in "pages";
        /// Of `write_backs`, pages that did not have to be read first, because all of their entries were in DRAM.
        write_backs_without_read: u64, in "pages";
    }
}

impl Counters {
    /// Returns the share (0 to 1) of lookups whose entry was in DRAM; `None` without lookups.
    pub fn hit_share(&self) -> Option<f64> {
        let wanted = self.hits + self.misses + self.joined_misses;
        (wanted > 0).then(|| self.hits as f64 / wanted as f64)
    }
}

/// Cached mapping table; see the module documentation.
#[derive(Clone, Debug)]
pub struct MappingCache {
    table: TranslationPageStates,
    entries: Entries,
    active: FxHashMap<Lpn, PageActivity>,
    waiters: Arena<WaiterId, Waiter>,
    blocked: StalledMisses,
    write_backs: WriteBacks,
    /// Whether a miss reads a whole translation page, instead of `mapping.read-size` bytes of it.
    reads_whole: bool,
    fill: MapFill,
    actions: VecDeque<MapCacheAction>,
    counters: Counters,
    events: Option<Vec<EntryEvent>>,
}

/// Returns the capacity in entries of each part of the cache: of the whole cache, or with `mapping.sharing = "per-stream"` of each of `streams` host
/// streams. `None` if the whole map is in DRAM.
pub(crate) fn entries_per_part(config: &config::Mapping, streams: usize) -> Option<u64> {
    let entries = config.cache_capacity?.as_u64() / config.entry_size.as_u64().max(1);
    Some(match config.sharing {
        MapSharing::Shared => entries,
        MapSharing::PerStream => entries / streams.max(1) as u64,
    })
}

impl MappingCache {
    /// Creates an empty cache for the map stored in `pages`, used by `streams` host streams.
    pub(crate) fn new(config: &config::Mapping, pages: TranslationPages, streams: usize) -> MappingCache {
        let partitions = match config.sharing {
            MapSharing::Shared => 1,
            MapSharing::PerStream => streams.max(1),
        };
        let capacity = entries_per_part(config, streams).unwrap_or(0).clamp(1, u64::from(u32::MAX / 2)) as u32;
        let buffer_pages = config.write_back_buffer.as_u64() / pages.page_size().as_u64();
        MappingCache {
            table: TranslationPageStates::new(pages),
            entries: Entries::new(pages.all().start, partitions, capacity),
            active: FxHashMap::default(),
            waiters: Arena::default(),
            blocked: StalledMisses::new(partitions),
            write_backs: WriteBacks::new(config, buffer_pages as usize),
            reads_whole: config.read_size.is_none(),
            fill: config.fill,
            actions: VecDeque::new(),
            counters: Counters::default(),
            events: None,
        }
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the capacity of the whole cache in entries. Entries that wait for their write-back do not count against it.
    pub(crate) fn capacity(&self) -> u64 {
        self.entries.capacity()
    }

    pub(crate) fn pages(&self) -> TranslationPages {
        self.table.pages()
    }

    /// Begins to record events for [`MappingCache::take_events`].
    pub(crate) fn keep_events(&mut self) {
        self.events = Some(Vec::new());
    }

    /// Ends the recording of events, and drops recorded events that were not taken.
    pub fn drop_events(&mut self) {
        self.events = None;
    }

    /// Removes and returns the events recorded since the last call, in order; none if events are not recorded.
    pub(crate) fn take_events(&mut self) -> Vec<EntryEvent> {
        self.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Prefetches, into the CPU cache, the data that lookups of the entries of `lpns` will read.
    pub(crate) fn prefetch(&self, lpns: impl Iterator<Item = Lpn> + Clone) {
        self.entries.prefetch(lpns);
    }

    /// Removes and returns the next action for the controller; `None` if no action is left. Call this until it returns `None`, after each call that
    /// may cause actions.
    #[inline]
    pub(crate) fn next_action(&mut self) -> Option<MapCacheAction> {
        self.actions.pop_front()
    }

    #[inline]
    fn record_event(&mut self, event: EntryEvent) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }
}
