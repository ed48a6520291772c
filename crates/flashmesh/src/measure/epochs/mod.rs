//! Counts over simulated time: intervals, series of intervals, and the measured window after the warm-up.

pub mod interval;
mod series;
pub mod timeline;
