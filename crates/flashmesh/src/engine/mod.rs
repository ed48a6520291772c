//! The clock, the event queue, arenas and random numbers.

pub mod arena;
pub mod queue;
pub mod random;
