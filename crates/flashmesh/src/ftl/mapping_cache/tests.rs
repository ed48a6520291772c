//! Test of the cache against a naive model: a list of entries in LRU order, searched for every operation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::config::{Config, MapFill, WriteBackRead};
use crate::flash::geometry::Geometry;
use crate::ids::StreamId;
use crate::units::Bytes;

const LOGICAL_PAGES: u32 = 60;
const ENTRIES_PER_PAGE: u32 = 8;
const STREAM: StreamId = StreamId(0);

fn pages() -> TranslationPages {
    let mut config = Config::default();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.capacity = Some(Bytes::from_kib(4) * u64::from(LOGICAL_PAGES));
    config.mapping.cache_capacity = Some(Bytes::new(8));
    config.mapping.stored_entry_size = Bytes::new(4096 / u64::from(ENTRIES_PER_PAGE));
    let geometry = Geometry::new(&config.geometry).expect("the geometry is valid");
    TranslationPages::new(&geometry, &config).expect("the map is on flash")
}

fn config(entries: u64, write_backs: u32, buffer_pages: u64) -> config::Mapping {
    config::Mapping {
        cache_capacity: Some(Bytes::new(8 * entries)),
        write_backs,
        write_back_buffer: Bytes::from_kib(4) * buffer_pages,
        fill: MapFill::Entry,
        ..config::Mapping::default()
    }
}

fn cache(config: &config::Mapping) -> MappingCache {
    let mut cache = MappingCache::new(config, pages(), 1);
    cache.keep_events();
    cache
}

/// Looks up the entry of `lpn` for a transaction with the number `lpn`. Returns whether the entry is in DRAM.
fn look_up(cache: &mut MappingCache, lpn: u32) -> bool {
    cache.lookup(STREAM, Lpn(lpn), TransactionId(lpn))
}

fn actions(cache: &mut MappingCache) -> Vec<MapCacheAction> {
    std::iter::from_fn(|| cache.next_action()).collect()
}

/// Looks up the entry of `lpn`, and on a miss completes the read of its translation page. Returns all further actions of the cache.
fn bring(cache: &mut MappingCache, lpn: u32) -> Vec<MapCacheAction> {
    let mut others = Vec::new();
    if !look_up(cache, lpn) {
        let page = pages().page_of(Lpn(lpn));
        assert_eq!(actions(cache), [MapCacheAction::Read { page, for_write_back: false }]);
        cache.finish_read(page);
        others = actions(cache);
        others.retain(|action| !matches!(action, MapCacheAction::Resume(_)));
    }
    others.extend(actions(cache));
    others
}

/// Naive model of the cache, and of the flash operations that the cache requests.
struct Model {
    cache: MappingCache,
    entries: usize,
    /// Whether eviction follows the order of lookups; `false` if write-backs count as uses too.
    makes_way_in_order: bool,
    /// Host pages whose entries are resident, most recently used last.
    resident: Vec<Lpn>,
    /// Host pages whose evicted entries stay in DRAM until their write-back.
    leaving: BTreeSet<Lpn>,
    /// Changes of each entry so far, in DRAM and (`on_flash`) as stored in the translation page.
    versions: BTreeMap<Lpn, u32>,
    on_flash: BTreeMap<Lpn, u32>,
    reads: VecDeque<Lpn>,
    programs: VecDeque<Lpn>,
    /// Translation pages in the write-back buffer, oldest first.
    held: VecDeque<Lpn>,
    /// Translation pages being programmed, each with the host pages and versions of the entries in it.
    programming: Vec<(Lpn, Vec<(Lpn, u32)>)>,
    waiting: BTreeMap<TransactionId, Lpn>,
    next: u32,
}

impl Model {
    fn new(config: &config::Mapping) -> Model {
        let cache = cache(config);
        Model {
            entries: cache.capacity() as usize,
            cache,
            makes_way_in_order: !config.write_back_is_use,
            resident: Vec::new(),
            leaving: BTreeSet::new(),
            versions: BTreeMap::new(),
            on_flash: BTreeMap::new(),
            reads: VecDeque::new(),
            programs: VecDeque::new(),
            held: VecDeque::new(),
            programming: Vec::new(),
            waiting: BTreeMap::new(),
            next: 0,
        }
    }

