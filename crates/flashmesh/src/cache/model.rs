//! Property test of the cache against a simple model: reads, writes and ends of operations in random order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use proptest::sample::select;

use super::unacknowledged::Unsaved;
use super::{Admitted, Cache, PageWrite, Sectors};
use crate::config::{self, CacheSharing, CacheWrites, Caching, Config, Destage, Priority};
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, RequestId, StreamId};
use crate::random_cases::cases;
use crate::units::{Bytes, Time};

const SECTORS: u32 = 8;
const PAGES: u32 = 10;

type SectorAddress = (u32, u32);

/// A write to flash in flight: a destage or a host write.
#[derive(Clone, Debug)]
struct Program {
    lpn: u32,
    from: Admitted,
    is_destage: bool,
    content: Vec<(u32, u64)>,
}

#[derive(Clone, Debug)]
struct Reading {
    lpn: u32,
    missing: Sectors,
    fills: bool,
    floor: BTreeMap<u32, u64>,
    sensed: Option<BTreeMap<u32, u64>>,
}

/// Model of the drive around the cache. The data of a sector is modelled as a version: the number of its last write in order of admission.
struct Drive {
    cache: Cache,
    capacity: usize,
    versions: u64,
    requests: u32,
    /// Last admitted request of each page; the key `None` stands for all pages together.
    admitted: BTreeMap<Option<u32>, u32>,
    newest: BTreeMap<SectorAddress, u64>,
    dram: BTreeMap<SectorAddress, u64>,
    flash: BTreeMap<SectorAddress, u64>,
    acknowledged: BTreeMap<SectorAddress, u64>,
    /// Writes completed in DRAM whose completion has not reached the host, with the versions that they wrote.
    responses: Vec<(RequestId, Vec<(SectorAddress, u64)>)>,
    /// Newest version of each sector whose completion has reached the host.
    told: BTreeMap<SectorAddress, u64>,
    /// Whether destages wait for [`ModelAction::Send`], as in a drive that destages pages in stripes.
    has_stripes: bool,
    memory: VecDeque<Program>,
    programs: Vec<Program>,
    readings: Vec<Reading>,
}

impl Drive {
    fn new(cache: config::Cache, caching: &[Caching], has_stripes: bool) -> Drive {
        let mut config = Config { cache, ..Config::default() };
        config.power.cut = Some(Time::from_ms(1));
        config.geometry.channels = 1;
        config.geometry.chips_per_channel = 1;
        let geometry = Geometry::new(&config.geometry).expect("the geometry is possible");
        let mut cache = Cache::with_caching(&config, &geometry, caching).expect("the cache is on");
        cache.keep_removed();
        Drive {
            capacity: cache.capacity() as usize,
            cache,
            versions: 0,
            requests: 0,
            admitted: BTreeMap::new(),
            newest: BTreeMap::new(),
            dram: BTreeMap::new(),
            flash: BTreeMap::new(),
            acknowledged: BTreeMap::new(),
            responses: Vec::new(),
            told: BTreeMap::new(),
            has_stripes,
            memory: VecDeque::new(),
            programs: Vec::new(),
            readings: Vec::new(),
        }
    }

    fn at(map: &BTreeMap<SectorAddress, u64>, lpn: u32, sector: u32) -> u64 {
        map.get(&(lpn, sector)).copied().unwrap_or(0)
    }

    fn settle(&mut self) {
        let mut is_done = false;
        loop {
            self.remove();
            if !self.has_stripes {
                self.send();
            }
            assert!(self.cache.len() <= self.capacity);
            assert!(self.cache.dirty_pages() <= self.cache.dirty_limit());
            if is_done {
                return;
            }
            match self.cache.admit_next() {
                Some((write, admitted)) => {
                    self.remove();
                    self.admit(&write, admitted);
                }
                None => is_done = true,
            }
        }
    }

    fn send(&mut self) {
        while let Some(destaged) = self.cache.next_destage() {
            let lpn = destaged.lpn.0;
            let content: Vec<_> = destaged.sectors.iter().map(|sector| (sector, self.dram[&(lpn, sector)])).collect();
            if destaged.is_newest_write {
                assert!(content.windows(2).all(|pair| pair[0].1 == pair[1].1), "page {lpn} mixes several writes");
            }
            let program = Program { lpn, from: Admitted::OnFlash, is_destage: true, content };
            if destaged.is_newest_write { self.programs.push(program) } else { self.memory.push_back(program) }
        }
    }

    fn respond(&mut self, pick: usize) {
        if self.responses.is_empty() {
            return;
        }
        let (request, written) = self.responses.swap_remove(pick % self.responses.len());
        self.cache.acknowledge(request);
        for (place, version) in written {
            let told = self.told.entry(place).or_default();
            *told = version.max(*told);
        }
    }

