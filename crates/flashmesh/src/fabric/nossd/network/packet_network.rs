//! The network that carries the packets. It is simulated by runs of evenly spaced flits, or flit by flit if the two directions of a link alternate
//! after each flit.

use crate::config::{self, Interleave};
use crate::fabric::nossd::settings::parameters;
use crate::fabric::wormhole::{
    Crossing, FlitNetwork, InjectError, NetworkReports, Packet, ParameterError, TerminalId, Topology, WireSharing,
    WormholeNetwork,
};
use crate::ids::LinkId;

/// A packet network, simulated by runs of flits or flit by flit as `nossd.interleave` requires.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a drive has one")]
pub(in super::super) enum PacketNetwork {
    Runs(WormholeNetwork),
    Flits(FlitNetwork),
}

macro_rules! either {
    ($self:expr, $network:ident => $call:expr) => {
        match $self {
            PacketNetwork::Runs($network) => $call,
            PacketNetwork::Flits($network) => $call,
        }
    };
}

impl PacketNetwork {
    /// Builds an empty network. The terminals from `controllers` on belong to controllers, those before to chips.
    ///
    /// # Errors
    /// If a parameter of the network is out of its bounds, or if the network could deadlock.
    pub fn new(
        config: &config::Nossd,
        topology: Topology,
        controllers: TerminalId,
    ) -> Result<PacketNetwork, ParameterError> {
        let parameters = parameters(config);
        Ok(match config.interleave {
            Interleave::Packets => PacketNetwork::Runs(WormholeNetwork::new(topology, parameters)?),
            Interleave::Flits => {
                let shared = WireSharing::Shared { terminals_from: controllers };
                let wires = if config.half_duplex { shared } else { WireSharing::Separate };
                PacketNetwork::Flits(FlitNetwork::new(topology, parameters, wires)?)
            }
        })
    }

    pub fn topology(&self) -> &Topology {
        either!(self, network => network.topology())
    }

    #[inline]
    pub fn inject(&mut self, now: u64, packet: Packet) -> Result<(), InjectError> {
        either!(self, network => network.inject(now, packet))
    }

    #[inline]
    pub fn next_event(&self) -> Option<u64> {
        either!(self, network => network.next_event())
    }

    #[inline]
    pub fn advance_to_report(&mut self, to: u64, latest: u64, outbox: &mut NetworkReports) {
        either!(self, network => network.advance_to_report(to, latest, outbox));
    }

    /// Returns the number of packets queued at `terminal` for its link into the network.
    #[inline]
    pub fn queued_packets(&self, terminal: TerminalId) -> u32 {
        either!(self, network => network.queued(terminal).packets)
    }

    pub fn keep_log(&mut self) {
        either!(self, network => network.keep_log());
    }

    pub fn drop_log(&mut self) {
        either!(self, network => network.drop_log());
    }

    pub fn take_log(&mut self) -> Vec<Crossing> {
        either!(self, network => network.take_log())
    }

    /// Returns the number of cycles for which packets held `link`, for packets whose tail has crossed it. If two links share wires flit by flit, the
    /// link with the lower number has the cycles in which either was held.
    pub fn held_cycles(&self, link: LinkId) -> u64 {
        either!(self, network => network.held_cycles(link))
    }

    pub fn held_links(&self) -> Vec<(LinkId, u64)> {
        either!(self, network => network.held_links().collect())
    }
}
