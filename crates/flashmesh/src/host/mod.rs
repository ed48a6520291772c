//! The host's side of the drive: when requests are issued, and how they cross to the drive and back.

pub mod interface;
pub mod link;
pub mod namespace;
pub mod replay;
pub mod status;
