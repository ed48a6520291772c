//! The host's side of the drive: when requests are issued, and how they cross to the drive and back.

mod batch;
pub mod interface;
pub mod link;
pub mod namespace;
pub mod replay;
mod slots;
pub mod source;
pub mod status;
