//! Mean latencies compared with BookSim 2, an established network-on-chip simulator.

use flashmesh::engine::random::SimRng;
use flashmesh::fabric::wormhole::{
    Grid, NetworkReports, Packet, PacketClass, Parameters, RouterId, TerminalId, Topology, WormholeNetwork,
};

const FLITS: u32 = 512;

/// Returns the mean cycles from the creation of a packet to the arrival of its tail, on an 8 x 8 mesh with uniform traffic. Each router creates a
/// packet with probability `load` / [`FLITS`] per cycle.
fn mean_latency(load: f64, seed: u64) -> f64 {
    const WARM_UP: u64 = 100_000;
    const CYCLES: u64 = 4_000_000;
    let topology = Topology::new(Grid::mesh(8, 8), (0..64).map(RouterId).collect()).expect("the grid is valid");
    let mut network =
        WormholeNetwork::new(topology, Parameters::BOOKSIM).expect("the parameters are within their bounds");
    let mut random = SimRng::new(seed);
    // Pauses between the packets of a router are geometric, which is equivalent to an independent draw in each cycle.
    let rate = load / f64::from(FLITS);
    let pause = |random: &mut SimRng| {
        let uniform = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        1 + (libm::log1p(-uniform) / libm::log1p(-rate)) as u64
    };
    let mut next: Vec<u64> = (0..64).map(|_| pause(&mut random)).collect();
    let (mut outbox, mut sum, mut count) = (NetworkReports::default(), 0, 0u64);
    loop {
        let (source, now) = next.iter().copied().enumerate().min_by_key(|&(_, at)| at).expect("there are routers");
        if now > CYCLES {
            break;
        }
        next[source] += pause(&mut random);
        network.advance(now, &mut outbox);
        for delivery in outbox.deliveries.drain(..).filter(|delivery| delivery.token > WARM_UP) {
            sum += delivery.tail - delivery.token;
            count += 1;
        }
        outbox.injections.clear();
        let (source, destination) = (TerminalId(source as u32), TerminalId(random.below(64)));
        let packet = Packet { token: now, source, destination, flits: FLITS, class: PacketClass::Large };
        network.inject(now, packet).expect("the packet can be delivered");
    }
    sum as f64 / count as f64
}

#[test]
fn latencies_on_a_mesh_are_those_of_booksim() {
    for (load, booksim) in [(0.02, 563.0), (0.05, 612.0), (0.10, 747.0), (0.15, 1030.0), (0.18, 1488.0)] {
        let found = mean_latency(load, 1);
        println!("load {load}: {found:.0} cycles, BookSim 2 {booksim}");
        assert!((found / booksim - 1.0).abs() < 0.03, "load {load}: {found:.0} cycles, BookSim 2 {booksim}");
    }
}
