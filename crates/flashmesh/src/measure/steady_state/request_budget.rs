//! Number of requests to measure in a run whose warm-up ends in the steady state.

use crate::config::{Config, StreamConfig, WarmUp};

/// Default number of measured requests of a workload, in a run with `measure.warm-up = "steady"` and without `measure.precision`.
const REQUESTS_DEFAULT: u64 = 100_000;

/// Default number of measured requests of a workload, in a run with `measure.warm-up = "steady"` that may end earlier, at `measure.precision`.
const REQUESTS_OF_PRECISE: u64 = 10_000_000;

/// Minimum of [`RequestBudget::warm_up_max`], for runs that measure few requests. \[choice\]
const WARM_UP_MIN: u64 = 1_000_000;

/// Number of requests in a run with `measure.warm-up = "steady"`, whose workloads issue requests until the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestBudget {
    /// Number of requests to measure, over all streams.
    pub measured: u64,
    /// Maximum number of requests of the warm-up, over all streams. After this number, the measured window begins even if the drive is not
    /// in its steady state.
    pub warm_up_max: u64,
}

impl RequestBudget {
    /// Returns the budget of a run of all streams, or of only the stream at the index `only`. `None` if the warm-up is not `steady`, or if the
    /// workloads cannot continue without limit ([`Config::has_endless_workloads`]).
    pub fn from_config(config: &Config, only: Option<usize>) -> Option<RequestBudget> {
        if config.warm_up() != WarmUp::Steady || !config.has_endless_workloads() {
            return None;
        }
        let default = if config.measure.precision > 0.0 { REQUESTS_OF_PRECISE } else { REQUESTS_DEFAULT };
        let named = |stream: &StreamConfig| stream.workload.requests.unwrap_or(default);
        let streams = config.streams();
        let issuing = streams.iter().enumerate().filter(|&(index, _)| only.is_none_or(|only| only == index));
        let measured = issuing.map(|(_, stream)| named(stream)).fold(0, u64::saturating_add);
        Some(RequestBudget { measured, warm_up_max: measured.saturating_mul(4).max(WARM_UP_MIN) })
    }

    /// Returns the maximum number of requests that one stream issues: the budget of all streams for the whole run, including the warm-up.
    pub fn requests_max(self) -> u64 {
        self.measured.saturating_add(self.warm_up_max)
    }
}
