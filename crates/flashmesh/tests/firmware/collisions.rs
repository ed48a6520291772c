//! Analysis of read collisions (a read arrives at a die that has other outstanding reads), compared with arithmetic, with the tables of Jun et al.,
//! IEEE Access 2023 ("the paper"), and with runs without the analysis.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flashmesh::collisions::{CollisionsReport, read_collision_probability, state_collision_probability};
use flashmesh::config::{Allocation, Config, CountedReads, Pattern, PreconditionKind, ReplayMode, Sizes, WorkloadKind};
use flashmesh::kernel::probe::{Notice, Probe};
use flashmesh::measure::report::Report;
use flashmesh::schedule::transaction::TransactionClass;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;

use crate::support::drives::{Listed, bare_drive, read, run_source, write};
use crate::support::shared::shared;

/// Returns the drive of Jun et al., IEEE Access 2023, with random reads of 4 KiB, `outstanding` at a time.
fn random_reads(outstanding: u32, requests: u64) -> Config {
    let mut config = Config::from_preset("collisions").expect("the preset exists");
    config.replay.outstanding = outstanding;
    config.workload.requests = Some(requests);
    config.workload.request_size = Sizes(vec![(Bytes::from_kib(4), 1.0)]);
    config.measure.collisions = true;
    config
}

fn run(config: &Config) -> Report {
    let mut simulation = Simulation::new(config).expect("the drive can be built");
    simulation.run(&Control::default()).expect("the run succeeds")
}

fn collisions(report: &Report) -> &CollisionsReport {
    report.collisions.as_ref().expect("collisions are analysed")
}

/// Asserts that two ratios differ by less than 2 percentage points.
#[track_caller]
fn assert_near(found: Option<f64>, expected: f64) {
    let found = found.expect("the ratio is reported");
    assert!((found - expected).abs() < 0.02, "{found}, expected {expected}");
}

/// Interpolates `of` linearly at the mean number of outstanding reads.
fn mixed(outstanding: f64, of: impl Fn(usize) -> f64) -> f64 {
    let (whole, part) = (outstanding.floor(), outstanding.fract());
    (1.0 - part) * of(whole as usize) + part * of(whole as usize + 1)
}

/// Returns the stationary distribution of queue lengths (sorted) when `outstanding` reads are distributed over `dies` dies. Per read time every busy
/// die completes a read, which is replaced by a read of a random die: the Markov chain known as repeated balls into bins.
fn states_of_queues(outstanding: usize, dies: usize) -> BTreeMap<Vec<usize>, f64> {
    let mut states = BTreeMap::from([(vec![1; outstanding], 1.0)]);
    for _ in 0..100 {
        let mut next = BTreeMap::new();
        for (queues, share) in &states {
            let left: Vec<usize> = queues.iter().map(|length| length - 1).filter(|&length| length > 0).collect();
            let mut placed = BTreeMap::from([(left, *share)]);
            for _ in queues {
                placed = one_more(&placed, dies);
            }
            placed.into_iter().for_each(|(state, share)| *next.entry(state).or_insert(0.0) += share);
        }
        states = next;
    }
    states
}

/// Returns the share of states in which at least two reads share a die.
fn colliding_queues(outstanding: usize, dies: usize) -> f64 {
    1.0 - states_of_queues(outstanding, dies)[&vec![1; outstanding]]
}

/// Returns the mean number of pairs of reads that share a die.
fn pairs_in_queues(outstanding: usize, dies: usize) -> f64 {
    let pairs = |queues: &[usize]| queues.iter().map(|length| length * (length - 1) / 2).sum::<usize>() as f64;
    states_of_queues(outstanding, dies).iter().map(|(queues, share)| share * pairs(queues)).sum()
}

