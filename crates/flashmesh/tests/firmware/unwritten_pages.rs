//! Reads of unwritten pages. Each logical page has a home, a physical page computed from its number, where it is read until it is written.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use flashmesh::config::{Allocation, ArrayLevel, Config, HomeOrder, Instance, MultiPlane};
use flashmesh::flash::geometry::Geometry;
use flashmesh::ids::{Lpn, PlaneId, Ppn};
use flashmesh::kernel::probe::{Notice, Probe};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::{IoRequest, RequestKind};
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::cases::cases;
use crate::support::drives::*;

/// Probe that records the locations of the reads of each logical page, in order.
#[derive(Clone, Default)]
struct Reads(Arc<Mutex<BTreeMap<Lpn, Vec<Ppn>>>>);

impl Probe for Reads {
    fn notify(&mut self, _now: Time, notice: &Notice<'_>) {
        if let Notice::PageRead(ppn, lpn, Some(_)) = *notice {
            self.0.lock().expect("no other thread panicked").entry(lpn).or_default().push(ppn);
        }
    }
}

/// Runs `requests` with all oracles enabled. Returns the locations of the reads of each logical page in order, and the drive.
fn reads_of(config: &Config, requests: Vec<IoRequest>) -> (BTreeMap<Lpn, Vec<Ppn>>, Simulation) {
    let reads = Reads::default();
    let mut simulation =
        Simulation::with_source(config, Box::new(Listed(requests.into()))).expect("the drive can be built");
    simulation.add_probe(Box::new(reads.clone()));
    simulation.enable_checks();
    simulation.run(&Control::default()).expect("the run ends without a violation");
    let reads = reads.0.lock().expect("no other thread panicked").clone();
    (reads, simulation)
}

/// Returns a strategy that draws a small drive, and the levels of its static order, the fastest-varying first.
fn drive() -> impl Strategy<Value = (Config, [ArrayLevel; 4])> {
    let levels = Just(ArrayLevel::ALL.to_vec()).prop_shuffle();
    let shape = (1..=3u32, 1..=3u32, 1..=2u32, 1..=4u32, 8..=16u32, 3..=9u32);
    (shape, levels, any::<bool>()).prop_map(|(shape, levels, is_dynamic)| {
        let mut config = bare_drive();
        let (channels, chips_per_channel, dies_per_chip, planes_per_die, blocks_per_plane, pages_per_block) = shape;
        let planes = channels * chips_per_channel * dies_per_chip * planes_per_die;
        config.geometry = flashmesh::config::Geometry {
            channels,
            chips_per_channel,
            dies_per_chip,
            planes_per_die,
            blocks_per_plane,
            pages_per_block,
            capacity: Some(Bytes::new(PAGE) * u64::from(planes * (blocks_per_plane - 4) * pages_per_block)),
            ..config.geometry
        };
        config.flash.multi_plane = MultiPlane::SameOffset;
        let order = levels.try_into().expect("the vector has four levels");
        if is_dynamic {
            (config.ftl.allocation, config.ftl.home_order) = (Allocation::Dynamic, HomeOrder(order));
        } else {
            config.ftl.allocation = Allocation::Static(order);
        }
        (config, order)
    })
}

/// Computes the home of a page by long division: the plane, digit by digit, then the page in the plane.
fn home(config: &Config, order: [ArrayLevel; 4], lpn: u32) -> Ppn {
    let geometry = &config.geometry;
    let count = |level| match level {
        ArrayLevel::Channel => geometry.channels,
        ArrayLevel::Way => geometry.chips_per_channel,
        ArrayLevel::Die => geometry.dies_per_chip,
        ArrayLevel::Plane => geometry.planes_per_die,
    };
    let (mut rest, mut digits) = (lpn, BTreeMap::new());
    for level in order {
        digits.insert(level, rest % count(level));
        rest /= count(level);
    }
    let plane = ArrayLevel::ALL.into_iter().fold(0, |plane, level| plane * count(level) + digits[&level]);
    let (block, page) = (rest / geometry.pages_per_block, rest % geometry.pages_per_block);
    Ppn((plane * geometry.blocks_per_plane + block) * geometry.pages_per_block + page)
}

fn logical_pages(config: &Config) -> u32 {
    Geometry::new(&config.geometry).expect("the geometry is valid").logical_pages
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(64), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_are_read_at_the_same_places_in_whatever_order(
        ((config, order), shares, shuffled) in (drive(), prop::collection::vec(any::<u32>(), 1..60)).prop_flat_map(
            |(drive, shares)| (Just(drive), Just(shares.clone()), Just(shares).prop_shuffle()),
        ),
        spacing in select(vec![0u64, 1, 20]),
    ) {
        let pages = logical_pages(&config);
        let requests = |shares: Vec<u32>| {
            let at = |number: usize| Time::from_us(spacing * number as u64);
            shares.iter().enumerate().map(|(number, share)| read(u64::from(share % pages), 1, at(number))).collect()
        };
        let (one, drive) = reads_of(&config, requests(shares));
        let (other, _) = reads_of(&config, requests(shuffled));
        prop_assert_eq!(&one, &other);
        for (lpn, places) in one {
            prop_assert!(places.iter().all(|&place| place == home(&config, order, lpn.0)), "{:?}: {:?}", lpn, places);
            prop_assert_eq!(drive.ftl().lookup(lpn), None);
        }
        prop_assert_eq!((drive.ftl().map().written_bytes(), drive.ftl().blocks().valid_pages_of_drive()), (Bytes::ZERO, 0));
    }

    #[test]
    fn writes_and_deallocations_of_other_pages_do_not_matter(
        (config, order) in drive(),
        steps in prop::collection::vec((any::<u32>(), 0..4u32), 1..300),
    ) {
        let pages = logical_pages(&config);
        // Even pages are only read. Odd pages are repeatedly written and deallocated.
        let requests = steps.iter().enumerate().map(|(number, &(share, kind))| {
            let at = Time::from_us(30 * number as u64);
            let page = u64::from(share % pages);
            match kind {
                0 => request(RequestKind::Deallocate, page | 1, 1, at),
                1 | 2 => write(page | 1, 1, at),
                _ => read(page & !1, 1, at),
            }
        });
        let requests: Vec<_> = requests.filter(|request| request.offset.as_u64() < u64::from(pages) * PAGE).collect();
        let (reads, _) = reads_of(&config, requests);
        for (lpn, places) in reads {
            prop_assert!(places.iter().all(|&place| place == home(&config, order, lpn.0)), "{:?}: {:?}", lpn, places);
        }
    }
}

