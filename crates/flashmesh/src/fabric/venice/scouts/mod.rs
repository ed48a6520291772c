//! Scouts: packets that search for a path, step by step, and the circuits that they reserve.

pub(super) mod counters;
pub(super) mod network;
pub(super) mod reachability;
mod router;
mod routing_table;
mod scout;
pub(super) mod scout_events;
mod step_schedule;
pub(super) mod tie_break;
