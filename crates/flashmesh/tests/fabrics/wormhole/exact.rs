//! Exact comparison: every packet crosses every link in the same cycles as in a simulation of single flits.

use flashmesh::fabric::wormhole::{
    Arbitration, Crossing, FlitNetwork, GrantRule, Grid, NetworkReports, Packet, PacketClass, Parameters, RouterId,
    TerminalId, Topology, WireSharing, WormholeNetwork,
};
use proptest::prelude::*;

use super::oracle::Oracle;
use crate::support::cases::cases;

/// Random network and its traffic.
#[derive(Clone, Debug)]
struct Case {
    grid: Grid,
    /// Routers with a second terminal.
    controllers: Vec<u32>,
    parameters: Parameters,
    /// For each packet: cycles since the previous one, source, destination, flits, class.
    traffic: Vec<(u64, u32, u32, u32, PacketClass)>,
}

impl Case {
    fn topology(&self) -> Topology {
        let routers = self.grid.rows * self.grid.columns;
        let controllers = self.controllers.iter().map(|router| router % routers);
        Topology::new(self.grid, (0..routers).chain(controllers).map(RouterId).collect()).expect("the grid is valid")
    }

    fn packets(&self, topology: &Topology) -> Vec<(u64, Packet)> {
        let mut now = 0;
        let terminals = topology.terminals();
        let packet =
            |(token, &(gap, source, destination, flits, class)): (usize, &(u64, u32, u32, u32, PacketClass))| {
                now += gap;
                let flits = match self.parameters.grant_rule {
                    GrantRule::WholePacket => flits.min(self.parameters.buffer_flits),
                    _ => flits,
                };
                let (source, destination) = (TerminalId(source % terminals), TerminalId(destination % terminals));
                (now, Packet { token: token as u64, source, destination, flits, class })
            };
        self.traffic.iter().enumerate().map(packet).collect()
    }
}

fn grid() -> impl Strategy<Value = Grid> {
    let any_grid = (1..=4u32, 1..=4u32, any::<bool>(), any::<bool>())
        .prop_map(|(rows, columns, wraps_rows, wraps_columns)| Grid { rows, columns, wraps_rows, wraps_columns });
    let column = (2..=8u32).prop_map(|rows| Grid::mesh(rows, 1));
    prop_oneof![3 => any_grid, 1 => (2..=8u32).prop_map(Grid::ring), 1 => column]
}

fn size() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 1..=12u32, 3 => 13..=64u32, 1 => 65..=512u32]
}