/// Returns the distribution of queue lengths after one more read of a random die.
fn one_more(states: &BTreeMap<Vec<usize>, f64>, dies: usize) -> BTreeMap<Vec<usize>, f64> {
    let mut next = BTreeMap::new();
    for (queues, share) in states {
        for at in 0..=queues.len() {
            let mut longer = queues.clone();
            let chances = if at < queues.len() { 1 } else { dies - queues.len() };
            if at < queues.len() {
                longer[at] += 1;
            } else {
                longer.push(1);
            }
            longer.sort_unstable();
            *next.entry(longer).or_insert(0.0) += share * chances as f64 / dies as f64;
        }
    }
    next
}

#[test]
fn eight_random_reads_on_sixteen_dies_collide_as_table_2_and_arithmetic_say() {
    let report = run(&random_reads(8, 60_000));
    let found = collisions(&report);
    // Eight requests are outstanding, but part of their time is on the link, so fewer are at the dies: 7.8 in Table 2 of Jun et al., IEEE Access
    // 2023.
    let occ = found.average_occ.expect("reads were outstanding");
    assert!((7.5..8.0).contains(&occ), "{occ}");
    assert_eq!((found.dies, found.reads, found.reads_per_die.iter().sum::<u64>()), (16, 60_000, 60_000));
    // For 8 outstanding reads of random dies the paper has 83.7 % expected and 86.0 % measured collisions; 1 - 16! / (8! 16^8) is 87.9 %.
    let closed = found.collision_ratio_closed_form.expect("collisions were sampled");
    assert!(closed < state_collision_probability(8, 16) && closed > state_collision_probability(7, 16), "{closed}");
    assert_near(found.collision_ratio_expected, closed);
    assert_near(Some(closed), 0.86);
    assert_near(found.read_collision_ratio_expected, found.read_collision_ratio_closed_form.expect("reads completed"));
    assert!(found.read_collision_ratio_closed_form.expect("reads completed") <= read_collision_probability(8, 16));
    assert_near(found.read_collision_ratio, found.read_collision_ratio_closed_form.expect("reads completed"));
    // Collisions are more frequent than at independent random dies, because colliding reads stay longer. The Markov chain of [`states_of_queues`]
    // predicts the share; its ratio to that of random dies is the published 86.0 / 83.7.
    let states = mixed(occ, |outstanding| colliding_queues(outstanding, 16));
    assert_near(found.collision_ratio, states);
    assert_near(found.collision_ratio_normalized, 86.0 / 83.7);
    // With eight reads on sixteen dies some die is idle, so every collision is an imbalance. Reads are drawn from 67 million pages, so no
    // pair of pages collides twice.
    assert_eq!((found.imbalanced_share, found.idle_die_share), (Some(1.0), Some(1.0)));
    assert_near(found.mean_repetition, 1.0);
    assert!(found.reads_per_die_rsd.expect("reads completed") < 0.03);
}

/// Table 2 of Jun et al., IEEE Access 2023, has 2,382,491 pairs for 967,430 reads, far more than two reads can meet at a die (7/16 per read,
/// 423,000). It counts pairs at each observation instead (every 10 us, section II.C), with whole-page transfers.
#[test]
fn pairs_of_eight_random_reads_at_each_observation_are_those_of_table_2_if_whole_pages_move() {
    let mut config = random_reads(8, 60_000);
    // With parity over the whole page, a read of 4 KiB transfers 18 KiB. 56 KiB of spare per page has the same effect: 4 KiB of data and 14 KiB of
    // spare.
    config.geometry.page_spare = Bytes::from_kib(56);
    let report = run(&config);
    let found = collisions(&report);
    let states = mixed(found.average_occ.expect("reads are outstanding"), |reads| pairs_in_queues(reads, 16));
    let each = found.pair_observations as f64 / found.observations as f64;
    assert!((each / states - 1.0).abs() < 0.04, "{each}, of the queues {states}");
    let published = 2_382_491.0 / 967_430.0;
    let of_reads = found.pair_observations as f64 / found.reads as f64;
    assert!((of_reads / published - 1.0).abs() < 0.06, "{of_reads}, published {published}");
    assert!(found.pair_occurrences as f64 <= 7.0 / 16.0 * found.reads as f64 * 1.02);
}

