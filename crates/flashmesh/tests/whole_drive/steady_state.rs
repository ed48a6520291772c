//! Warm-up, measured window and epochs: they add up to the whole run, do not change it, and find when a drive reaches steady state.

use std::collections::VecDeque;

use flashmesh::config::{Config, Pattern, PreconditionKind, ReplayMode, Sizes, WarmUp, WorkloadKind};
use flashmesh::flash::geometry::Geometry;
use flashmesh::measure::interval::IntervalReport;
use flashmesh::measure::report::{FlashReport, GcReport, Report};
use flashmesh::measure::request_log::RequestRecord;
use flashmesh::measure::steadiness::Unsteady;
use flashmesh::measure::timeline::MeasuredReport;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;
use proptest::prelude::*;

use crate::support::arbitrary;
use crate::support::arbitrary::Case;
use crate::support::cases::cases;
use crate::support::drives::{Listed, assert_within, bare_drive, config_of, finish};

fn run(config: &Config) -> (Report, Vec<RequestRecord>) {
    finish(Simulation::new(config).unwrap_or_else(|error| panic!("{error}")))
}

fn run_case(config: &Config, requests: &[IoRequest]) -> (Report, Vec<RequestRecord>) {
    let source = Listed(VecDeque::from(requests.to_vec()));
    finish(Simulation::with_source(config, Box::new(source)).unwrap_or_else(|error| panic!("{error}")))
}

/// Returns the report without the fields that depend on epochs, warm-up or wall-clock time.
fn of_the_whole_run(report: &Report) -> serde_json::Value {
    let mut json = report.to_json();
    let beside = ["warm_up", "measured", "epochs", "config_hash", "wall_s", "requests_per_wall_s", "peak_rss_bytes"];
    let of_window: &[&str] = if report.warm_up.is_some() { &["confidence", "steadiness", "bound"] } else { &[] };
    for key in beside.iter().chain(of_window) {
        json.as_object_mut().expect("a report is an object").remove(*key).expect("the key is in the report");
    }
    json
}

fn measured(report: &Report) -> &MeasuredReport {
    report.measured.as_ref().expect("requests completed after the warm-up")
}

fn assert_adds_up(report: &Report, intervals: &[IntervalReport], before: u64) {
    let sum = |of: fn(&IntervalReport) -> u64| intervals.iter().map(of).sum::<u64>();
    assert_eq!(before + sum(|interval| interval.requests), report.requests);
    let (mut gc, mut flash) = (GcReport::default(), FlashReport::default());
    for interval in intervals {
        gc = gc.zip(&interval.gc, |one, other| one + other);
        flash = flash.zip(&interval.flash, |one, other| one + other);
    }
    assert_eq!((gc, flash), (report.gc.clone(), report.flash.clone()));
    for pair in intervals.windows(2) {
        assert_eq!(pair[0].end_ps, pair[1].start_ps);
    }
    assert_eq!((intervals[0].start_ps, intervals[intervals.len() - 1].end_ps), (0, report.makespan_ps));
    let kinds: [fn(&IntervalReport) -> u64; 4] = [
        |interval| interval.latency_ps.all.as_ref().map_or(0, |latency| latency.count),
        |interval| interval.latency_ps.read.as_ref().map_or(0, |latency| latency.count),
        |interval| interval.latency_ps.write.as_ref().map_or(0, |latency| latency.count),
        |interval| interval.latency_ps.flush.as_ref().map_or(0, |latency| latency.count),
    ];
    let latency = &report.latency_ps;
    for (kind, whole) in kinds.into_iter().zip([&latency.all, &latency.read, &latency.write, &latency.flush]) {
        assert_eq!(sum(kind), whole.as_ref().map_or(0, |latency| latency.count));
    }
}

