//! `[replay]`

use crate::units::Time;
use flashmesh_base::config::choices::choices;
use flashmesh_base::config::section::section;

choices! {
    /// When requests are issued.
    ReplayMode {
        /// At their arrival times (scaled).
        Open = "open",
        /// Arrival times ignored: always `outstanding` in flight.
        Stress = "stress",
        /// Each of `threads` issues its next request `think-time` after its last one completed.
        Closed = "closed",
    }
}

choices! {
    /// From when the latency of a request counts.
    LatencyStart {
        /// From its arrival: what it waits on the host for a full queue is part of it.
        Arrival = "arrival",
        /// From its issue, as a program measures that waits while it has `host.queue-depth` requests outstanding. Requests that
        /// have arrived and are not issued by `stop-time` are not issued at all.
        Issue = "issue",
    }
}

section! {
    /// When requests are issued.
    Replay, "replay" {
        /// When requests are issued. A trace replays `open` unless the mode, `outstanding`, `threads` or `think-time` is set.
        mode: ReplayMode = ReplayMode::Stress, needs plain;
        /// Arrival times are multiplied by this.
        time_scale: f64 = 1.0, in 0.000_001..=1_000_000.0, with "mode" = ["\"open\""], needs plain;
        /// Whether requests of a trace that share a time stamp are spread evenly up to the next stamp. A clock of whole seconds makes
        /// bursts otherwise.
        spread_ties: bool = false, with "mode" = ["\"open\""], needs plain;
        /// From when the latency of a request counts.
        latency_start: LatencyStart = LatencyStart::Arrival, with "mode" = ["\"open\""], needs plain;
        /// Requests in flight.
        outstanding: u32 = 64, in 1..=65_535, with "mode" = ["\"stress\""], needs plain;
        /// The most requests in flight; later ones wait on the host.
        outstanding_max: Option<u32> = None, unset "`host.queue-depth`", in 1..=65_535, with "mode" = ["\"open\""], needs plain;
        /// Independent issuers.
        threads: u32 = 1, in 1..=65_535, with "mode" = ["\"closed\""], needs plain;
        /// From a completion to the next request of the thread.
        think_time: Time = Time::ZERO, in Time::ZERO..=Time::from_ms(1_000_000), with "mode" = ["\"closed\""], needs plain;
        /// When the stream starts: its arrivals count from then. `time-scale` multiplies this as well.
        start_time: Time = Time::ZERO, in Time::ZERO..=Time::RUN_MAX, with "mode" = ["\"open\""], needs plain;
        /// Requests of a thread between two think times.
        think_every: u32 = 1, in 1..=1_000_000_000, with "mode" = ["\"closed\""], needs plain;
        /// The streams of a phase begin when those of all earlier phases have ended.
        phase: u32 = 0, in 0..=255, needs plain;
        /// From the start of its phase to the start of the stream.
        start_delay: Time = Time::ZERO, in Time::ZERO..=Time::from_ms(1_000_000), needs plain;
        /// No request arrives after this time, counted from the start of the stream; those that have arrived are served.
        stop_time: Option<Time> = None, unset "the workload's own end", in Time::from_ps(1)..=Time::RUN_MAX, needs plain;
    }
}
