//! Equality of the instances of the simulator, which are compiled variants with more or fewer features. A drive has the same report in every instance
//! that supports it, with and without oracles and recorders.
//!
//! Each random drive runs in the smallest instance that its keys need, in each larger one, and with oracles. A difference means that an instance is
//! wrong, or that the `needs` of a key are incomplete. `FLASHMESH_INSTANCE_CASES` sets the number of random drives (100,000 take a night),
//! `FLASHMESH_INSTANCE_REQUESTS` the length of the one long run.

use std::collections::BTreeSet;

use flashmesh::config::{Config, FabricKind, HoldPath, Instance, ReplayMode, WarmUp};
use flashmesh::ids::Lpn;
use flashmesh::measure::request_log::RequestRecord;
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
use crate::support::cases::cases;
use crate::support::drives::{Kept, Listed, Repeated, bare_drive};

const CASES: u32 = 2_000;
const REQUESTS: u64 = 430_000;
/// Threads that share the random drives.
const WORKERS: u64 = 3;

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
        Err(_) => default,
    }
}

/// Options of a run: the instance (compiled variant of the simulator), and the probes attached.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Smallest instance to use; the keys of the drive may need a larger one.
    instance: Instance,
    by_oracles: bool,
    by_log: bool,
    by_timeline: bool,
}

/// Smallest possible instance, no probes.
const BARE: Way = Way { instance: Instance::Plain, by_oracles: false, by_log: false, by_timeline: false };
const WATCHED: Way = Way { by_oracles: true, ..BARE };

/// Results of a run.
struct Outcome {
    /// Report without the fields that depend on wall-clock time and on the machine.
    report: Value,
    /// Request log, if the run has one.
    records: Vec<RequestRecord>,
    /// Logical pages mapped at the end.
    mapped: BTreeSet<u32>,
    /// Instance that ran the case.
    instance: Instance,
}

