//! Results of a run: latencies and their breakdown, path conflicts, utilisation, bottleneck and lower bound. Also the steady state after a
//! warm-up, and the results of each epoch.

mod bottleneck;
mod completed_requests;
pub mod confidence;
mod epochs;
mod latencies;
mod memory;
pub mod report;
mod steady_state;
pub mod stream;

pub use bottleneck::{bound, lower_bound, part_times, path_conflicts};
pub use completed_requests::{columns, completions, request_log};
pub use epochs::{interval, timeline};
pub use latencies::{breakdown, latency};
pub use memory::peak_rss;
pub use report::{cache, document, fairness, host, network, recording, user_quantities};
pub use steady_state::{batches, request_budget, steadiness};
