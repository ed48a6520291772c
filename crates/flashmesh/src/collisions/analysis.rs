//! The figures of section II of the paper, from reads as they come and go.

use std::cmp::Reverse;

use lru::LruCache;
use rustc_hash::FxBuildHasher;

use super::{
    Collision, CollisionPair, CollisionsReport, Detector, DetectorRules, Occupancy, Pair, PairCounts, RepetitionBin,
    ReplicationGain, colliding_reads, colliding_states,
};
use crate::engine::random::SimRng;
use crate::ids::{DieId, Lpn, TransactionId};
use crate::units::Time;

/// The most repeated pairs that a report lists.
const TOP_PAIRS: usize = 20;

/// Keeps the random dies apart from all other random choices that grow from the seed of a run.
const SEED_OF_DIES: u64 = 0x636f_6c6c_6964_6573;

/// How an analysis is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Dies of the drive.
    pub dies: u32,
    /// Time between two observations.
    pub interval: Time,
    /// The most pairs that are kept.
    pub pairs_max: u32,
    /// What a copy gains and costs.
    pub detector: DetectorRules,
    /// `l_M`: the most copies.
    pub copies_max: u32,
    /// The seed of the run.
    pub seed: u64,
}

/// Reads collide, and are counted.
#[derive(Debug)]
pub struct Analysis {
    options: Options,
    occupancy: Occupancy,
    /// The same reads at random dies, and the die of each by its number.
    shuffled: Occupancy,
    shuffled_die: Vec<DieId>,
    random: SimRng,
    detector: Detector,
    pairs: PairCounts,
    reads_per_die: Vec<u64>,
    reads: u64,
    balanced: u64,
    imbalanced: u64,
    collisions_shuffled: u64,
    /// Reads that arrived as one of so many outstanding.
    arrivals: Vec<u64>,
    /// When the next observation is due.
    due: Time,
    /// Observations by reads outstanding.
    observations: Vec<u64>,
    colliding: u64,
    colliding_shuffled: u64,
    with_idle_die: u64,
    /// Copies that are followed without being made: the die of each.
    copies: LruCache<Lpn, DieId, FxBuildHasher>,
    gain: ReplicationGain,
}

/// Counts at a position of a table that grows.
#[inline]
fn count(table: &mut Vec<u64>, at: u32, times: u64) {
    let at = at as usize;
    if table.len() <= at {
        table.resize(at + 1, 0);
    }
    table[at] += times;
}

impl Analysis {
    /// An analysis of a drive that has read nothing.
    pub fn new(options: Options) -> Analysis {
        let dies = options.dies;
        Analysis {
            options,
            occupancy: Occupancy::new(dies),
            shuffled: Occupancy::new(dies),
            shuffled_die: Vec::new(),
            random: SimRng::new(options.seed ^ SEED_OF_DIES),
            detector: Detector::new(dies, options.detector),
            pairs: PairCounts::new(options.pairs_max),
            reads_per_die: vec![0; dies as usize],
            reads: 0,
            balanced: 0,
            imbalanced: 0,
            collisions_shuffled: 0,
            arrivals: Vec::new(),
            due: Time::ZERO,
            observations: Vec::new(),
            colliding: 0,
            colliding_shuffled: 0,
            with_idle_die: 0,
            copies: LruCache::unbounded_with_hasher(FxBuildHasher),
            gain: ReplicationGain::default(),
        }
    }

    /// Makes the observations that are due before `now`; what was outstanding has not changed since the last call.
    #[inline]
    fn observe(&mut self, now: Time) {
        if now > self.due {
            self.observe_until(now);
        }
    }

    fn observe_until(&mut self, now: Time) {
        let interval = self.options.interval;
        let mut times = 1;
        self.due += interval;
        if now > self.due {
            let more = (now - self.due).as_ps().div_ceil(interval.as_ps());
            self.due += interval * more;
            times += more;
        }
        let outstanding = self.occupancy.total();
        if outstanding == 0 {
            return;
        }
        count(&mut self.observations, outstanding, times);
        self.colliding += times * u64::from(self.occupancy.collides());
        self.colliding_shuffled += times * u64::from(self.shuffled.collides());
        self.with_idle_die += times * u64::from(self.occupancy.idle_dies() > 0);
    }

