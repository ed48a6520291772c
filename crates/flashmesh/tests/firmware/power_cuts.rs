//! Power cuts of random drives, with all oracles enabled: everything acknowledged is recovered, or reported as lost if the device cache is
//! volatile.
//!
//! `FLASHMESH_CUTS` sets the number of cuts, `FLASHMESH_SEED` their seed. `make cuts` makes 10,000 cuts, which take minutes. A failed drive
//! does not end the run, which names all failed drives at its end; `FLASHMESH_DRIVE` runs only the drive with that number.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use flashmesh::config::{Config, FirmwarePolicy, Persistence, PersistencePolicy, PreconditionKind};
use flashmesh::flash::geometry::Geometry;
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::{IoRequest, RequestKind};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as Runner, RngAlgorithm, TestRng, TestRunner};

use crate::support::arbitrary::slc::slc;
use crate::support::arbitrary::{Case, case, case_in_units};
use crate::support::cases::cases;
use crate::support::drives::{Kept, Listed, bare_drive, write};
use crate::support::partitions;

const CUTS: u32 = 200;
/// Smallest number of power cuts in which every kind of loss and recovery occurs.
const CUTS_MIN: u32 = 150;
const SEED: u64 = 1;
/// Threads that share the drives.
const WORKERS: u64 = 2;
/// Number of failed drives after which a worker thread ends.
const FAILURES_MAX: usize = 20;
/// Simulated time after which a run counts as stalled. Most runs take milliseconds. Drive 39610 of seed 20261128 takes more than 100 s, because its
/// flushes wait for the journal entries of all pages moved by background GC.
const ENDLESS: Time = Time::from_ms(1_000_000);

pub fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

/// Runs `requests` with all oracles enabled. Returns the report and the number of acknowledged writes, or the first error.
fn run(config: &Config, requests: &[IoRequest]) -> Result<(Report, u64), String> {
    let source = Listed(requests.iter().copied().collect());
    let mut simulation = Simulation::with_source(config, Box::new(source)).map_err(|error| error.to_string())?;
    simulation.enable_checks();
    let kept = Kept::default();
    simulation.set_request_sink(Box::new(kept.clone()));
    let control = Control::default();
    let report = std::thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        let control = &control;
        scope.spawn(move || {
            while end.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                if control.simulated() > ENDLESS {
                    control.cancel();
                }
            }
        });
        let report = simulation.run(control);
        drop(ended);
        report
    });
    if control.is_cancelled() {
        return Err(format!("after {ENDLESS} the run has not ended"));
    }
    let records = kept.0.lock().expect("no other thread panicked");
    let writes = records.iter().filter(|record| record.kind == RequestKind::Write).count() as u64;
    Ok((report.map_err(|error| error.to_string())?, writes))
}

/// Returns a strategy that draws a drive with a journal, requests, and times of power cuts. Journal pages are small, so that many are
/// programmed.
pub fn journaling() -> impl Strategy<Value = (Config, Vec<IoRequest>, Vec<u32>)> {
    let journal = (1..=16u64, 1..=6u32, 1..=4u32, select(vec![4u64, 16, 64]));
    let policy = select(FirmwarePolicy::ALL);
    let moments = proptest::collection::vec(0..=1000u32, 3);
    let others = (policy, any::<bool>(), any::<bool>(), 0..=3u32, slc());
    let case = prop_oneof![2 => case(), 1 => case_in_units()];
    (case, journal, others, moments).prop_map(|(Case { mut config, requests }, journal, others, moments)| {
        let (entries, checkpoint_interval, checkpoint_writes, map_entries) = journal;
        let (policy, capacitors, replicates, extra_blocks, slc) = others;
        let in_units = config.mapping_unit() != config.geometry.page_size || config.units_per_program() > 1;
        let page = config.mapping_unit().as_u64();
        config.persistence = Persistence {
            policy: PersistencePolicy::Journal,
            entry_size: Bytes::new(page / entries),
            checkpoint_interval,
            checkpoint_writes,
        };
        config.power.capacitors = capacitors;
        config.cache.flush_programs |= !capacitors;
        config.ftl.policy = if in_units { config.ftl.policy } else { policy };
        if config.mapping.cache_capacity.is_none() {
            config.mapping.stored_entry_size = Bytes::new(page / map_entries);
        }
        config.mapping.write_back_buffer = Bytes::ZERO;
        let geometry = &mut config.geometry;
        let planes = geometry.channels * geometry.chips_per_channel * geometry.dies_per_chip * geometry.planes_per_die;
        let logical = (geometry.capacity.expect("the capacity is set").as_u64() / page) as u32;
        let pages = logical.div_ceil(map_entries as u32) + config.persistence.journal_pages() + 1;
        geometry.blocks_per_plane += pages.div_ceil(planes).div_ceil(geometry.pages_per_block) + 3 + extra_blocks;
        if in_units {
            while Geometry::from_config(&config).is_err() || partitions::surplus(&config) < 0 {
                config.geometry.blocks_per_plane += 1;
            }
        }
        if replicates {
            config.replication.enabled = true;
            config.replication.l_m = 0.02;
            config.flash.read_time = Time::from_us(60);
            config.flash.program_time = Time::from_us(20);
        }
        slc.fit(&mut config);
        (config, requests, moments)
    })
}

