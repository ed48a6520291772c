//! `[measure]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::config::{Config, PreconditionKind, StreamConfig, WorkloadKind};
use crate::units::{Share, Time};

choices! {
    /// What ends the warm-up.
    WarmUp {
        /// No warm-up: the whole run is measured.
        None = "none",
        /// MSER-5 on latency, throughput and write amplification, after the run.
        Auto = "auto",
        /// A number of requests, `warm-up-requests`.
        Requests = "requests",
        /// A simulated time, `warm-up-time`.
        Time = "time",
        /// The device cache and the SLC cache are in balance: as much leaves them as enters. Then `workload.requests` requests are measured, and the
        /// run ends; a synthetic workload goes on until then.
        Steady = "steady",
    }
}

choices! {
    /// A figure with a confidence interval.
    PrecisionOf {
        /// Completed requests per second.
        Iops = "iops",
        /// Bytes per second.
        Bandwidth = "bandwidth",
        /// Mean latency.
        Mean = "mean",
        /// Median latency.
        P50 = "p50",
        /// 95th percentile of latency.
        P95 = "p95",
        /// 99th percentile of latency.
        P99 = "p99",
        /// 99.9th percentile of latency.
        P99_9 = "p99.9",
        /// Write amplification.
        WriteAmplification = "write-amplification",
    }
}

section! {
    /// The steady state and epochs, measured beside the whole run; none of it changes what the drive does.
    Measure, "measure" {
        /// What ends the warm-up, behind which the results have a window of their own.
        warm_up: Option<WarmUp> = None, unset "`steady` with `precondition.kind = \"random\"` or `precision`, if all workloads are synthetic; `none` otherwise", needs plain;
        /// Requests that complete during the warm-up, all streams together.
        warm_up_requests: u64 = 10_000, in 1..=super::super::form::INTEGER_MAX, with "warm-up" = ["\"requests\""], needs plain;
        /// How long the warm-up is.
        warm_up_time: Time = Time::from_ms(100), in Time::from_ps(1)..=Time::from_ms(1_000_000_000), with "warm-up" = ["\"time\""], needs plain;
        /// The run ends as soon as the 95 % confidence interval of `precision-of` is within this share of the figure, on either side, and the
        /// figures are steady; at the latest after `workload.requests`. 0 turns it off.
        precision: f64 as Share = 0.0, in 0.0..=0.5, needs plain;
        /// The figure that `precision` is of.
        precision_of: PrecisionOf = PrecisionOf::Iops, with "precision" != ["0.0"], needs plain;
        /// How long an epoch is, for results over time; doubled as often as it takes for `epochs-max` of them to cover the run.
        epoch: Option<Time> = None, unset "no results over time", in Time::from_ps(1)..=Time::from_ms(1_000_000_000), needs plain;
        /// The most epochs; where there would be more, they are joined in pairs.
        epochs_max: u32 = 512, in 2..=65_536, with "epoch" != [""], needs plain;
        /// Whether read collisions are analysed ([read-collisions.md](read-collisions.md)).
        collisions: bool = false, needs plain;
        /// Time between two observations of which reads are outstanding.
        collision_interval: Time = Time::from_us(10), in Time::from_ns(1)..=Time::from_ms(1000), with "collisions" = ["true"], needs plain;
        /// The most collision pairs that are kept, about 24 B each; where there are more, a fair sample of them.
        collision_pairs: u32 = 1 << 22, in 1..=1 << 30, with "collisions" = ["true"], needs plain;
        /// Whether it is told apart what the chips do with their time: transfers, array operations, both at once, or nothing.
        chip_states: bool = false, needs probed;
        /// Whether transfers, the links they hold and the scouts of Venice are recorded, for the moving view of a report.
        network: bool = false, needs probed;
        /// The most that the recording of the network holds: transfers, uses of links and steps of scouts. It ends where it is full.
        network_events_max: u32 = 5_000, in 1..=10_000_000, with "network" = ["true"], needs plain;
        /// The most slices and counter values that a timeline (`--timeline`) holds. It ends where it is full.
        timeline_events_max: u64 = 1_000_000, in 1..=1_000_000_000, needs plain;
        /// When the recording of the network and the timeline begin.
        window_start: Time = Time::ZERO, in Time::ZERO..=Time::from_ms(1_000_000_000), needs plain;
        /// How long they go on.
        window_length: Option<Time> = None, unset "to the end of the run", in Time::from_ps(1)..=Time::from_ms(1_000_000_000), needs plain;
    }
}

impl Config {
    /// Returns what ends the warm-up.
    pub fn warm_up(&self) -> WarmUp {
        let is_wanted = self.precondition.kind == PreconditionKind::Random || self.measure.precision > 0.0;
        let default = if is_wanted && self.goes_on() { WarmUp::Steady } else { WarmUp::None };
        self.measure.warm_up.unwrap_or(default)
    }

    /// Whether requests can go on for as long as it takes.
    pub fn goes_on(&self) -> bool {
        let goes_on = |stream: &StreamConfig| {
            stream.workload.kind == WorkloadKind::Synthetic && stream.replay.stop_time.is_none()
        };
        self.power.cut.is_none() && self.streams().iter().all(goes_on)
    }
}