/// Asserts that means and rates over all epochs equal those of the whole run.
fn assert_means_agree(report: &Report) {
    let seconds = |interval: &IntervalReport| (interval.end_ps - interval.start_ps) as f64 / 1e12;
    let over_time =
        |of: &dyn Fn(&IntervalReport) -> f64| report.epochs.iter().map(|one| of(one) * seconds(one)).sum::<f64>();
    let whole = report.makespan_ps as f64 / 1e12;
    let pairs: [(&str, f64, f64); 3] = [
        ("bytes", over_time(&|epoch| epoch.bandwidth_bytes_per_s), report.bandwidth_bytes_per_s * whole),
        (
            "latency",
            report
                .epochs
                .iter()
                .filter_map(|epoch| epoch.latency_ps.all.as_ref())
                .map(|all| all.mean * all.count as f64)
                .sum(),
            report.latency_ps.all.as_ref().map_or(0.0, |all| all.mean * all.count as f64),
        ),
        (
            "longest",
            {
                let longest =
                    report.epochs.iter().filter_map(|epoch| epoch.latency_ps.all.as_ref()).map(|all| all.max).max();
                longest.unwrap_or_default() as f64
            },
            report.latency_ps.all.as_ref().map_or(0, |all| all.max) as f64,
        ),
    ];
    for (what, epochs, whole) in pairs {
        assert!((epochs - whole).abs() <= whole * 1e-9, "{what}: {epochs} over the epochs, {whole} in all");
    }
}

fn settings() -> impl Strategy<Value = flashmesh::config::Measure> {
    let how = prop::sample::select(WarmUp::ALL);
    let epoch = prop_oneof![(1..1_000_000u64).prop_map(Time::from_ps), (1..500u64).prop_map(Time::from_us)];
    (how, 1..400u64, (1..5_000u64).prop_map(Time::from_us), epoch, 2..20u32).prop_map(
        |(warm_up, warm_up_requests, warm_up_time, epoch, epochs_max)| flashmesh::config::Measure {
            warm_up: Some(warm_up),
            warm_up_requests,
            warm_up_time,
            epoch: Some(epoch),
            epochs_max,
            ..Default::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(32)) })]

    #[test]
    fn epochs_add_up_to_the_run_and_change_nothing(case in arbitrary::case(), measure in settings()) {
        let Case { mut config, requests } = case;
        let (plain, plain_records) = run_case(&config, &requests);
        prop_assert!(plain.warm_up.is_none() && plain.measured.is_none() && plain.epochs.is_empty());
        config.measure = measure;
        prop_assert!(config.validate().is_ok());
        let (report, records) = run_case(&config, &requests);
        let (one, other) = (of_the_whole_run(&report), of_the_whole_run(&plain));
        for (key, value) in one.as_object().expect("a report is an object") {
            prop_assert_eq!(value, &other[key], "{}", key);
        }
        prop_assert_eq!(&records, &plain_records);

        prop_assert!((1..=config.measure.epochs_max as usize).contains(&report.epochs.len()));
        assert_adds_up(&report, &report.epochs, 0);
        assert_means_agree(&report);
        for epoch in &report.epochs {
            let within = records.iter().filter(|record| {
                let at = record.completed.as_ps();
                (epoch.start_ps..epoch.end_ps).contains(&at) || (at == report.makespan_ps && at == epoch.end_ps)
            });
            prop_assert_eq!(within.count() as u64, epoch.requests);
        }
        // All epochs but the last have the same length: the requested one times a power of two.
        let lengths: Vec<u64> = report.epochs.iter().map(|epoch| epoch.end_ps - epoch.start_ps).collect();
        if let [full @ .., _] = &lengths[..] && !full.is_empty() {
            prop_assert!(full.iter().all(|&length| length == full[0]));
            let times = full[0] / config.measure.epoch.expect("epochs are configured").as_ps();
            prop_assert!(times.is_power_of_two());
        }
        // The occupancy of a queue is the time of its commands from issue to completion. The last epoch is left out, since it may end before the
        // drive is idle.
        let [before @ .., _] = &report.epochs[..] else { panic!("the report has no epoch") };
        for epoch in before {
            let (start, end) = (epoch.start_ps, epoch.end_ps);
            let held = |record: &RequestRecord| {
                let (from, to) = (record.submitted.as_ps().max(start), record.completed.as_ps().min(end));
                to.saturating_sub(from)
            };
            let held = records.iter().map(held).sum::<u64>() as f64;
            let occupied = epoch.occupancy_mean * (end - start) as f64;
            prop_assert!((occupied - held).abs() <= held * 1e-9, "{occupied} ps occupied, {held} ps held");
        }
    }

    #[test]
    fn the_window_holds_what_completed_behind_the_warm_up(case in arbitrary::case(), measure in settings()) {
        let Case { mut config, requests } = case;
        config.measure = flashmesh::config::Measure { epoch: None, ..measure };
        let (report, records) = run_case(&config, &requests);
        prop_assert!(report.epochs.is_empty());
        let Some(warm_up) = &report.warm_up else {
            prop_assert_eq!(config.measure.warm_up, Some(WarmUp::None));
            return Ok(());
        };
        let Some(window) = &report.measured else {
            prop_assert!(!warm_up.converged);
            prop_assert_eq!(warm_up.requests, report.requests);
            return Ok(());
        };
        let ended = warm_up.ended_ps.expect("the warm-up ended");
        prop_assert_eq!((ended, report.makespan_ps), (window.window.start_ps, window.window.end_ps));
        match config.measure.warm_up.expect("a warm-up is configured") {
            WarmUp::Requests => prop_assert_eq!(warm_up.requests, config.measure.warm_up_requests),
            WarmUp::Time => prop_assert_eq!(ended, config.measure.warm_up_time.as_ps()),
            WarmUp::Auto => prop_assert_eq!(warm_up.requests % warm_up.batch_requests.expect("the warm-up has batches"), 0),
            WarmUp::Steady => {}
            WarmUp::None => unreachable!("the warm-up is disabled"),
        }
        let behind = &records[warm_up.requests as usize..];
        prop_assert_eq!(window.window.requests, behind.len() as u64);
        let latencies: Vec<u64> = behind.iter().map(|record| (record.completed - record.arrival).as_ps()).collect();
        let all = window.window.latency_ps.all.as_ref().expect("requests completed");
        prop_assert_eq!(all.max, *latencies.iter().max().expect("requests completed"));
        let mean = latencies.iter().sum::<u64>() as f64 / latencies.len() as f64;
        prop_assert!((all.mean - mean).abs() <= mean * 1e-9, "{} for {mean}", all.mean);
        let [stream] = &window.streams[..] else { panic!("the report has not exactly one stream") };
        prop_assert_eq!(stream.requests, window.window.requests);
    }
}

