//! The figures of section II of the paper, from reads as they come and go.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lru::LruCache;
use rustc_hash::FxBuildHasher;

use super::{
    Collision, CollisionPair, CollisionsReport, Detector, DetectorRules, Occupancy, Pair, PairCounts, RepetitionBin,
    ReplicationGain, colliding_reads, colliding_states, random_dies::RandomDies,
};
use crate::ids::{DieId, Lpn, TransactionId};
use crate::units::Time;

/// The most repeated pairs that a report lists.
const TOP_PAIRS: usize = 20;

/// Pairs that occurred less often are counted by their occurrences, the others one by one.
const SELDOM: usize = 1 << 10;

/// How an analysis is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Dies of the drive.
    pub dies: u32,
    /// Logical pages of the drive.
    pub logical_pages: u32,
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
    /// The same reads at random dies.
    shuffled: RandomDies,
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
    /// Copies that are followed without being made: the die of each, and whether a page has one, a bit each. Most have none.
    copies: LruCache<Lpn, DieId, FxBuildHasher>,
    has_copy: Vec<u64>,
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
            shuffled: RandomDies::new(dies, options.seed),
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
            has_copy: vec![0; options.logical_pages as usize / 64 + 1],
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
        if self.has_copy(lpn) {
            self.follow(die, lpn);
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
        self.flag(found.lpn);
        if self.copies.len() > self.options.copies_max as usize {
            if let Some((lpn, _)) = self.copies.pop_lru() {
                self.flag(lpn);
            }
            self.gain.evictions += 1;
        }
    }

    #[inline]
    fn has_copy(&self, lpn: Lpn) -> bool {
        self.has_copy.get(lpn.index() / 64).is_some_and(|flags| flags >> (lpn.0 % 64) & 1 != 0)
    }

    /// A page has a copy from now on, or has none any more.
    fn flag(&mut self, lpn: Lpn) {
        self.has_copy[lpn.index() / 64] ^= 1 << (lpn.0 % 64);
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
            self.shuffled.leave(id);
        }
    }

    /// A page was written or deallocated: a copy of it would be none any more.
    #[inline]
    pub fn superseded(&mut self, lpn: Lpn) {
        if self.has_copy(lpn) {
            self.copies.pop(&lpn);
            self.flag(lpn);
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
        // Pairs by how often they occurred: most occurred a few times.
        let (mut pairs_of, mut often) = ([0_u64; SELDOM], Vec::new());
        let mut top = BinaryHeap::with_capacity(TOP_PAIRS + 1);
        for (pair, times) in self.pairs.kept() {
            match pairs_of.get_mut(times as usize) {
                Some(pairs) => *pairs += 1,
                None => often.push(times),
            }
            let entry = (Reverse(times), pair);
            if top.len() < TOP_PAIRS {
                top.push(entry);
            } else if let Some(mut last) = top.peek_mut().filter(|last| entry < **last) {
                *last = entry;
            }
        }
        often.sort_unstable_by_key(|&times| Reverse(times));
        let seldom = pairs_of.iter().enumerate().rev().map(|(times, &pairs)| (times as u32, pairs));
        let by_times = || often.iter().map(|&times| (times, 1)).chain(seldom.clone().filter(|&(_, pairs)| pairs > 0));
        let kept: u64 = by_times().map(|(_, pairs)| pairs).sum();
        let total: u64 = by_times().map(|(times, pairs)| u64::from(times) * pairs).sum();
        let mut bins: Vec<RepetitionBin> = Vec::new();
        let (mut first_twentieth, mut left) = (0, kept.div_ceil(20));
        for (times, pairs) in by_times() {
            let times_min = 1 << times.ilog2();
            if bins.last().is_none_or(|bin| bin.times_min != times_min) {
                bins.push(RepetitionBin { times_min, pairs: 0, occurrences: 0 });
            }
            if let Some(bin) = bins.last_mut() {
                bin.pairs += pairs;
                bin.occurrences += u64::from(times) * pairs;
            }
            first_twentieth += u64::from(times) * pairs.min(left);
            left -= pairs.min(left);
        }
        let pair = |(Reverse(times), pair): (Reverse<u32>, Pair)| CollisionPair {
            first: pair.first.0,
            second: pair.second.0,
            occurrences: u64::from(times),
        };
        let top = top.into_sorted_vec().into_iter().map(pair).collect();
        let of = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        (bins, top, of(first_twentieth, total), of(total, kept))
    }
}

/// The standard deviation over the mean.
fn relative_deviation(values: &[u64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<u64>() as f64 / count;
    let variance = values.iter().map(|&value| (value as f64 - mean) * (value as f64 - mean)).sum::<f64>() / count;
    (mean > 0.0).then(|| variance.sqrt() / mean)
}