fn parameters() -> impl Strategy<Value = Parameters> {
    let cycles = (1..=3u32, 1..=4u32, 0..=2u32, 0..=2u32, 0..=2u32, 0..=4u32, 0..=4u32, 1..=3u32);
    let arbitration = prop::sample::select(vec![Arbitration::RoundRobin, Arbitration::Fifo, Arbitration::Oldest]);
    let grant = prop::sample::select(vec![
        GrantRule::Immediate,
        GrantRule::Immediate,
        GrantRule::OneSlot,
        GrantRule::WholePacket,
    ]);
    (cycles, size(), arbitration, grant, any::<bool>(), any::<bool>()).prop_map(
        |((interface, hop, head, line, gap, credit, injection, flit), buffer, arbitration, grant_rule, small, half)| {
            // Only the immediate grant rule supports credits that return in 0 cycles.
            let slowest = u32::from(grant_rule != GrantRule::Immediate);
            let (credit, injection) = (credit.max(slowest), injection.max(slowest));
            Parameters {
                interface_cycles: interface,
                hop_cycles: hop,
                head_cycles: head,
                head_of_line_cycles: line,
                gap_cycles: gap,
                credit_cycles: credit,
                injection_credit_cycles: injection.min(credit),
                flit_cycles: if flit > 2 { 1 } else { flit },
                buffer_flits: buffer,
                arbitration,
                grant_rule,
                small_first: small,
                half_duplex: half && grant_rule == GrantRule::WholePacket,
            }
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let class = prop_oneof![Just(PacketClass::Small), Just(PacketClass::Large)];
    // The gaps between packets range from a few cycles, which saturate any of these networks, to long pauses.
    let traffic = (1..=400u64)
        .prop_flat_map(move |gap| prop::collection::vec((0..gap, 0..24u32, 0..24u32, size(), class.clone()), 1..40));
    (grid(), prop::collection::vec(0..16u32, 0..4), parameters(), traffic)
        .prop_map(|(grid, controllers, parameters, traffic)| Case { grid, controllers, parameters, traffic })
}

/// Runs the network and checks its reports against its log of crossings, which is returned: the cycles in which each packet crosses each link.
fn crossings(topology: &Topology, parameters: Parameters, packets: &[(u64, Packet)]) -> Vec<Crossing> {
    let mut network =
        WormholeNetwork::new(topology.clone(), parameters).expect("the parameters are within their bounds");
    network.keep_log();
    let mut outbox = NetworkReports::default();
    for &(created, packet) in packets {
        // Injection before and after the events of the same cycle must give equal results. Both are tested.
        network.advance(created.saturating_sub(packet.token % 2), &mut outbox);
        network.inject(created, packet).expect("the packet can be delivered");
    }
    while let Some(at) = network.next_event() {
        // The results must not depend on how far the network advances per call.
        let mut reported = NetworkReports::default();
        network.advance_to_report(at, at + at % 3 * 50, &mut reported);
        assert!(reported.deliveries.iter().all(|delivery| delivery.head >= at));
        assert!(reported.injections.iter().all(|injection| injection.tail >= at));
        outbox.deliveries.extend(reported.deliveries);
        outbox.injections.extend(reported.injections);
    }
    assert_eq!(network.held_links().next(), None);
    assert_eq!((network.in_flight(), outbox.deliveries.len()), (0, packets.len()), "some packets were not delivered");
    let mut log = network.take_log();
    log.sort();
    let crossing = |token: u64, link| {
        *log.iter()
            .find(|crossing| (crossing.token, crossing.link) == (token, link))
            .expect("the log has every crossing")
    };
    for delivery in &outbox.deliveries {
        let packet = packets[delivery.token as usize].1;
        assert_eq!(delivery.destination, packet.destination);
        let out = crossing(delivery.token, topology.ejection(packet.destination));
        assert_eq!((delivery.head, delivery.tail), (out.head, out.tail));
        assert_eq!(delivery.hops as usize, topology.path(packet.source, packet.destination).count() - 2);
    }
    assert_eq!(outbox.injections.len(), packets.len());
    for injection in &outbox.injections {
        assert_eq!(injection.tail, crossing(injection.token, topology.injection(injection.source)).tail);
    }
    for link in (0..topology.links()).map(flashmesh::ids::LinkId) {
        let flits: u64 = log
            .iter()
            .filter(|crossing| crossing.link == link)
            .map(|crossing| u64::from(packets[crossing.token as usize].1.flits))
            .sum();
        assert_eq!(network.traffic(link).flits, flits);
    }
    let queued = (0..topology.terminals()).map(|terminal| network.queued(TerminalId(terminal)));
    assert!(queued.into_iter().all(|queued| (queued.packets, queued.flits) == (0, 0)));
    log
}

/// Runs a network of single flits and checks the crossings of flits. Returns, for each packet and link, the cycles of its first and last flit.
fn crossings_of_flits(
    topology: &Topology,
    parameters: Parameters,
    wires: WireSharing,
    packets: &[(u64, Packet)],
) -> Vec<Crossing> {
    let mut network =
        FlitNetwork::new(topology.clone(), parameters, wires).expect("the parameters are within their bounds");
    network.keep_log();
    let mut outbox = NetworkReports::default();
    for &(created, packet) in packets {
        network.advance(created.saturating_sub(packet.token % 2), &mut outbox);
        network.inject(created, packet).expect("the packet can be delivered");
    }
    while let Some(at) = network.next_event() {
        network.advance_to_report(at, at + at % 3 * 50, &mut outbox);
    }
    assert_eq!(network.held_links().next(), None);
    assert_eq!((network.in_flight(), outbox.deliveries.len()), (0, packets.len()), "some packets were not delivered");
    assert_eq!(outbox.injections.len(), packets.len());
    let mut of_packets: Vec<Crossing> = Vec::new();
    let mut flits = network.take_log();
    let wire = |link: flashmesh::ids::LinkId| match (wires, topology.reverse(link)) {
        (WireSharing::Shared { .. }, Some(reverse)) => link.min(reverse),
        _ => link,
    };
    let mut uses: Vec<_> = flits.iter().map(|flit| (wire(flit.link), flit.head)).collect();
    uses.sort();
    assert!(uses.windows(2).all(|pair| pair[0] != pair[1]), "a wire carries two flits at once");
    flits.sort();
    for flit in flits {
        assert_eq!(flit.head, flit.tail);
        match of_packets.last_mut() {
            Some(last) if (last.token, last.link) == (flit.token, flit.link) => last.tail = flit.tail,
            _ => of_packets.push(flit),
        }
    }
    of_packets
}

/// Returns the parameters of Network-on-SSD, CAL 2012, Table 1: one-flit buffers, whose slot is free again in the cycle in which its flit leaves.
fn lockstep() -> Parameters {
    Parameters {
        interface_cycles: 1,
        hop_cycles: 1,
        head_cycles: 0,
        head_of_line_cycles: 0,
        gap_cycles: 0,
        credit_cycles: 0,
        injection_credit_cycles: 0,
        flit_cycles: 1,
        buffer_flits: 1,
        arbitration: Arbitration::Fifo,
        grant_rule: GrantRule::Immediate,
        small_first: false,
        half_duplex: false,
    }
}

/// Network-on-SSD, CAL 2012, Table 1: with one-flit buffers a link still carries a flit per cycle.
#[test]
fn flits_advance_in_lockstep_through_buffers_of_one() {
    let topology = Topology::new(Grid::mesh(1, 5), vec![RouterId(0), RouterId(4)]).expect("the grid is valid");
    let parameters = lockstep();
    let packet =
        Packet { token: 0, source: TerminalId(0), destination: TerminalId(1), flits: 4100, class: PacketClass::Large };
    // One cycle for the request, one for each of the five links after the first, and one per flit.
    for flits in [1, 2, 4100] {
        let packets = [(0, Packet { flits, ..packet })];
        let last = crossings(&topology, parameters, &packets).iter().map(|crossing| crossing.tail).max();
        assert_eq!(last, Some(1 + 5 + u64::from(flits) - 1));
    }
    // If a credit returns one cycle late, a one-flit buffer passes a flit every other cycle.
    let slower = Parameters { credit_cycles: 1, injection_credit_cycles: 1, ..parameters };
    let last = crossings(&topology, slower, &[(0, packet)]).iter().map(|crossing| crossing.tail).max();
    assert_eq!(last, Some(1 + 5 + 2 * 4099));
}

/// The tail of a packet frees the only slot of a buffer for the head of the next packet, so both links of the path carry a flit per cycle.
#[test]
fn a_packet_follows_another_through_a_buffer_of_one_without_a_gap() {
    let topology = Topology::new(Grid::mesh(1, 1), vec![RouterId(0)]).expect("the grid is valid");
    let terminal = TerminalId(0);
    let packet =
        |token, flits| Packet { token, source: terminal, destination: terminal, flits, class: PacketClass::Large };
    let log = crossings(&topology, lockstep(), &[(0, packet(0, 2)), (0, packet(1, 1))]);
    let over = |link| -> Vec<(u64, u64, u64)> {
        let of_link = log.iter().filter(|crossing| crossing.link == link);
        of_link.map(|crossing| (crossing.token, crossing.head, crossing.tail)).collect()
    };
    // The request of the first packet takes one cycle, and so does the hop of each flit to the second link.
    assert_eq!(over(topology.injection(terminal)), [(0, 1, 2), (1, 3, 3)]);
    assert_eq!(over(topology.ejection(terminal)), [(0, 2, 3), (1, 4, 4)]);
}

/// Two packets in opposite directions share the wire between their routers flit by flit. A single packet has the whole wire.
#[test]
fn directions_that_share_a_wire_take_turns() {
    let topology = Topology::new(Grid::mesh(1, 2), vec![RouterId(0), RouterId(1)]).expect("the grid is valid");
    let parameters = Parameters {
        interface_cycles: 1,
        hop_cycles: 1,
        head_cycles: 0,
        head_of_line_cycles: 0,
        gap_cycles: 0,
        credit_cycles: 1,
        injection_credit_cycles: 1,
        flit_cycles: 1,
        buffer_flits: 4,
        arbitration: Arbitration::Fifo,
        grant_rule: GrantRule::Immediate,
        small_first: false,
        half_duplex: false,
    };
    let (west, east) = (TerminalId(0), TerminalId(1));
    let packet =
        |token, source, destination| Packet { token, source, destination, flits: 100, class: PacketClass::Large };
    let both = [(0, packet(0, west, east)), (0, packet(1, east, west))];
    let wires = WireSharing::Shared { terminals_from: TerminalId(2) };
    let between = |packets: &[(u64, Packet)]| {
        let crossings = crossings_of_flits(&topology, parameters, wires, packets);
        let mut tails: Vec<u64> = crossings
            .into_iter()
            .filter(|crossing| topology.reverse(crossing.link).is_some())
            .map(|crossing| crossing.tail)
            .collect();
        tails.sort_unstable();
        tails
    };
    // The head flits reach the wire in cycle 2. One packet of 100 flits takes 100 cycles, two alternating packets 200.
    assert_eq!(between(&both[..1]), [2 + 99]);
    assert_eq!(between(&both), [2 + 198, 2 + 199]);
}

/// A small packet is sent between the queued large packets of another terminal; a large packet is sent after them (PACT 2014, rules 1 and 2).
#[test]
fn small_packets_go_between_those_of_a_run_and_large_ones_wait() {
    // Two terminals of one router send to the same destination. One sends three large packets, the other a single packet.
    let topology =
        Topology::new(Grid::mesh(1, 2), vec![RouterId(0), RouterId(0), RouterId(1)]).expect("the grid is valid");
    let parameters = Parameters {
        interface_cycles: 1,
        hop_cycles: 1,
        head_cycles: 0,
        head_of_line_cycles: 0,
        gap_cycles: 0,
        credit_cycles: 1,
        injection_credit_cycles: 1,
        flit_cycles: 1,
        buffer_flits: 16,
        arbitration: Arbitration::Fifo,
        grant_rule: GrantRule::Immediate,
        small_first: true,
        half_duplex: false,
    };
    for (class, expected) in [(PacketClass::Small, [0, 9, 0, 0]), (PacketClass::Large, [0, 0, 0, 9])] {
        let mut network = FlitNetwork::new(topology.clone(), parameters, WireSharing::Separate)
            .expect("the parameters are within their bounds");
        let packet = |token, source, flits, class| Packet {
            token,
            source: TerminalId(source),
            destination: TerminalId(2),
            flits,
            class,
        };
        for _ in 0..3 {
            network.inject(0, packet(0, 0, 20, PacketClass::Large)).expect("the packet can be delivered");
        }
        network.inject(5, packet(9, 1, 4, class)).expect("the packet can be delivered");
        let mut outbox = NetworkReports::default();
        network.advance(1000, &mut outbox);
        let tokens: Vec<u64> = outbox.deliveries.iter().map(|delivery| delivery.token).collect();
        assert_eq!(tokens, expected, "{class:?}");
    }
}

#[test]
fn a_link_is_held_by_a_packet_that_waits_for_the_next_one() {
    // Three routers in a row. Router 1 is granted link 1-2 first; the packet of router 0 waits for that link while it holds link 0-1.
    let topology = Topology::new(Grid::mesh(1, 3), (0..3).map(RouterId).collect()).expect("the grid is valid");
    let parameters = Parameters {
        interface_cycles: 1,
        hop_cycles: 1,
        head_cycles: 0,
        head_of_line_cycles: 0,
        gap_cycles: 0,
        credit_cycles: 1,
        injection_credit_cycles: 1,
        flit_cycles: 1,
        buffer_flits: 4,
        arbitration: Arbitration::RoundRobin,
        grant_rule: GrantRule::Immediate,
        small_first: false,
        half_duplex: false,
    };
    let packet = |token, source| Packet {
        token,
        source: TerminalId(source),
        destination: TerminalId(2),
        flits: 20,
        class: PacketClass::Large,
    };
    let mut by_runs =
        WormholeNetwork::new(topology.clone(), parameters).expect("the parameters are within their bounds");
    let mut by_flits = FlitNetwork::new(topology.clone(), parameters, WireSharing::Separate)
        .expect("the parameters are within their bounds");
    for (token, source) in [(0, 1), (1, 0)] {
        by_runs.inject(0, packet(token, source)).expect("the packet can be delivered");
        by_flits.inject(0, packet(token, source)).expect("the packet can be delivered");
    }
    by_runs.advance(1000, &mut NetworkReports::default());
    by_flits.advance(1000, &mut NetworkReports::default());
    let way: Vec<_> = topology.path(TerminalId(0), TerminalId(2)).collect();
    let held = |link: usize| by_flits.held_cycles(way[link]);
    // The path has four links: into the network, from router 0 to 1, from 1 to 2, and out of the network.
    assert_eq!(way.len(), 4);
    assert_eq!((held(2), held(3)), (40, 40), "the last two links move a flit in every cycle in which they are held");
    // The packet of router 0 holds link 0-1 until the packet of router 1 has passed. The next buffer takes only its first four flits meanwhile.
    assert!((34..=38).contains(&held(1)), "{}", held(1));
    for link in way {
        assert_eq!(by_runs.held_cycles(link), by_flits.held_cycles(link));
    }
}

proptest! {
    // A case runs in a millisecond or two, so many cases are drawn.
    #![proptest_config(ProptestConfig { cases: cases(2_500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_crosses_every_link_in_the_cycles_that_single_flits_give(case in case()) {
        let topology = case.topology();
        let packets = case.packets(&topology);
        let mut expected = Oracle::run(&topology, case.parameters, &packets);
        expected.sort();
        let found = crossings(&topology, case.parameters, &packets);
        let difference = expected.iter().zip(&found).find(|(expected, found)| expected != found);
        prop_assert_eq!(difference, None);
        prop_assert_eq!(expected.len(), found.len());
    }

    #[test]
    fn every_flit_that_is_followed_crosses_in_the_cycle_that_the_oracle_gives(case in case(), shared in any::<bool>()) {
        let topology = case.topology();
        // The network of single flits supports neither whole-packet grants nor half-duplex links granted per packet.
        let slowest = u32::from(shared);
        let parameters = Parameters {
            grant_rule: GrantRule::Immediate,
            half_duplex: false,
            credit_cycles: case.parameters.credit_cycles.max(slowest),
            injection_credit_cycles: case.parameters.injection_credit_cycles.max(slowest),
            ..case.parameters
        };
        let terminals_from = TerminalId(topology.grid().rows * topology.grid().columns);
        let wires = if shared { WireSharing::Shared { terminals_from } } else { WireSharing::Separate };
        let packets = case.packets(&topology);
        let mut expected = Oracle::run_over(&topology, parameters, wires, &packets);
        expected.sort();
        let mut found = crossings_of_flits(&topology, parameters, wires, &packets);
        found.sort();
        let difference = expected.iter().zip(&found).find(|(expected, found)| expected != found);
        prop_assert_eq!(difference, None);
        prop_assert_eq!(expected.len(), found.len());
    }

    #[test]
    fn a_packet_is_stalled_by_what_it_takes_longer_than_alone(case in case()) {
        let topology = case.topology();
        let packets = case.packets(&topology);
        let mut network = WormholeNetwork::new(topology.clone(), case.parameters).expect("the parameters are within their bounds");
        let mut outbox = NetworkReports::default();
        for &(created, packet) in &packets {
            network.advance(created, &mut outbox);
            network.inject(created, packet).expect("the packet can be delivered");
        }
        network.advance(u64::MAX, &mut outbox);
        for delivery in outbox.deliveries.iter().take(3) {
            let (created, packet) = packets[delivery.token as usize];
            let alone = Oracle::run(&topology, case.parameters, &[(created, packet)]);
            let tail = alone.last().expect("the packet crosses links").tail;
            prop_assert_eq!(delivery.tail - tail, delivery.stalled);
        }
    }
}
