//! Samples of the drive at equal intervals: outstanding reads, and whether any of them collide (Patterned Read Collisions, IEEE Access
//! 2023, section II).

use super::counting::{count, mean_of, share};
use super::random_collisions::state_collision_probability;
use super::random_dies::RandomDies;
use crate::collisions::OutstandingReads;
use crate::units::Time;

#[derive(Clone, Debug)]
pub(super) struct Observations {
    interval: Time,
    due: Time,
    /// Number of samples with k outstanding reads of the drive, indexed by k. Samples without outstanding reads are not counted.
    by_outstanding: Vec<u64>,
    /// Number of samples in which some die has at least two outstanding reads.
    colliding: u64,
    /// Number of samples in which some die would have at least two outstanding reads if reads were placed on random dies.
    colliding_shuffled: u64,
    /// Number of samples in which some die has no outstanding read.
    with_idle_die: u64,
    /// Pairs of reads outstanding together on a die with an imbalanced collision (another die has at least two fewer outstanding reads), summed over
    /// the samples.
    pairs: u64,
}

impl Observations {
    pub fn new(interval: Time) -> Observations {
        Observations {
            interval,
            due: Time::ZERO,
            by_outstanding: Vec::new(),
            colliding: 0,
            colliding_shuffled: 0,
            with_idle_die: 0,
            pairs: 0,
        }
    }

    /// Records all samples due before `now`. Call this before each change of the outstanding reads, because a sample shows the reads outstanding at
    /// its time.
    pub fn sample(&mut self, now: Time, occupancy: &OutstandingReads, shuffled: &RandomDies) {
        if now > self.due {
            self.sample_until(now, occupancy, shuffled);
        }
    }

    fn sample_until(&mut self, now: Time, occupancy: &OutstandingReads, shuffled: &RandomDies) {
        let interval = self.interval;
        let mut times = 1;
        self.due += interval;
        if now > self.due {
            let more = (now - self.due).as_ps().div_ceil(interval.as_ps());
            self.due += interval * more;
            times += more;
        }
        let outstanding = occupancy.total();
        if outstanding == 0 {
            return;
        }
        count(&mut self.by_outstanding, outstanding, times);
        if occupancy.collides() {
            self.colliding += times;
            self.pairs += times * occupancy.imbalanced_pairs();
        }
        self.colliding_shuffled += times * u64::from(shuffled.collides());
        self.with_idle_die += times * u64::from(occupancy.idle_dies() > 0);
    }

    pub fn count(&self) -> u64 {
        self.by_outstanding.iter().sum()
    }

    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    pub fn average_occ(&self) -> Option<f64> {
        mean_of(&self.by_outstanding, f64::from)
    }

    /// Returns the share of samples in which some die has at least two outstanding reads; `None` without samples.
    pub fn collision_ratio(&self) -> Option<f64> {
        share(self.colliding, self.count())
    }

    /// Returns the share of samples in which some die would have at least two outstanding reads if reads were placed on random dies; `None` without
    /// samples.
    pub fn collision_ratio_expected(&self) -> Option<f64> {
        share(self.colliding_shuffled, self.count())
    }

    pub fn collision_ratio_closed_form(&self, dies: u32) -> Option<f64> {
        mean_of(&self.by_outstanding, |reads| state_collision_probability(reads, dies))
    }

    pub fn idle_die_share(&self) -> Option<f64> {
        share(self.with_idle_die, self.count())
    }
}
