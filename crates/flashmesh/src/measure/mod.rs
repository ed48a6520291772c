//! What a run tells: latencies and where they went, path conflicts, utilisation, and what bounds it.

pub mod bound;
pub mod breakdown;
pub mod conflicts;
pub mod latency;
pub mod log;
mod memory;
pub mod report;

pub use memory::peak_rss;