    /// A read of `lpn` is put into the queue of `die`.
    pub fn queued(&mut self, id: TransactionId, die: DieId, lpn: Lpn, now: Time) {
        self.observe(now);
        self.reads += 1;
        self.reads_per_die[die.index()] += 1;
        self.detector.issued(die, now);
        if !self.copies.is_empty() {
            self.follow(die, lpn);
        }
        let arrival = self.occupancy.enter(die, id, lpn);
        count(&mut self.arrivals, arrival.outstanding_total, 1);
        self.shuffle(id, lpn);
        match arrival.collision {
            None => {}
            Some(Collision::Balanced) => self.balanced += 1,
            Some(Collision::Imbalanced) => {
                self.imbalanced += 1;
                self.collided(die, now);
            }
        }
    }

    /// The same read arrives at a random die.
    #[inline]
    fn shuffle(&mut self, id: TransactionId, lpn: Lpn) {
        let die = DieId(self.random.below(self.options.dies));
        if self.shuffled_die.len() <= id.index() {
            self.shuffled_die.resize(id.index() + 1, DieId(0));
        }
        self.shuffled_die[id.index()] = die;
        let arrival = self.shuffled.enter(die, id, lpn);
        self.collisions_shuffled += u64::from(arrival.collision.is_some());
    }

    fn collided(&mut self, die: DieId, now: Time) {
        let Analysis { occupancy, pairs, detector, copies, .. } = self;
        occupancy.record_pairs(die, |first, second| {
            let pair = Pair::new(first, second);
            pairs.count(pair);
            detector.pair(pair);
        });
        let Some(found) = detector.collided(die, occupancy, now, |lpn, _| !copies.contains(&lpn)) else { return };
        self.gain.replications += 1;
        self.copies.put(found.lpn, found.to);
        if self.copies.len() > self.options.copies_max as usize {
            self.copies.pop_lru();
            self.gain.evictions += 1;
        }
    }

    /// A page is read that may have a copy: what that would have gained.
    fn follow(&mut self, die: DieId, lpn: Lpn) {
        let Some(&mut copy) = self.copies.get_mut(&lpn) else { return };
        self.gain.reads += 1;
        let (here, there) = (self.occupancy.outstanding(die), self.occupancy.outstanding(copy));
        if there >= here {
            return;
        }
        self.gain.reads_moved += 1;
        self.gain.wait_saved_ps += (self.options.detector.read_time * u64::from(here - there)).as_ps();
        // Without this read, which arrives at one of the two.
        let least = self.occupancy.least();
        let is_imbalanced = |outstanding: u32| outstanding > 0 && outstanding + 1 >= least + 2;
        self.gain.imbalanced_avoided += u64::from(is_imbalanced(here) && !is_imbalanced(there));
    }

    /// A read is done on `die`, or goes elsewhere.
    #[inline]
    pub fn left(&mut self, id: TransactionId, die: DieId, now: Time) {
        self.observe(now);
        if self.occupancy.leave(die, id) {
            self.shuffled.leave(self.shuffled_die[id.index()], id);
        }
    }

    /// A page was written or deallocated: a copy of it would be none any more.
    #[inline]
    pub fn superseded(&mut self, lpn: Lpn) {
        if !self.copies.is_empty() && self.copies.pop(&lpn).is_some() {
            self.gain.ended_by_writes += 1;
        }
    }

