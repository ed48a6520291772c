//! Power cuts with several writes of one page in flight: past the device cache, into it, and deallocated.

use flashmesh::config::{Config, Destage, FabricKind};
use flashmesh::measure::report::Report;
use flashmesh::simulation::Simulation;
use flashmesh::units::Time;
use flashmesh::workload::source::WorkloadSource;
use flashmesh::workload::{IoRequest, RequestKind};

use crate::support::drives::*;

/// Drive of one die that programs in 100 us. Writes of stream `past` bypass the device cache, those of stream `through` use it.
const DRIVE: &str = "\
replay.mode = \"open\"
flash.program-time = \"100us\"
power = { cut = \"1s\", capacitors = false }
[geometry]
channels = 1
chips-per-channel = 1
planes-per-die = 1
blocks-per-plane = 64
pages-per-block = 16
over-provisioning = 0.5
[cache]
capacity = \"64KiB\"
[stream.past.queue]
caching = \"none\"
[stream.through.queue]
caching = \"all\"
";

fn us(microseconds: u64) -> Time {
    Time::from_us(microseconds)
}

/// Runs the requests of both streams until the power cut at `at`, with all oracles enabled. Returns the report.
fn run_until(config: &Config, at: Time, past: &[IoRequest], through: &[IoRequest]) -> Report {
    let mut config = config.clone();
    config.power.cut = Some(at);
    // A read that arrives after the cut keeps the run from ending before the cut.
    let last = read(0, 1, at + us(1));
    let past: Vec<IoRequest> = past.iter().copied().chain([last]).collect();
    let sources = [past, through.to_vec()].map(|list| Box::new(Listed(list.into())) as Box<dyn WorkloadSource>);
    let simulation = Simulation::with_sources(&config, sources.into()).unwrap_or_else(|error| panic!("{error}"));
    finish(simulation).0
}

/// The page is written past the cache and then into it, which starts a destage, and is deallocated before either program ends. Both have ended at the
/// flush, at 600 us.
#[test]
fn a_page_deallocated_while_two_writes_of_it_are_in_flight_stays_so_after_a_flush() {
    let mut config = config_of(&format!("persistence.policy = \"journal\"\n{DRIVE}"));
    config.cache.destage = Destage::FirstWrite;
    let flush = request(RequestKind::Flush, 0, 0, us(600));
    let through = [write(5, 1, us(10)), request(RequestKind::Deallocate, 5, 1, us(20))];
    for at in (700..1_000).step_by(20) {
        let report = run_until(&config, us(at), &[write(5, 1, us(0)), flush], &through);
        let cut = report.power_cut.expect("the power was cut");
        let recovery = cut.recovery.expect("the drive has a journal");
        assert_eq!((recovery.pages_lost, cut.requests_lost), (0, u64::from(at < 720)), "{at} us");
        assert!(at < 720 || recovery.deallocations_lost == 0, "{at} us: {recovery:?}");
    }
}

/// One core takes 40 us to look up a write of four pages, another 10 us for a later write of the first of them. The later write bypasses the cache,
/// reaches the FTL first and is programmed. The larger write reaches the FTL last, so its data is the newest, and is lost with the cache.
#[test]
fn a_write_that_another_core_lets_overtake_counts_as_the_older_one() {
    let mut config = config_of(DRIVE);
    (config.firmware.cores, config.firmware.look_up_time) = (2, us(10));
    for at in (1..400).step_by(7) {
        let report = run_until(&config, us(at), &[write(0, 1, us(1))], &[write(0, 4, us(0))]);
        let cut = report.power_cut.expect("the power was cut");
        // The cache oracle also counts the lost pages. The larger write is acknowledged within 5 us after its look-ups.
        assert!(at >= 40 || cut.pages_lost == 0, "{at} us");
        assert!(at <= 50 || cut.pages_lost == 4, "{at} us: {}", cut.pages_lost);
    }
}

/// On NoSSD the acknowledgement of a program reaches the controller some time after the array ends.
#[test]
fn a_page_counts_as_destaged_when_its_program_is_acknowledged() {
    let mut config = config_of(DRIVE);
    (config.fabric.kind, config.cache.destage) = (FabricKind::Nossd, Destage::FirstWrite);
    (config.geometry.channels, config.geometry.chips_per_channel) = (2, 2);
    let counts = |at: Time| {
        let report = run_until(&config, at, &[], &[write(0, 1, us(0))]);
        let cache = report.cache.expect("the cache is enabled");
        (report.flash.user_programs, cache.destages, cache.dirty_pages_end)
    };
    let (mut before, mut after) = (us(100), us(120));
    assert_eq!((counts(before), counts(after)), ((0, 0, 1), (1, 1, 0)));
    while after - before > Time::from_ns(1) {
        let middle = Time::from_ps((before.as_ps() + after.as_ps()) / 2);
        if counts(middle).0 == 0 { before = middle } else { after = middle }
    }
    assert_eq!(counts(after), (1, 0, 1));
}
