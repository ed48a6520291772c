//! What a run tells: latencies and where they went, path conflicts, utilisation, what bounds it, and how near
//! it came to that.

pub mod bound;
pub mod breakdown;
pub mod cache;
pub mod conflicts;
pub mod host;
pub mod latency;
pub mod log;
pub mod lower_bound;
mod memory;
pub mod report;
pub mod stream;

pub use memory::peak_rss;