fn run(config: &Config, source: impl WorkloadSource + 'static, way: Way) -> Outcome {
    let text = || config.to_toml();
    let simulation = Simulation::with_source(config, Box::new(source));
    let mut simulation = simulation.unwrap_or_else(|error| panic!("{error}\n{}", text()));
    simulation.require(way.instance);
    if way.by_oracles {
        simulation.enable_checks();
    }
    if way.by_timeline {
        simulation.record_timeline(Box::new(std::io::sink()));
    }
    let kept = Kept::default();
    if way.by_log {
        simulation.set_request_sink(Box::new(kept.clone()));
    }
    let report = simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{error}\n{}", text()));
    let mut report = report.to_json();
    remove(&mut report, &["wall_s", "requests_per_wall_s", "peak_rss_bytes"]);
    let pages = 0..simulation.geometry().logical_pages;
    let mapped = pages.filter(|&lpn| simulation.ftl().lookup(Lpn(lpn)).is_some()).collect();
    let records = kept.0.lock().expect("no other thread panicked").clone();
    Outcome { report, records, mapped, instance: simulation.instance() }
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

/// Returns the case with default values for all keys that the plain instance (the smallest variant) does not support.
fn plain(mut case: Case) -> Case {
    // Resets one unsupported key at a time, because the default of one key can make another key take effect.
    while let Some((path, _)) = case.config.required_instances().into_iter().next() {
        let mut tables: toml::Table = case.config.to_toml().parse().expect("`to_toml` returns TOML");
        let (section, key) = path.split_once('.').expect("every key of `needs` is in a section");
        let spec = Config::parameters().find(|spec| spec.path() == path).expect("the key is a parameter");
        let table = tables.get_mut(section).and_then(toml::Value::as_table_mut).expect("the section is a table");
        match &spec.default_text {
            Some(default) => table.insert(key.to_owned(), value_of(default)),
            None => table.remove(key),
        };
        let text = tables.to_string();
        case.config = Config::from_str(&text, "plain", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
    case
}

fn value_of(text: &str) -> toml::Value {
    let mut table: toml::Table = format!("value = {text}").parse().expect("defaults are TOML");
    table.remove("value").expect("the key was just parsed")
}

/// Returns the case with epochs, in some cases also with collision analysis or a warm-up.
fn measured(mut case: Case, number: u64) -> Case {
    let measure = &mut case.config.measure;
    measure.epoch = Some(Time::from_us(1 + number % 700));
    measure.epochs_max = 16;
    measure.collisions = number.is_multiple_of(2);
    if number.is_multiple_of(3) {
        measure.warm_up = Some(WarmUp::Auto);
    }
    case
}

/// Returns the case with a network recording, limited by a time window or by size, depending on `number`.
fn recorded(case: &Case, number: u64) -> Case {
    let mut case = case.clone();
    let measure = &mut case.config.measure;
    measure.network = true;
    if number.is_multiple_of(4) {
        (measure.network_events_max, measure.timeline_events_max) = (1 + number as u32 % 90, 1 + number % 70);
    } else {
        measure.window_start = Time::from_us(number % 300);
        measure.window_length = Some(Time::from_us(1 + number % 400));
    }
    case
}

/// Returns the keys whose values differ, each with both values.
fn differences(one: &Value, other: &Value) -> Vec<String> {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return vec!["no objects".to_owned()] };
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differ = keys.into_iter().filter(|key| one.get(*key) != other.get(*key));
    differ.map(|key| format!("{key}: {:?} and {:?}", one.get(key), other.get(key))).collect()
}

/// Returns the instance that runs a drive whose keys need `needed`. [`Instance::Any`] supports only interconnects made of channels, without held
/// paths; other drives use [`Instance::Probed`] instead.
fn serves(config: &Config, needed: Instance) -> Instance {
    let has_channels = matches!(config.fabric.kind, FabricKind::Bus | FabricKind::Pssd | FabricKind::Ideal);
    match needed {
        Instance::Any if !has_channels || config.fabric.hold_path != HoldPath::Never => Instance::Probed,
        needed => needed,
    }
}

/// Runs the case in the smallest instance (compiled variant of the simulation) that supports its keys, in each instance with more features, and with
/// oracles. Asserts equal results, and returns those of the smallest.
fn compare(number: u64, case: &Case) -> Outcome {
    let bare = run(&case.config, listed(case), BARE);
    let assert_same = |other: &Outcome, what: &str| {
        let found = differences(&bare.report, &other.report);
        assert!(found.is_empty(), "case {number}, {what}: {found:#?}\n{}", case.config.to_toml());
        assert_eq!(bare.mapped, other.mapped, "case {number}, {what}\n{}", case.config.to_toml());
    };
    for &instance in Instance::ALL.iter().filter(|&&instance| instance > bare.instance && instance < Instance::Probed) {
        let larger = run(&case.config, listed(case), Way { instance, ..BARE });
        assert_eq!(larger.instance, serves(&case.config, instance));
        assert_same(&larger, "in a larger instance");
    }
    let checked = run(&case.config, listed(case), Way { by_log: number.is_multiple_of(2), ..WATCHED });
    assert_eq!(checked.instance, Instance::Probed, "oracles are probes");
    assert_same(&checked, "with oracles");
    // The log is independent of the oracles, so it is tested in only one case of eight.
    if number.is_multiple_of(8) {
        let logged = run(&case.config, listed(case), Way { by_log: true, ..BARE });
        assert_same(&logged, "with a log");
        assert_eq!(logged.records.len(), case.requests.len(), "case {number}");
        assert_eq!(logged.records, checked.records, "case {number}\n{}", case.config.to_toml());
    }
    bare
}

/// Asserts that recorders change no result of the case, with and without oracles. A run whose recorders have finished may continue in `own`, the
/// instance without recorders. Returns whether they finished before the end.
fn compare_recorded(number: u64, case: &Case, mut bare: Value, own: Instance) -> bool {
    let recorded = recorded(case, number);
    let by_timeline = number.is_multiple_of(3);
    let left = run(&recorded.config, listed(case), Way { by_timeline, ..BARE });
    let watched = run(&recorded.config, listed(case), Way { by_timeline, ..WATCHED });
    let found = differences(&left.report, &watched.report);
    assert!(found.is_empty(), "case {number}, recorded and watched: {found:#?}\n{}", recorded.config.to_toml());
    let mut report = left.report;
    [&mut bare, &mut report].into_iter().for_each(|report| remove(report, &["network", "timeline", "config_hash"]));
    let found = differences(&bare, &report);
    assert!(found.is_empty(), "case {number}, recorded: {found:#?}\n{}", recorded.config.to_toml());
    assert!([own, Instance::Probed].contains(&left.instance), "case {number}: {:?}", left.instance);
    left.instance < Instance::Probed
}

/// Asserts that epochs and a warm-up affect only their own results.
fn compare_measured(number: u64, case: &Case, bare: Outcome) {
    let mut config = case.config.clone();
    config.measure.epoch = Some(Time::from_us(1 + number % 700));
    config.measure.epochs_max = 16;
    if number.is_multiple_of(3) {
        config.measure.warm_up = Some(WarmUp::Auto);
    }
    let measured = run(&config, listed(case), Way { by_log: number.is_multiple_of(2), ..BARE });
    let (mut one, mut other) = (bare.report, measured.report);
    assert!(other["epochs"].as_array().is_some_and(|epochs| !epochs.is_empty()), "case {number}");
    for report in [&mut one, &mut other] {
        remove(report, &["epochs", "warm_up", "measured", "config_hash"]);
        if number.is_multiple_of(3) {
            // `confidence` and `steadiness` cover the measured window only.
            remove(report, &["confidence", "steadiness"]);
        }
    }
    let found = differences(&one, &other);
    assert!(found.is_empty(), "case {number}, in epochs: {found:#?}\n{}", config.to_toml());
}

/// Compares every `WORKERS`th case from `first` to `last`. Returns the total of erases, of pages moved by GC, and of recordings that ended before
/// their run.
fn compare_random(first: u64, last: u64) -> [u64; 3] {
    // The seed depends only on `first`, so the cases are the same on every machine.
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[first as u8; 32]);
    let mut runner = TestRunner::new_with_rng(Runner::default(), random);
    let strategy = arbitrary::with_independent_planes(arbitrary::case_of(1..100));
    let (mut erases, mut moved, mut done_early) = (0, 0, 0);
    for number in (first..=last).step_by(WORKERS as usize) {
        let case = strategy.new_tree(&mut runner).expect("a case can be drawn").current();
        let case = match number % 8 {
            0 | 1 | 2 | 4 => plain(case),
            3 | 6 => measured(plain(case), number),
            5 => measured(case, number),
            _ => case,
        };
        let bare = compare(number, &case);
        let smallest =
            case.config.required_instances().into_iter().map(|(_, instance)| instance).max().unwrap_or(Instance::Plain);
        assert_eq!(bare.instance, serves(&case.config, smallest), "case {number}\n{}", case.config.to_toml());
        erases += bare.report["gc"]["erases"].as_u64().expect("the field is a count");
        moved += bare.report["gc"]["pages_moved"].as_u64().expect("the field is a count");
        if number.is_multiple_of(2) {
            done_early += u64::from(compare_recorded(number, &case, bare.report.clone(), bare.instance));
        }
        if number.div_ceil(WORKERS).is_multiple_of(8) {
            compare_measured(number, &case, bare);
        }
    }
    [erases, moved, done_early]
}

#[test]
fn random_drives_give_the_same_report_in_every_instance() {
    let last = setting("FLASHMESH_INSTANCE_CASES", cases(CASES).into());
    let counts: Vec<[u64; 3]> = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..=WORKERS).map(|first| scope.spawn(move || compare_random(first, last))).collect();
        workers.into_iter().map(|worker| worker.join().expect("no case differs")).collect()
    });
    let [erases, moved, done_early] = [0, 1, 2].map(|at| counts.iter().map(|count| count[at]).sum::<u64>());
    assert!(erases > 0 && moved > 0, "GC never ran: {erases} erases, {moved} pages moved");
    assert!(done_early > last / 8, "{done_early} recordings ended before their run");
}

