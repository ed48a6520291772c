//! The network that carries packets: its routes, the usage of its links, and the time of messages when it is empty.

pub(super) mod link_accounting;
pub(super) mod packet_network;
pub(super) mod routing;
pub(super) mod zero_load_latency;