    /// Compares the number of acknowledged sectors missing on flash with [`Cache::unsaved_acknowledged`].
    fn count_unsaved(&self) {
        let lost = self.told.iter().filter(|&(&(lpn, sector), &told)| Drive::at(&self.flash, lpn, sector) < told);
        let lost: Vec<u32> = lost.map(|(&(lpn, _), _)| lpn).collect();
        let pages: BTreeSet<u32> = lost.iter().copied().collect();
        let expected = Unsaved { pages: pages.len() as u64, sectors: lost.len() as u64 };
        assert_eq!(self.cache.unsaved_acknowledged(), expected);
    }

    fn remove(&mut self) {
        for Lpn(lpn) in self.cache.take_removed() {
            for sector in 0..SECTORS {
                if let Some(version) = self.dram.remove(&(lpn, sector)) {
                    assert_eq!(version, Drive::at(&self.flash, lpn, sector), "page {lpn} was evicted while dirty");
                }
            }
        }
    }

    fn admit(&mut self, write: &PageWrite, admitted: Admitted) {
        // With a single part, writes are admitted in order of arrival. With several parts, this holds only for writes of the same page.
        let page = if self.cache.parts.len() == 1 { None } else { Some(write.lpn.0) };
        let before = self.admitted.insert(page, write.request.0);
        assert!(before.is_none_or(|before| before < write.request.0), "a write overtook an earlier one");
        self.versions += 1;
        let (lpn, version) = (write.lpn.0, self.versions);
        let content: Vec<_> = write.sectors.iter().map(|sector| (sector, version)).collect();
        if let Admitted::InDram(_) = admitted {
            let written = content.iter().map(|&(sector, version)| ((lpn, sector), version)).collect();
            self.responses.push((write.request, written));
        }
        for sector in write.sectors.iter() {
            self.newest.insert((lpn, sector), version);
            if admitted != Admitted::OnFlash {
                self.dram.insert((lpn, sector), version);
            }
            if let Admitted::InDram(_) = admitted {
                self.acknowledged.insert((lpn, sector), version);
            }
        }
        let program = Program { lpn, from: admitted, is_destage: false, content };
        match admitted {
            Admitted::InDram(_) => {}
            Admitted::InBoth(_) => self.memory.push_back(program),
            Admitted::OnFlash => self.programs.push(program),
        }
    }

    fn write(&mut self, stream: u32, lpn: u32, sectors: Sectors) {
        self.requests += 1;
        let since = Time::from_us(u64::from(self.requests));
        let write = PageWrite {
            request: RequestId(self.requests),
            stream: StreamId(stream),
            priority: Priority::Medium,
            lpn: Lpn(lpn),
            sectors,
            bytes: Bytes::ZERO,
            since,
        };
        if let Some(admitted) = self.cache.offer(write) {
            // The cache may have evicted another page to make space.
            self.remove();
            self.admit(&write, admitted);
        }
        self.settle();
    }

    fn read(&mut self, stream: u32, lpn: u32, wanted: Sectors) {
        let may_fill = self.programs.iter().all(|program| program.lpn != lpn);
        let found = self.cache.read(StreamId(stream), Lpn(lpn), wanted, may_fill);
        let here = found.here.map_or(Sectors::NONE, |(_, sectors)| sectors);
        assert_eq!(here.or(found.missing), wanted);
        for sector in here.iter() {
            assert_eq!(self.dram.get(&(lpn, sector)), self.newest.get(&(lpn, sector)), "sector {sector} of page {lpn}");
        }
        if !found.missing.is_empty() {
            let floor = found.missing.iter().map(|sector| (sector, Drive::at(&self.acknowledged, lpn, sector)));
            let floor = floor.collect();
            self.readings.push(Reading { lpn, missing: found.missing, fills: found.fills, floor, sensed: None });
        }
        self.settle();
    }