    /// What came out, at `now`.
    pub fn report(&mut self, now: Time) -> CollisionsReport {
        self.observe(now);
        let dies = self.options.dies;
        let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        let mean = |table: &[u64], of: &dyn Fn(u32) -> f64| {
            let (mut sum, mut total) = (0.0, 0);
            for (at, &times) in table.iter().enumerate().filter(|&(_, &times)| times > 0) {
                sum += times as f64 * of(at as u32);
                total += times;
            }
            (total > 0).then(|| sum / total as f64)
        };
        let collisions = self.balanced + self.imbalanced;
        let observations = self.observations.iter().sum();
        let colliding_shuffled = share(self.colliding_shuffled, observations);
        let collision_ratio = share(self.colliding, observations);
        let (repetitions, top_pairs, top_share, mean_repetition) = self.pairs_report();
        let mut gain = self.gain.clone();
        gain.imbalanced_avoided_share = share(gain.imbalanced_avoided, self.imbalanced);
        CollisionsReport {
            dies,
            reads: self.reads,
            collisions,
            balanced: self.balanced,
            imbalanced: self.imbalanced,
            imbalanced_share: share(self.imbalanced, collisions),
            read_collision_ratio: share(collisions, self.reads),
            read_collision_ratio_expected: share(self.collisions_shuffled, self.reads),
            read_collision_ratio_closed_form: mean(&self.arrivals, &|reads| colliding_reads(reads, dies)),
            observations,
            average_occ: mean(&self.observations, &f64::from),
            collision_ratio,
            collision_ratio_expected: colliding_shuffled,
            collision_ratio_closed_form: mean(&self.observations, &|reads| colliding_states(reads, dies)),
            collision_ratio_normalized: colliding_shuffled
                .filter(|&expected| expected > 0.0)
                .and_then(|expected| collision_ratio.map(|measured| measured / expected)),
            idle_die_share: share(self.with_idle_die, observations),
            pairs: self.pairs.distinct(),
            pair_occurrences: self.pairs.occurrences(),
            mean_repetition,
            pairs_kept_share: self.pairs.kept_share(),
            top_5_percent_share: top_share,
            repetitions,
            top_pairs,
            reads_per_die: self.reads_per_die.clone(),
            reads_per_die_rsd: relative_deviation(&self.reads_per_die),
            replication: gain,
        }
    }

    /// The bins, the most repeated pairs, the share of the first twentieth of all, and the mean.
    fn pairs_report(&self) -> (Vec<RepetitionBin>, Vec<CollisionPair>, Option<f64>, Option<f64>) {
        let mut kept: Vec<(Pair, u32)> = self.pairs.kept().collect();
        kept.sort_unstable_by_key(|&(pair, times)| (Reverse(times), pair));
        let total: u64 = kept.iter().map(|&(_, times)| u64::from(times)).sum();
        let mut bins: Vec<RepetitionBin> = Vec::new();
        for &(_, times) in &kept {
            let times_min = 1 << times.ilog2();
            if bins.last().is_none_or(|bin| bin.times_min != times_min) {
                bins.push(RepetitionBin { times_min, pairs: 0, occurrences: 0 });
            }
            if let Some(bin) = bins.last_mut() {
                bin.pairs += 1;
                bin.occurrences += u64::from(times);
            }
        }
        let pair = |&(pair, times): &(Pair, u32)| CollisionPair {
            first: pair.first.0,
            second: pair.second.0,
            occurrences: u64::from(times),
        };
        let top = kept.iter().take(TOP_PAIRS).map(pair).collect();
        if kept.is_empty() {
            return (bins, top, None, None);
        }
        let first_twentieth: u64 = kept.iter().take(kept.len().div_ceil(20)).map(|&(_, times)| u64::from(times)).sum();
        let share = first_twentieth as f64 / total as f64;
        (bins, top, Some(share), Some(total as f64 / kept.len() as f64))
    }
}

/// The standard deviation over the mean.
fn relative_deviation(values: &[u64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<u64>() as f64 / count;
    let variance = values.iter().map(|&value| (value as f64 - mean) * (value as f64 - mean)).sum::<f64>() / count;
    (mean > 0.0).then(|| variance.sqrt() / mean)
}
