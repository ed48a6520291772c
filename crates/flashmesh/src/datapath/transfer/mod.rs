//! Transfers of commands and data over granted paths.

mod deliver;
mod partial;
mod send;

pub use deliver::DeliveredTransfer;

pub(super) use partial::PartialTransfers;