/// Overflow of the packed event order would show only after 2^21 events, so the run has more.
#[test]
fn a_run_of_millions_of_events_gives_the_same_report_in_every_instance() {
    let requests = setting("FLASHMESH_INSTANCE_REQUESTS", REQUESTS);
    let mut config = bare_drive();
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 64;
    let source = || Repeated { left: requests, kind: RequestKind::Read, page: |number| number * 7_919 % 60_000 };
    let plain = run(&config, source(), BARE);
    assert_eq!((plain.instance, plain.report["requests"].as_u64()), (Instance::Plain, Some(requests)));
    for way in [Way { instance: Instance::Any, ..BARE }, WATCHED] {
        let other = run(&config, source(), way);
        assert!(other.instance > Instance::Plain);
        assert_eq!(differences(&plain.report, &other.report), Vec::<String>::new(), "{way:?}");
        assert_eq!(plain.mapped, other.mapped);
    }
}

#[test]
fn reports_that_differ_in_anything_are_told_apart() {
    let mut config = bare_drive();
    config.geometry.channels = 2;
    let source = || Repeated { left: 100, kind: RequestKind::Read, page: |number| number };
    let one = run(&config, source(), BARE).report;
    assert_eq!(differences(&one, &one), Vec::<String>::new());
    config.flash.read_time += Time::from_ps(1);
    let other = run(&config, source(), BARE).report;
    let found = differences(&one, &other);
    for key in ["config_hash", "latency_ps", "makespan_ps"] {
        assert!(found.iter().any(|line| line.starts_with(&format!("{key}: "))), "{key}: {found:#?}");
    }
}
