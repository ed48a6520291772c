//! Location of neighbouring mapping units after random preconditioning.

use flashmesh::config::{self, Allocation, Config, Precondition, PreconditionKind};
use flashmesh::engine::random::SimRng;
use flashmesh::flash::geometry::Geometry;
use flashmesh::ftl::{Ftl, FtlRules, IdleDies};
use flashmesh::ids::Lpn;
use flashmesh::units::Bytes;

/// Returns a drive of 16 dies, whose pages of flash have four mapping units.
fn drive(allocation: Allocation) -> Config {
    let mut config = Config::default();
    config.geometry = config::Geometry {
        channels: 2,
        chips_per_channel: 8,
        blocks_per_plane: 128,
        pages_per_block: 32,
        page_size: Bytes::from_kib(16),
        over_provisioning: 0.1,
        ..config::Geometry::default()
    };
    config.gc.threshold = 0.01;
    config.ftl.mapping_unit = Some(Bytes::from_kib(4));
    config.ftl.allocation = allocation;
    config
}

/// Returns the share of even logical pages that are on the same die as the next page.
fn share_of_neighbours_on_one_die(ftl: &Ftl, geometry: &Geometry) -> f64 {
    let die_of = |lpn: u32| ftl.lookup(Lpn(lpn)).map(|ppn| geometry.die_of_plane(geometry.plane_of(ppn)));
    let pairs = geometry.logical_pages / 2;
    let together = (0..pairs).filter(|pair| die_of(2 * pair) == die_of(2 * pair + 1)).count();
    together as f64 / f64::from(pairs)
}

/// Random writes of single units scatter neighbours over all dies with dynamic allocation, and keep them on one page with static allocation.
/// Preconditioning must place them like that without simulating the writes.
#[test]
fn neighbouring_units_begin_where_random_writes_would_have_placed_them() {
    for (allocation, expected) in [(Allocation::Dynamic, 1.0 / 16.0), (Config::default().ftl.allocation, 1.0)] {
        let config = drive(allocation);
        let geometry = Geometry::from_config(&config).unwrap();
        let mut ftl = Ftl::new(&geometry, &config, FtlRules::new(&config));
        let random = Precondition { kind: PreconditionKind::Random, ..Precondition::default() };
        assert!(ftl.precondition(&random, 42).settled);
        let at_start = share_of_neighbours_on_one_die(&ftl, &geometry);
        let (idle, mut random) = (IdleDies::new(geometry.dies()), SimRng::new(9));
        for _ in 0..5 * geometry.logical_pages {
            ftl.untimed().write(Lpn(random.below(geometry.logical_pages)), &idle);
        }
        ftl.audit().unwrap();
        let later = share_of_neighbours_on_one_die(&ftl, &geometry);
        assert!((at_start - expected).abs() < 0.01, "{allocation:?}: {at_start}, expected {expected}");
        assert!((later - at_start).abs() < 0.01, "{allocation:?}: {at_start} at the start, {later} later");
    }
}
