//! A drive gives the same report whether the oracles watch it or not, and whatever is recorded beside it.
//!
//! A run without oracles, log and epochs and one with all of them are two instances of the same simulation: where they disagree on
//! any drive, one of them is wrong. `FLASHMESH_LEAN_CASES` sets how many random drives are compared (100,000 are worth a night),
//! `FLASHMESH_LEAN_REQUESTS` how long the one long run is.

use std::collections::BTreeSet;

use flashmesh::config::{Config, FabricKind, InterfaceKind, ReplayMode, Schedule, WarmUp};
use flashmesh::ids::Lpn;
use flashmesh::measure::log::RequestRecord;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Time;
use flashmesh::workload::RequestKind;
use flashmesh::workload::source::WorkloadSource;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as Runner, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use crate::support::arbitrary;
use crate::support::arbitrary::Case;
use crate::support::drives::{Kept, Listed, Repeated, bare_drive};

const CASES: u64 = 2_000;
const REQUESTS: u64 = 430_000;
/// Threads that share the random drives.
const WORKERS: u64 = 3;

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
        Err(_) => default,
    }
}

/// What watches a run.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    by_oracles: bool,
    by_log: bool,
}

/// What a run gave.
struct Outcome {
    /// The report, without what the wall clock and the machine decide.
    report: Value,
    /// What the log has, if there is one.
    records: Vec<RequestRecord>,
    /// Which logical pages the map knows at the end.
    mapped: BTreeSet<u32>,
    /// Whether an instance for less than all a drive may use ran it.
    was_lean: bool,
}

fn run(config: &Config, source: impl WorkloadSource + 'static, watched: Watched) -> Outcome {
    let text = || config.to_toml();
    let simulation = Simulation::with_source(config, Box::new(source));
    let mut simulation = simulation.unwrap_or_else(|error| panic!("{error}\n{}", text()));
    if watched.by_oracles {
        simulation.enable_checks();
    }
    let kept = Kept::default();
    if watched.by_log {
        simulation.set_request_sink(Box::new(kept.clone()));
    }
    let report = simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{error}\n{}", text()));
    let mut report = report.to_json();
    remove(&mut report, &["wall_s", "requests_per_wall_s", "peak_rss_bytes"]);
    let pages = 0..simulation.geometry().logical_pages;
    let mapped = pages.filter(|&lpn| simulation.ftl().lookup(Lpn(lpn)).is_some()).collect();
    let records = kept.0.lock().expect("no other thread panicked").clone();
    Outcome { report, records, mapped, was_lean: simulation.was_lean() }
}

fn remove(report: &mut Value, keys: &[&str]) {
    let fields = report.as_object_mut().expect("a report is an object");
    for key in keys {
        fields.remove(*key).unwrap_or_else(|| panic!("the report has no {key}"));
    }
}

fn listed(case: &Case) -> Listed {
    Listed(case.requests.iter().copied().collect())
}

/// The same drive without what only the full instance of the simulation has.
fn plain(mut case: Case) -> Case {
    let config = &mut case.config;
    let bare = Config::default();
    config.host.interface = bare.host.interface;
    config.fabric.arbitration = bare.fabric.arbitration;
    config.ftl.write_binding = bare.ftl.write_binding;
    without_features(case)
}

/// The same drive behind NVMe queues, over channels, without what only the full instance of the simulation has.
fn queued(mut case: Case) -> Case {
    case.config.host.interface = InterfaceKind::Nvme;
    without_features(over_channels(case))
}

fn over_channels(mut case: Case) -> Case {
    let kind = &mut case.config.fabric.kind;
    if !matches!(kind, FabricKind::Bus | FabricKind::Pssd | FabricKind::Ideal) {
        *kind = FabricKind::Bus;
    }
    case
}

/// The same drive over channels with its scheduling policy, its caches, and measured in epochs, without what only the full instance of the
/// simulation has.
fn scheduled(case: Case, number: u64) -> Case {
    let Schedule { policy, order, erases, .. } = case.config.schedule.clone();
    let mut case = equipped(over_channels(case), number);
    let schedule = &mut case.config.schedule;
    (schedule.policy, schedule.order, schedule.erases) = (policy, order, erases);
    case
}

/// The same drive with its caches, and measured in epochs, without what only the full instance of the simulation has.
fn equipped(mut case: Case, number: u64) -> Case {
    let measure = &mut case.config.measure;
    measure.epoch = Some(Time::from_us(1 + number % 700));
    measure.epochs_max = 16;
    measure.collisions = number.is_multiple_of(2);
    if number.is_multiple_of(3) {
        measure.warm_up = WarmUp::Auto;
    }
    without_rare_features(case)
}

fn without_features(mut case: Case) -> Case {
    let config = &mut case.config;
    config.cache.capacity = Config::default().cache.capacity;
    config.mapping.cache_capacity = None;
    without_rare_features(case)
}

fn without_rare_features(mut case: Case) -> Case {
    let config = &mut case.config;
    let bare = Config::default();
    config.fabric.hold_path = false;
    config.power.cut = None;
    config.flash.suspension = bare.flash.suspension;
    config.flash.die_interleaving = true;
    config.flash.die_start = bare.flash.die_start;
    config.gc.r#move = bare.gc.r#move;
    config.schedule.policy = bare.schedule.policy;
    config.schedule.order = bare.schedule.order;
    config.schedule.erases = bare.schedule.erases;
    config.schedule.priorities = bare.schedule.priorities;
    config.ftl.first_touch = bare.ftl.first_touch;
    if config.ftl.allocation.is_dynamic() {
        config.ftl.allocation = bare.ftl.allocation;
    }
    case
}

