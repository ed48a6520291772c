//! Statistics of arrivals: interarrival times and burstiness.

use super::Distribution;
use crate::units::Time;

/// The statistics of the arrivals so far: their rate, the variation of interarrival times, and the dispersion over windows.
#[derive(Clone, Debug)]
pub(super) struct ArrivalCounts {
    last: Option<Time>,
    gaps: u64,
    /// The sum of the interarrival times, in seconds.
    sum_s: f64,
    squares_s: f64,
    /// The distribution of interarrival times, in nanoseconds.
    pub(super) distances_ns: Distribution,
    windows: Vec<WindowCounts>,
}

/// The number of arrivals in each of consecutive windows of one length, from time zero.
#[derive(Clone, Debug)]
struct WindowCounts {
    length_ps: u64,
    /// The number of windows. Arrivals after the last window are not counted.
    windows: u64,
    index: u64,
    count: u64,
    sum: f64,
    squares: f64,
}

impl ArrivalCounts {
    /// Creates empty statistics. For each length in `windows`, as many windows as fit into `span` are counted. No length may be zero.
    pub(super) fn new(windows: &[Time], span: Time) -> ArrivalCounts {
        let window = |length: &Time| WindowCounts {
            length_ps: length.as_ps().max(1),
            windows: span.as_ps() / length.as_ps().max(1),
            index: 0,
            count: 0,
            sum: 0.0,
            squares: 0.0,
        };
        ArrivalCounts {
            last: None,
            gaps: 0,
            sum_s: 0.0,
            squares_s: 0.0,
            distances_ns: Distribution::default(),
            windows: windows.iter().map(window).collect(),
        }
    }

    pub(super) fn add(&mut self, arrival: Time) {
        if let Some(last) = self.last.replace(arrival) {
            let gap = arrival - last;
            let gap_s = gap.as_secs_f64();
            self.gaps += 1;
            self.sum_s += gap_s;
            self.squares_s += gap_s * gap_s;
            self.distances_ns.add(gap.as_ps() / 1000);
        }
        self.windows.iter_mut().for_each(|window| window.add(arrival));
    }

    /// Returns the mean number of arrivals per second; 0 without two arrivals at different times.
    pub(super) fn rate_per_s(&self) -> f64 {
        if self.sum_s > 0.0 { self.gaps as f64 / self.sum_s } else { 0.0 }
    }

    /// Returns the coefficient of variation of the interarrival times; 0 without two arrivals at different times.
    pub(super) fn variation(&self) -> f64 {
        if self.sum_s <= 0.0 {
            return 0.0;
        }
        let mean = self.sum_s / self.gaps as f64;
        (self.squares_s / self.gaps as f64 - mean * mean).max(0.0).sqrt() / mean
    }

    /// Returns the index of dispersion for each window length: the variance of the number of arrivals per window, divided by its mean (1 for Poisson
    /// arrivals). 0 without arrivals.
    pub(super) fn dispersions(&self) -> Vec<f64> {
        self.windows.iter().map(WindowCounts::dispersion).collect()
    }
}

impl WindowCounts {
    fn add(&mut self, arrival: Time) {
        let index = arrival.as_ps() / self.length_ps;
        if index != self.index {
            // Windows without an arrival add nothing to the sums.
            self.sum += self.count as f64;
            self.squares += self.count as f64 * self.count as f64;
            (self.index, self.count) = (index, 0);
        }
        self.count += u64::from(index < self.windows);
    }

    fn dispersion(&self) -> f64 {
        let (windows, last) = (self.windows as f64, self.count as f64);
        let (sum, squares) = (self.sum + last, self.squares + last * last);
        if sum == 0.0 {
            return 0.0;
        }
        let mean = sum / windows;
        (squares / windows - mean * mean).max(0.0) / mean
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn all_figures_are_those_of_a_naive_computation() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(5);
        let mut now = 0;
        let arrivals: Vec<u64> = (0..5_000)
            .map(|_| {
                // Bursts with pauses, so that variation and dispersion differ from 1, their value for Poisson arrivals.
                now += if random.next_u64().is_multiple_of(20) {
                    random.next_u64() % 1_000_000_000
                } else {
                    random.next_u64() % 1_000_000
                };
                now
            })
            .collect();
        let window_ps = 100_000_000;
        let mut counts = ArrivalCounts::new(&[Time::from_ps(window_ps)], Time::from_ps(*arrivals.last().unwrap()));
        arrivals.iter().for_each(|&arrival| counts.add(Time::from_ps(arrival)));

        let gaps: Vec<f64> = arrivals.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let (mean, variance) = moments(&gaps);
        assert!((counts.rate_per_s() * mean / 1e12 - 1.0).abs() < 1e-9);
        assert!((counts.variation() / (variance.sqrt() / mean) - 1.0).abs() < 1e-6);
        let whole = arrivals.last().unwrap() / window_ps;
        let per_window: Vec<f64> = (0..whole)
            .map(|window| arrivals.iter().filter(|&&arrival| arrival / window_ps == window).count() as f64)
            .collect();
        let (mean, variance) = moments(&per_window);
        assert!((counts.dispersions()[0] / (variance / mean) - 1.0).abs() < 1e-9);
        assert_eq!(counts.distances_ns.total(), 4_999);
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64)
    }

    #[test]
    fn arrivals_all_at_once_have_no_rate_and_no_variation() {
        let mut counts = ArrivalCounts::new(&[Time::from_us(1)], Time::ZERO);
        (0..10).for_each(|_| counts.add(Time::ZERO));
        assert_eq!((counts.rate_per_s(), counts.variation(), counts.dispersions()), (0.0, 0.0, vec![0.0]));
    }
}
