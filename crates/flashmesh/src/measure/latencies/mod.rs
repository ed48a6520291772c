//! Latencies of requests: histograms, exact moments, and the breakdown into parts.

pub mod breakdown;
pub mod latency;
mod moments;
pub(super) mod sparse_histogram;