    fn is_dirty(&self, lpn: Lpn) -> bool {
        self.versions.get(&lpn) != self.on_flash.get(&lpn)
    }

    /// Evicts the entry of `lpn` from the model. Returns whether it was resident.
    fn makes_way(&mut self, lpn: Lpn) -> bool {
        let at = self.resident.iter().position(|&other| other == lpn);
        if let Some(at) = at {
            assert!(at == 0 || !self.makes_way_in_order, "the LRU entry must be evicted, not {lpn:?}");
            self.resident.remove(at);
        }
        at.is_some()
    }

    /// Checks all new events and actions of the cache, and applies them to the model.
    fn settle(&mut self) {
        for event in self.cache.take_events() {
            match event {
                EntryEvent::Cached(lpn) => {
                    assert!(!self.resident.contains(&lpn));
                    self.resident.push(lpn);
                    self.leaving.remove(&lpn);
                    assert!(self.resident.len() <= self.entries);
                }
                EntryEvent::Awaits(lpn) => {
                    assert!(self.is_dirty(lpn), "{lpn:?} is clean and awaits a write-back");
                    self.makes_way(lpn);
                    self.leaving.insert(lpn);
                }
                EntryEvent::Dropped(lpn) => {
                    assert!(!self.is_dirty(lpn), "the change of {lpn:?} is lost");
                    assert!(self.leaving.remove(&lpn) || self.makes_way(lpn));
                }
                EntryEvent::Held(page) => self.held.push_back(page),
            }
        }
        while let Some(action) = self.cache.next_action() {
            match action {
                MapCacheAction::Read { page, .. } => {
                    assert!(!self.reads.contains(&page), "two reads of {page:?} are in flight");
                    self.reads.push_back(page);
                }
                MapCacheAction::Program(page) => {
                    let is_under_way = self.programming.iter().any(|(other, _)| *other == page);
                    assert!(!is_under_way && !self.programs.contains(&page), "two programs of {page:?} are in flight");
                    if !self.held.is_empty() {
                        assert_eq!(self.held.pop_front(), Some(page), "the oldest page leaves the buffer");
                    }
                    self.programs.push_back(page);
                }
                MapCacheAction::Resume(id) => {
                    self.waiting.remove(&id).expect("each waiter is resumed once");
                }
            }
        }
    }

    fn look_up(&mut self, lpn: Lpn) {
        let id = TransactionId(self.next);
        self.next += 1;
        let is_known = self.resident.contains(&lpn) || self.leaving.contains(&lpn);
        let is_on_its_way = self
            .programs
            .iter()
            .chain(self.programming.iter().map(|(page, _)| page))
            .chain(&self.held)
            .any(|&page| page == pages().page_of(lpn));
        if let Some(at) = self.resident.iter().position(|&other| other == lpn) {
            self.resident.remove(at);
            self.resident.push(lpn);
        }
        let found = self.cache.lookup(STREAM, lpn, id);
        assert!(found || !is_known, "{lpn:?} is in DRAM");
        assert!(!found || is_known || is_on_its_way, "{lpn:?} is nowhere in DRAM");
        if !found {
            self.waiting.insert(id, lpn);
        }
        self.settle();
    }

    fn update(&mut self, lpn: Lpn, at_once: bool) {
        *self.versions.entry(lpn).or_insert(0) += 1;
        let page = self.cache.update(lpn);
        assert_eq!(page.is_some(), !self.resident.contains(&lpn));
        if let Some(page) = page.filter(|_| at_once) {
            self.cache.write_back(page);
        }
        self.settle();
    }

    fn end_read(&mut self) {
        if let Some(page) = self.reads.pop_front() {
            self.cache.finish_read(page);
            self.settle();
        }
    }

    fn begin_program(&mut self) {
        if let Some(page) = self.programs.pop_front() {
            self.cache.begin_program(page);
            let entries = pages().entries_of(page).map(Lpn);
            let carried = entries.filter_map(|lpn| self.versions.get(&lpn).map(|&version| (lpn, version)));
            self.programming.push((page, carried.collect()));
            self.settle();
        }
    }

