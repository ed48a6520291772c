//! Kinds of work of the controller, one file or folder each. A kind owns its state and handles the events of its transactions
//! ([`kind::Kind`]).
//!
//! Functions of a kind outside the trait take, as parameters, the other kinds whose state they need. Follow-up work is pushed as a
//! [`FollowUp`](super::follow_ups::FollowUp).
//!
//! A further kind needs a file here, a [`Purpose`](crate::schedule::purpose::Purpose) for each of its transactions, and an entry of the
//! registry in [`kind`].

pub(super) mod chip_to_chip;
pub(super) mod collect;
pub(super) mod host_read;
pub(super) mod host_write;
pub(super) mod journal;
pub(super) mod kind;
pub(super) mod map;
pub(super) mod parity;
pub(super) mod placement;
pub(super) mod reallocate;
pub mod replica;
pub mod slc;
