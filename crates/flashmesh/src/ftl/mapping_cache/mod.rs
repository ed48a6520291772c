//! The cached mapping table of DFTL (Gupta, Kim and Urgaonkar, ASPLOS 2009): DRAM holds entries of the map one by one, the rest
//! is read from translation pages when it is wanted.
//!
//! A pure state machine without time. Its user asks for an entry ([`MappingCache::lookup`]) and tells it what changed
//! ([`MappingCache::update`]); it answers with [`Action`]s: which translation page to read or to program, and which waiting
//! transaction may go on. Its user says when that is done ([`MappingCache::page_read`], [`MappingCache::begin_program`],
//! [`MappingCache::programmed`]). The cache does not keep what an entry says: the map of [`Ftl`](super::Ftl) is always right, and the
//! cache decides only what it costs to know it.
//!
//! # Rules
//!
//! - The least recently used entry is evicted. When it was changed, its translation page is written back: read, unless all of its
//!   entries are in DRAM or it is being read already, then programmed with every change there is when the program begins
//!   (the batch update of DFTL).
//! - Until then the entry awaits its write-back outside of the capacity and can be used. When it is used, it comes
//!   back if something else can be evicted.
//! - One read of a translation page at a time; further misses of the page join it. While its write-back has its content in DRAM,
//!   no read is needed.
//! - At most `mapping.write-backs` translation pages are written back at once for evicted entries. A miss that needs one
//!   more waits, in the order of its part of the cache, and each write-back that is done lets the next one go.
//! - With `mapping.write-back-buffer` a translation page to be written back stays in DRAM until another one needs its place there.
//!   Misses of it need no read, further changes go along with it, and it does not count among those written back at once.
//! - With `mapping.write-back-read = "always"` a page in the buffer is read once more when an entry is evicted that has changed since
//!   the last read for it, and all its changes go along with that read: what has not changed since is evicted without another.
//! - With `mapping.write-back-is-use` the entries whose changes a write-back takes along count as used when it is asked for.
//! - A change of a page whose entry is not in DRAM takes no read and evicts nothing: it awaits a write-back like an entry that
//!   is evicted. So does DFTL when garbage collection moves pages, and it writes those of one victim together; a write whose
//!   entry was evicted meanwhile, and a page deallocated, go the same way \[choice\]. Nothing of this waits for room, so
//!   collection never waits for the map.
//! - With `mapping.sharing = "per-stream"` an entry counts against the part of the stream whose miss brought it; any stream may
//!   use it \[choice\].

mod blocked;
mod buffer;
mod entries;
mod lookup;
mod residence;
mod table;
#[cfg(test)]
mod tests;
mod write_back;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::TranslationPages;
use crate::config::{self, MapFill, MapSharing};
use crate::engine::arena::Arena;
use crate::ids::{Lpn, TransactionId, id};
use crate::quantities;
use blocked::Blocked;
use buffer::WriteBacks;
use entries::Entries;
use table::PageTable;
use write_back::Activity;

id!(
    /// A transaction that waits for its entry.
    WaiterId
);

#[derive(Clone, Copy, Debug)]
struct Waiter {
    transaction: TransactionId,
    lpn: Lpn,
    partition: usize,
    next: Option<WaiterId>,
}

/// What the user of the cache does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read a translation page: all of it for a write-back, else as much as a miss reads.
    Read {
        /// The page.
        page: Lpn,
        /// Whether all of it leaves the chip.
        whole: bool,
    },
    /// Program a translation page.
    Program(Lpn),
    /// The entry that this transaction waits for is in DRAM.
    Resume(TransactionId),
}

/// What became of an entry, or of a translation page, for those who keep a picture of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryEvent {
    /// It is in DRAM and counts against the capacity.
    Cached(Lpn),
    /// It is in DRAM until its change is on flash.
    Awaits(Lpn),
    /// It is not in DRAM any more.
    Dropped(Lpn),
    /// All of this translation page is in DRAM until it is programmed, whatever becomes of its entries.
    Held(Lpn),
}

