//! The section `[replay]` of a configuration: its parameters, and the types of their values.

use crate::units::Time;
use flashmesh_base::config::choices::choices;
use flashmesh_base::config::section::section;

choices! {
    /// The rule by which requests are issued.
    ReplayMode {
        /// Requests are issued at their arrival times, multiplied by `time-scale`.
        Open = "open",
        /// A request is issued as soon as another one completes, so that always `outstanding` are in flight. Arrival times are ignored.
        Stress = "stress",
        /// Requests are issued by `threads` threads: each thread issues its next request `think-time` after its last request completed.
        Closed = "closed",
    }
}

choices! {
    /// The start of the latency of a request.
    LatencyStart {
        /// Latency starts at the arrival: it includes the wait at the host while the queue is full.
        Arrival = "arrival",
        /// Latency starts at the issue, as measured by a program that waits while `host.queue-depth` requests are outstanding. Requests
        /// that have arrived but are not issued by `stop-time` are not issued at all.
        Issue = "issue",
    }
}

section! {
    /// Replay of the workload: when its requests are issued.
    Replay, "replay" {
        /// Rule by which requests are issued. A trace replays `open` unless the mode, `outstanding`, `threads` or `think-time` is
        /// set.
        mode: ReplayMode = ReplayMode::Stress, needs plain;
        /// Factor on all arrival times; 0.5 doubles the arrival rate.
        time_scale: f64 = 1.0, in 0.000_001..=1_000_000.0, with "mode" = ["\"open\""], needs plain;
        /// Whether requests of a trace that share a time stamp are spread evenly up to the next time stamp. Otherwise a clock with a
        /// resolution of a second turns every second into a burst.
        spread_ties: bool = false, with "mode" = ["\"open\""], needs plain;
        /// Start of the latency of a request: its arrival or its issue.
        latency_start: LatencyStart = LatencyStart::Arrival, with "mode" = ["\"open\""], needs plain;
        /// Requests in flight at any time.
        outstanding: u32 = 64, in 1..=65_535, with "mode" = ["\"stress\""], needs plain;
        /// Maximum number of requests in flight. Later requests wait at the host.
        outstanding_max: Option<u32> = None, unset "`host.queue-depth`", in 1..=65_535, with "mode" = ["\"open\""], needs plain;
        /// Independent threads, each with one request at a time.
        threads: u32 = 1, in 1..=65_535, with "mode" = ["\"closed\""], needs plain;
        /// Time from a completion to the next request of the thread.
        think_time: Time = Time::ZERO, in Time::ZERO..=Time::from_ms(1_000_000), with "mode" = ["\"closed\""], needs plain;
        /// Time added to all arrivals of the workload, before `time-scale` multiplies them.
        start_time: Time = Time::ZERO, in Time::ZERO..=Time::RUN_MAX, with "mode" = ["\"open\""], needs plain;
        /// Requests of a thread between two think times.
        think_every: u32 = 1, in 1..=1_000_000_000, with "mode" = ["\"closed\""], needs plain;
        /// Phase of the stream. A phase starts when the streams of all earlier phases have ended.
        phase: u32 = 0, in 0..=255, needs plain;
        /// Time from the start of the phase to the start of the stream.
        start_delay: Time = Time::ZERO, in Time::ZERO..=Time::from_ms(1_000_000), needs plain;
        /// Initial period of the stream. Requests that complete in it do not count in the results of the stream, but in those of the whole run, and
        /// of the measured window (`measure.warm-up`) if they complete in it.
        ramp_time: Time = Time::ZERO, in Time::ZERO..=Time::from_ms(1_000_000), needs plain;
        /// Time from the start of the stream after which no request arrives. Requests that have arrived are still served.
        stop_time: Option<Time> = None, unset "the workload's own end", in Time::from_ps(1)..=Time::RUN_MAX, needs plain;
    }
}
