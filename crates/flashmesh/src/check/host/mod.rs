//! Oracles of host requests: queues, namespaces, completions, and the versions that reads return.

pub(super) mod freshness;
pub(super) mod namespaces;
mod per_page;
pub(super) mod queues;
pub(super) mod requests;
