//! Injection of messages into the network: the choice of the controller, the ports of chips and controllers, and their terminals.

pub(super) mod controller_selector;
pub(super) mod injection_ports;
mod terminals;