/// Three reads of one die arrive together: three pairs until the first read completes, one pair until the second completes.
#[test]
fn a_pair_counts_at_each_observation_of_its_time_together() {
    let mut config = bare_drive();
    config.measure.collisions = true;
    config.geometry.planes_per_die = 1;
    config.precondition.kind = PreconditionKind::Sequential;
    for interval in [Time::from_us(10), Time::from_ns(333), Time::from_us(1000)] {
        config.measure.collision_interval = interval;
        let dies = u64::from(config.dies());
        let (report, records) = run_source(&config, Listed((0..3).map(|n| read(n * dies, 1, Time::ZERO)).collect()));
        let mut done: Vec<u64> = records.iter().map(|record| record.completed.as_ps()).collect();
        done.sort_unstable();
        let observed_until = |at: usize| done[at].div_ceil(interval.as_ps());
        let found = collisions(&report);
        assert_eq!(
            found.pair_observations,
            3 * observed_until(0) + (observed_until(1) - observed_until(0)),
            "{interval}"
        );
        assert_eq!((found.pairs, found.pair_occurrences), (3, 3));
    }
}

/// Table 4 of Jun et al., IEEE Access 2023, has pages of 16 KB with 2 KB of parity. A read of 4 KiB also transfers its share of the parity,
/// 4.6 KB in all, at 1 GB/s.
#[test]
fn a_read_of_4_kib_moves_its_share_of_the_page_and_the_parity() {
    let mut config = random_reads(1, 1);
    config.host.link_rate = flashmesh::units::Rate::UNLIMITED;
    let report = run(&config);
    assert_eq!(report.makespan_ps, (Time::from_us(60) + Time::from_ns(10 + 4_608)).as_ps());
}

#[test]
fn one_read_at_a_time_collides_with_none_and_reads_of_one_die_with_all() {
    let report = run(&random_reads(1, 1_000));
    let found = collisions(&report);
    assert_eq!((found.collisions, found.collision_ratio, found.pairs), (0, Some(0.0), 0));
    let mut config = random_reads(2, 10_000);
    // Every sixteenth page is on the first die: the static order goes through the channels first, then through the two chips of each channel.
    config.ftl.allocation = Allocation::Static([
        flashmesh::config::ArrayLevel::Channel,
        flashmesh::config::ArrayLevel::Way,
        flashmesh::config::ArrayLevel::Die,
        flashmesh::config::ArrayLevel::Plane,
    ]);
    config.geometry.planes_per_die = 1;
    config.workload.pattern = Pattern::HotStride;
    config.workload.hot_stride = 16;
    config.workload.hot_traffic = 1.0;
    config.workload.request_size = Sizes(vec![(Bytes::from_kib(16), 1.0)]);
    let report = run(&config);
    let found = collisions(&report);
    assert_eq!(found.reads_per_die[0], 10_000);
    assert!(found.read_collision_ratio.expect("reads completed") > 0.99, "{found:?}");
    assert!((found.reads_per_die_rsd.expect("reads completed") - 15_f64.sqrt()).abs() < 1e-9);
}

#[test]
fn an_analysis_changes_nothing() {
    let mut config = random_reads(64, 20_000);
    config.workload.read_share = 0.8;
    config.workload.footprint = Some(Bytes::from_kib(64 << 10));
    let with = run(&config);
    config.measure.collisions = false;
    let without = run(&config);
    assert_eq!(without.collisions, None);
    let of = |report: &Report| (report.makespan_ps, report.latency_ps.clone(), report.flash.clone());
    assert_eq!(of(&with), of(&without));
}

#[test]
fn more_pairs_than_are_kept_are_a_sample() {
    let mut config = random_reads(64, 20_000);
    let all = run(&config);
    config.measure.collision_pairs = 1_000;
    let some = run(&config);
    let (all, some) = (collisions(&all), collisions(&some));
    assert!(some.pairs_kept_share < 0.1 && some.repetitions.iter().map(|bin| bin.pairs).sum::<u64>() <= 1_000);
    assert_eq!(all.pair_occurrences, some.pair_occurrences);
    let error = some.pairs as f64 / all.pairs as f64 - 1.0;
    assert!(error.abs() < 0.15, "{} and {}", some.pairs, all.pairs);
}

