//! What a running simulation shows to other threads, and how they stop it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::units::Time;

/// The parts in which preconditioning is counted.
const WHOLE: u32 = 10_000;

/// Shared between a run and whoever watches it; all calls are cheap and from any thread.
#[derive(Debug, Default)]
pub struct Control {
    requests_done: AtomicU64,
    request_total: AtomicU64,
    simulated_ps: AtomicU64,
    /// How much of the preconditioning is done, in [`WHOLE`] parts, and one more; 0 while there is none under way.
    preconditioned: AtomicU32,
    cancelled: AtomicBool,
}

impl Control {
    /// Asks the run to stop soon, with a report of what it has done so far.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Requests completed so far.
    pub fn requests_done(&self) -> u64 {
        self.requests_done.load(Ordering::Relaxed)
    }

    /// Requests there will be in all, when known.
    pub fn request_total(&self) -> Option<u64> {
        match self.request_total.load(Ordering::Relaxed) {
            0 => None,
            total => Some(total),
        }
    }

    /// How far simulated time has come.
    pub fn simulated(&self) -> Time {
        Time::from_ps(self.simulated_ps.load(Ordering::Relaxed))
    }

    /// How much of the preconditioning is done, from 0 to 1; `None` while there is none under way.
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
