//! Foundations of the simulation: clock and event queue, rings, arenas, tables, id maps, prefetches and random numbers.

pub mod arena;
pub(crate) mod circular;
pub mod direct_mapped;
mod key;
mod lane;
pub mod pool;
mod pow2_table;
pub mod prefetch;
pub mod queue;
pub mod random;
pub mod ring;
pub mod table;