#[test]
fn what_replication_would_gain_is_what_it_gains() {
    // With 32 outstanding reads of 128 pages on 16 dies, the same pairs of pages collide repeatedly.
    let mut config = random_reads(32, 100_000);
    config.workload.request_size = Sizes(vec![(Bytes::from_kib(16), 1.0)]);
    config.workload.pattern = Pattern::Zipf;
    config.workload.footprint = Some(Bytes::from_kib(2 << 10));
    config.replication.rate_window = Time::from_ms(100);
    let would = collisions(&run(&config)).replication.clone();
    config.replication.enabled = true;
    let report = run(&config);
    let did = report.replication.as_ref().expect("replication is enabled");
    assert!(would.replications > 0 && did.counts.made > 0, "{would:?} {did:?}");
    assert!(would.imbalanced_avoided > 0 && did.counts.imbalanced_avoided > 0, "{would:?} {did:?}");
}

/// On a profile with recurring bursts, pairs repeat as often as published (Jun et al., IEEE Access 2023, section II.C and Table 5), and replication
/// separates them.
#[test]
fn pairs_of_hm_1_repeat_as_table_2_has_it_and_replication_takes_them_apart() {
    let text = "preset = \"collisions\"\n[workload]\nprofile = \"collisions/HM1\"\nrequests = 30_000\n[replay]\nmode = \"open\"\n\
                [host]\nqueue-depth = 65535\n[measure]\ncollisions = true\n";
    let mut config = Config::from_str(text, "drive.toml", &[]).expect("the configuration is valid");
    let before = run(&config);
    config.replication.enabled = true;
    let after = run(&config);
    let [before, after] = [&before, &after].map(collisions);
    // Jun et al., IEEE Access 2023, report 37.89 occurrences per pair for the whole trace; 5 % of the pairs have 80 % of the occurrences.
    let repetition = before.mean_repetition.expect("pairs occurred");
    assert!((20.0..60.0).contains(&repetition), "{repetition}");
    let first = before.top_5_percent_share.expect("pairs occurred");
    assert!((0.6..0.95).contains(&first), "{first}");
    // In the paper (Jun et al., IEEE Access 2023), replication removes 30.7 % of the pair occurrences.
    let left = after.pair_occurrences as f64 / before.pair_occurrences as f64;
    assert!(left < 0.85, "{left}");
}

/// Pages are overwritten and moved by GC while reads of them wait, so that the reads are rerouted to other dies.
#[test]
fn a_read_whose_page_moves_while_it_waits_counts_once() {
    let mut rerouted = 0;
    for seed in 0..6 {
        let mut config = random_reads(256, 3_000);
        config.seed = seed;
        config.workload.read_share = 0.5;
        config.workload.footprint = Some(Bytes::from_kib(256));
        config.ftl.allocation = Allocation::Dynamic;
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        let counted = Arc::new(AtomicU64::new(0));
        simulation.add_probe(Box::new(Rerouted(Arc::clone(&counted))));
        let report = simulation.run(&Control::default()).expect("the run succeeds");
        let found = collisions(&report);
        assert_eq!(found.reads, report.flash.user_reads);
        assert_eq!(found.reads_of_writes, report.flash.partial_write_reads);
        assert_eq!(found.reads_per_die.iter().sum::<u64>(), found.reads);
        assert!(found.collisions <= found.reads);
        rerouted += counted.load(Ordering::Relaxed);
    }
    assert!(rerouted > 100, "{rerouted}");
}

