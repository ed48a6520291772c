//! Write amplification of whole drives under uniform random writes, compared with theory.
//!
//! Theory knows only blocks that can be collected, but a drive also has open and free blocks. So its share of valid pages is measured over full
//! blocks.

use super::theory;
use flashmesh::config::{
    Config, MovedPages, PageTypes, PreconditionKind, ProgramUnit, ReplayMode, VictimPolicy, WarmUp,
};
use flashmesh::engine::random::SimRng;
use flashmesh::ftl::BlockState;
use flashmesh::ids::BlockId;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::RequestKind;
use flashmesh::workload::source::WorkloadSource;
use flashmesh::workload::synthetic::SyntheticSource;

use crate::support::drives::{self, assert_within, bare_drive};

const PAGES_PER_BLOCK: u32 = 32;

fn drive(victim: VictimPolicy) -> Config {
    let mut config = bare_drive();
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 1;
    config.geometry.blocks_per_plane = 512;
    config.geometry.pages_per_block = PAGES_PER_BLOCK;
    config.geometry.over_provisioning = 0.15;
    config.gc.victim = victim;
    config.gc.threshold = 0.01;
    config.gc.hard_threshold = 0.005;
    config.precondition.kind = PreconditionKind::Random;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 16;
    config.workload.read_share = 0.0;
    config.workload.requests = Some(120_000);
    config
}

/// Returns the write amplification, and the share of valid pages in full blocks at the end.
fn steady_state(config: &Config) -> (f64, f64) {
    let capacity = Bytes::new(u64::from(geometry(config).logical_pages) * drives::PAGE);
    let source =
        SyntheticSource::new(&config.workload, &config.replay, capacity, config.geometry.sector_size, config.seed)
            .expect("the workload fits the drive");
    steady_state_of(config, Box::new(source))
}

/// Like [`steady_state`], but with the writes of `source`.
fn steady_state_of(config: &Config, source: Box<dyn WorkloadSource>) -> (f64, f64) {
    let mut simulation = Simulation::with_source(config, source).expect("the drive can be built");
    simulation.enable_checks();
    let report = simulation.run(&Control::default()).expect("the run ends without a violation");
    let (mut full, mut valid) = (0u64, 0u64);
    for block in (0..simulation.geometry().blocks()).map(BlockId) {
        if simulation.ftl().blocks().state(block) == BlockState::Full {
            full += 1;
            valid += u64::from(simulation.ftl().blocks().valid_pages(block));
        }
    }
    let rho = valid as f64 / (full * u64::from(config.unit_geometry().pages_per_block)) as f64;
    (report.write_amplification.expect("the host wrote"), rho)
}

fn geometry(config: &Config) -> flashmesh::flash::geometry::Geometry {
    flashmesh::flash::geometry::Geometry::new(&config.unit_geometry()).expect("the geometry is valid")
}

#[test]
fn fifo_victims_amplify_as_the_lambert_w_function_says() {
    let (measured, rho) = steady_state(&drive(VictimPolicy::Fifo));
    assert_within("fifo", measured, theory::write_amplification_fifo(rho), 0.03);
}

#[test]
fn greedy_victims_amplify_as_the_mean_field_says() {
    let (measured, rho) = steady_state(&drive(VictimPolicy::Greedy));
    assert_within("greedy", measured, theory::write_amplification_greedy(rho, PAGES_PER_BLOCK), 0.03);
}

/// Blocks of n mapping units amplify writes like blocks of n pages if all programs are full. Here nearly all are, because many writes are pending,
/// the gather timeout is 1 s, and a victim has hundreds of units.
#[test]
fn greedy_victims_of_units_amplify_as_the_mean_field_says() {
    let mut config = drive(VictimPolicy::Greedy);
    config.geometry.page_size = Bytes::from_kib(16);
    config.geometry.pages_per_block = 128;
    config.geometry.blocks_per_plane = 128;
    config.ftl.mapping_unit = Some(Bytes::new(drives::PAGE));
    config.ftl.gather_timeout = Time::from_ms(1_000);
    config.replay.outstanding = 512;
    config.gc.threshold = 0.03;
    let (measured, rho) = steady_state(&config);
    assert_within("units", measured, theory::write_amplification_greedy(rho, 512), 0.03);
}

/// Logical pages of the drive with hot and cold pages, and the number of hot pages.
const LOGICAL: u64 = 27_840;
const HOT: u64 = LOGICAL / 5;

/// A fifth of the pages receives four fifths of the writes. Programs write word lines of 12 mapping units, and GC moves share blocks with host
/// writes.
#[test]
fn fifo_victims_of_units_amplify_two_temperatures_as_theory_says() {
    let mut config = drive(VictimPolicy::Fifo);
    config.geometry.page_size = Bytes::from_kib(16);
    config.geometry.pages_per_block = 96;
    config.geometry.blocks_per_plane = 43;
    config.geometry.capacity = Some(Bytes::new(LOGICAL * drives::PAGE));
    config.flash.page_types = PageTypes::Tlc;
    config.flash.program_unit = ProgramUnit::WordLine;
    config.ftl.mapping_unit = Some(Bytes::new(drives::PAGE));
    config.ftl.gather_timeout = Time::from_ms(1_000);
    config.gc.moved_pages = Some(MovedPages::WriteBlock);
    config.gc.threshold = 0.03;
    config.replay.outstanding = 512;
    config.measure.warm_up = Some(WarmUp::Requests);
    config.measure.warm_up_requests = 100_000;
    let page = |number: u64| {
        let mut random = SimRng::new(number);
        let of = |random: &mut SimRng, count: u64| u64::from(random.below(count as u32));
        if of(&mut random, 5) < 4 { of(&mut random, HOT) } else { HOT + of(&mut random, LOGICAL - HOT) }
    };
    let source = drives::Repeated { left: 250_000, kind: RequestKind::Write, page };
    let (measured, rho) = steady_state_of(&config, Box::new(source));
    assert_within("two temperatures", measured, theory::write_amplification_fifo_of_two(rho, 0.8, 0.2), 0.03);
}

#[test]
fn the_best_of_d_victims_amplify_as_the_mean_field_says() {
    for d in [2, 10] {
        let mut config = drive(VictimPolicy::DChoices);
        config.gc.d = d;
        let (measured, rho) = steady_state(&config);
        assert_within("d-choices", measured, theory::write_amplification_d_choices(rho, PAGES_PER_BLOCK, d), 0.03);
    }
}

#[test]
fn random_victims_amplify_as_their_mean_share_of_valid_pages_says() {
    let (measured, rho) = steady_state(&drive(VictimPolicy::Random));
    assert_within("random", measured, theory::write_amplification_random(rho), 0.03);
}

#[test]
fn copyback_and_preemption_do_not_change_how_much_is_moved() {
    let mut config = drive(VictimPolicy::Greedy);
    let (plain, _) = steady_state(&config);
    config.gc.copyback = true;
    config.gc.preemptible = true;
    let (changed, _) = steady_state(&config);
    assert_within("copyback, preemptible", changed, plain, 0.03);
}
