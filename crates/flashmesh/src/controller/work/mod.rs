//! Kinds of work of the controller, one file each. A kind owns its state and handles the events of its transactions.
//!
//! A kind does not call another kind, but pushes a [`Step`](super::steps::Step) for it.

pub(super) mod clean;
pub(super) mod collect;
pub mod foreground;
pub(super) mod host_read;
pub(super) mod host_write;
pub(super) mod journal;
pub(super) mod map;
pub(super) mod moves;
pub(super) mod pace;
pub(super) mod packs;
pub(super) mod parity;
pub(super) mod place;
pub(super) mod preallocate;
pub(super) mod reallocate;
pub mod replica;
pub mod slc;
