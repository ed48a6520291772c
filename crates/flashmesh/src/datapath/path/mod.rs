//! Paths through the interconnect: requests for them, grants, and what blocked them.

mod blocking;
mod interconnect;
mod occupancy;
mod request;
mod requester;
mod state;

pub(super) use interconnect::Interconnect;
pub(super) use state::{DiePathState, PathGrant};
