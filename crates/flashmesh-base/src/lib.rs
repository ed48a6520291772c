//! Units, and the macros that declare parameters and results: shared by the simulated drive and its workloads.

#[allow(missing_docs, reason = "what declares parameters is no interface")]
pub mod config;
pub mod error;
pub mod results;
pub mod units;
