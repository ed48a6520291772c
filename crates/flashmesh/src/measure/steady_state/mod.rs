//! Steady state: batches of a run, the end of the warm-up, and the verdict on the drift of what was measured.

pub mod batches;
pub mod request_budget;
pub(super) mod stationarity;
pub mod steadiness;
mod window_drift;
