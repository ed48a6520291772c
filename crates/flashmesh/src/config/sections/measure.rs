//! The section `[measure]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::config::{Config, PreconditionKind, StreamConfig, WorkloadKind};
use crate::units::{Share, Time};

choices! {
    /// The event that ends the warm-up.
    WarmUp {
        /// No warm-up: the whole run is measured.
        None = "none",
        /// MSER-5 on latency, throughput and write amplification, computed after the run.
        Auto = "auto",
        /// The warm-up ends with the completion of `warm-up-requests` requests.
        Requests = "requests",
        /// The warm-up ends at the simulated time `warm-up-time`.
        Time = "time",
        /// Balance of the device cache and the SLC cache: as much data leaves the caches as enters. Then `workload.requests` requests are measured,
        /// and the run ends. A synthetic workload continues until then.
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
    /// Measurement: warm-up, precision, epochs and recordings. None of it changes the behaviour of the drive.
    Measure, "measure" {
        /// Event that ends the warm-up, after which the results have a separate window.
        warm_up: Option<WarmUp> = None, unset "`steady` with `precondition.kind = \"random\"` or `precision`, if all workloads are synthetic; `none` otherwise", needs plain;
        /// Number of requests that complete during the warm-up, of all streams together.
        warm_up_requests: u64 = 10_000, in 1..=super::super::form::INTEGER_MAX, with "warm-up" = ["\"requests\""], needs plain;
        /// Duration of the warm-up.
        warm_up_time: Time = Time::from_ms(100), in Time::from_ps(1)..=Time::from_ms(1_000_000_000), with "warm-up" = ["\"time\""], needs plain;
        /// Relative precision at which the run ends: the half-width of the 95 % confidence interval of `precision-of`, as a share of the figure. The
        /// figures must also be steady. The run ends at the latest after `workload.requests`. 0 turns the early end off.
        precision: f64 as Share = 0.0, in 0.0..=0.5, needs plain;
        /// Figure that `precision` applies to.
        precision_of: PrecisionOf = PrecisionOf::Iops, with "precision" != ["0.0"], needs plain;
        /// Duration of an epoch, for results over time. The duration is doubled until `epochs-max` epochs cover the run.
        epoch: Option<Time> = None, unset "no results over time", in Time::from_ps(1)..=Time::from_ms(1_000_000_000), needs plain;
        /// Maximum number of epochs. Beyond this number, epochs are merged in pairs.
        epochs_max: u32 = 512, in 2..=65_536, with "epoch" != [""], needs plain;
        /// Whether read collisions are analysed ([read-collisions.md](read-collisions.md)).
        collisions: bool = false, needs plain;
        /// Time between two observations of the outstanding reads.
        collision_interval: Time = Time::from_us(10), in Time::from_ns(1)..=Time::from_ms(1000), with "collisions" = ["true"], needs plain;
        /// Maximum number of collision pairs that are kept, about 24 B each. Of more pairs, a uniform sample is kept.
        collision_pairs: u32 = 1 << 22, in 1..=1 << 30, with "collisions" = ["true"], needs plain;
        /// Whether the time of the chips is broken down into transfers, array operations, both at once, and idle time.
        chip_states: bool = false, needs probed;
        /// Whether transfers, the links they hold and the scouts of Venice are recorded, for the animation of the network in a report.
        network: bool = false, needs probed;
        /// Maximum number of transfers, link uses and scout steps in the recording of the network. The recording ends when this number is reached.
        network_events_max: u32 = 5_000, in 1..=10_000_000, with "network" = ["true"], needs plain;
        /// Maximum number of slices and counter values in a timeline (`--timeline`). The timeline ends when this number is reached.
        timeline_events_max: u64 = 1_000_000, in 1..=1_000_000_000, needs plain;
        /// Start of the recording of the network and of the timeline, in simulated time.
        window_start: Time = Time::ZERO, in Time::ZERO..=Time::from_ms(1_000_000_000), needs plain;
        /// Duration of the recording of the network and of the timeline.
        window_length: Option<Time> = None, unset "to the end of the run", in Time::from_ps(1)..=Time::from_ms(1_000_000_000), needs plain;
    }
}

impl Config {
    /// Returns the event that ends the warm-up.
    pub fn warm_up(&self) -> WarmUp {
        let is_wanted = self.precondition.kind == PreconditionKind::Random || self.measure.precision > 0.0;
        let default = if is_wanted && self.has_endless_workloads() { WarmUp::Steady } else { WarmUp::None };
        self.measure.warm_up.unwrap_or(default)
    }

    /// Returns whether the workloads can continue without limit: all are synthetic without a stop time, and no power cut is configured.
    pub fn has_endless_workloads(&self) -> bool {
        let goes_on = |stream: &StreamConfig| {
            stream.workload.kind == WorkloadKind::Synthetic && stream.replay.stop_time.is_none()
        };
        self.power.cut.is_none() && self.streams().iter().all(goes_on)
    }
}
