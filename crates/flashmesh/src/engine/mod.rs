//! The clock, the event queue, rings, arenas, prefetches and random numbers.

mod alarm;
pub mod arena;
pub(crate) mod circular;
mod key;
mod lane;
pub mod prefetch;
pub mod queue;
pub mod random;
pub mod ring;
mod scheduled;
