//! How long a message takes when nothing is in its way.

use rustc_hash::FxHashMap;

use crate::fabric::wormhole::{Class, Grid, Network, Outbox, Packet, Parameters, RouterId, TerminalId, Topology};

use super::packets::Packets;

/// The cycles from the creation of a message to the arrival of its last flit in an empty network, found by sending it
/// down an empty row of routers: the routers of a way are all alike, so only their number matters.
#[derive(Debug)]
pub(super) struct Alone {
    parameters: Parameters,
    known: FxHashMap<(Packets, u32), u64>,
}

impl Alone {
    pub(super) fn new(parameters: Parameters) -> Alone {
        Alone { parameters, known: FxHashMap::default() }
    }

    /// For a message of `packets` over `hops` links between routers.
    #[inline]
    pub(super) fn cycles(&mut self, packets: Packets, hops: u32) -> u64 {
        let parameters = self.parameters;
        *self.known.entry((packets, hops)).or_insert_with(|| measure(parameters, packets, hops))
    }
}

fn measure(parameters: Parameters, packets: Packets, hops: u32) -> u64 {
    let row = Topology::new(Grid::mesh(1, hops + 1), vec![RouterId(0), RouterId(hops)]);
    let mut network = row
        .map(|row| Network::new(row, parameters).expect("the drive's own network has the same parameters"))
        .expect("a way through a network has no more routers than the network");
    for _ in 0..packets.count {
        let (source, destination) = (TerminalId(0), TerminalId(1));
        let packet = Packet { token: 0, source, destination, flits: packets.flits, class: Class::Large };
        network.inject(0, packet).expect("the drive's own network takes the same packet");
    }
    let mut outbox = Outbox::default();
    network.advance(u64::MAX, &mut outbox);
    outbox.deliveries.iter().map(|delivery| delivery.tail).max().unwrap_or(0)
}
