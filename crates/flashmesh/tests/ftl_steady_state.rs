//! The steady state of uniform random writes: against theory, and reached by preconditioning.

use std::collections::HashSet;

use flashmesh::config::{self, Allocation, Config, Precondition, PreconditionKind, VictimPolicy};
use flashmesh::engine::random::SimRng;
use flashmesh::flash::geometry::Geometry;
use flashmesh::ftl::{Ftl, IdleDies};
use flashmesh::ids::{Lpn, PlaneId};

/// A drive of 2 x `chips_per_channel` planes of 512 blocks of 32 pages, a tenth of them spare.
fn config(victim: VictimPolicy, chips_per_channel: u32) -> Config {
    let mut config = Config::default();
    config.geometry = config::Geometry {
        channels: 1,
        chips_per_channel,
        blocks_per_plane: 512,
        pages_per_block: 32,
        over_provisioning: 0.1,
        ..config::Geometry::default()
    };
    config.gc.victim = victim;
    config.gc.threshold = 0.01;
    config
}

fn preconditioned(
    config: &Config,
    kind: PreconditionKind,
    fill: f64,
) -> (Ftl, Geometry, flashmesh::ftl::PreconditionReport) {
    let geometry = Geometry::new(&config.geometry).unwrap();
    let mut ftl = Ftl::new(&geometry, config);
    let report = ftl.precondition(&Precondition { kind, fill }, 42);
    ftl.audit().unwrap();
    (ftl, geometry, report)
}

/// What uniform random writes did to a drive.
struct Steady {
    write_amplification: f64,
    /// Valid share of the pages of full blocks, on average.
    utilisation: f64,
}

fn write(ftl: &mut Ftl, geometry: &Geometry, pages: u32, writes: u32, random: &mut SimRng) -> Steady {
    let idle = IdleDies::new(geometry.dies());
    let (mut moved, mut free) = (0, 0.0);
    for _ in 0..writes {
        let lpn = Lpn(random.below(pages));
        moved += ftl.write_untimed(lpn, &idle);
        free += f64::from(ftl.free_pages(PlaneId(0)));
    }
    let free = free / f64::from(writes);
    Steady {
        write_amplification: 1.0 + moved as f64 / f64::from(writes),
        utilisation: f64::from(pages) / f64::from(geometry.planes()) / (f64::from(geometry.pages_per_plane()) - free),
    }
}

fn measured(victim: VictimPolicy) -> Steady {
    let (mut ftl, geometry, _) = preconditioned(&config(victim, 1), PreconditionKind::Random, 1.0);
    write(&mut ftl, &geometry, geometry.logical_pages, 6 * geometry.logical_pages, &mut SimRng::new(9))
}

fn assert_within(share: f64, measured: f64, expected: f64) {
    assert!((measured - expected).abs() <= share * expected, "measured {measured}, expected {expected}");
}

#[test]
fn fifo_amplifies_writes_as_its_closed_form_says() {
    let Steady { write_amplification, utilisation } = measured(VictimPolicy::Fifo);
    // A page lives in the log while as many pages are programmed as the log holds, 1/d of them by the host, where the
    // share 1 - d of valid pages left at the tail is what was not overwritten meanwhile: 1 - d = exp(-d / utilisation).
    let mut overwritten = 0.5;
    for _ in 0..200 {
        overwritten = 1.0 - f64::exp(-overwritten / utilisation);
    }
    assert_within(0.03, write_amplification, 1.0 / overwritten);
}

#[test]
fn random_victims_amplify_writes_as_their_closed_form_says() {
    let Steady { write_amplification, utilisation } = measured(VictimPolicy::Random);
    // The victim is an average block.
    assert_within(0.03, write_amplification, 1.0 / (1.0 - utilisation));
}

#[test]
fn the_more_a_policy_knows_the_less_it_amplifies_writes() {
    let [random, random_p, random_pp, fifo, d_choices, greedy] = [
        VictimPolicy::Random,
        VictimPolicy::RandomP,
        VictimPolicy::RandomPp,
        VictimPolicy::Fifo,
        VictimPolicy::DChoices,
        VictimPolicy::Greedy,
    ]
    .map(|victim| measured(victim).write_amplification);
    assert!(random > random_p && random_p > random_pp && random_p > fifo, "{random} {random_p} {random_pp} {fifo}");
    assert!(random_pp > d_choices && fifo > d_choices && d_choices > greedy, "{random_pp} {fifo} {d_choices} {greedy}");
}

#[test]
fn a_randomly_preconditioned_drive_goes_on_as_it_is() {
    for victim in [VictimPolicy::Greedy, VictimPolicy::DChoices, VictimPolicy::RandomPp, VictimPolicy::Fifo] {
        for fill in [1.0, 0.9] {
            let config = config(victim, 8);
            let (mut ftl, geometry, report) = preconditioned(&config, PreconditionKind::Random, fill);
            assert!(report.settled, "{victim:?} {report:?}");
            let pages = (f64::from(geometry.logical_pages) * fill) as u32;
            assert_eq!(report.pages_mapped, u64::from(pages));
            let mut random = SimRng::new(9);
            let first = write(&mut ftl, &geometry, pages, pages / 2, &mut random).write_amplification;
            let later = write(&mut ftl, &geometry, pages, 3 * pages, &mut random).write_amplification;
            assert_within(0.01, first, later);
            assert_within(0.02, report.write_amplification, later);
            ftl.audit().unwrap();
        }
    }
}