/// Counts over all power cuts and their recoveries.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    cuts: u64,
    acknowledged: u64,
    lost_from_dram: u64,
    entries: u64,
    found: u64,
    checkpoints: u64,
    copies: u64,
    undone: u64,
}

impl Seen {
    fn add(&mut self, other: Seen) {
        self.cuts += other.cuts;
        self.acknowledged += other.acknowledged;
        self.lost_from_dram += other.lost_from_dram;
        self.entries += other.entries;
        self.found += other.found;
        self.checkpoints += other.checkpoints;
        self.copies += other.copies;
        self.undone += other.undone;
    }
}

/// Runs a drive to its end, then again with a power cut at each of `moments`, in thousandths of the run. Returns the counts of the cuts, or the first
/// error.
fn cut_drive(config: &Config, requests: &[IoRequest], moments: &[u32]) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let said = |config: &Config| {
        let text = config.to_toml();
        move |error| format!("{error}\n{text}")
    };
    let (whole, _) = run(config, requests).map_err(said(config))?;
    assert_eq!(whole.requests, requests.len() as u64);
    for &moment in moments {
        let mut config = config.clone();
        config.power.cut = Some(Time::from_ps(whole.makespan_ps / 1000 * u64::from(moment)));
        let (report, acknowledged) = run(&config, requests).map_err(said(&config))?;
        // The run ended before the cut.
        let Some(cut) = report.power_cut else { continue };
        let recovery = cut.recovery.expect("the drive has a journal");
        if recovery.pages_lost > 0 {
            return Err(said(&config)(format!("{} pages are lost", recovery.pages_lost)));
        }
        if config.power.capacitors && cut.pages_lost > 0 {
            return Err(said(&config)(format!("{} pages are lost from DRAM with capacitors", cut.pages_lost)));
        }
        assert!(recovery.duration_ps > 0 && recovery.reads.blocks > 0);
        seen.add(Seen {
            cuts: 1,
            acknowledged,
            lost_from_dram: cut.pages_lost,
            entries: recovery.entries_replayed,
            found: recovery.pages_found,
            checkpoints: report.persistence.expect("the drive has a journal").checkpoints,
            copies: recovery.copies_found,
            undone: recovery.deallocations_lost,
        });
    }
    Ok(seen)
}

