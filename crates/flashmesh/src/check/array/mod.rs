//! Oracles of the flash array: its addresses, the operations of its dies and planes, and the contents of its pages.

pub(super) mod addresses;
pub(super) mod array_unit;
pub(super) mod dies;
pub(super) mod pages;
pub(super) mod parity;
pub(super) mod planes;
pub(super) mod programs;
