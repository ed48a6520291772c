//! Progress and cancellation of a running simulation, for other threads.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::units::Time;

/// Resolution of the published progress of preconditioning: number of steps from 0 to 1.
const WHOLE: u32 = 10_000;

/// Progress of a run, and a flag to cancel it, shared with other threads. No method blocks, and any thread may call all methods.
#[derive(Debug, Default)]
pub struct Control {
    requests_done: AtomicU64,
    request_total: AtomicU64,
    /// Simulated time at which all streams will have stopped; 0 if a stream has no stop time.
    stop_ps: AtomicU64,
    simulated_ps: AtomicU64,
    /// Progress of preconditioning in steps of 1/[`WHOLE`], plus 1; 0 if no preconditioning is in progress.
    preconditioned: AtomicU32,
    cancelled: AtomicBool,
}

impl Control {
    /// Requests the cancellation of the run. The event loop polls the request, and ends the run with a report of the work up to then.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether [`cancel`](Self::cancel) was called. The run itself may not have ended yet.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the number of requests of all streams completed at the last poll of the event loop.
    pub fn requests_done(&self) -> u64 {
        self.requests_done.load(Ordering::Relaxed)
    }

    /// Returns the total number of requests of all streams. If stop times end the streams before their workloads, the number is estimated from the
    /// rate so far. `None` before the start of the run, or if neither the workloads nor stop times say when the run ends.
    pub fn request_total(&self) -> Option<u64> {
        let stated = Some(self.request_total.load(Ordering::Relaxed)).filter(|&total| total > 0);
        let stop_ps = self.stop_ps.load(Ordering::Relaxed);
        let simulated_ps = self.simulated_ps.load(Ordering::Relaxed);
        if stop_ps == 0 || simulated_ps == 0 {
            return stated.filter(|_| stop_ps == 0);
        }
        let until_stop = u128::from(self.requests_done()) * u128::from(stop_ps) / u128::from(simulated_ps);
        let until_stop = u64::try_from(until_stop).unwrap_or(u64::MAX).max(self.requests_done());
        Some(stated.map_or(until_stop, |total| total.min(until_stop)))
    }

    /// Returns the simulated time at the last poll of the event loop.
    pub fn simulated(&self) -> Time {
        Time::from_ps(self.simulated_ps.load(Ordering::Relaxed))
    }

    /// Returns the progress of preconditioning from 0 to 1; `None` if no preconditioning is in progress.
    pub fn preconditioned(&self) -> Option<f64> {
        self.preconditioned.load(Ordering::Relaxed).checked_sub(1).map(|parts| f64::from(parts) / f64::from(WHOLE))
    }

    pub(super) fn publish_preconditioned(&self, share: f64) {
        let parts = (share.clamp(0.0, 1.0) * f64::from(WHOLE)) as u32;
        self.preconditioned.store(if parts < WHOLE { parts + 1 } else { 0 }, Ordering::Relaxed);
    }

    /// Publishes the total number of requests, and the time at which all streams will have stopped, as far as they are known.
    pub(super) fn begin(&self, total: Option<u64>, stop: Option<Time>) {
        self.request_total.store(total.unwrap_or(0), Ordering::Relaxed);
        self.stop_ps.store(stop.map_or(0, Time::as_ps), Ordering::Relaxed);
    }

    pub(super) fn publish(&self, requests_done: u64, simulated: Time) {
        self.requests_done.store(requests_done, Ordering::Relaxed);
        self.simulated_ps.store(simulated.as_ps(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_streams_with_stop_times_follows_from_their_rate() {
        let control = Control::default();
        assert_eq!(control.request_total(), None);
        control.begin(Some(1_000_000), None);
        assert_eq!(control.request_total(), Some(1_000_000));
        control.begin(Some(1_000_000), Some(Time::from_ms(10)));
        assert_eq!(control.request_total(), None, "nothing is simulated yet");
        control.publish(300, Time::from_ms(2));
        assert_eq!(control.request_total(), Some(1_500));
        control.begin(Some(1_000), Some(Time::from_ms(10)));
        assert_eq!(control.request_total(), Some(1_000), "the workloads end first");
        control.publish(900, Time::from_ms(11));
        assert_eq!(control.request_total(), Some(900), "the last requests are served after the stop time");
    }
}
