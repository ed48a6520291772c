//! Results of a run: latencies and their breakdown, path conflicts, utilisation, bottleneck and lower bound. Also their change over time: the steady
//! state after a warm-up, and epochs.

pub mod batches;
pub mod bins;
pub mod bound;
pub mod breakdown;
pub mod cache;
pub mod columns;
pub mod completions;
pub mod confidence;
pub mod conflicts;
pub mod document;
pub mod fairness;
pub mod goal;
pub mod host;
pub mod interval;
pub mod latency;
pub mod log;
pub mod lower_bound;
mod memory;
mod moments;
pub mod network;
pub mod own;
pub mod part_times;
pub mod recording;
pub mod report;
pub mod series;
pub mod steadiness;
pub mod steady;
pub mod stream;
pub mod timeline;

pub use memory::peak_rss;
