//! Statistics on read collisions, computed from the arrivals and departures of reads (Patterned Read Collisions, IEEE Access 2023, section
//! II).

mod all_reads;
mod counting;
mod observations;
mod pair_counts;
pub(super) mod random_collisions;
mod random_dies;
mod repetitions;
pub(super) mod report;
mod virtual_replicas;

use rustc_hash::FxHashSet;

use super::{Collision, Detector, DetectorRules, OutstandingReads, PagePair};
use crate::ids::{DieId, Lpn, TransactionId};
use crate::schedule::purpose::ReadPurpose;
use crate::units::Time;
use all_reads::{AllCounts, AllReads};
use counting::{count, mean_of, share};
use observations::Observations;
use pair_counts::PairCounts;
use random_collisions::read_collision_probability;
use random_dies::RandomDies;
use repetitions::repetitions;
use report::CollisionsReport;
use virtual_replicas::VirtualReplicas;

#[derive(Clone, Copy, Debug)]
pub struct AnalysisOptions {
    pub dies: u32,
    pub logical_pages: u32,
    pub interval: Time,
    pub pairs_max: u32,
    pub detector: DetectorRules,
    /// Whether reads of read-modify-write count as requested reads (`replication.counted-reads`).
    pub counts_all: bool,
    pub copies_max: u32,
    pub seed: u64,
}

/// Counts of the read collisions of a run. Includes a detector whose copies are only assumed, to estimate the gain of replication.
#[derive(Clone, Debug)]
pub struct Analysis {
    dies: u32,
    occupancy: OutstandingReads,
    shuffled: RandomDies,
    detector: Detector,
    pairs: PairCounts,
    observations: Observations,
    copies: VirtualReplicas,
    reads_per_die: Vec<u64>,
    /// Number of reads that arrived as one of k outstanding reads of the drive, indexed by k.
    arrivals: Vec<u64>,
    balanced: u64,
    imbalanced: u64,
    collisions_shuffled: u64,
    rerouted: FxHashSet<TransactionId>,
    counts_all: bool,
    /// Counts that include all reads of read-modify-write; `None` until the first read that only these counts include.
    all: Option<Box<AllReads>>,
    reads_of_writes: u64,
}

impl Analysis {
    pub fn new(options: AnalysisOptions) -> Analysis {
        let dies = options.dies;
        Analysis {
            dies,
            occupancy: OutstandingReads::new(dies),
            shuffled: RandomDies::new(dies, options.seed),
            detector: Detector::new(dies, options.detector),
            pairs: PairCounts::new(options.pairs_max),
            observations: Observations::new(options.interval),
            copies: VirtualReplicas::new(&options),
            reads_per_die: vec![0; dies as usize],
            arrivals: Vec::new(),
            balanced: 0,
            imbalanced: 0,
            collisions_shuffled: 0,
            rerouted: FxHashSet::default(),
            counts_all: options.counts_all,
            all: None,
            reads_of_writes: 0,
        }
    }

    pub fn read_queued(&mut self, id: TransactionId, die: DieId, lpn: Lpn, read_for: ReadPurpose, now: Time) {
        self.observations.sample(now, &self.occupancy, &self.shuffled);
        let is_again = self.rerouted.remove(&id);
        self.reads_of_writes += u64::from(read_for == ReadPurpose::Write && !is_again);
        let counts = self.counts_all || read_for == ReadPurpose::Request;
        if !counts && self.all.is_none() {
            self.all = Some(Box::new(AllReads::continue_from(&self.occupancy, self.counts())));
        }
        match &mut self.all {
            Some(all) if is_again => all.read_requeued(id, die, lpn),
            Some(all) => all.read_queued(id, die, lpn),
            None => {}
        }
        if !counts {
            return;
        }
        if is_again {
            self.occupancy.enter(die, id, lpn);
            self.shuffled.enter(id);
            return;
        }
        self.reads_per_die[die.index()] += 1;
        self.detector.issued(die, now);
        if self.copies.contains(lpn) {
            self.copies.read(die, lpn, &self.occupancy);
        }
        let arrival = self.occupancy.enter(die, id, lpn);
        count(&mut self.arrivals, arrival.outstanding_total, 1);
        self.collisions_shuffled += u64::from(self.shuffled.enter(id));
        match arrival.collision {
            None => {}
            Some(Collision::Balanced) => self.balanced += 1,
            Some(Collision::Imbalanced) => {
                self.imbalanced += 1;
                self.collided(die, now);
            }
        }
    }

