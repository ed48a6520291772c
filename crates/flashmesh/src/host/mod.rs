//! The host's side of the drive: the queue pair with its replay, and the link.

pub mod link;
pub mod replay;