/// Returns a small drive with uniform random writes, 16 outstanding, after preconditioning of the given kind.
fn written(kind: PreconditionKind, requests: u64) -> Config {
    let mut config = bare_drive();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 32;
    config.geometry.over_provisioning = 0.15;
    config.gc.threshold = 0.02;
    config.gc.hard_threshold = 0.01;
    config.precondition.kind = kind;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 16;
    config.workload.read_share = 0.0;
    config.workload.requests = Some(requests);
    config
}

#[test]
fn the_warm_up_of_a_fresh_drive_ends_when_write_amplification_has_levelled_off() {
    let mut config = written(PreconditionKind::None, 80_000);
    config.measure.warm_up = Some(WarmUp::Auto);
    config.measure.epoch = Some(Time::from_ms(20));
    let (report, _) = run(&config);
    let warm_up = report.warm_up.as_ref().expect("the report has a warm-up");
    assert!(warm_up.converged, "{warm_up:?}");

    let levelled = run(&written(PreconditionKind::Random, 40_000)).0;
    let level = levelled.write_amplification.expect("the host wrote");
    let whole = report.write_amplification.expect("the host wrote");
    assert!(whole < level * 0.95, "{whole} from the start, {level} on a levelled drive");
    let window = &measured(&report).window;
    assert_within("write amplification", window.write_amplification.expect("the host wrote"), level, 0.03);
    assert_within("IOPS", window.iops, levelled.iops, 0.03);
    assert_eq!(measured(&report).steady, Some(true));

    // GC starts during the warm-up, some time after the start of the run.
    let collects = report.epochs.iter().find(|epoch| epoch.gc.pages_moved > 0).expect("GC moved pages").start_ps;
    let ended = warm_up.ended_ps.expect("the warm-up ended");
    assert!(0 < collects && collects < ended && ended <= report.makespan_ps / 2, "{collects} ps, {ended} ps");
    let first_level = |epoch: &&IntervalReport| epoch.write_amplification.is_some_and(|found| found > level * 0.9);
    let levels = report.epochs.iter().find(first_level).expect("write amplification reaches its level").start_ps;
    assert!(levels <= ended, "at {levels} ps, and the warm-up ended at {ended} ps");
}

