//! Paths through the interconnect: their requests, grants, and the causes of waits.

mod blocking;
mod interconnect;
mod occupancy;
mod request;
mod requester;
mod state;

pub(super) use interconnect::Interconnect;
pub(super) use state::{DiePathState, PathGrant};
