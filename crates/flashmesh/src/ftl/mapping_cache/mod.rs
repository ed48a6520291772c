//! The cached mapping table of DFTL (Gupta, Kim and Urgaonkar, ASPLOS 2009): DRAM holds entries of the map one by one, the rest
//! is read from translation pages when it is wanted.
//!
//! A pure state machine without time. It is asked for an entry ([`MappingCache::lookup`]) and told what changed
//! ([`MappingCache::update`]); it answers with [`Action`]s: which translation page to read or to program, and which waiting
//! transaction may go on. Its user says when that is done ([`MappingCache::page_read`], [`MappingCache::begin_program`],
//! [`MappingCache::programmed`]). What an entry says is not kept here: the map of [`Ftl`](super::Ftl) is always right, and the
//! cache decides only what it costs to know it.
//!
//! # Rules
//!
//! - The entry used longest ago makes way. When it was changed, its translation page is written back: read, unless all of its
//!   entries are in DRAM or it is being read already, then programmed with every change there is when the program begins
//!   (the batch update of DFTL).
//! - Until then the entry awaits its write-back outside of the capacity and is as good as any; when it is used again, it comes
//!   back if something else can make way.
//! - One read of a translation page at a time; whoever misses it meanwhile joins. While its write-back has its content in DRAM, no
//!   read is needed.
//! - At most `mapping.write-backs` translation pages are written back at once for entries that make way; a miss that needs one
//!   more waits, in the order of its part of the cache, and each write-back that is done lets the next one go.
//! - With `mapping.write-back-buffer` a translation page to be written back stays in DRAM until another one needs its place there.
//!   Misses of it need no read, further changes go along with it, and it does not count among those written back at once.
//! - With `mapping.write-back-read = "always"` a page in the buffer is read once more when an entry makes way that has changed since
//!   the last read for it, and all its changes go along with that read: what has not changed since makes way without another.
//! - With `mapping.write-back-is-use` the entries whose changes a write-back takes along count as used when it is asked for.
//! - A change of a page whose entry is not in DRAM takes no read and evicts nothing: it awaits a write-back like an entry that
//!   makes way. So does DFTL when garbage collection moves pages, and it writes those of one victim together; a write whose
//!   entry was evicted meanwhile, and a page deallocated, go the same way \[choice\]. Nothing of this waits for room, so
//!   collection never waits for the map.
//! - With `mapping.sharing = "per-stream"` an entry counts against the part of the stream whose miss brought it; any stream may
//!   use it \[choice\].

mod blocked;
mod buffer;
mod entries;
mod table;
#[cfg(test)]
mod tests;
mod write_back;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::TranslationPages;
use crate::config::{self, MapFill, MapSharing};
use crate::engine::arena::Arena;
use crate::ids::{Lpn, StreamId, TransactionId, id};
use crate::quantities;
use blocked::Blocked;
use buffer::WriteBacks;
use entries::{Change, Entries, Slot};
use table::PageTable;
use write_back::{Activity, Reading};

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
    /// This translation page is in the buffer until it is programmed.
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

/// The cache of the map.
#[derive(Debug)]
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

/// How many entries each part of the cache has, when it is shared by `streams` streams.
pub fn entries_per_part(config: &config::Mapping, streams: usize) -> Option<u64> {
    let entries = config.cache_capacity?.as_u64() / config.entry_size.as_u64().max(1);
    Some(match config.sharing {
        MapSharing::Shared => entries,
        MapSharing::PerStream => entries / streams.max(1) as u64,
    })
}

