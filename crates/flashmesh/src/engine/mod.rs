//! The clock, the event queue, rings, arenas, tables, ids by key, prefetches and random numbers.

pub mod arena;
pub(crate) mod circular;
pub mod direct_mapped;
mod key;
mod lane;
mod places;
pub mod pool;
pub mod prefetch;
pub mod queue;
pub mod random;
pub mod ring;
pub mod table;
