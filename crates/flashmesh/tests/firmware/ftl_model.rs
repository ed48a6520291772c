//! The flash translation layer under random operations, compared with a simple model of a drive.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use flashmesh::config::{self, Allocation, ArrayLevel, Config, StreamConfig, VictimPolicy};
use flashmesh::engine::random::SimRng;
use flashmesh::flash::geometry::Geometry;
use flashmesh::flash::namespace::ResolvedNamespace;
use flashmesh::ftl::{BlockState, Ftl, FtlRules, IdleDies, OpenBlockKind};
use flashmesh::ids::{BlockId, DieId, Lpn, PlaneId, Ppn, StreamId};
use flashmesh::units::Bytes;
use proptest::prelude::*;

use crate::support::cases::cases;
use crate::support::partitions;

/// Content of a physical page: logical page, and version of its data.
type Content = (Lpn, u64);

/// Program in progress on a die.
#[derive(Clone, Copy, Debug)]
struct Program {
    content: Content,
    to: Ppn,
    /// Old location of a moved page; `None` for a host write.
    from: Option<Ppn>,
}

/// Collection, or move of a block for wear leveling, in progress on a plane.
#[derive(Clone, Copy, Debug)]
struct Collection {
    victim: BlockId,
    next_page: u32,
}

/// FTL under test, with a simple model of the drive.
struct Model {
    ftl: Ftl,
    geometry: Geometry,
    spaces: Vec<Space>,
    idle: IdleDies,
    flash: HashMap<Ppn, Content>,
    allocated: BTreeSet<Ppn>,
    /// Newest committed version of each logical page.
    newest: BTreeMap<Lpn, u64>,
    versions: u64,
    /// Host programs in flight.
    host_programs: HashMap<(PlaneId, StreamId), Program>,
    moves: HashMap<PlaneId, Program>,
    collections: HashMap<PlaneId, Collection>,
    /// Home of each logical page: the location where it is read while unwritten, taken from the fresh drive.
    homes: Vec<Ppn>,
}

impl Model {
    fn new(config: &Config) -> Model {
        let geometry = Geometry::new(&config.geometry).unwrap();
        let ftl = Ftl::new(&geometry, config, FtlRules::new(config));
        let spaces = spaces(config, &geometry);
        let pages: u32 = spaces.iter().map(|space| space.pages.len() as u32).sum();
        Model {
            homes: (0..pages).map(|lpn| ftl.location(Lpn(lpn))).collect(),
            spaces,
            ftl,
            idle: IdleDies::new(geometry.dies()),
            geometry,
            flash: HashMap::new(),
            allocated: BTreeSet::new(),
            newest: BTreeMap::new(),
            versions: 0,
            host_programs: HashMap::new(),
            moves: HashMap::new(),
            collections: HashMap::new(),
        }
    }