#[test]
fn a_run_whose_amplification_rises_for_most_of_it_is_too_short() {
    // Write amplification becomes level after some 20,000 writes, five times the capacity of the drive.
    let mut config = written(PreconditionKind::None, 20_000);
    config.measure.warm_up = Some(WarmUp::Auto);
    let (report, _) = run(&config);
    let warm_up = report.warm_up.as_ref().expect("the report has a warm-up");
    assert!(!warm_up.converged, "{warm_up:?}");
    assert_within("half of the requests", measured(&report).window.requests as f64, 10_000.0, 0.05);
}

#[test]
fn a_change_at_the_end_of_a_run_is_no_warm_up_and_not_steady() {
    // GC starts after three quarters of the writes.
    let mut config = written(PreconditionKind::None, 4_500);
    config.measure.warm_up = Some(WarmUp::Auto);
    let (report, _) = run(&config);
    assert!(report.gc.pages_moved > 0);
    assert_eq!(measured(&report).steady, Some(false));
}

#[test]
fn a_drive_that_is_level_from_the_start_gives_the_figures_of_the_whole_run() {
    for seed in 0..4 {
        let mut config = written(PreconditionKind::Random, 20_000);
        config.seed = seed;
        config.measure.warm_up = Some(WarmUp::Auto);
        let (report, _) = run(&config);
        let warm_up = report.warm_up.as_ref().expect("the report has a warm-up");
        assert!(warm_up.converged, "seed {seed}: {warm_up:?}");
        assert_eq!(measured(&report).steady, Some(true));
        let window = &measured(&report).window;
        let amplification = |found: Option<f64>| found.expect("the host wrote");
        let whole = amplification(report.write_amplification);
        assert_within("write amplification", amplification(window.write_amplification), whole, 0.02);
        assert_within("IOPS", window.iops, report.iops, 0.02);
    }
}

/// Returns a preconditioned drive of 64 dies with paced GC, without a warm-up, so that the whole run is measured.
fn paced_drive(requests: u64) -> Config {
    let mut config = written(PreconditionKind::Random, requests);
    (config.geometry.channels, config.geometry.chips_per_channel) = (8, 8);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (32, 128);
    (config.gc.paced, config.gc.preemptible) = (true, true);
    config.measure.warm_up = Some(WarmUp::None);
    config
}

#[test]
fn a_start_whose_collections_run_ahead_of_the_writes_is_not_steady_and_a_long_run_is() {
    // Few writes leave the dies idle, so that all collections that were in progress after preconditioning end at once.
    let rare = |requests| {
        let mut config = paced_drive(requests);
        config.replay.mode = ReplayMode::Open;
        config.workload.interarrival = Some(Time::from_us(50));
        run(&config).0
    };
    let (short, long) = (rare(1_000), rare(60_000));
    assert_eq!(short.steadiness.reasons, [Unsteady::FreePagesRise, Unsteady::Short]);
    assert!(long.steadiness.steady, "{:?}", long.steadiness);
    let amplification = |report: &Report| report.write_amplification.expect("the host wrote");
    assert!(amplification(&short) > 1.2 * amplification(&long), "the short run would give another figure");
}

