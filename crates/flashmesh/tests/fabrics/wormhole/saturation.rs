//! Saturated networks: with any options, every packet arrives although more traffic is offered than the network carries.

use flashmesh::engine::random::SimRng;
use flashmesh::fabric::wormhole::{
    Arbitration, FlitNetwork, GrantRule, Grid, NetworkReports, Packet, PacketClass, Parameters, RouterId, TerminalId,
    Topology, WireSharing, WormholeNetwork,
};

const GRIDS: [Grid; 6] = [
    Grid { rows: 4, columns: 4, wraps_rows: false, wraps_columns: false },
    Grid { rows: 5, columns: 5, wraps_rows: true, wraps_columns: true },
    Grid { rows: 3, columns: 5, wraps_rows: true, wraps_columns: false },
    Grid { rows: 1, columns: 9, wraps_rows: true, wraps_columns: false },
    Grid { rows: 1, columns: 6, wraps_rows: false, wraps_columns: false },
    Grid { rows: 6, columns: 1, wraps_rows: false, wraps_columns: false },
];

/// Runs request packets (8 flits) and reply packets (up to 512) between first-column controllers and all routers until all have arrived. Each
/// terminal injects a packet per cycle for 40 cycles.
fn drive(grid: Grid, parameters: Parameters, seed: u64) {
    const PACKETS: u32 = 40;
    let routers = (0..grid.rows * grid.columns).map(RouterId);
    let controllers = (0..grid.rows).map(|row| RouterId(row * grid.columns));
    let topology = Topology::new(grid, routers.chain(controllers).collect()).expect("the grid is valid");
    let terminals = topology.terminals();
    let mut network = WormholeNetwork::new(topology, parameters).expect("the parameters are within their bounds");
    let mut random = SimRng::new(seed);
    for round in 0..PACKETS {
        for source in (0..terminals).map(TerminalId) {
            let (flits, class) = if random.below(2) == 0 { (8, PacketClass::Small) } else { (512, PacketClass::Large) };
            let flits = match parameters.grant_rule {
                GrantRule::WholePacket => flits.min(parameters.buffer_flits),
                _ => flits,
            };
            let destination = TerminalId(random.below(terminals));
            let token = u64::from(round * terminals + source.0);
            network
                .inject(round.into(), Packet { token, source, destination, flits, class })
                .expect("the packet can be delivered");
        }
    }
    let mut outbox = NetworkReports::default();
    let (mut delivered, mut last) = (0, 0);
    while let Some(at) = network.next_event() {
        network.advance(at, &mut outbox);
        if !outbox.deliveries.is_empty() {
            delivered += outbox.deliveries.len();
            outbox.deliveries.clear();
            last = at;
        }
        // The slowest of these networks, with one slot per buffer, delivers a packet of 512 flits every 3,000 cycles.
        assert!(at - last < 100_000, "{grid:?} {parameters:?}: no packet has arrived since cycle {last}");
    }
    assert_eq!(delivered as u32, PACKETS * terminals, "{grid:?} {parameters:?} deadlocked");
    assert_eq!(network.in_flight(), 0);
}

#[test]
fn whatever_is_injected_arrives() {
    let arbitrations = [Arbitration::RoundRobin, Arbitration::Fifo, Arbitration::Oldest];
    let rules = [
        (GrantRule::Immediate, false),
        (GrantRule::OneSlot, false),
        (GrantRule::WholePacket, false),
        (GrantRule::WholePacket, true),
    ];
    let mut seed = 0;
    for grid in GRIDS {
        for buffer_flits in [1, 3, 16, 512] {
            for (small_first, arbitration, (grant_rule, half_duplex)) in [false, true]
                .into_iter()
                .flat_map(|small| arbitrations.map(|arbitration| (small, arbitration)))
                .flat_map(|(small, arbitration)| rules.map(|rule| (small, arbitration, rule)))
            {
                seed += 1;
                let parameters = Parameters {
                    interface_cycles: 1,
                    hop_cycles: 3,
                    head_cycles: 1,
                    head_of_line_cycles: 0,
                    gap_cycles: 0,
                    credit_cycles: 2,
                    injection_credit_cycles: 1,
                    flit_cycles: 1,
                    buffer_flits,
                    arbitration,
                    grant_rule,
                    small_first,
                    half_duplex,
                };
                drive(grid, parameters, seed);
            }
        }
    }
}

/// Like [`drive`], but over a network of single flits.
fn drive_flits(grid: Grid, parameters: Parameters, wires: WireSharing, seed: u64) {
    const PACKETS: u32 = 20;
    let routers = (0..grid.rows * grid.columns).map(RouterId);
    let controllers = (0..grid.rows).map(|row| RouterId(row * grid.columns));
    let topology = Topology::new(grid, routers.chain(controllers).collect()).expect("the grid is valid");
    let terminals = topology.terminals();
    let mut network = FlitNetwork::new(topology, parameters, wires).expect("the parameters are within their bounds");
    let mut random = SimRng::new(seed);
    for round in 0..PACKETS {
        for source in (0..terminals).map(TerminalId) {
            let (flits, class) = if random.below(2) == 0 { (8, PacketClass::Small) } else { (100, PacketClass::Large) };
            let destination = TerminalId(random.below(terminals));
            let token = u64::from(round * terminals + source.0);
            network
                .inject(round.into(), Packet { token, source, destination, flits, class })
                .expect("the packet can be delivered");
        }
    }
    let mut outbox = NetworkReports::default();
    let (mut delivered, mut last) = (0, 0);
    while let Some(at) = network.next_event() {
        network.advance(at, &mut outbox);
        if !outbox.deliveries.is_empty() {
            delivered += outbox.deliveries.len();
            outbox.deliveries.clear();
            last = at;
        }
        assert!(at - last < 20_000, "{grid:?} {parameters:?} {wires:?}: no packet has arrived since cycle {last}");
    }
    assert_eq!(delivered as u32, PACKETS * terminals, "{grid:?} {parameters:?} {wires:?} deadlocked");
    assert_eq!(network.in_flight(), 0);
}

#[test]
fn whatever_is_injected_arrives_over_wires_that_take_turns_with_every_flit_and_in_lockstep() {
    for (seed, grid) in (0..).zip(GRIDS) {
        for buffer_flits in [1, 3, 16, 512] {
            for (arbitration, small_first) in
                [(Arbitration::RoundRobin, false), (Arbitration::Fifo, true), (Arbitration::Oldest, true)]
            {
                for credit_cycles in [0, 1] {
                    let parameters = Parameters {
                        interface_cycles: 1,
                        hop_cycles: 1 + 3 * credit_cycles,
                        head_cycles: 0,
                        head_of_line_cycles: 0,
                        gap_cycles: 0,
                        credit_cycles,
                        injection_credit_cycles: credit_cycles,
                        flit_cycles: 1,
                        buffer_flits,
                        arbitration,
                        grant_rule: GrantRule::Immediate,
                        small_first,
                        half_duplex: false,
                    };
                    drive(grid, parameters, seed);
                    drive_flits(grid, parameters, WireSharing::Separate, seed);
                    if credit_cycles > 0 {
                        let terminals_from = TerminalId(grid.rows * grid.columns);
                        drive_flits(grid, parameters, WireSharing::Shared { terminals_from }, seed);
                    }
                }
            }
        }
    }
}
