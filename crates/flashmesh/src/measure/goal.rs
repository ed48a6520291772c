//! Number of requests that a run measures behind a warm-up that ends at its steady state.

use crate::config::{Config, StreamConfig, WarmUp};

/// Requests of a workload for which none are named.
const REQUESTS_DEFAULT: u64 = 100_000;

/// Requests of a run that ends when it is precise, where none are named.
const REQUESTS_OF_PRECISE: u64 = 10_000_000;

/// Least bound on the requests of a warm-up. \[choice\]
const WARM_UP_MIN: u64 = 1_000_000;

/// The requests of a run with `measure.warm-up = "steady"`, whose workloads go on for as long as it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Requests to measure, of all streams together.
    pub measured: u64,
    /// Requests after which the warm-up ends at the latest.
    pub warm_up_max: u64,
}

impl Goal {
    /// Returns the goal of a run of all streams, or of `only` one of them; `None` where workloads end by themselves.
    pub fn of(config: &Config, only: Option<usize>) -> Option<Goal> {
        if config.warm_up() != WarmUp::Steady || !config.goes_on() {
            return None;
        }
        let default = if config.measure.precision > 0.0 { REQUESTS_OF_PRECISE } else { REQUESTS_DEFAULT };
        let named = |stream: &StreamConfig| stream.workload.requests.unwrap_or(default);
        let streams = config.streams();
        let issuing = streams.iter().enumerate().filter(|&(index, _)| only.is_none_or(|only| only == index));
        let measured = issuing.map(|(_, stream)| named(stream)).fold(0, u64::saturating_add);
        Some(Goal { measured, warm_up_max: measured.saturating_mul(4).max(WARM_UP_MIN) })
    }

    /// Returns the most requests of one stream.
    pub fn requests_max(self) -> u64 {
        self.measured.saturating_add(self.warm_up_max)
    }
}
