//! Results of a run: latencies and their breakdown, path conflicts, utilisation, bottleneck and lower bound. Also the steady state after a
//! warm-up, and the results of each epoch.

pub mod batches;
pub mod bound;
pub mod breakdown;
pub mod cache;
pub mod columns;
pub mod completions;
pub mod confidence;
pub mod document;
pub mod fairness;
pub mod host;
pub mod interval;
pub mod latency;
pub mod lower_bound;
mod memory;
mod moments;
pub mod network;
pub mod part_times;
pub mod path_conflicts;
pub mod recording;
pub mod report;
pub mod request_budget;
pub mod request_log;
pub mod series;
pub mod sparse_histogram;
pub mod stationarity;
pub mod steadiness;
pub mod stream;
pub mod timeline;
pub mod user_quantities;
mod window_drift;

pub use memory::peak_rss;