/// Partial writes of pages 0 to 3 on one die read their pages first. Pages 4 and 5 are read meanwhile.
#[test]
fn reads_that_complete_a_write_collide_only_where_they_are_asked_for() {
    let mut config = bare_drive();
    config.measure.collisions = true;
    // With one plane per die, all of these pages are on die 0.
    config.geometry.planes_per_die = 1;
    config.precondition.kind = PreconditionKind::Sequential;
    let part = |page: u64| IoRequest { size: Bytes::new(512), ..write(page, 1, Time::ZERO) };
    let (channels, chips) = (config.geometry.channels, config.geometry.chips_per_channel);
    let dies = u64::from(channels * chips * config.geometry.dies_per_chip);
    let at_once: VecDeque<IoRequest> =
        (0..4).map(|n| part(n * dies)).chain([read(4 * dies, 1, Time::ZERO), read(5 * dies, 1, Time::ZERO)]).collect();
    let (report, _) = run_source(&config, Listed(at_once.clone()));
    let host = collisions(&report);
    assert_eq!((host.reads, host.reads_of_writes), (2, 4), "{host:?}");
    // Of the two host reads one collides, which makes one pair; of all six reads five collide, which makes 15 pairs.
    assert_eq!((host.collisions, host.imbalanced, host.pair_occurrences), (1, 1, 1));
    assert_eq!((host.collisions_of_all, host.imbalanced_of_all, host.pair_occurrences_of_all), (5, 5, 15));
    config.replication.counted_reads = CountedReads::All;
    let (report, _) = run_source(&config, Listed(at_once));
    let all = collisions(&report);
    assert_eq!((all.reads, all.reads_of_writes), (6, 4));
    assert_eq!((all.collisions, all.imbalanced, all.pair_occurrences), (5, 5, 15));
    assert_eq!((all.collisions_of_all, all.imbalanced_of_all, all.pair_occurrences_of_all), (5, 5, 15));
}

/// Writes of 4 KiB to pages of 16 KiB read their page first. If only host reads are counted, these reads cause no copies.
#[test]
fn reads_that_complete_a_write_trigger_copies_only_where_they_are_asked_for() {
    let mut config = random_reads(32, 20_000);
    config.workload.read_share = 0.0;
    config.workload.footprint = Some(Bytes::from_kib(2 << 10));
    config.precondition.kind = PreconditionKind::Sequential;
    config.replication.enabled = true;
    config.replication.rate_window = Time::from_ms(100);
    let wanted = |config: &Config| {
        let report = run(config);
        let (did, would) =
            (report.replication.expect("replication is enabled"), report.collisions.expect("collisions are analysed"));
        (did.counts.imbalanced, did.counts.wanted, would.replication.replications, would.reads_of_writes)
    };
    let (imbalanced, copies, gain, others) = wanted(&config);
    assert!(others > 1_000, "{others}");
    assert_eq!((imbalanced, copies, gain), (0, 0, 0));
    config.replication.counted_reads = CountedReads::All;
    let (imbalanced, ..) = wanted(&config);
    assert!(imbalanced > 100, "{imbalanced}");
}

/// RSRCH1 has two pair occurrences in Table 5 of Jun et al., IEEE Access 2023. Only 0.3 % of its requests are reads; counting reads for partial
/// writes would give a thousand times as many.
#[test]
fn the_recorded_rsrch_1_has_as_few_collisions_as_table_5() {
    let Some(folder) = shared("traces") else { return };
    let mut config = Config::from_preset("collisions").expect("the preset exists");
    config.workload.kind = WorkloadKind::Trace;
    config.workload.trace = Some(folder.join("msr-rsrch_1.csv"));
    config.replay.mode = ReplayMode::Open;
    config.host.queue_depth = 65_535;
    config.measure.collisions = true;
    let report = run(&config);
    let found = collisions(&report);
    assert!(found.reads > 50 && (1..20).contains(&found.imbalanced) && found.pair_occurrences < 20, "{found:?}");
    assert!(found.pair_occurrences_of_all > 1_000, "{found:?}");
}

/// Probe that counts reads rerouted to another die while they are queued.
#[derive(Debug)]
struct Rerouted(Arc<AtomicU64>);

impl Probe for Rerouted {
    fn notify(&mut self, _now: Time, notice: &Notice<'_>) {
        if matches!(notice, Notice::Rerouted(_, TransactionClass::UserRead, _)) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}