impl MappingCache {
    /// An empty cache for the map that lies in `pages`, used by `streams` streams.
    pub fn new(config: &config::Mapping, pages: TranslationPages, streams: usize) -> MappingCache {
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

    /// What it did so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Entries it can hold, those that await their write-back not counted.
    pub fn capacity(&self) -> u64 {
        self.entries.capacity()
    }

    /// The translation pages behind it.
    pub fn pages(&self) -> TranslationPages {
        self.table.pages()
    }

    /// Keeps from now on what becomes of entries, for [`MappingCache::take_events`].
    pub fn keep_events(&mut self) {
        self.events = Some(Vec::new());
    }

    /// What became of entries since the last call, in order.
    pub fn take_events(&mut self) -> Vec<EntryEvent> {
        self.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Prefetches what a use of the entries of `lpns` reads.
    pub fn prefetch(&self, lpns: impl Iterator<Item = Lpn> + Clone) {
        self.entries.prefetch(lpns);
    }

    /// What to do next, in order; asked until nothing is left after each call that may lead to something.
    #[inline]
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whether the entry of `lpn` is in DRAM for a transaction of `stream`. When it is not, an [`Action::Resume`] tells when
    /// it is.
    #[inline]
    pub fn lookup(&mut self, stream: StreamId, lpn: Lpn, transaction: TransactionId) -> bool {
        match self.entries.find(lpn) {
            Some(slot) => {
                self.counters.hits += 1;
                if self.entries.get(slot).is_resident {
                    self.entries.touch(slot);
                } else {
                    self.readmit(stream, slot);
                }
                true
            }
            None => self.miss(stream, lpn, transaction),
        }
    }

    /// An entry that awaits its write-back is used again.
    fn readmit(&mut self, stream: StreamId, slot: Slot) {
        let partition = self.blocked.part_of(stream);
        if self.blocked.is_empty(partition) && self.make_room(partition, false) {
            self.admit(slot, partition);
        }
    }

    fn miss(&mut self, stream: StreamId, lpn: Lpn, transaction: TransactionId) -> bool {
        let waiter = Waiter { transaction, lpn, partition: self.blocked.part_of(stream), next: None };
        let page = self.table.page_of(lpn);
        let activity = self.active.entry(page).or_default();
        if activity.has_content() {
            self.counters.joined_misses += 1;
            if self.blocked.is_empty(waiter.partition) && self.bring(waiter, false) {
                return true;
            }
            self.block(waiter);
            return false;
        }
        let id = self.waiters.insert(waiter);
        match activity.last_waiter.replace(id) {
            Some(last) => self.waiters[last].next = Some(id),
            None => activity.first_waiter = Some(id),
        }
        if activity.reading == Reading::No {
            self.counters.misses += 1;
            self.read(page, self.reads_whole);
        } else {
            self.counters.joined_misses += 1;
        }
        false
    }

    fn read(&mut self, page: Lpn, whole: bool) {
        let activity = self.active.entry(page).or_default();
        activity.reading = if whole { Reading::Whole } else { Reading::Part };
        self.actions.push_back(Action::Read { page, whole });
    }

    /// A translation page has been read.
    pub fn page_read(&mut self, page: Lpn) {
        let Some(activity) = self.active.get_mut(&page) else { return };
        let mut next = activity.first_waiter.take();
        activity.last_waiter = None;
        // What makes way for these may be of the same page: it counts as being read until they all are served.
        if let Some(first) = next
            && self.fill == MapFill::Page
        {
            self.fill_from(page, self.waiters[first].partition);
        }
        while let Some(id) = next {
            let waiter = self.waiters[id];
            self.waiters.remove(id);
            next = waiter.next;
            if self.blocked.is_empty(waiter.partition) && self.bring(waiter, false) {
                self.actions.push_back(Action::Resume(waiter.transaction));
            } else {
                self.block(waiter);
            }
        }
        self.go_on_writing_back(page);
    }

    fn block(&mut self, waiter: Waiter) {
        self.counters.waits_for_room += 1;
        self.blocked.push(waiter);
    }

    /// Brings the other entries of a page in, as far as nothing has to be written back for it.
    fn fill_from(&mut self, page: Lpn, partition: usize) {
        for lpn in self.table.pages().entries_of(page).map(Lpn) {
            if self.entries.find(lpn).is_some() {
                continue;
            }
            if self.entries.is_full(partition) {
                let Some(oldest) = self.entries.oldest(partition) else { return };
                let oldest = *self.entries.get(oldest);
                if oldest.change != Change::None || self.table.page_of(oldest.lpn) == page {
                    return;
                }
                self.make_room(partition, false);
            }
            self.insert(lpn, partition);
        }
    }

    /// Brings the entry that a waiter wants into DRAM, when it is not there and room can be made, even by one write-back too
    /// many when that is `granted`. Gives whether it is there.
    fn bring(&mut self, waiter: Waiter, granted: bool) -> bool {
        if self.entries.find(waiter.lpn).is_some() {
            return true;
        }
        if !self.make_room(waiter.partition, granted) {
            return false;
        }
        self.insert(waiter.lpn, waiter.partition);
        true
    }

    fn insert(&mut self, lpn: Lpn, partition: usize) {
        let slot = self.entries.insert(lpn);
        self.table.add_entry(lpn);
        self.admit(slot, partition);
    }

    fn admit(&mut self, slot: Slot, partition: usize) {
        self.entries.admit(slot, partition);
        self.tell(EntryEvent::Cached(self.entries.get(slot).lpn));
    }

    /// Makes room for one entry; gives whether there is some.
    fn make_room(&mut self, partition: usize, granted: bool) -> bool {
        if !self.entries.is_full(partition) {
            return true;
        }
        let Some(oldest) = self.entries.oldest(partition) else { return false };
        if !granted && !self.may_make_way(oldest) {
            return false;
        }
        self.evict(oldest);
        true
    }

    fn evict(&mut self, slot: Slot) {
        self.counters.evictions += 1;
        self.entries.expel(slot);
        let entry = *self.entries.get(slot);
        match entry.change {
            Change::None => self.drop_entry(slot),
            Change::Taken | Change::Writing => self.tell(EntryEvent::Awaits(entry.lpn)),
            Change::Dirty | Change::Rewritten => {
                self.tell(EntryEvent::Awaits(entry.lpn));
                self.write_back(self.table.page_of(entry.lpn));
            }
        }
    }

    fn drop_entry(&mut self, slot: Slot) {
        let lpn = self.entries.get(slot).lpn;
        self.entries.remove(slot);
        self.table.remove_entry(lpn);
        self.tell(EntryEvent::Dropped(lpn));
    }

    #[inline]
    fn tell(&mut self, event: EntryEvent) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// The entry of `lpn` has another value now. Gives the translation page that is to be written back for it
    /// ([`MappingCache::write_back`]), now or with others later: that of an entry that is not kept otherwise.
    pub fn update(&mut self, lpn: Lpn) -> Option<Lpn> {
        let page = self.table.page_of(lpn);
        let slot = match self.entries.find(lpn) {
            Some(slot) => slot,
            None => {
                let slot = self.entries.insert(lpn);
                self.table.add_entry(lpn);
                self.tell(EntryEvent::Awaits(lpn));
                slot
            }
        };
        match self.entries.get(slot).change {
            Change::None => self.make_dirty(slot, page),
            Change::Taken => self.entries.get_mut(slot).change = Change::Dirty,
            Change::Writing => self.entries.get_mut(slot).change = Change::Rewritten,
            Change::Dirty | Change::Rewritten => {}
        }
        (!self.entries.get(slot).is_resident).then_some(page)
    }

    fn make_dirty(&mut self, slot: Slot, page: Lpn) {
        self.entries.get_mut(slot).change = Change::Dirty;
        let mut chain = self.table.dirty(page);
        self.entries.chain(&mut chain, slot);
        self.table.set_dirty(page, chain);
    }
}