#[test]
fn preconditioning_maps_the_first_pages_by_the_static_order_and_leaves_no_wear() {
    for kind in [PreconditionKind::Sequential, PreconditionKind::Random] {
        for order in flashmesh::ftl::allocation::ORDERS {
            // A number of pages that the planes do not divide evenly, nor the block the pages of a plane.
            let fill = 0.777;
            let mut config = config(VictimPolicy::Greedy, 3);
            (config.geometry.blocks_per_plane, config.geometry.dies_per_chip) = (16, 2);
            config.geometry.over_provisioning = 0.35;
            config.ftl.allocation = Allocation::Static(order);
            let (mut ftl, geometry, report) = preconditioned(&config, kind, fill);
            let pages = (f64::from(geometry.logical_pages) * fill) as u32;
            assert_eq!(report.pages_mapped, u64::from(pages));
            let idle = IdleDies::new(geometry.dies());
            for lpn in (0..geometry.logical_pages).map(Lpn) {
                match ftl.lookup(lpn) {
                    Some(ppn) => assert_eq!(geometry.plane_of(ppn), ftl.place_write(lpn, &idle)),
                    None => assert!(lpn.0 >= pages),
                }
            }
            for block in (0..geometry.blocks()).map(flashmesh::ids::BlockId) {
                assert_eq!(ftl.erase_count(block), 0);
            }
        }
    }
}

#[test]
fn sequential_preconditioning_lays_logical_pages_in_order() {
    let (ftl, geometry, report) = preconditioned(&config(VictimPolicy::Greedy, 2), PreconditionKind::Sequential, 0.9);
    assert_eq!(report.write_amplification, 1.0);
    let planes = geometry.planes();
    for lpn in 0..report.pages_mapped as u32 {
        let ppn = ftl.lookup(Lpn(lpn)).unwrap();
        assert_eq!(ppn.0 % geometry.pages_per_plane(), lpn / planes);
    }
    for plane in (0..planes).map(PlaneId) {
        assert!(!ftl.wants_collection(plane), "nothing is invalid");
    }
}

#[test]
fn no_two_planes_of_a_preconditioned_drive_are_copies() {
    let (ftl, geometry, _) = preconditioned(&config(VictimPolicy::Greedy, 300), PreconditionKind::Random, 1.0);
    let planes = geometry.planes();
    let place_in_plane = |lpn: u32| ftl.lookup(Lpn(lpn)).unwrap().0 % geometry.pages_per_plane();
    let mut orders = HashSet::new();
    for residue in 0..planes {
        let places: Vec<u32> = (0..8).map(|local| place_in_plane(local * 7 * planes + residue)).collect();
        assert!(orders.insert(places), "another plane has these pages at the same places");
    }
}

#[test]
fn preconditioning_depends_on_its_seed_alone() {
    let config = config(VictimPolicy::DChoices, 2);
    let geometry = Geometry::new(&config.geometry).unwrap();
    let map = |seed| {
        let mut ftl = Ftl::new(&geometry, &config);
        ftl.precondition(&Precondition { kind: PreconditionKind::Random, fill: 1.0 }, seed);
        (0..geometry.logical_pages).map(|lpn| ftl.lookup(Lpn(lpn))).collect::<Vec<_>>()
    };
    assert_eq!(map(1), map(1));
    assert_ne!(map(1), map(2));
}

#[test]
fn drives_of_any_shape_can_be_preconditioned() {
    for (blocks_per_plane, pages_per_block) in [(5, 1), (5, 8), (16, 8), (9, 64), (7, 65), (40, 3)] {
        for fill in [0.0, 0.01, 0.5, 1.0] {
            for victim in [VictimPolicy::Greedy, VictimPolicy::Random, VictimPolicy::Fifo, VictimPolicy::RandomPp] {
                for kind in [PreconditionKind::None, PreconditionKind::Sequential, PreconditionKind::Random] {
                    for allocation in [config::Ftl::default().allocation, Allocation::Dynamic] {
                        let mut config = config(victim, 2);
                        let logical_blocks = u64::from(blocks_per_plane) - 4;
                        config.geometry.blocks_per_plane = blocks_per_plane;
                        config.geometry.pages_per_block = pages_per_block;
                        config.geometry.capacity =
                            Some(config.geometry.page_size * (4 * logical_blocks * u64::from(pages_per_block)));
                        config.ftl.allocation = allocation;
                        let (mut ftl, geometry, report) = preconditioned(&config, kind, fill);
                        let pages =
                            if kind == PreconditionKind::None { 0.0 } else { f64::from(geometry.logical_pages) * fill };
                        assert_eq!(report.pages_mapped, pages as u64);
                        write(
                            &mut ftl,
                            &geometry,
                            geometry.logical_pages,
                            2 * geometry.logical_pages,
                            &mut SimRng::new(9),
                        );
                        ftl.audit().unwrap();
                    }
                }
            }
        }
    }
}
