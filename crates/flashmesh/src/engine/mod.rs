//! The clock, the event queue, arenas and random numbers.

pub mod random;