#[test]
fn a_start_whose_collections_keep_pace_does_not_change_the_reserve() {
    for seed in 0..u64::from(cases(20)) {
        let mut config = paced_drive(20_000);
        (config.replay.outstanding, config.seed) = (256, seed);
        let reasons = run(&config).0.steadiness.reasons;
        let of_reserve = [Unsteady::FreePagesRise, Unsteady::FreePagesFall];
        assert!(!reasons.iter().any(|reason| of_reserve.contains(reason)), "seed {seed}: {reasons:?}");
    }
}

#[test]
fn a_warm_up_that_the_run_does_not_reach_leaves_nothing_to_measure() {
    let mut config = written(PreconditionKind::Random, 200);
    for (warm_up, requests) in [(WarmUp::Requests, 200), (WarmUp::Requests, 201), (WarmUp::Time, 0)] {
        config.measure.warm_up = Some(warm_up);
        config.measure.warm_up_requests = requests.max(1);
        config.measure.warm_up_time = Time::from_ms(10_000);
        let (report, _) = run(&config);
        let warm_up = report.warm_up.expect("the report has a warm-up");
        assert!(!warm_up.converged && report.measured.is_none(), "{warm_up:?}");
        assert_eq!(warm_up.requests, 200);
    }
}

/// Returns a drive of two dies with queue depth 256. At the start of the run all requests stall, because both dies run GC.
fn deep(read_share: f64) -> Config {
    let mut config = written(PreconditionKind::Random, 20_000);
    config.geometry.chips_per_channel = 2;
    config.geometry.pages_per_block = 256;
    config.host.queue_depth = 256;
    config.replay.outstanding = 256;
    config.workload.read_share = read_share;
    config
}

/// A preconditioned drive begins in the steady state of uniform random writes, also if a job issues them. It has to be overwritten first if the job
/// writes a part of the drive, or avoids the pages that it has written.
#[test]
fn a_job_of_uniform_writes_begins_in_the_steady_state_of_a_preconditioned_drive() {
    let is_overwritten_first = |change: fn(&mut Config)| {
        let mut config = written(PreconditionKind::Random, 2_000);
        config.workload.kind = WorkloadKind::Job;
        change(&mut config);
        run(&config).0.steadiness.reasons.contains(&Unsteady::Overwrites)
    };
    assert!(!is_overwritten_first(|_| {}));
    assert!(!is_overwritten_first(|config| config.workload.read_share = 1.0));
    assert!(is_overwritten_first(|config| config.workload.footprint = Some(Bytes::from_kib(4_096))));
    assert!(is_overwritten_first(|config| config.workload.footprint_start = Bytes::from_kib(4)));
    assert!(!is_overwritten_first(|config| {
        let geometry = Geometry::from_config(config).expect("the geometry is valid");
        config.workload.footprint = Some(geometry.capacity());
    }));
    assert!(is_overwritten_first(|config| {
        config.workload.pass_size = Some(Bytes::from_kib(1_024));
        config.workload.passes = 8;
        config.workload.same_passes = true;
    }));
    assert!(is_overwritten_first(|config| config.workload.pattern = Pattern::Zipf));
    assert!(is_overwritten_first(|config| config.workload.run_length = 4));
    assert!(is_overwritten_first(|config| config.workload.random_map = true));
    assert!(!is_overwritten_first(|config| {
        config.workload.random_map = true;
        config.workload.requests = Some(150);
    }));
}

#[test]
fn a_drive_that_only_reads_collects_nothing_and_is_steady_at_once() {
    for seed in 0..4 {
        let (report, _) = run(&Config { seed, ..deep(1.0) });
        assert_eq!(report.gc.collections, 0);
        assert!(report.steadiness.steady, "{:?}", report.steadiness);
        let warm_up = report.warm_up.as_ref().expect("the report has a warm-up");
        assert!(warm_up.converged && warm_up.requests < 2_000, "{warm_up:?}");
    }
}

