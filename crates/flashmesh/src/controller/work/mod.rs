//! The kinds of work of a controller, one file each: each owns its state, and answers what happens to transactions of its own.
//!
//! None calls another one. What one wants of another is a [`Step`](super::steps::Step).

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
