//! The six interconnects on the `venice-z-nand` drive, under saturated single-page reads without a host link, compared with arithmetic.
//!
//! A bus transfers a page in 10 ns + 4096 B / 1.2 GB/s; pSSD uses packets at twice the rate; a link of NoSSD and Venice carries one byte per
//! nanosecond. Uniform traffic loads all rows equally. If all traffic goes to one row, bus, pSSD and NoSSD have only the one channel of that
//! row. pnSSD also has the vertical channels and Venice all controllers, so that the eight chips become the bottleneck.

use flashmesh::config::{Config, FabricKind, InjectionPolicy, Pattern, ReplayMode};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Bytes;

use crate::support::drives::{assert_within, bare_drive};

/// Transfer time of a page over a channel of the bus, in nanoseconds.
const BUS_PAGE: f64 = 10.0 + 4096.0 / 1.2;
/// Transfer time of a page in packets over a channel with the rate of the bus, in nanoseconds.
const PACKET_PAGE: f64 = (8.0 + 4096.0 + 12.0) / 1.2;
/// Time of a read of a chip without contention, in nanoseconds.
const CHIP_READ: f64 = 10.0 + 3000.0 + 4096.0 / 1.2;

/// Returns [`bare_drive`] with the given interconnect, saturated with single-page reads.
fn drive(kind: FabricKind) -> Config {
    let mut config = bare_drive();
    config.fabric.kind = kind;
    if kind == FabricKind::Bus {
        // [`bare_drive`] has fewer blocks than the preset. The bus keeps the blocks of the preset.
        config.geometry.blocks_per_plane = Config::default().geometry.blocks_per_plane;
    }
    config.nossd.injection = InjectionPolicy::Nearest;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 4096;
    // Runs are long enough to make the idle time of rows at the end negligible. Venice is slowest to simulate and does not depend on rows, so its run
    // is shorter.
    config.workload.requests = Some(if kind == FabricKind::Venice { 60_000 } else { 150_000 });
    config
}

/// Runs the drive with all oracles enabled, and returns the report.
fn run(config: &Config) -> Report {
    let mut simulation = Simulation::new(config).expect("the drive can be built");
    simulation.enable_checks();
    simulation.run(&Control::default()).expect("the run ends without a violation")
}

/// Returns the throughput of random reads, which load all chips equally on average, in GB/s.
fn uniform(kind: FabricKind) -> f64 {
    run(&drive(kind)).bandwidth_bytes_per_s / 1e9
}

/// Returns the throughput of sequential reads, which load all chips equally, in GB/s.
fn in_turn(kind: FabricKind) -> f64 {
    let mut config = drive(kind);
    config.workload.pattern = Pattern::Sequential;
    config.workload.requests = Some(60_000);
    run(&config).bandwidth_bytes_per_s / 1e9
}

/// Returns the throughput of reads that load the chips of one row equally, in GB/s.
fn one_row(kind: FabricKind) -> f64 {
    let mut config = drive(kind);
    config.workload.requests = Some(20_000);
    config.workload.pattern = Pattern::Sequential;
    // With the order CWDP every eighth page is on the first channel.
    config.workload.alignment = Some(Bytes::from_kib(4 * 8));
    run(&config).bandwidth_bytes_per_s / 1e9
}

/// Returns the throughput of random reads of which `share` go to one row, in GB/s: the mean of three seeds, which differ by up to 2 %.
fn hot_row(kind: FabricKind, share: f64) -> f64 {
    let of_seed = |seed| {
        let mut config = drive(kind);
        config.seed = seed;
        config.workload.pattern = Pattern::HotStride;
        config.workload.hot_traffic = share;
        config.workload.requests = Some(40_000);
        run(&config).bandwidth_bytes_per_s / 1e9
    };
    (0..3).map(of_seed).sum::<f64>() / 3.0
}

#[test]
fn the_bus_moves_a_page_at_a_time_on_each_row() {
    assert_within("bus, uniform", uniform(FabricKind::Bus), 8.0 * 4096.0 / BUS_PAGE, 0.02);
    assert_within("bus, one row", one_row(FabricKind::Bus), 4096.0 / BUS_PAGE, 0.02);
}

#[test]
fn pssd_moves_twice_as_much_less_the_overhead_of_its_packets() {
    assert_within("pSSD, uniform", uniform(FabricKind::Pssd), 2.0 * 8.0 * 4096.0 / PACKET_PAGE, 0.02);
    assert_within("pSSD, one row", one_row(FabricKind::Pssd), 2.0 * 4096.0 / PACKET_PAGE, 0.02);
}

#[test]
fn pnssd_has_twice_the_channels_and_serves_one_row_over_all_columns() {
    assert_within("pnSSD, uniform", uniform(FabricKind::Pnssd), 16.0 * 4096.0 / PACKET_PAGE, 0.02);
    // The eight chips are the bottleneck: the row channel and eight column channels carry more than the chips read.
    let chips = 8.0 * 4096.0 / (3000.0 + 2.0 * 20.0 + PACKET_PAGE);
    assert_within("pnSSD, one row", one_row(FabricKind::Pnssd), chips.min(9.0 * 4096.0 / PACKET_PAGE), 0.02);
}

#[test]
fn nossd_with_the_nearest_port_is_a_pipelined_bus_of_slower_links() {
    // Nine packets of 512 flits carry the page with its metadata, at one byte per nanosecond.
    let page = 9.0 * 512.0;
    assert_within("NoSSD, uniform", uniform(FabricKind::Nossd), 8.0 * 4096.0 / page, 0.02);
    assert_within("NoSSD, one row", one_row(FabricKind::Nossd), 4096.0 / page, 0.02);
}

#[test]
fn venice_fills_its_controllers_and_serves_one_row_from_all_of_them() {
    let measured = uniform(FabricKind::Venice);
    assert!((7.7..=7.9).contains(&measured), "Venice, uniform: {measured} GB/s");
    let measured = one_row(FabricKind::Venice);
    assert!((3.9..=4.7).contains(&measured), "Venice, one row: {measured} GB/s");
}

#[test]
fn the_ideal_is_as_fast_as_its_chips() {
    assert_within("ideal, uniform", in_turn(FabricKind::Ideal), 64.0 * 4096.0 / CHIP_READ, 0.02);
    assert_within("ideal, one row", one_row(FabricKind::Ideal), 8.0 * 4096.0 / CHIP_READ, 0.02);
}

/// The bus slows down as more traffic goes to one row, whereas all controllers of Venice can serve that row. Venice is faster once about a sixth of
/// the traffic goes to one row.
#[test]
fn the_share_of_the_hottest_row_decides_between_bus_and_venice() {
    let row_of_bus = 4096.0 / BUS_PAGE;
    let chips_of_a_row = 8.0 * 4096.0 / (10.0 + 3000.0 + 4096.0);
    for share in [0.15, 0.2, 0.5, 1.0] {
        let bus = hot_row(FabricKind::Bus, share);
        assert_within(&format!("bus, {share} on one row"), bus, row_of_bus / share, 0.03);
        let venice = hot_row(FabricKind::Venice, share);
        // Crossing circuits compete for links, most of all with half of the traffic on one row. So Venice stays below the bound.
        let bound = f64::min(7.9, chips_of_a_row / share);
        assert!((0.75 * bound..=bound).contains(&venice), "{share} on one row: Venice {venice} GB/s of {bound}");
        assert_eq!(venice > bus, share > 0.15, "{share} on one row: Venice {venice} GB/s, bus {bus} GB/s");
    }
}