    fn go_on_reading(&mut self, pick: usize) {
        if self.readings.is_empty() {
            return;
        }
        let at = pick % self.readings.len();
        let reading = &mut self.readings[at];
        let lpn = reading.lpn;
        if reading.sensed.is_none() {
            let sensed = reading.missing.iter().map(|sector| (sector, Drive::at(&self.flash, lpn, sector)));
            let sensed: BTreeMap<u32, u64> = sensed.collect();
            for (sector, version) in &sensed {
                assert!(*version >= reading.floor[sector], "old data of page {lpn} was read");
            }
            reading.sensed = Some(sensed);
            return;
        }
        let Reading { fills, sensed, .. } = self.readings.swap_remove(at);
        if fills && let Some((_, taken)) = self.cache.filled(Lpn(lpn)) {
            let sensed = sensed.expect("the page was sensed in an earlier step");
            for sector in taken.iter() {
                assert_eq!(sensed[&sector], Drive::at(&self.newest, lpn, sector), "page {lpn}: stale fill");
                let before = self.dram.insert((lpn, sector), sensed[&sector]);
                assert_eq!(before, None, "a fill overwrote cached data of page {lpn}");
                self.newest.insert((lpn, sector), sensed[&sector]);
            }
        }
        self.settle();
    }

    fn program(&mut self, pick: usize) {
        if self.programs.is_empty() {
            return;
        }
        let lpn = self.programs[pick % self.programs.len()].lpn;
        let first = self.programs.iter().position(|program| program.lpn == lpn).expect("lpn is of a program");
        let Program { from, is_destage, content, .. } = self.programs.remove(first);
        for &(sector, version) in &content {
            let before = self.flash.insert((lpn, sector), version);
            assert!(before.is_none_or(|before| before <= version), "page {lpn} was programmed with older data");
        }
        if is_destage {
            if self.cache.is_forgotten(Lpn(lpn)) {
                self.flash.retain(|place, _| place.0 != lpn);
            }
            self.cache.saved(Lpn(lpn));
        } else {
            for (sector, version) in content {
                if Drive::at(&self.newest, lpn, sector) >= version {
                    let acknowledged = self.acknowledged.entry((lpn, sector)).or_default();
                    *acknowledged = version.max(*acknowledged);
                }
            }
            if let Admitted::InBoth(_) = from {
                self.cache.end_write_through(Lpn(lpn));
            }
        }
        self.settle();
    }

    fn memory(&mut self) {
        self.programs.extend(self.memory.pop_front());
    }

    /// Deallocates a page. Does nothing while a host write of the page is in flight, because the order of the two would be undefined.
    fn deallocate(&mut self, lpn: u32) {
        let programs = self.memory.iter().chain(&self.programs);
        if programs.filter(|program| program.lpn == lpn).any(|program| !program.is_destage) {
            return;
        }
        for map in [&mut self.newest, &mut self.dram, &mut self.flash, &mut self.acknowledged, &mut self.told] {
            map.retain(|place, _| place.0 != lpn);
        }
        self.responses.iter_mut().for_each(|(_, written)| written.retain(|(place, _)| place.0 != lpn));
        self.readings.iter_mut().filter(|reading| reading.lpn == lpn).for_each(|reading| {
            reading.floor.values_mut().for_each(|floor| *floor = 0);
        });
        self.cache.deallocate(Lpn(lpn));
        self.settle();
    }

    fn finish(&mut self) {
        self.has_stripes = false;
        for flush in [false, true] {
            self.settle();
            if flush {
                self.cache.flush(Some(RequestId(7)), 0..PAGES);
                self.settle();
            }
            while !(self.memory.is_empty() && self.programs.is_empty() && self.readings.is_empty()) {
                self.memory();
                self.program(0);
                self.go_on_reading(0);
            }
        }
        while !self.responses.is_empty() {
            self.respond(0);
        }
        self.count_unsaved();
        assert_eq!(self.cache.take_flushed(), Some(Some(RequestId(7))));
        assert_eq!(self.cache.take_flushed(), None);
        assert_eq!(self.cache.dirty_pages(), 0);
        assert_eq!(self.versions, u64::from(self.requests), "a write was never admitted");
        let written = |places: &BTreeMap<SectorAddress, u64>| -> BTreeMap<SectorAddress, u64> {
            places.iter().filter(|(_, version)| **version > 0).map(|(place, version)| (*place, *version)).collect()
        };
        assert_eq!(written(&self.flash), written(&self.newest));
    }
}

#[derive(Clone, Debug)]
enum ModelAction {
    Write(u32, u32, Sectors),
    Read(u32, u32, Sectors),
    GoOnReading(usize),
    Program(usize),
    Memory,
    Send,
    Respond(usize),
    Deallocate(u32),
}

