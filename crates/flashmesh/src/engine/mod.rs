//! Foundations of the simulation: clock and event queue, rings, arenas, tables, id maps, prefetches and random numbers.

pub mod arena;
pub mod direct_mapped;
pub mod id_table;
pub mod pool;
mod pow2_table;
pub mod prefetch;
pub mod queue;
pub mod random;
pub mod ring;
pub(crate) mod round_robin;
