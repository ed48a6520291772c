//! Workloads: traces, named profiles, fitted profiles and synthetic patterns; and the conversion of traces to other formats.

pub mod config;
pub mod error;
pub mod fitted;
pub mod job;
mod open;
pub mod profiles;
pub mod readers;
mod request;
pub mod source;
pub mod statistics;
pub mod synthetic;
pub mod writers;

pub use flashmesh_base::units;
use flashmesh_base::{names, quantities, tagged};
pub use open::{WorkloadSummary, open};
pub use request::{IoRequest, RequestKind};
