//! `[measure]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Time;

choices! {
    /// What ends the warm-up.
    WarmUp {
        /// There is none: the whole run is measured.
        None = "none",
        /// The run itself: MSER-5, once it is over, on latency, throughput and write amplification.
        Auto = "auto",
        /// So many requests, `warm-up-requests`.
        Requests = "requests",
        /// So much simulated time, `warm-up-time`.
        Time = "time",
    }
}

section! {
    /// The steady state and epochs, measured beside the whole run; none of it changes what the drive does.
    Measure, "measure" {
        /// What ends the warm-up, behind which the results have a window of their own.
        warm_up: WarmUp = WarmUp::None;
        /// Requests that complete during the warm-up, all streams together.
        warm_up_requests: u64 = 10_000, in 1..=super::super::form::INTEGER_MAX, with "warm-up" = ["\"requests\""];
        /// How long the warm-up is.
        warm_up_time: Time = Time::from_ms(100), in Time::from_ps(1)..=Time::from_ms(1_000_000_000), with "warm-up" = ["\"time\""];
        /// How long an epoch is, for results over time; doubled as often as it takes for `epochs-max` of them to cover the run.
        epoch: Option<Time> = None, unset "no results over time", in Time::from_ps(1)..=Time::from_ms(1_000_000_000);
        /// The most epochs; where there would be more, they are joined in pairs.
        epochs_max: u32 = 512, in 2..=65_536, with "epoch" != [""];
    }
}