/// The keys under which two objects differ, each with both values.
fn differences(one: &Value, other: &Value) -> Vec<String> {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return vec!["no objects".to_owned()] };
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differ = keys.into_iter().filter(|key| one.get(*key) != other.get(*key));
    differ.map(|key| format!("{key}: {:?} and {:?}", one.get(key), other.get(key))).collect()
}

/// Runs the case with nothing beside it, and watched; both give the same. Gives the first.
fn compare(number: u64, case: &Case) -> Outcome {
    let lean = run(&case.config, listed(case), Watched::default());
    let assert_same = |other: &Outcome, what: &str| {
        let found = differences(&lean.report, &other.report);
        assert!(found.is_empty(), "case {number}, {what}: {found:#?}\n{}", case.config.to_toml());
        assert_eq!(lean.mapped, other.mapped, "case {number}, {what}\n{}", case.config.to_toml());
    };
    let full = run(&case.config, listed(case), Watched { by_oracles: true, by_log: number.is_multiple_of(2) });
    assert!(!full.was_lean, "oracles watch the full instance");
    assert_same(&full, "with oracles");
    // The log has no part in the oracles, nor they in it: one in eight is enough to see that.
    if number.is_multiple_of(8) {
        let logged = run(&case.config, listed(case), Watched { by_oracles: false, by_log: true });
        assert_same(&logged, "with a log");
        assert_eq!(logged.records.len(), case.requests.len(), "case {number}");
        assert_eq!(logged.records, full.records, "case {number}\n{}", case.config.to_toml());
    }
    lean
}

/// The same run in epochs and behind a warm-up has the same results, but for what these are.
fn compare_measured(number: u64, case: &Case, lean: Outcome) {
    let mut config = case.config.clone();
    config.measure.epoch = Some(Time::from_us(1 + number % 700));
    config.measure.epochs_max = 16;
    if number.is_multiple_of(3) {
        config.measure.warm_up = WarmUp::Auto;
    }
    let measured = run(&config, listed(case), Watched { by_oracles: false, by_log: number.is_multiple_of(2) });
    let (mut one, mut other) = (lean.report, measured.report);
    assert!(other["epochs"].as_array().is_some_and(|epochs| !epochs.is_empty()), "case {number}");
    for report in [&mut one, &mut other] {
        remove(report, &["epochs", "warm_up", "measured", "config_hash"]);
    }
    let found = differences(&one, &other);
    assert!(found.is_empty(), "case {number}, in epochs: {found:#?}\n{}", config.to_toml());
}

/// Compares every `WORKERS`th case from `first` on, up to `last`; gives the blocks erased and the pages moved by collection.
fn compare_random(first: u64, last: u64) -> (u64, u64) {
    // The same cases on every machine, whatever the number of its cores.
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[first as u8; 32]);
    let mut runner = TestRunner::new_with_rng(Runner::default(), random);
    let strategy = arbitrary::case_of(1..100);
    let (mut erases, mut moved) = (0, 0);
    for number in (first..=last).step_by(WORKERS as usize) {
        let case = strategy.new_tree(&mut runner).expect("a case can be drawn").current();
        let (case, is_lean) = match number % 8 {
            0 | 2 | 4 => (plain(case), true),
            1 => (queued(case), true),
            5 => (scheduled(case, number), true),
            3 | 6 => (equipped(case, number), true),
            _ => (case, false),
        };
        let lean = compare(number, &case);
        assert!(lean.was_lean || !is_lean, "case {number} is plain\n{}", case.config.to_toml());
        erases += lean.report["gc"]["erases"].as_u64().expect("a count");
        moved += lean.report["gc"]["pages_moved"].as_u64().expect("a count");
        if number.div_ceil(WORKERS).is_multiple_of(8) {
            compare_measured(number, &case, lean);
        }
    }
    (erases, moved)
}

#[test]
fn random_drives_give_the_same_report_whether_watched_or_not() {
    let last = setting("FLASHMESH_LEAN_CASES", CASES);
    let counts: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..=WORKERS).map(|first| scope.spawn(move || compare_random(first, last))).collect();
        workers.into_iter().map(|worker| worker.join().expect("no case differs")).collect()
    });
    let (erases, moved) = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    assert!(erases > 0 && moved > 0, "nothing was collected: {erases} erases, {moved} pages moved");
}

/// More than 2^21 events: what packs the order of events into few bits goes wrong only behind them.
#[test]
fn a_run_of_millions_of_events_gives_the_same_report_whether_watched_or_not() {
    let requests = setting("FLASHMESH_LEAN_REQUESTS", REQUESTS);
    let mut config = bare_drive();
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 64;
    let source = || Repeated { left: requests, kind: RequestKind::Read, page: |number| number * 7_919 % 60_000 };
    let (lean, full) = (
        run(&config, source(), Watched::default()),
        run(&config, source(), Watched { by_oracles: true, by_log: false }),
    );
    assert!(lean.was_lean && !full.was_lean);
    assert_eq!(lean.report["requests"].as_u64(), Some(requests));
    assert_eq!(differences(&lean.report, &full.report), Vec::<String>::new());
    assert_eq!(lean.mapped, full.mapped);
}

#[test]
fn reports_that_differ_in_anything_are_told_apart() {
    let mut config = bare_drive();
    config.geometry.channels = 2;
    let source = || Repeated { left: 100, kind: RequestKind::Read, page: |number| number };
    let one = run(&config, source(), Watched::default()).report;
    assert_eq!(differences(&one, &one), Vec::<String>::new());
    config.flash.read_time += Time::from_ps(1);
    let other = run(&config, source(), Watched::default()).report;
    let found = differences(&one, &other);
    for key in ["config_hash", "latency_ps", "makespan_ps"] {
        assert!(found.iter().any(|line| line.starts_with(&format!("{key}: "))), "{key}: {found:#?}");
    }
}
