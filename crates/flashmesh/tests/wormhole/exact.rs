//! Every packet crosses every link in the same cycles as in a simulation of single flits.

use flashmesh::fabric::wormhole::{
    Arbitration, Class, Crossing, GrantRule, Grid, Network, Outbox, Packet, Parameters, RouterId, TerminalId, Topology,
};
use proptest::prelude::*;

use crate::oracle::Oracle;

/// A network and its traffic.
#[derive(Clone, Debug)]
struct Case {
    grid: Grid,
    /// Routers with terminals besides one terminal a router.
    controllers: Vec<u32>,
    parameters: Parameters,
    /// For each packet: cycles since the one before, source, destination, flits, class.
    traffic: Vec<(u64, u32, u32, u32, Class)>,
}

impl Case {
    fn topology(&self) -> Topology {
        let routers = self.grid.rows * self.grid.columns;
        let controllers = self.controllers.iter().map(|router| router % routers);
        Topology::new(self.grid, (0..routers).chain(controllers).map(RouterId).collect()).expect("a small grid")
    }

    fn packets(&self, topology: &Topology) -> Vec<(u64, Packet)> {
        let mut now = 0;
        let terminals = topology.terminals();
        let packet = |(token, &(gap, source, destination, flits, class)): (usize, &(u64, u32, u32, u32, Class))| {
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
    let cycles = (1..=3u32, 1..=4u32, 0..=2u32, 0..=2u32, 0..=2u32, 1..=4u32, 1..=4u32, 1..=3u32);
    let arbitration = prop::sample::select(vec![Arbitration::RoundRobin, Arbitration::Fifo, Arbitration::Oldest]);
    let grant = prop::sample::select(vec![
        GrantRule::Immediate,
        GrantRule::Immediate,
        GrantRule::OneSlot,
        GrantRule::WholePacket,
    ]);
    (cycles, size(), arbitration, grant, any::<bool>(), any::<bool>()).prop_map(
        |((interface, hop, head, line, gap, credit, injection, flit), buffer, arbitration, grant_rule, small, half)| {
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
    let class = prop_oneof![Just(Class::Small), Just(Class::Large)];
    // From a packet every few cycles, which saturates any of these networks, to long pauses.
    let traffic = (1..=400u64)
        .prop_flat_map(move |gap| prop::collection::vec((0..gap, 0..24u32, 0..24u32, size(), class.clone()), 1..40));
    (grid(), prop::collection::vec(0..16u32, 0..4), parameters(), traffic)
        .prop_map(|(grid, controllers, parameters, traffic)| Case { grid, controllers, parameters, traffic })
}

/// Runs the network alone; gives the crossings, and checks what it reports against them.
fn crossings(topology: &Topology, parameters: Parameters, packets: &[(u64, Packet)]) -> Vec<Crossing> {
    let mut network = Network::new(topology.clone(), parameters).expect("the parameters are in their bounds");
    network.keep_log();
    let mut outbox = Outbox::default();
    for &(created, packet) in packets {
        // Whether the events of its cycle come before or after a packet makes no difference.
        network.advance(created.saturating_sub(packet.token % 2), &mut outbox);
        network.inject(created, packet).expect("the packet can be delivered");
    }
    while let Some(at) = network.next_event() {
        // Nor does how far it runs on until something is reported.
        let mut reported = Outbox::default();
        network.advance_to_report(at, at + at % 3 * 50, &mut reported);
        assert!(reported.deliveries.iter().all(|delivery| delivery.head >= at));
        assert!(reported.injections.iter().all(|injection| injection.tail >= at));
        outbox.deliveries.extend(reported.deliveries);
        outbox.injections.extend(reported.injections);
    }
    assert_eq!(network.held().next(), None);
    assert_eq!((network.in_flight(), outbox.deliveries.len()), (0, packets.len()), "not everything was delivered");
    let mut log = network.take_log();
    log.sort();
    let crossing = |token: u64, link| {
        *log.iter().find(|crossing| (crossing.token, crossing.link) == (token, link)).expect("every crossing is logged")
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
        assert_eq!(network.carried(link).flits, flits);
    }
    let queued = (0..topology.terminals()).map(|terminal| network.queued(TerminalId(terminal)));
    assert!(queued.into_iter().all(|queued| (queued.packets, queued.flits) == (0, 0)));
    log
}

proptest! {
    // Cases are small and take a millisecond or two.
    #![proptest_config(ProptestConfig { cases: 2500, failure_persistence: None, ..ProptestConfig::default() })]

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
    fn a_packet_is_stalled_by_what_it_takes_longer_than_alone(case in case()) {
        let topology = case.topology();
        let packets = case.packets(&topology);
        let mut network = Network::new(topology.clone(), case.parameters).expect("the parameters are in their bounds");
        let mut outbox = Outbox::default();
        for &(created, packet) in &packets {
            network.advance(created, &mut outbox);
            network.inject(created, packet).expect("the packet can be delivered");
        }
        network.advance(u64::MAX, &mut outbox);
        for delivery in outbox.deliveries.iter().take(3) {
            let (created, packet) = packets[delivery.token as usize];
            let alone = Oracle::run(&topology, case.parameters, &[(created, packet)]);
            let tail = alone.last().expect("it crosses links").tail;
            prop_assert_eq!(delivery.tail - tail, delivery.stalled);
        }
    }
}
