//! Arrival processes for open replay.

use super::random::{self, Generator, Seed};
use super::unusable;
use crate::config::ArrivalKind;
use crate::error::WorkloadError;
use crate::units::Time;

/// An arrival process. The first arrival is at time zero.
///
/// Arrivals are whole picoseconds. The fraction cut off each interarrival time is carried into the next one, so rounding never shifts the mean.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    spacing: Spacing,
    generator: Generator,
    /// The next arrival; `None` once it exceeds [`Time::MAX`].
    next_ps: Option<u64>,
    /// The fraction of a picosecond carried into the next interarrival time.
    carried_ps: f64,
}

#[derive(Clone, Copy, Debug)]
enum Spacing {
    Constant {
        gap_ps: u64,
    },
    /// Bursts of `length` requests that arrive together, with exponential times between bursts. With a length of 1: Poisson arrivals.
    Exponential {
        mean_gap_ps: f64,
        length: u32,
        left: u32,
    },
}

impl Arrivals {
    /// Creates an arrival process of `kind` with a mean interarrival time of `mean`. `burst_length` applies only to bursts. An error if
    /// `burst_length` is 0 for bursts.
    pub(crate) fn new(
        kind: ArrivalKind,
        mean: Time,
        burst_length: u32,
        seed: impl Into<Seed>,
    ) -> Result<Arrivals, WorkloadError> {
        let exponential = |length: u32| Spacing::Exponential {
            mean_gap_ps: mean.as_ps() as f64 * f64::from(length),
            length,
            left: length,
        };
        let spacing = match kind {
            ArrivalKind::Constant => Spacing::Constant { gap_ps: mean.as_ps() },
            ArrivalKind::Exponential => exponential(1),
            ArrivalKind::Burst if burst_length == 0 => {
                return Err(unusable("workload.burst-length", "a burst has at least one request"));
            }
            ArrivalKind::Burst => exponential(burst_length),
        };
        Ok(Arrivals { spacing, generator: random::arrivals_of(seed), next_ps: Some(0), carried_ps: 0.0 })
    }

    /// Returns the next arrival.
    ///
    /// # Errors
    /// If the arrival exceeds the largest time.
    pub(crate) fn next(&mut self) -> Result<Time, WorkloadError> {
        let Some(now_ps) = self.next_ps else {
            return Err(unusable(
                "workload.interarrival",
                "requests arrive more than 213 days after the start, the longest time that can be simulated",
            ));
        };
        self.next_ps = now_ps.checked_add(self.gap_ps());
        Ok(Time::from_ps(now_ps))
    }

    fn gap_ps(&mut self) -> u64 {
        match &mut self.spacing {
            Spacing::Constant { gap_ps } => *gap_ps,
            Spacing::Exponential { mean_gap_ps, length, left } => {
                *left -= 1;
                if *left > 0 {
                    return 0;
                }
                *left = *length;
                // The draw is below 1, so the logarithm is finite.
                let gap_ps = -libm::log(1.0 - random::unit(&mut self.generator)) * *mean_gap_ps + self.carried_ps;
                let whole_ps = gap_ps as u64;
                self.carried_ps = gap_ps - whole_ps as f64;
                whole_ps
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps_ps(kind: ArrivalKind, mean: Time, burst_length: u32, count: usize) -> Vec<u64> {
        let mut arrivals = Arrivals::new(kind, mean, burst_length, 42).unwrap();
        let times: Vec<u64> = (0..=count).map(|_| arrivals.next().unwrap().as_ps()).collect();
        assert_eq!(times[0], 0);
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    fn mean(gaps: &[u64]) -> f64 {
        gaps.iter().sum::<u64>() as f64 / gaps.len() as f64
    }

    #[test]
    fn constant_arrivals_have_one_distance() {
        assert!(gaps_ps(ArrivalKind::Constant, Time::from_ns(333), 1, 1000).iter().all(|&gap| gap == 333_000));
    }

    #[test]
    fn exponential_arrivals_have_the_moments_and_the_tail_of_their_law() {
        let gaps = gaps_ps(ArrivalKind::Exponential, Time::from_us(10), 1, 1_000_000);
        let mean_ps = mean(&gaps);
        // The standard error of the mean of a million exponential gaps is 0.1 %.
        assert!((mean_ps / 1e7 - 1.0).abs() < 0.003, "mean {mean_ps}");
        let variance = gaps.iter().map(|&gap| (gap as f64 - mean_ps).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!(
            (variance.sqrt() / mean_ps - 1.0).abs() < 0.01,
            "coefficient of variation {}",
            variance.sqrt() / mean_ps
        );
        for times_mean in [0.1_f64, 1.0, 3.0] {
            let beyond = gaps.iter().filter(|&&gap| gap as f64 > times_mean * 1e7).count() as f64 / 1e6;
            assert!((beyond - (-times_mean).exp()).abs() < 0.002, "{beyond} beyond {times_mean} means");
        }
    }

    #[test]
    fn a_mean_of_a_few_picoseconds_is_not_lost_to_rounding() {
        let mean_ps = mean(&gaps_ps(ArrivalKind::Exponential, Time::from_ps(2), 1, 1_000_000));
        assert!((mean_ps / 2.0 - 1.0).abs() < 0.003, "mean {mean_ps}");
    }

    #[test]
    fn bursts_arrive_together_and_keep_the_mean() {
        let gaps = gaps_ps(ArrivalKind::Burst, Time::from_us(10), 8, 800_000);
        for (index, &gap) in gaps.iter().enumerate() {
            assert_eq!(gap == 0, (index + 1) % 8 != 0, "gap {index} is {gap}");
        }
        // The standard error of the mean of 100,000 exponential gaps is 0.3 %.
        assert!((mean(&gaps) / 1e7 - 1.0).abs() < 0.01, "mean {}", mean(&gaps));
    }

    #[test]
    fn the_end_of_time_is_an_error() {
        let mut arrivals = Arrivals::new(ArrivalKind::Constant, Time::from_ps(u64::MAX / 2 + 1), 1, 0).unwrap();
        assert!(arrivals.next().is_ok() && arrivals.next().is_ok());
        for _ in 0..2 {
            assert!(arrivals.next().unwrap_err().to_string().starts_with("workload.interarrival: "));
        }
    }
}
