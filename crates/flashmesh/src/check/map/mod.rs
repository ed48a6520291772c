//! Oracles of the address map: its agreement with the array, its entries in DRAM, and its recovery after a power cut.

pub(super) mod durability;
pub(super) mod entries;
pub(super) mod mapping;