fn step() -> impl Strategy<Value = ModelAction> {
    let sectors = prop_oneof![
        1 => Just(Sectors::range(0, SECTORS)),
        1 => (0..SECTORS, 1..=SECTORS).prop_map(|(first, count)| Sectors::range(first, (first + count).min(SECTORS))),
    ];
    let page = (0..2u32, 0..PAGES, sectors);
    prop_oneof![
        6 => page.clone().prop_map(|(stream, lpn, sectors)| ModelAction::Write(stream, lpn, sectors)),
        4 => page.prop_map(|(stream, lpn, sectors)| ModelAction::Read(stream, lpn, sectors)),
        6 => any::<usize>().prop_map(ModelAction::GoOnReading),
        4 => any::<usize>().prop_map(ModelAction::Program),
        4 => Just(ModelAction::Memory),
        1 => Just(ModelAction::Send),
        4 => any::<usize>().prop_map(ModelAction::Respond),
        1 => (0..PAGES).prop_map(ModelAction::Deallocate),
    ]
}

fn settings() -> impl Strategy<Value = (config::Cache, Vec<Caching>)> {
    let choices = (select(CacheSharing::ALL), select(CacheWrites::ALL), select(Destage::ALL), any::<bool>());
    let limits =
        (2..=8u64, 0..=4u32, 0..=4u32, 0..=4u32, proptest::option::of(1..=3u32), proptest::option::of(1..=3u64));
    let caching = prop::collection::vec(select(Caching::ALL), 2);
    (choices, limits, caching).prop_map(|((sharing, writes, destage, keep_destaged), limits, caching)| {
        let (pages, one, other, dirty, destages_max, destage_limit) = limits;
        let share = |quarters: u32| f64::from(quarters) / 4.0;
        let cache = config::Cache {
            capacity: Bytes::from_kib(4 * pages),
            sharing,
            writes,
            destage,
            keep_destaged,
            high_mark: share(one.max(other)),
            low_mark: share(one.min(other)),
            dirty_limit: share(dirty),
            destages_max,
            destage_limit: destage_limit.map(|pages| Bytes::from_kib(4 * pages)),
            destage_window: Time::from_us(20),
            ..config::Cache::default()
        };
        (cache, caching)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: cases(2_000), ..ProptestConfig::default() })]

    #[test]
    fn reads_return_the_newest_data_and_no_write_is_lost(
        (cache, caching) in settings(),
        has_stripes in any::<bool>(),
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let mut drive = Drive::new(cache, &caching, has_stripes);
        for step in steps {
            match step {
                ModelAction::Write(stream, lpn, sectors) => drive.write(stream, lpn, sectors),
                ModelAction::Read(stream, lpn, sectors) => drive.read(stream, lpn, sectors),
                ModelAction::GoOnReading(pick) => drive.go_on_reading(pick),
                ModelAction::Program(pick) => drive.program(pick),
                ModelAction::Memory => drive.memory(),
                ModelAction::Send => drive.send(),
                ModelAction::Respond(pick) => drive.respond(pick),
                ModelAction::Deallocate(lpn) => drive.deallocate(lpn),
            }
            drive.count_unsaved();
        }
        drive.finish();
    }

    /// Compares the cached pages with a textbook LRU list. All accesses are of whole pages, and each ends before the next begins.
    #[test]
    fn pages_are_evicted_in_lru_order(
        capacity in 1..=6u64,
        policy in select(Destage::ALL),
        uses in prop::collection::vec((any::<bool>(), 0..12u32), 1..120),
    ) {
        let settings = config::Cache {
            capacity: Bytes::from_kib(4 * capacity),
            destage: policy,
            high_mark: 0.0,
            low_mark: 0.0,
            destage_window: Time::from_ms(1),
            ..config::Cache::default()
        };
        let mut drive = Drive::new(settings, &[Caching::All], false);
        let whole = Sectors::range(0, SECTORS);
        let mut textbook: VecDeque<u32> = VecDeque::new();
        let mut has_read = false;
        for (reads, lpn) in uses {
            if reads { drive.read(0, lpn, whole) } else { drive.write(0, lpn, whole) }
            while !(drive.memory.is_empty() && drive.programs.is_empty() && drive.readings.is_empty()) {
                drive.memory();
                drive.program(0);
                drive.go_on_reading(0);
            }
            has_read |= reads;
            textbook.retain(|&page| page != lpn);
            textbook.push_back(lpn);
            if textbook.len() as u64 > capacity {
                textbook.pop_front();
            }
            // If the LRU page is dirty and not destaged yet, a clean page is evicted instead. Compare only if that cannot happen.
            if policy == Destage::Watermark || (policy == Destage::Eviction && !has_read) {
                let mut here: Vec<u32> = drive.cache.table.keys().map(|lpn| lpn.0).collect();
                here.sort_unstable();
                let mut expected: Vec<u32> = textbook.iter().copied().collect();
                expected.sort_unstable();
                prop_assert_eq!(here, expected);
            }
        }
        if policy == Destage::Watermark {
            prop_assert_eq!(drive.cache.dirty_pages(), 0);
        }
    }
}
