//! Speed of the wormhole network: 8 x 8 mesh, packets of 512 flits, uniform traffic, one core.
//!
//! Each row is the median of several runs with their range, and a hash of all deliveries: speeds can only be compared between runs with the
//! same hash.
#![allow(missing_docs)]

use std::hash::Hasher;
use std::time::Instant;

use flashmesh::engine::random::SimRng;
use flashmesh::fabric::wormhole::{
    Grid, NetworkReports, Packet, PacketClass, Parameters, RouterId, TerminalId, Topology, WormholeNetwork,
};
use rustc_hash::FxHasher;

const RUNS: usize = 5;
const FLITS: u32 = 512;

/// Traffic to benchmark. `floor` is the minimum speed in million delivered flits per second.
struct Row {
    name: &'static str,
    buffer_flits: u32,
    /// Mean packets per router in 1,024,000 cycles; `None` if every router always has a packet to send.
    load: Option<u32>,
    packets: u64,
    floor: f64,
}

const ROWS: &[Row] = &[
    Row { name: "load 0.10, buffers of 16", buffer_flits: 16, load: Some(200), packets: 1_000_000, floor: 200.0 },
    Row { name: "load 0.10, buffers of 512", buffer_flits: 512, load: Some(200), packets: 2_000_000, floor: 500.0 },
    Row { name: "saturated, buffers of 16", buffer_flits: 16, load: None, packets: 1_000_000, floor: 150.0 },
    Row { name: "saturated, buffers of 512", buffer_flits: 512, load: None, packets: 1_000_000, floor: 300.0 },
];

fn main() {
    println!("{:<28} {:>10} {:>19}  {:<9} {:>7}  {:<5} result", "benchmark", "median", "range", "unit", "floor", "");
    let mut missed = 0;
    for row in ROWS {
        let mut runs: Vec<(f64, u64)> = (0..RUNS).map(|_| run(row)).collect();
        assert!(runs.iter().all(|run| run.1 == runs[0].1), "{}: runs of one seed differ", row.name);
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (median, hash) = runs[RUNS / 2];
        let is_met = median >= row.floor;
        missed += usize::from(!is_met);
        let range = format!("{:.0} .. {:.0}", runs[0].0, runs[RUNS - 1].0);
        let verdict = if is_met { "ok" } else { "MISS" };
        println!(
            "{:<28} {median:>10.0} {range:>19}  {:<9} {:>7}  {verdict:<5} {hash:016x}",
            row.name, "Mflit/s", row.floor
        );
    }
    if missed > 0 {
        println!("{missed} of {} figures were missed on this machine", ROWS.len());
    }
}

/// Measures the million flits delivered per second of wall-clock time. Returns this speed, and a hash of all deliveries.
fn run(row: &Row) -> (f64, u64) {
    let topology = Topology::new(Grid::mesh(8, 8), (0..64).map(RouterId).collect()).expect("the grid is valid");
    let parameters = Parameters { buffer_flits: row.buffer_flits, ..Parameters::BOOKSIM };
    let mut network = WormholeNetwork::new(topology, parameters).expect("the parameters are within their bounds");
    let started = Instant::now();
    let mut traffic = Traffic { random: SimRng::new(1), outbox: NetworkReports::default(), hash: FxHasher::default() };
    match row.load {
        Some(load) => traffic.open(&mut network, row.packets, load),
        None => traffic.saturated(&mut network, row.packets),
    }
    let flits = row.packets as f64 * f64::from(FLITS);
    (flits / started.elapsed().as_secs_f64() / 1e6, traffic.hash.finish())
}

struct Traffic {
    random: SimRng,
    outbox: NetworkReports,
    hash: FxHasher,
}

impl Traffic {
    fn inject(&mut self, network: &mut WormholeNetwork, now: u64, source: u32) {
        let (source, destination) = (TerminalId(source), TerminalId(self.random.below(64)));
        let packet = Packet { token: now, source, destination, flits: FLITS, class: PacketClass::Large };
        network.inject(now, packet).expect("the packet can be delivered");
    }

    fn take_deliveries(&mut self) {
        for delivery in self.outbox.deliveries.drain(..) {
            self.hash.write_u64(delivery.token);
            self.hash.write_u64(delivery.tail);
        }
    }

    /// Injects packets at random cycles from random routers, independently of deliveries (open loop).
    fn open(&mut self, network: &mut WormholeNetwork, packets: u64, load: u32) {
        let cycles_a_packet = 1_024_000 / (64 * load);
        let mut now = 0;
        for _ in 0..packets {
            now += u64::from(self.random.below(2 * cycles_a_packet + 1));
            network.advance(now, &mut self.outbox);
            self.outbox.injections.clear();
            self.take_deliveries();
            let source = self.random.below(64);
            self.inject(network, now, source);
        }
        network.advance(u64::MAX, &mut self.outbox);
        self.take_deliveries();
    }

    /// Injects the next packet of a terminal as soon as its previous packet has been sent, so that no terminal is ever idle.
    fn saturated(&mut self, network: &mut WormholeNetwork, packets: u64) {
        (0..64).for_each(|source| self.inject(network, 0, source));
        (0..64).for_each(|source| self.inject(network, 0, source));
        let mut left = packets - 128;
        while let Some(at) = network.next_event() {
            network.advance(at, &mut self.outbox);
            let sent = std::mem::take(&mut self.outbox.injections);
            for injection in &sent {
                if left > 0 {
                    left -= 1;
                    self.inject(network, at, injection.source.0);
                }
            }
            self.outbox.injections = sent;
            self.outbox.injections.clear();
            self.take_deliveries();
        }
    }
}