quantities! {
    /// Lookups and transfers of the cache of the map.
    #[derive(Default, Eq)]
    Counters {
        /// Entries wanted, one for each page of a request, and found.
        hits: u64, in "entries";
        /// Entries for which a translation page was read.
        misses: u64, in "entries";
        /// Entries not found whose translation page was already being read or written back.
        joined_misses: u64, in "entries";
        /// Misses that waited for a write-back to make room.
        waits_for_room: u64, in "entries";
        /// Entries evicted to make room for others.
        evictions: u64, in "entries";
        /// Translation pages chosen for a write-back.
        write_backs: u64, in "pages";
        /// Of `write_backs`, pages that need not be read first, since all of their entries were in DRAM.
        write_backs_without_read: u64, in "pages";
    }
}

impl Counters {
    /// Share of the entries wanted that were found; `None` when none was wanted.
    pub fn hit_share(&self) -> Option<f64> {
        let wanted = self.hits + self.misses + self.joined_misses;
        (wanted > 0).then(|| self.hits as f64 / wanted as f64)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct MappingCache {
    table: PageTable,
    entries: Entries,
    active: FxHashMap<Lpn, Activity>,
    waiters: Arena<WaiterId, Waiter>,
    blocked: Blocked,
    write_backs: WriteBacks,
    /// Whether a miss reads all of a translation page.
    reads_whole: bool,
    fill: MapFill,
    actions: VecDeque<Action>,
    counters: Counters,
    events: Option<Vec<EntryEvent>>,
}

/// How many entries each part of the cache has, when `streams` streams use it.
pub(crate) fn entries_per_part(config: &config::Mapping, streams: usize) -> Option<u64> {
    let entries = config.cache_capacity?.as_u64() / config.entry_size.as_u64().max(1);
    Some(match config.sharing {
        MapSharing::Shared => entries,
        MapSharing::PerStream => entries / streams.max(1) as u64,
    })
}

impl MappingCache {
    /// An empty cache for the map that lies in `pages`, used by `streams` streams.
    pub(crate) fn new(config: &config::Mapping, pages: TranslationPages, streams: usize) -> MappingCache {
        let partitions = match config.sharing {
            MapSharing::Shared => 1,
            MapSharing::PerStream => streams.max(1),
        };
        let capacity = entries_per_part(config, streams).unwrap_or(0).clamp(1, u64::from(u32::MAX / 2)) as u32;
        let buffer_pages = config.write_back_buffer.as_u64() / pages.page_size().as_u64();
        MappingCache {
            table: PageTable::new(pages),
            entries: Entries::new(pages.all().start, partitions, capacity),
            active: FxHashMap::default(),
            waiters: Arena::default(),
            blocked: Blocked::new(partitions),
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

    /// Entries it can hold, those that await their write-back not counted.
    pub(crate) fn capacity(&self) -> u64 {
        self.entries.capacity()
    }

    pub(crate) fn pages(&self) -> TranslationPages {
        self.table.pages()
    }

    /// Keeps what becomes of entries, for [`MappingCache::take_events`].
    pub(crate) fn keep_events(&mut self) {
        self.events = Some(Vec::new());
    }

    /// Ends that.
    pub fn drop_events(&mut self) {
        self.events = None;
    }

    /// What became of entries since the last call, in order.
    pub(crate) fn take_events(&mut self) -> Vec<EntryEvent> {
        self.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Prefetches what a use of the entries of `lpns` reads.
    pub(crate) fn prefetch(&self, lpns: impl Iterator<Item = Lpn> + Clone) {
        self.entries.prefetch(lpns);
    }

    /// What to do next, in order; asked until nothing is left after each call that may lead to something.
    #[inline]
    pub(crate) fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    #[inline]
    fn tell(&mut self, event: EntryEvent) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }
}