    /// Marks a read that will be queued again at another die, because its page has moved. It is not counted again there.
    pub fn rerouted(&mut self, id: TransactionId) {
        self.rerouted.insert(id);
    }

    fn collided(&mut self, die: DieId, now: Time) {
        let Analysis { occupancy, pairs, detector, copies, .. } = self;
        occupancy.record_pairs(die, |first, second| {
            let pair = PagePair::new(first, second);
            pairs.count(pair);
            detector.pair(pair);
        });
        if let Some(found) = detector.collided(die, occupancy, now, |lpn, _| !copies.contains(lpn)) {
            copies.add(&found);
        }
    }

    pub fn read_finished(&mut self, id: TransactionId, die: DieId, now: Time) {
        self.observations.sample(now, &self.occupancy, &self.shuffled);
        if self.occupancy.leave(die, id) {
            self.shuffled.leave(id);
        }
        if let Some(all) = &mut self.all {
            all.read_finished(id, die);
        }
    }

    fn counts(&self) -> AllCounts {
        AllCounts {
            collisions: self.balanced + self.imbalanced,
            imbalanced: self.imbalanced,
            pair_occurrences: self.pairs.occurrences(),
        }
    }

    /// Removes the virtual copy (assumed, but never programmed) of a page that was written or deallocated, if there is one.
    pub fn invalidate_copy(&mut self, lpn: Lpn) {
        self.copies.end(lpn);
    }

    pub fn report(&mut self, now: Time) -> CollisionsReport {
        self.observations.sample(now, &self.occupancy, &self.shuffled);
        let (dies, observations) = (self.dies, &self.observations);
        let reads = self.reads_per_die.iter().sum();
        let collisions = self.balanced + self.imbalanced;
        let (collision_ratio, expected) = (observations.collision_ratio(), observations.collision_ratio_expected());
        self.pairs.flush();
        let of_all = self.all.as_ref().map_or_else(|| self.counts(), |all| all.counts());
        let repetitions = repetitions(&self.pairs);
        let mut replication = self.copies.gain();
        replication.imbalanced_avoided_share = share(replication.imbalanced_avoided, self.imbalanced);
        CollisionsReport {
            dies,
            reads,
            collisions,
            balanced: self.balanced,
            imbalanced: self.imbalanced,
            imbalanced_share: share(self.imbalanced, collisions),
            read_collision_ratio: share(collisions, reads),
            read_collision_ratio_expected: share(self.collisions_shuffled, reads),
            read_collision_ratio_closed_form: mean_of(&self.arrivals, |reads| read_collision_probability(reads, dies)),
            observations: observations.count(),
            average_occ: observations.average_occ(),
            collision_ratio,
            collision_ratio_expected: expected,
            collision_ratio_closed_form: observations.collision_ratio_closed_form(dies),
            collision_ratio_normalized: expected
                .filter(|&expected| expected > 0.0)
                .and_then(|expected| collision_ratio.map(|measured| measured / expected)),
            idle_die_share: observations.idle_die_share(),
            pairs: self.pairs.distinct(),
            pair_occurrences: self.pairs.occurrences(),
            pair_observations: observations.pairs(),
            mean_repetition: repetitions.mean,
            pairs_kept_share: self.pairs.kept_share(),
            top_5_percent_share: repetitions.top_5_percent_share,
            repetitions: repetitions.bins,
            top_pairs: repetitions.top,
            reads_per_die: self.reads_per_die.clone(),
            reads_per_die_rsd: relative_deviation(&self.reads_per_die),
            reads_of_writes: self.reads_of_writes,
            collisions_of_all: of_all.collisions,
            imbalanced_of_all: of_all.imbalanced,
            pair_occurrences_of_all: of_all.pair_occurrences,
            replication,
        }
    }
}

fn relative_deviation(values: &[u64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<u64>() as f64 / count;
    let variance = values.iter().map(|&value| (value as f64 - mean) * (value as f64 - mean)).sum::<f64>() / count;
    (mean > 0.0).then(|| variance.sqrt() / mean)
}
