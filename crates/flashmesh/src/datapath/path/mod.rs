//! Paths through the interconnect: their requests, grants, and the causes of waits.

mod blocking;
mod interconnect;
mod occupancy;
mod request;
mod rules;
mod state;

pub use interconnect::{Interconnect, TransferCounts};
pub(super) use state::{DiePathState, PathGrant};
