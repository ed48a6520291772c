//! Kinds of work of the controller, one file each. A kind owns its state and handles the events of its transactions.
//!
//! The functions of a kind take other kinds whose state they need as parameters. Follow-up work is pushed as a
//! [`FollowUp`](super::follow_ups::FollowUp).

pub(super) mod chip_to_chip;
pub(super) mod collect;
pub(super) mod host_read;
pub(super) mod host_write;
pub(super) mod journal;
pub(super) mod map;
pub(super) mod parity;
pub(super) mod placement;
pub(super) mod preallocate;
pub(super) mod reallocate;
pub mod replica;
pub mod slc;