#[test]
fn a_warm_up_ends_soon_after_collections_that_keep_all_first_requests_waiting() {
    for seed in 0..4 {
        let (report, _) = run(&Config { seed, ..deep(0.5) });
        let warm_up = report.warm_up.as_ref().expect("the report has a warm-up");
        assert!(warm_up.converged && warm_up.requests < 5_000, "{warm_up:?}");
    }
}

/// From the start of the run, one array read returns the four mapping units of a 16 KiB request: preconditioning puts them on one page, as
/// writes do.
#[test]
fn large_writes_find_their_units_together_from_the_start() {
    let mut config = written(PreconditionKind::Random, 3_000);
    config.geometry.page_size = Bytes::from_kib(16);
    config.ftl.mapping_unit = Some(Bytes::from_kib(4));
    config.workload.request_size = Sizes(vec![(Bytes::from_kib(16), 1.0)]);
    config.workload.read_share = 0.8;
    config.replay.outstanding = 1;
    let mut mean_read = |requests: u64| {
        config.workload.requests = Some(requests);
        let (report, _) = run(&config);
        measured(&report).window.latency_ps.read.as_ref().expect("reads completed").mean
    };
    let (first, later) = (mean_read(3_000), mean_read(60_000));
    assert_within("mean latency of reads", first, later, 0.05);
}

#[test]
fn epochs_do_not_move_the_end_of_a_warm_up() {
    for seed in 0..4 {
        let mut config = Config { seed, ..deep(0.5) };
        let (plain, records) = run(&config);
        // At least two epochs lie between any two samples of the warm-up detection.
        config.measure.epoch = Some(Time::from_us(4));
        let (with_epochs, with_records) = run(&config);
        assert_eq!(records, with_records);
        assert_eq!(measured(&plain).window.start_ps, measured(&with_epochs).window.start_ps);
    }
}

#[test]
fn streams_have_their_part_of_the_window() {
    let text = "\
[workload]
requests = 4_000
footprint = \"64MiB\"
[stream.reads.workload]
read-share = 1.0
[stream.writes.workload]
read-share = 0.0
[stream.writes.replay]
outstanding = 4
[measure]
warm-up = \"requests\"
warm-up-requests = 1_000
";
    let config = config_of(text);
    let (report, records) = run(&config);
    let window = measured(&report);
    assert_eq!(window.window.requests, 7_000);
    for (index, stream) in window.streams.iter().enumerate() {
        assert_eq!(stream.name, report.streams[index].name);
        let own: Vec<_> = records[1_000..].iter().filter(|record| record.issuer.index() == index).collect();
        assert_eq!(stream.requests, own.len() as u64);
        let last = own[own.len() - 1].completed.as_ps() - window.window.start_ps;
        assert_within("IOPS", stream.iops, own.len() as f64 * 1e12 / last as f64, 1e-9);
        let (latency, other) = match stream.name.as_str() {
            "reads" => (&stream.latency_ps.read, &stream.latency_ps.write),
            _ => (&stream.latency_ps.write, &stream.latency_ps.read),
        };
        assert_eq!(latency, &stream.latency_ps.all);
        assert!(latency.is_some() && other.is_none());
    }
}

#[test]
fn a_run_is_precise_only_after_its_requests_in_flight_were_replaced_ten_times() {
    let text = "\
fabric.kind = \"venice\"
[workload]
read-share = 1.0
pattern = \"hot-stride\"
hot-stride = 8
hot-traffic = 0.5
requests = 1_000_000
[replay]
mode = \"stress\"
outstanding = 4096
[measure]
warm-up = \"auto\"
precision = \"2%\"
";
    let mut simulation = Simulation::new(&config_of(text)).expect("the drive can be built");
    let report = simulation.run(&Control::default()).expect("the run ends");
    assert!(report.steadiness.steady, "{:?}", report.steadiness);
    assert!(report.requests < 1_000_000, "the run ended only with its workload");
    let measured = measured(&report).window.requests;
    assert!(measured >= 10 * 4096, "{measured} requests, of which 4,096 are in flight, were called steady");
}