/// Returns the random generator for drive `number`, which depends only on `seed` and `number`, so each drive can be drawn alone.
pub fn runner(seed: u64, number: u64) -> TestRunner {
    let bytes: Vec<u8> = [seed, number].iter().flat_map(|part| part.to_le_bytes()).cycle().take(32).collect();
    TestRunner::new_with_rng(Runner::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Draws drive `number` and cuts its power. Returns the counts of the cuts (none if the drawn drive is invalid), or the first error.
fn cut_numbered(seed: u64, number: u64) -> Result<Seen, String> {
    let mut runner = runner(seed, number);
    let (config, requests, moments) = journaling().new_tree(&mut runner).expect("a drive can be drawn").current();
    // The drawn drive does not support the drawn policy.
    if config.validate().is_err() {
        return Ok(Seen::default());
    }
    cut_drive(&config, &requests, &moments)
}

/// Calls `cut` for every [`WORKERS`]th drive from `first` on, until `cuts` cuts are made or [`FAILURES_MAX`] drives have failed. Returns the counts
/// of the successful drives, and the number and error of each failed one.
fn cut_drives(first: u64, cuts: u64, cut: impl Fn(u64) -> Result<Seen, String>) -> (Seen, Vec<(u64, String)>) {
    let (mut seen, mut failures) = (Seen::default(), Vec::new());
    let mut numbers = (first..).step_by(WORKERS as usize);
    while seen.cuts < cuts && failures.len() < FAILURES_MAX {
        let number = numbers.next().expect("the numbers are endless");
        let result = catch_unwind(AssertUnwindSafe(|| cut(number)));
        match result.unwrap_or_else(|panic| Err(panic_message(&*panic))) {
            Ok(of_drive) => seen.add(of_drive),
            Err(error) => failures.push((number, error)),
        }
    }
    (seen, failures)
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("no message"))
}

#[test]
fn whenever_the_power_is_cut_everything_acknowledged_is_found_again() {
    let (cuts, seed) = (
        setting("FLASHMESH_CUTS").unwrap_or(cases(CUTS).max(CUTS_MIN).into()),
        setting("FLASHMESH_SEED").unwrap_or(SEED),
    );
    if let Some(number) = setting("FLASHMESH_DRIVE") {
        let result = cut_numbered(seed, number);
        return println!("{:?}", result.unwrap_or_else(|error| panic!("drive {number} of seed {seed}: {error}")));
    }
    let cut = |number| cut_numbered(seed, number).inspect_err(|error| eprintln!("drive {number}: {error}"));
    let share_of = |first| cut_drives(first, cuts.div_ceil(WORKERS), cut);
    let (mut seen, mut failures) = (Seen::default(), Vec::new());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|first| scope.spawn(move || share_of(first))).collect();
        for worker in workers {
            let (of_worker, failed) = worker.join().expect("panics of drives are caught");
            seen.add(of_worker);
            failures.extend(failed);
        }
    });
    println!("{seen:?}");
    let errors: Vec<String> = failures
        .iter()
        .map(|(number, error)| format!("drive {number}: {}", error.lines().next().unwrap_or("")))
        .collect();
    assert!(errors.is_empty(), "{} drives of seed {seed} failed:\n{}", errors.len(), errors.join("\n"));
    let Seen { cuts: _, acknowledged, lost_from_dram, entries, found, checkpoints, copies, undone } = seen;
    for (count, what) in [
        (acknowledged, "write is acknowledged"),
        (lost_from_dram, "page is lost from DRAM"),
        (entries, "entry is replayed"),
        (found, "page is found by the scan"),
        (checkpoints, "checkpoint ends"),
        (copies, "copy is found"),
        (undone, "deallocation is undone"),
    ] {
        assert!(count > 0, "in {} cuts no {what}", seen.cuts);
    }
}

#[test]
fn a_worker_goes_on_after_a_failed_drive() {
    let cut = |number| match number {
        4 => Err("a page is lost".to_owned()),
        8 => panic!("drive {number} panics"),
        _ => Ok(Seen { cuts: 3, ..Seen::default() }),
    };
    let (seen, failures) = cut_drives(2, 10, cut);
    assert_eq!(seen.cuts, 12);
    assert_eq!(failures, [(4, "a page is lost".to_owned()), (8, "panicked: drive 8 panics".to_owned())]);
}

#[test]
fn a_worker_whose_drives_all_fail_ends() {
    let (seen, failures) = cut_drives(0, 10, |_| Err("a page is lost".to_owned()));
    assert_eq!((seen.cuts, failures.len()), (0, FAILURES_MAX));
}

/// Each move for wear leveling programs a journal page and a map page, whose blocks wear out while those of cold data do not. That causes further
/// moves, which must end.
#[test]
fn moves_for_wear_that_fill_the_journal_come_to_an_end() {
    let mut config = bare_drive();
    let geometry = &mut config.geometry;
    (geometry.channels, geometry.chips_per_channel, geometry.dies_per_chip, geometry.planes_per_die) = (1, 1, 1, 1);
    (geometry.blocks_per_plane, geometry.pages_per_block) = (104, 4);
    geometry.capacity = Some(Bytes::from_kib(1024));
    config.precondition.kind = PreconditionKind::Sequential;
    config.persistence.policy = PersistencePolicy::Journal;
    config.persistence.entry_size = geometry.page_size;
    config.persistence.checkpoint_interval = 2;
    config.mapping.stored_entry_size = Bytes::from_kib(2);
    (config.wear.static_levelling, config.wear.static_threshold) = (true, 1);
    let writes: Vec<IoRequest> = (0..400).map(|n| write(n % 16, 1, Time::from_us(n))).collect();
    let (report, _) = run(&config, &writes).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.gc.wear_moves > 0 && report.gc.translation_collections > 0);
}
