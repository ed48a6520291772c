//! The flash array: its dimensions, its timing, and the state of each die.

pub mod die;
pub mod divisor;
pub mod geometry;
pub mod namespace;
mod operation;
pub mod page_type;
pub mod plane_reads;
pub mod timing;
