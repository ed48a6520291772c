//! Zero-load latency of messages: their time in an empty network.

use rustc_hash::FxHashMap;

use crate::fabric::nossd::messages::packets::Packets;
use crate::fabric::wormhole::{
    Grid, NetworkReports, Packet, PacketClass, Parameters, RouterId, TerminalId, Topology, WormholeNetwork,
};

/// Calculator of zero-load latencies: the cycles from the creation of a message until its last flit crosses the link to its destination, in an empty
/// network.
///
/// For one packet, the latency is computed by a formula. For successive packets, it is measured once, by simulation of an empty row of routers. A row
/// is enough: all routers are alike, so only the number of hops matters.
#[derive(Clone, Debug)]
pub(in super::super) struct ZeroLoadLatency {
    parameters: Parameters,
    known: FxHashMap<(Packets, u32), u64>,
}

impl ZeroLoadLatency {
    pub(in super::super) fn new(parameters: Parameters) -> ZeroLoadLatency {
        ZeroLoadLatency { parameters, known: FxHashMap::default() }
    }

    /// Returns the zero-load latency, in cycles, of a message of `packets` over `hops` links between routers.
    #[inline(always)]
    pub(in super::super) fn cycles(&mut self, packets: Packets, hops: u32) -> u64 {
        if packets.count == 1 {
            return self.parameters.zero_load_cycles(packets.flits, hops);
        }
        self.cycles_of_several(packets, hops)
    }

    #[inline(never)]
    fn cycles_of_several(&mut self, packets: Packets, hops: u32) -> u64 {
        let parameters = self.parameters;
        *self.known.entry((packets, hops)).or_insert_with(|| measure(parameters, packets, hops))
    }
}

fn measure(parameters: Parameters, packets: Packets, hops: u32) -> u64 {
    let row = Topology::new(Grid::mesh(1, hops + 1), vec![RouterId(0), RouterId(hops)]);
    let mut network = row
        .map(|row| WormholeNetwork::new(row, parameters).expect("the drive's own network has the same parameters"))
        .expect("a way through a network has no more routers than the network");
    for _ in 0..packets.count {
        let (source, destination) = (TerminalId(0), TerminalId(1));
        let packet = Packet { token: 0, source, destination, flits: packets.flits, class: PacketClass::Large };
        network.inject(0, packet).expect("the drive's own network takes the same packet");
    }
    let mut outbox = NetworkReports::default();
    network.advance(u64::MAX, &mut outbox);
    outbox.deliveries.iter().map(|delivery| delivery.tail).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_for_one_packet_is_what_a_network_takes() {
        for buffer_flits in [1, 2, 3, 4, 10, 512] {
            let parameters =
                Parameters { buffer_flits, ..crate::fabric::nossd::settings::parameters(&Default::default()) };
            for (flits, hops) in
                [1, 2, 8, 9, 100, 4608].into_iter().flat_map(|flits| [0, 1, 7].map(|hops| (flits, hops)))
            {
                let packets = Packets { count: 1, flits };
                let formula = ZeroLoadLatency::new(parameters).cycles(packets, hops);
                assert_eq!(formula, measure(parameters, packets, hops), "{buffer_flits} {flits} {hops}");
            }
        }
    }
}
