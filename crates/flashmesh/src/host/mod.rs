//! Host side of the drive: replay of workloads, namespaces, the link, and the host interfaces.

mod batch;
pub mod interface;
pub mod link;
pub mod namespace;
pub mod replay;
mod slots;
pub mod source;
pub mod status;