    fn end_program(&mut self) {
        if self.programming.is_empty() {
            return;
        }
        let (page, carried) = self.programming.remove(0);
        self.on_flash.extend(carried);
        self.cache.finish_program(page);
        self.settle();
    }

    /// Completes all pending write-backs, reads and programs, and checks that nothing is left.
    fn finish(&mut self) {
        for page in pages().all() {
            if self.leaving.iter().any(|&lpn| pages().page_of(lpn) == Lpn(page)) {
                self.cache.write_back(Lpn(page));
            }
        }
        self.settle();
        for _ in 0..10_000 {
            self.end_read();
            self.begin_program();
            self.end_program();
        }
        assert!(self.waiting.is_empty(), "never resumed: {:?}", self.waiting);
        assert!(self.leaving.iter().all(|&lpn| self.held.contains(&pages().page_of(lpn))));
        assert!(self.reads.is_empty() && self.programs.is_empty());
        assert!(self.cache.waiters.is_empty() && self.cache.write_backs.in_flight() == 0);
        assert_eq!(self.cache.active.len(), self.held.len());
        assert!(self.held.len() <= self.cache.write_backs.buffer_pages());
        let by_page: u32 = self.cache.table.entries();
        assert_eq!(by_page as usize, self.resident.len() + self.leaving.len());
    }
}

proptest! {
    #[test]
    fn the_cache_matches_a_naive_model_and_loses_no_change(
        entries in 1..20u64,
        write_backs in 1..4u32,
        buffer_pages in 0..4u64,
        write_back_read in select(WriteBackRead::ALL),
        write_back_is_use: bool,
        steps in proptest::collection::vec((0..100u32, 0..LOGICAL_PAGES), 1..600),
    ) {
        let config = config::Mapping { write_back_read, write_back_is_use, ..config(entries, write_backs, buffer_pages) };
        let mut model = Model::new(&config);
        for (kind, lpn) in steps {
            match kind {
                0..40 => model.look_up(Lpn(lpn)),
                40..55 => model.update(Lpn(lpn), true),
                55..60 => model.update(Lpn(lpn), false),
                60..75 => model.end_read(),
                75..88 => model.begin_program(),
                _ => model.end_program(),
            }
        }
        model.finish();
    }
}

#[test]
fn streams_with_parts_of_their_own_evict_only_their_own_entries() {
    let config = config::Mapping {
        cache_capacity: Some(Bytes::new(8 * 4)),
        sharing: config::MapSharing::PerStream,
        ..config::Mapping::default()
    };
    let mut cache = MappingCache::new(&config, pages(), 2);
    let mut bring = |stream: u32, lpn: u32| {
        let found = cache.lookup(StreamId(stream), Lpn(lpn), TransactionId(lpn));
        while let Some(action) = cache.next_action() {
            if let MapCacheAction::Read { page, .. } = action {
                cache.finish_read(page);
            }
        }
        found
    };
    for (stream, lpn) in [(0, 0), (0, 1), (1, 10), (1, 11), (1, 12), (1, 13)] {
        assert!(!bring(stream, lpn));
    }
    // Each stream has room for two entries. Stream 1 has fetched four and evicted its 10 and 11; it also hits entries 0 and 1 of stream 0.
    assert!(bring(0, 0) && bring(1, 1) && bring(1, 13));
    assert!(!bring(1, 10));
}