#[test]
fn a_page_is_read_at_its_home_until_it_is_written_and_after_it_is_deallocated() {
    let mut config = bare_drive();
    config.ftl.allocation = order("CWDP");
    let at = |ms: u64| Time::from_us(1000 * ms);
    // Page 640 is read at the sixth page of its plane while unwritten. Ten other pages of the plane are written first, so it is written to the
    // eleventh.
    let before = (0..11u64).map(|page| write(page * 128, 1, Time::ZERO));
    let page = 640;
    let requests = before.chain([
        read(page, 1, at(100)),
        write(page, 1, at(101)),
        read(page, 1, at(102)),
        request(RequestKind::Deallocate, page, 1, at(103)),
        read(page, 1, at(104)),
    ]);
    let (reads, _) =
        reads_of(&config, requests.filter(|io| io.offset.as_u64() != page * PAGE || io.arrival > at(1)).collect());
    assert_eq!(reads[&Lpn(640)], [Ppn(5), Ppn(10), Ppn(5)]);
}

#[test]
fn pages_that_follow_each_other_join_however_they_were_read_before() {
    let mut config = bare_drive();
    config.flash.multi_plane = MultiPlane::SameBlockAndOffset;
    config.ftl.allocation = order("PCWD");
    let at = |us: u64| Time::from_us(us);
    let operations =
        |requests: Vec<IoRequest>| run_source(&config, Listed(requests.into())).0.flash.multi_plane_operations;
    // Pages 0 and 1 are on the two planes of the first die, at the same offset. Pages 256 and 257 are on these planes too, at a larger
    // offset.
    assert_eq!(operations(vec![read(0, 2, at(0))]), 1);
    assert_eq!(operations(vec![read(257, 1, at(0)), read(1, 1, at(50)), read(0, 2, at(100))]), 1);
    assert_eq!(operations(vec![read(0, 1, at(0)), read(257, 1, at(0))]), 0, "the pages have different offsets");
}

#[test]
fn a_write_of_a_part_of_a_page_that_holds_nothing_reads_nothing_whether_it_was_read_before_or_not() {
    let config = bare_drive();
    let part = IoRequest { size: Bytes::new(512), ..write(7, 1, Time::from_us(100)) };
    for before in [vec![], vec![read(7, 1, Time::ZERO)]] {
        let (report, _) = run_source(&config, Listed(before.into_iter().chain([part]).collect()));
        assert_eq!((report.flash.partial_write_reads, report.flash.user_programs), (0, 1));
    }
}

#[test]
fn reads_of_a_whole_drive_touch_no_map_and_a_write_touches_a_page_of_it() {
    let mut config = Config::default();
    config.workload.requests = Some(20_000);
    let run = |config: &Config| {
        let mut simulation = Simulation::new(config).expect("the drive can be built");
        simulation.run(&Control::default()).expect("every request completes");
        simulation
    };
    assert_eq!(run(&config).instance(), Instance::Plain);
    assert_eq!(run(&config).ftl().map().written_bytes(), Bytes::ZERO);
    config.workload.read_share = 0.0;
    config.workload.requests = Some(1);
    assert_eq!(
        run(&config).ftl().map().written_bytes(),
        Bytes::new(4096),
        "the entries of 1024 pages are one page of memory"
    );
}

#[test]
fn homes_of_namespaces_that_share_planes_do_not_overlap() {
    let config = config_of(
        "[geometry]\nchannels = 2\nchips-per-channel = 1\nplanes-per-die = 1\nblocks-per-plane = 16\npages-per-block = 8\n\
         capacity = \"400KiB\"\n[namespace.a]\ncapacity = \"120KiB\"\n[namespace.b]\ncapacity = \"100KiB\"\nchannels = [1]\n\
         [namespace.c]\ncapacity = \"180KiB\"\n",
    );
    let simulation = Simulation::new(&config).expect("the drive can be built");
    let location = |lpn| {
        let Ppn(ppn) = simulation.ftl().location(Lpn(lpn));
        (PlaneId(ppn / 128), ppn % 128)
    };
    // Namespace a has 30 pages on both planes, b 25 pages on the second plane, and c 45 pages on both.
    assert_eq!((location(0), location(29)), ((PlaneId(0), 0), (PlaneId(1), 14)));
    assert_eq!((location(30), location(54)), ((PlaneId(1), 15), (PlaneId(1), 39)));
    assert_eq!((location(55), location(56)), ((PlaneId(0), 15), (PlaneId(1), 40)));
    assert_eq!(location(99), (PlaneId(0), 15 + 22));
}