    fn allocate(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<Ppn> {
        let foretold = self.ftl.blocks().next_page_offset(plane, stream);
        let ppn = self.ftl.allocate(plane, stream);
        assert_eq!(ppn, foretold.map(|(block, page)| self.geometry.ppn(block, page)));
        let ppn = ppn?;
        assert_eq!(self.geometry.plane_of(ppn), plane);
        assert!(self.allocated.insert(ppn), "{ppn:?} is allocated twice without an erase");
        if self.geometry.page_in_block(ppn) > 0 {
            assert!(self.allocated.contains(&Ppn(ppn.0 - 1)), "{ppn:?} is allocated before the page below it");
        }
        Some(ppn)
    }

    fn program(&mut self, content: Content, to: Ppn) {
        assert_eq!(self.flash.insert(to, content), None, "{to:?} is programmed twice");
    }

    fn erase(&mut self, block: BlockId) {
        for page in 0..self.geometry.pages_per_block {
            let ppn = self.geometry.ppn(block, page);
            self.flash.remove(&ppn);
            self.allocated.remove(&ppn);
        }
    }

    /// Returns the namespace of `lpn`.
    fn space(&self, lpn: Lpn) -> &Space {
        self.spaces.iter().find(|space| space.pages.contains(&lpn.0)).expect("every page is in a namespace")
    }

    /// Returns the logical page with index `share` over all namespaces.
    fn page_at(&self, share: u32) -> Lpn {
        Lpn(self
            .spaces
            .iter()
            .flat_map(|space| space.pages.clone())
            .nth(share as usize)
            .expect("`share` is less than the number of pages"))
    }

    /// Returns the number of pages of all namespaces.
    fn pages(&self) -> u32 {
        self.spaces.iter().map(|space| space.pages.len() as u32).sum()
    }

    fn write(&mut self, lpn: Lpn, pick: u32) {
        // A drive has at most one write of a page in flight, so a second write is skipped.
        if self.host_programs.values().any(|program| program.content.0 == lpn) {
            return;
        }
        let plane = self.ftl.place_write(lpn, &self.idle);
        assert!(self.space(lpn).planes.contains(&plane), "{lpn:?} is placed on {plane:?}");
        let writers = &self.space(lpn).streams;
        let stream = writers.get(pick as usize % writers.len().max(1)).copied();
        let OpenBlockKind::Host(writer) = self.ftl.blocks().host_block_kind(plane, stream) else {
            panic!("the kind of open block is not a host stream")
        };
        self.finish_host_program(plane, writer);
        let mut steps = 0;
        let to = loop {
            if let Some(to) = self.allocate(plane, OpenBlockKind::Host(writer)) {
                break to;
            }
            assert!(self.ftl.is_urgent(plane));
            let begins = !self.collections.contains_key(&plane);
            self.step_collection(plane);
            assert!(
                !begins || self.collections.contains_key(&plane),
                "the host is out of space and there is no collection"
            );
            steps += 1;
            assert!(steps < 1_000_000, "GC frees no page for the host");
        };
        self.versions += 1;
        self.host_programs.insert((plane, writer), Program { content: (lpn, self.versions), to, from: None });
    }

    fn finish_host_program(&mut self, plane: PlaneId, writer: StreamId) {
        if let Some(Program { content, to, .. }) = self.host_programs.remove(&(plane, writer)) {
            self.program(content, to);
            self.ftl.commit_write(content.0, to);
            self.newest.insert(content.0, content.1);
        }
    }

    fn finish_move(&mut self, plane: PlaneId) {
        let Some(Program { content, to, from }) = self.moves.remove(&plane) else { return };
        let from = from.unwrap();
        let is_current = self.ftl.lookup(content.0) == Some(from);
        self.program(content, to);
        assert_eq!(self.ftl.commit_move(content.0, from, to), is_current);
    }

    /// Moves the next valid page of the victim of the plane, or erases the victim if none is left. Without a victim, starts a collection if one is
    /// needed.
    fn step_collection(&mut self, plane: PlaneId) {
        self.finish_move(plane);
        let Some(Collection { victim, next_page }) = self.collections.get(&plane).copied() else {
            let wear = self.ftl.begin_wear_move(plane);
            let wants = self.ftl.needs_collection(plane) || self.ftl.needs_background_collection(plane);
            let victims = wear.or_else(|| if wants { self.ftl.begin_collection(plane) } else { None });
            assert!(victims.is_some() || !wants, "GC is needed and there is no victim");
            if let Some(victims) = victims {
                let [victim] = victims[..] else {
                    panic!("{victims:?}: a drive without superblocks collects one block")
                };
                assert_eq!(self.ftl.blocks().state(victim), BlockState::Collecting);
                assert_eq!(self.geometry.plane_of_block(victim), plane);
                assert!(!self.ftl.needs_collection(plane), "GC is still needed during a collection");
                assert_eq!(self.ftl.begin_collection(plane), None, "a second collection starts");
                self.collections.insert(plane, Collection { victim, next_page: 0 });
            }
            return;
        };
        // Expected result of `next_valid_page`: the first valid page from `next_page` on.
        let is_valid = |page| {
            let ppn = self.geometry.ppn(victim, page);
            let (lpn, _) = self.flash[&ppn];
            (self.ftl.lookup(lpn) == Some(ppn)).then_some((page, lpn))
        };
        let expected = (next_page..self.geometry.pages_per_block).find_map(is_valid);
        assert_eq!(self.ftl.next_valid_page(victim, next_page), expected);
        match expected {
            Some((page, _)) => {
                let from = self.geometry.ppn(victim, page);
                let content = self.flash[&from];
                let to = self.allocate(plane, OpenBlockKind::Collection).expect("the GC reserve has a free page");
                self.moves.insert(plane, Program { content, to, from: Some(from) });
                self.collections.insert(plane, Collection { victim, next_page: page + 1 });
            }
            None => {
                assert_eq!(self.ftl.blocks().valid_pages(victim), 0);
                let erase_count = self.ftl.blocks().erase_count(victim);
                self.ftl.finish_erase(victim);
                assert_eq!(self.ftl.blocks().erase_count(victim), erase_count + 1);
                assert_eq!(self.ftl.blocks().state(victim), BlockState::Free);
                self.erase(victim);
                self.collections.remove(&plane);
            }
        }
    }

    /// Reads a page and asserts that no mapping changes. With `places`, an unwritten page is first mapped to a free physical page, if there is one.
    fn read(&mut self, lpn: Lpn, places: bool) {
        let before = self.ftl.lookup(lpn);
        let locations: Vec<_> = self.newest.keys().map(|&lpn| (lpn, self.ftl.location(lpn))).collect();
        let placed = if places && before.is_none() { self.ftl.map_on_read(lpn, None) } else { None };
        if let Some(ppn) = placed {
            assert!(self.space(lpn).planes.contains(&self.geometry.plane_of(ppn)), "{lpn:?} is at {ppn:?}");
            assert!(self.allocated.insert(ppn), "{ppn:?} is allocated twice without an erase");
            self.versions += 1;
            self.program((lpn, self.versions), ppn);
            self.newest.insert(lpn, self.versions);
        }
        assert_eq!(self.ftl.lookup(lpn), before.or(placed));
        assert_eq!(self.ftl.location(lpn), before.or(placed).unwrap_or(self.homes[lpn.index()]));
        for (lpn, was) in locations {
            assert_eq!(self.ftl.lookup(lpn), Some(was), "a read moves {lpn:?}");
        }
    }

    fn deallocate(&mut self, lpn: Lpn) {
        let was_mapped = self.newest.remove(&lpn).is_some();
        assert_eq!(self.ftl.deallocate(lpn), was_mapped);
    }

    fn check(&self) {
        self.ftl.audit().unwrap();
        assert_eq!(self.ftl.blocks().valid_pages_of_drive(), self.newest.len() as u64);
        for lpn in (0..self.geometry.logical_pages).map(Lpn) {
            let held = self.ftl.lookup(lpn).map(|ppn| self.flash[&ppn]);
            assert_eq!(held, self.newest.get(&lpn).map(|&version| (lpn, version)));
        }
        for (lpn, &home) in (0..).map(Lpn).zip(&self.homes) {
            assert_eq!(self.ftl.location(lpn), self.ftl.lookup(lpn).unwrap_or(home), "{lpn:?}");
        }
    }

    /// Executes a random operation.
    fn step(&mut self, random: &mut SimRng) {
        let kind = random.below(100);
        let lpn = self.page_at(random.below(self.pages()));
        let plane = PlaneId(random.below(self.geometry.planes()));
        self.idle.set(DieId(random.below(self.geometry.dies())), random.below(2) == 0);
        match kind {
            0..50 => self.write(lpn, random.below(64)),
            50..55 => self.finish_host_program(plane, StreamId(random.below(3))),
            55..90 => self.step_collection(plane),
            90..97 => self.read(lpn, random.below(2) == 0),
            _ => self.deallocate(lpn),
        }
    }

    /// Ends all host programs and collections in flight.
    fn settle(&mut self) {
        for plane in (0..self.geometry.planes()).map(PlaneId) {
            (0..64).for_each(|stream| self.finish_host_program(plane, StreamId(stream)));
            while self.collections.contains_key(&plane) {
                self.step_collection(plane);
            }
        }
    }
}

/// Namespace: its logical pages, the planes that hold them, and its streams.
struct Space {
    pages: Range<u32>,
    planes: BTreeSet<PlaneId>,
    /// Streams that use the namespace.
    streams: Vec<StreamId>,
}

fn spaces(config: &Config, geometry: &Geometry) -> Vec<Space> {
    let namespaces = config.namespaces(geometry).unwrap();
    let resolve = |namespace: &ResolvedNamespace| {
        let first = geometry.lpn_of(namespace.start).0;
        let planes = (0..geometry.planes()).map(PlaneId);
        let uses = |stream: &StreamConfig| match &stream.queue.namespace {
            Some(name) => *name == namespace.name,
            None => namespace.start == Bytes::ZERO,
        };
        let streams: Vec<StreamConfig> = config.streams();
        let streams = (0..streams.len()).filter(|&at| uses(&streams[at])).map(|at| StreamId(at as u32));
        Space {
            pages: first..first + (namespace.capacity.as_u64() / geometry.page_size.as_u64()) as u32,
            planes: planes.filter(|&plane| namespace.has_plane(geometry, plane)).collect(),
            streams: streams.collect(),
        }
    };
    namespaces.iter().map(resolve).collect()
}

/// Returns a strategy that draws small drives with every victim policy, allocation and option, some with the minimum of spare blocks.
fn configs() -> impl Strategy<Value = Config> {
    let victims = prop_oneof![
        Just(VictimPolicy::Greedy),
        Just(VictimPolicy::DChoices),
        Just(VictimPolicy::Random),
        Just(VictimPolicy::RandomP),
        Just(VictimPolicy::RandomPp),
        Just(VictimPolicy::Fifo),
    ];
    let orders = proptest::sample::select(flashmesh::ftl::allocation::ORDERS.to_vec());
    let allocation = prop_oneof![
        2 => orders.prop_map(Allocation::Static),
        1 => Just(Allocation::Dynamic),
        1 => Just(Allocation::FreeChannel),
    ];
    let shape = (1..=2u32, 1..=2u32, 1..=2u32, 1..=2u32, 5..=16u32, 1..=70u32, 0..=2u32, any::<bool>());
    let gc = (victims, 1..=4u32, 0.0..0.3f64, 0.0..0.5f64);
    let wear = (any::<bool>(), any::<bool>(), 1..=4u32);
    let apart = (partitions::division(), 1..=3usize);
    (shape, allocation, gc, wear, apart, any::<u64>()).prop_map(|(shape, allocation, gc, wear, apart, seed)| {
        let (channels, chips_per_channel, dies_per_chip, planes_per_die, blocks_per_plane, pages, spare, whole) = shape;
        let pages_per_block = if whole { 8 } else { pages };
        let planes = channels * chips_per_channel * dies_per_chip * planes_per_die;
        let blocks = (blocks_per_plane - 4).saturating_sub(spare).max(1);
        let logical_pages = (planes * blocks * pages_per_block - u32::from(!whole)).max(1);
        let mut config = Config { seed, ..Config::default() };
        config.geometry = config::Geometry {
            channels,
            chips_per_channel,
            dies_per_chip,
            planes_per_die,
            blocks_per_plane,
            pages_per_block,
            capacity: Some(Bytes::from_kib(4) * u64::from(logical_pages)),
            ..config::Geometry::default()
        };
        config.ftl.allocation = allocation;
        (config.gc.victim, config.gc.d, config.gc.threshold, config.gc.background_threshold) = gc;
        (config.wear.dynamic, config.wear.static_levelling, config.wear.static_threshold) = wear;
        let (division, streams) = apart;
        division.fit(&mut config);
        partitions::stream_by_stream(&mut config, streams);
        config
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(48), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_page_holds_its_newest_version_whatever_is_interleaved(
        config in configs(),
        steps in 0..2500u32,
    ) {
        let mut model = Model::new(&config);
        let mut random = SimRng::new(config.seed);
        for step in 0..steps {
            model.step(&mut random);
            if step % 100 == 0 {
                model.check();
            }
        }
        model.settle();
        model.check();
    }

    #[test]
    fn a_drive_written_to_the_last_page_can_be_overwritten_for_ever(config in configs()) {
        let mut model = Model::new(&config);
        let mut random = SimRng::new(config.seed);
        let pages = model.pages();
        for number in 0..pages {
            model.write(model.page_at(number), random.below(64));
        }
        for _ in 0..2 * pages {
            model.write(model.page_at(random.below(pages)), random.below(64));
        }
        model.settle();
        model.check();
        prop_assert_eq!(model.ftl.blocks().valid_pages_of_drive(), u64::from(pages));
    }

    #[test]
    fn a_drive_read_before_it_is_written_can_be_written_to_the_last_page(config in configs()) {
        let mut model = Model::new(&config);
        let mut random = SimRng::new(config.seed);
        let pages = model.pages();
        for number in 0..pages {
            if random.below(3) == 0 {
                model.write(model.page_at(number), random.below(64));
            }
            model.step_collection(PlaneId(random.below(model.geometry.planes())));
            model.read(model.page_at(random.below(pages)), true);
        }
        for number in 0..pages {
            model.read(model.page_at(number), true);
        }
        model.check();
        for number in 0..pages {
            model.write(model.page_at(number), random.below(64));
        }
        model.settle();
        model.check();
        prop_assert_eq!(model.ftl.blocks().valid_pages_of_drive(), u64::from(pages));
    }

    #[test]
    fn the_homes_of_a_namespace_fill_its_planes_page_by_page_and_are_of_no_other_page(config in configs()) {
        let model = Model::new(&config);
        let mut taken = BTreeSet::new();
        let mut ends: BTreeMap<PlaneId, u32> = BTreeMap::new();
        for space in &model.spaces {
            let mut counts: BTreeMap<PlaneId, u32> = space.planes.iter().map(|&plane| (plane, 0)).collect();
            for lpn in space.pages.clone() {
                let home = model.homes[lpn as usize];
                let plane = model.geometry.plane_of(home);
                prop_assert!(space.planes.contains(&plane), "the home of {lpn} is on {plane:?}");
                prop_assert!(taken.insert(home), "{home:?} is the home of two pages");
                let page = home.0 - model.geometry.ppn(model.geometry.first_block(plane), 0).0;
                let end = ends.get(&plane).copied().unwrap_or(0);
                prop_assert!(if counts[&plane] == 0 { page >= end } else { page == end }, "{home:?} follows page {end}");
                *counts.entry(plane).or_default() += 1;
                ends.insert(plane, page + 1);
            }
            // The homes (locations of unwritten pages) of a namespace are spread evenly: no plane has two more than another plane.
            prop_assert!(counts.values().max() <= counts.values().min().map(|least| least + 1).as_ref());
        }
    }
}

#[test]
fn static_placement_follows_the_order_of_the_configuration() {
    let mut config = Config::default();
    config.ftl.allocation =
        Allocation::Static([ArrayLevel::Plane, ArrayLevel::Die, ArrayLevel::Way, ArrayLevel::Channel]);
    let geometry = Geometry::new(&config.geometry).unwrap();
    let mut ftl = Ftl::new(&geometry, &config, FtlRules::new(&config));
    let idle = IdleDies::new(geometry.dies());
    for lpn in 0..300 {
        assert_eq!(
            ftl.place_write(Lpn(lpn), &idle),
            PlaneId(lpn % 128),
            "in this order consecutive pages are on consecutive planes"
        );
        assert_eq!(ftl.location(Lpn(lpn)), geometry.ppn(geometry.first_block(PlaneId(lpn % 128)), lpn / 128));
    }
}