#[test]
fn a_buffered_page_serves_misses_until_another_page_needs_its_space() {
    let mut cache = cache(&config(1, 1, 1));
    let mut next = 0;
    let mut look_up = |cache: &mut MappingCache, lpn: u32| {
        next += 1;
        cache.lookup(STREAM, Lpn(lpn), TransactionId(next))
    };
    let (first, second) = (pages().page_of(Lpn(0)), pages().page_of(Lpn(ENTRIES_PER_PAGE)));
    let read = |page, for_write_back| vec![MapCacheAction::Read { page, for_write_back }];

    assert!(!look_up(&mut cache, 0));
    cache.finish_read(first);
    cache.update(Lpn(0));
    actions(&mut cache);
    // The cache holds one entry. An entry of the second page evicts the changed entry 0, which makes the cache read the first page into the
    // write-back buffer.
    assert!(!look_up(&mut cache, ENTRIES_PER_PAGE));
    assert_eq!(actions(&mut cache), read(second, false));
    cache.finish_read(second);
    assert_eq!(actions(&mut cache), [read(first, true), vec![MapCacheAction::Resume(TransactionId(2))]].concat());
    cache.finish_read(first);
    assert_eq!(actions(&mut cache), []);
    // The buffered page serves all its entries, even entry 1, which was never cached.
    assert!(look_up(&mut cache, 1));
    cache.update(Lpn(1));
    assert!(look_up(&mut cache, 0));
    cache.update(Lpn(0));
    assert_eq!(actions(&mut cache), []);
    // A changed entry of the second page is evicted. Its page takes the only place in the buffer, so the first page is programmed.
    assert!(!look_up(&mut cache, ENTRIES_PER_PAGE));
    assert_eq!(actions(&mut cache), read(second, false));
    cache.finish_read(second);
    cache.update(Lpn(ENTRIES_PER_PAGE));
    actions(&mut cache);
    assert!(look_up(&mut cache, 1));
    assert_eq!(actions(&mut cache), read(second, true));
    cache.finish_read(second);
    assert_eq!(actions(&mut cache), [MapCacheAction::Program(first)]);
}

#[test]
fn a_buffered_page_is_read_again_for_changes_after_the_last_read() {
    let (first, second) = (0..3, ENTRIES_PER_PAGE..ENTRIES_PER_PAGE + 3);
    let page = pages().page_of(Lpn(first.start));
    let read = MapCacheAction::Read { page, for_write_back: true };
    let write_backs = |write_back_read: WriteBackRead| {
        let mut cache = cache(&config::Mapping { write_back_read, ..config(3, 8, 8) });
        for lpn in first.clone() {
            bring(&mut cache, lpn);
            cache.update(Lpn(lpn));
        }
        let mut reads = Vec::new();
        let make_way = |cache: &mut MappingCache, reads: &mut Vec<bool>| {
            for lpn in second.clone() {
                let asked = bring(cache, lpn);
                assert!(asked.is_empty() || asked == [read]);
                if !asked.is_empty() {
                    cache.finish_read(page);
                }
                reads.push(!asked.is_empty());
            }
        };
        // Entries 0 to 2 are changed. The first eviction causes a read of their page, which covers the changes of all three entries.
        make_way(&mut cache, &mut reads);
        for lpn in first.clone() {
            assert_eq!(bring(&mut cache, lpn), [], "the entry is in the buffer");
        }
        cache.update(Lpn(first.start + 1));
        make_way(&mut cache, &mut reads);
        (reads, cache.counters().write_backs)
    };
    assert_eq!(write_backs(WriteBackRead::WhenMissing), (vec![true, false, false, false, false, false], 1));
    assert_eq!(write_backs(WriteBackRead::Always), (vec![true, false, false, false, true, false], 2));
}

#[test]
fn a_write_back_may_count_as_a_use_of_the_entries_it_carries() {
    let other = ENTRIES_PER_PAGE;
    let makes_way_next = |write_back_is_use: bool| {
        let mut cache = cache(&config::Mapping { write_back_is_use, ..config(3, 8, 8) });
        for lpn in [0, 1] {
            bring(&mut cache, lpn);
            cache.update(Lpn(lpn));
        }
        // The cache has room for three entries, so the second of these lookups evicts entry 0. Its write-back also carries the change of entry 1. If
        // a write-back counts as a use, entry 1 becomes more recently used than `other`, so `other` is evicted next.
        for lpn in [other, other + 1] {
            bring(&mut cache, lpn);
        }
        cache.take_events();
        bring(&mut cache, other + 2);
        cache.take_events().into_iter().find_map(|event| match event {
            EntryEvent::Awaits(lpn) | EntryEvent::Dropped(lpn) => Some(lpn.0),
            _ => None,
        })
    };
    assert_eq!(makes_way_next(false), Some(1));
    assert_eq!(makes_way_next(true), Some(other));
}
