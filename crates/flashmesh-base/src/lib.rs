//! What a simulated drive and its workloads share: units, and the macros that declare parameters and results.

#[allow(missing_docs, reason = "what declares parameters is no interface")]
pub mod config;
pub mod error;
pub mod results;
pub mod units;
