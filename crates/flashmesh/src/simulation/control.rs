//! Progress and cancellation of a running simulation, for other threads.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::units::Time;

/// Number of steps from 0 to 1 in which the progress of preconditioning is published.
const WHOLE: u32 = 10_000;

/// Progress of a run, and a flag to cancel it, shared with other threads. No method blocks, and any thread may call all methods.
#[derive(Debug, Default)]
pub struct Control {
    requests_done: AtomicU64,
    request_total: AtomicU64,
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

    /// Returns the total number of requests of all streams; `None` before the start of the run, or if the workloads do not state their number.
    pub fn request_total(&self) -> Option<u64> {
        match self.request_total.load(Ordering::Relaxed) {
            0 => None,
            total => Some(total),
        }
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

    pub(super) fn begin(&self, total: Option<u64>) {
        self.request_total.store(total.unwrap_or(0), Ordering::Relaxed);
    }

    pub(super) fn publish(&self, requests_done: u64, simulated: Time) {
        self.requests_done.store(requests_done, Ordering::Relaxed);
        self.simulated_ps.store(simulated.as_ps(), Ordering::Relaxed);
    }
}
