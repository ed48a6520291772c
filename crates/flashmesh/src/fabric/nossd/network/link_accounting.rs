//! Layout and usage of the links of the network, and log of link uses for an oracle (a probe that checks the run).

use crate::config::{self, Interleave};
use crate::fabric::layout::{Layout, Link, LinkKind, SharedResource, TransferDestination};
use crate::fabric::nossd::injection::controller_selector::ControllerSelector;
use crate::fabric::wormhole::{RouterId, TerminalId, Topology};
use crate::fabric::{LinkUsage, LinkUse, Outbox, TransferPhase};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, LinkId};
use crate::units::{Bytes, Time};

use super::packet_network::PacketNetwork;

/// Number of data wires of a link: one for each bit of a flit.
const LINK_WIRES: u32 = 8;

/// Usage of the links of the network, as entries of its layout. The two directions of a half-duplex link share one entry.
#[derive(Clone, Debug)]
pub(in super::super) struct LinkAccounting {
    layout: Layout,
    usage: Vec<LinkUsage>,
    /// Index in [`Layout::links`] of each directed link of the network, equal for both directions of a half-duplex link. Indexed by network link.
    numbers: Vec<LinkId>,
    /// Indices in [`Layout::links`] of the links of each controller: first into the network, then out of it.
    controllers: Vec<[Vec<LinkId>; 2]>,
    hops: u64,
    /// Link uses that had not ended at the last report to the oracle, a probe that checks the run. The uses of each link are in order of
    /// time.
    uses: Vec<LinkUse>,
    is_watching: bool,
}

impl LinkAccounting {
    pub(in super::super) fn new(
        topology: &Topology,
        controllers: &ControllerSelector,
        geometry: &Geometry,
        config: &config::Nossd,
    ) -> LinkAccounting {
        let mut links = Vec::new();
        let mut numbers: Vec<LinkId> = Vec::new();
        // With flit interleaving on half-duplex links, the two links of a controller, into and out of the network, also share a wire.
        let reverse = |link: LinkId| {
            let into = || {
                let terminal = TerminalId(link.0.checked_sub(topology.ejection(TerminalId(0)).0)?);
                let is_shared = config.interleave == Interleave::Flits && controllers.is_controller(terminal);
                is_shared.then(|| topology.injection(terminal))
            };
            topology.reverse(link).or_else(into)
        };
        for link in (0..topology.links()).map(LinkId) {
            let back = reverse(link).filter(|&reverse| config.half_duplex && reverse < link);
            numbers.push(back.map_or(LinkId(links.len() as u32), |reverse| numbers[reverse.index()]));
            if back.is_none() {
                links.push(describe(topology, controllers, geometry.chips_per_channel, link));
            }
        }
        let own = |controller| -> [Vec<LinkId>; 2] {
            let all = || controllers.local_channels(controllers.terminal(controller));
            let number = |link: LinkId| numbers[link.index()];
            [
                all().map(|terminal| number(topology.injection(terminal))).collect(),
                all().map(|terminal| number(topology.ejection(terminal))).collect(),
            ]
        };
        LinkAccounting {
            usage: vec![LinkUsage::default(); links.len()],
            controllers: (0..geometry.channels).map(own).collect(),
            layout: Layout {
                wires: links.len() as u32 * LINK_WIRES,
                controllers: geometry.channels,
                routers: geometry.chips(),
                links,
            },
            numbers,
            hops: 0,
            uses: Vec::new(),
            is_watching: false,
        }
    }

    pub(in super::super) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(in super::super) fn usage(&self) -> &[LinkUsage] {
        &self.usage
    }

    pub(in super::super) fn hops(&self) -> u64 {
        self.hops
    }

    /// Returns the index in [`Layout::links`] of `link`, a directed link of the network.
    pub(in super::super) fn layout_link(&self, link: LinkId) -> LinkId {
        self.numbers[link.index()]
    }

    /// Returns the time for which packets held each link, in the order of [`Layout::links`]; for a half-duplex link, the sum of both directions.
    pub(in super::super) fn hold_times(&self, network: &PacketNetwork, flit_time: Time) -> Vec<Time> {
        let mut held = vec![Time::ZERO; self.usage.len()];
        for (link, number) in (0..).map(LinkId).zip(&self.numbers) {
            held[number.index()] += flit_time * network.held_cycles(link);
        }
        held
    }

    /// Returns the busy time of each controller up to `now`: the mean busy time of its links into or out of the network, whichever is greater.
    pub(in super::super) fn controllers_busy(&self, now: Time) -> Vec<Time> {
        let busy = |links: &Vec<LinkId>| {
            let sum: Time = links.iter().map(|link| self.usage[link.index()].busy_until(now)).sum();
            Time::from_ps(sum.as_ps() / links.len() as u64)
        };
        self.controllers.iter().map(|[into, out]| busy(into).later(busy(out))).collect()
    }

    /// Returns the sets of links that limit throughput, because every transfer of some kind crosses one of them: each chip link, each link between
    /// routers and, for each direction, all controller links together.
    pub(in super::super) fn shared_resources(&self) -> Vec<SharedResource> {
        let alone =
            |part: TransferDestination| move |link: LinkId| SharedResource { part, links: vec![link], at_once: 1 };
        let mut shared_resources: Vec<SharedResource> =
            self.layout.links_of_kind(LinkKind::Chip).map(alone(TransferDestination::Chip)).collect();
        // Routing is deterministic, so packets cannot avoid a link between routers.
        shared_resources.extend(self.layout.links_of_kind(LinkKind::Mesh).map(alone(TransferDestination::Mesh)));
        for direction in 0..2 {
            let links: Vec<LinkId> = self.controllers.iter().flat_map(|links| links[direction].clone()).collect();
            shared_resources.push(SharedResource {
                part: TransferDestination::Controllers,
                at_once: links.len() as u32,
                links,
            });
        }
        shared_resources
    }

    /// Counts a message of `phase` with `bytes` data bytes on each link from terminal `source` to terminal `destination`. `busy` has the busy time to
    /// add to each link, and the end of this time, which is [`Time::ZERO`] if it has passed.
    pub(in super::super) fn count(
        &mut self,
        topology: &Topology,
        [source, destination]: [TerminalId; 2],
        busy: (Time, Time),
        bytes: Bytes,
        phase: TransferPhase,
    ) {
        let path = [source, destination];
        match phase {
            TransferPhase::Command => self.count_along(topology, path, busy, |usage| usage.bytes_in += bytes),
            TransferPhase::DataOut => self.count_along(topology, path, busy, |usage| usage.bytes_out += bytes),
            TransferPhase::Copy => self.count_along(topology, path, busy, |usage| usage.bytes_across += bytes),
        }
    }

    #[inline(always)]
    fn count_along(
        &mut self,
        topology: &Topology,
        [source, destination]: [TerminalId; 2],
        (busy, until): (Time, Time),
        carry: impl Fn(&mut LinkUsage),
    ) {
        let LinkAccounting { usage, numbers, hops, .. } = self;
        topology.for_each_link(source, destination, |link| {
            let usage = &mut usage[numbers[link.index()].index()];
            usage.busy += busy;
            usage.last_end = until;
            carry(usage);
            *hops += 1;
        });
    }

    /// Starts the log of link crossings in the network, unless it is running. Called before each injection while an oracle (a probe that checks the
    /// run) is attached.
    pub(in super::super) fn start_log(&mut self, network: &mut PacketNetwork) {
        if !self.is_watching {
            self.is_watching = true;
            network.keep_log();
        }
    }

    /// Stops the log of link crossings, if it is running, after the oracle (a probe that checks the run) was detached.
    #[inline]
    pub(in super::super) fn stop_log(&mut self, network: &mut PacketNetwork) {
        if self.is_watching {
            self.is_watching = false;
            self.uses.clear();
            network.drop_log();
        }
    }

    /// Moves the crossings from the log of the network to `uses`. `die_of` returns the die of a packet from its token.
    pub(in super::super) fn record_uses(
        &mut self,
        network: &mut PacketNetwork,
        flit_time: Time,
        die_of: impl Fn(u64) -> DieId,
    ) {
        let uses = network.take_log().into_iter().map(|crossing| LinkUse {
            link: self.numbers[crossing.link.index()],
            die: die_of(crossing.token),
            from: flit_time * crossing.head,
            until: flit_time * (crossing.tail + 1),
        });
        self.uses.extend(uses);
    }

    /// Adds the link uses that have ended by `now` to the outbox, for the oracle, a probe that checks the run.
    #[inline]
    pub(in super::super) fn report(&mut self, now: Time, outbox: &mut Outbox) {
        if self.is_watching {
            self.report_uses(now, outbox);
        }
    }

    fn report_uses(&mut self, now: Time, outbox: &mut Outbox) {
        self.uses.retain(|link_use| {
            let is_over = link_use.until <= now;
            if is_over {
                outbox.record_use(link_use.link, link_use.die, link_use.from, link_use.until);
            }
            !is_over
        });
    }
}

/// Returns the layout entry of `link`, a link of the network: its kind and name. The links of all local channels of one chip or controller have the
/// same name.
fn describe(topology: &Topology, controllers: &ControllerSelector, columns: u32, link: LinkId) -> Link {
    let place = |router: RouterId| format!("({}, {})", router.0 / columns, router.0 % columns);
    let end = place(topology.router_at_end(link));
    if let Some(reverse) = topology.reverse(link) {
        let start = place(topology.router_at_end(reverse));
        return Link { kind: LinkKind::Mesh, name: format!("router {start} to {end}") };
    }
    let is_ejection = topology.is_ejection(link);
    let first = if is_ejection { topology.ejection(TerminalId(0)) } else { topology.injection(TerminalId(0)) };
    let terminal = TerminalId(link.0 - first.0);
    let (kind, terminal) = match controllers.controller_at(terminal) {
        Some(controller) => (LinkKind::Controller, format!("controller {controller}")),
        None => (
            LinkKind::Chip,
            format!("chip {}", controllers.terminals().endpoint_index(controllers.terminals().endpoint_at(terminal))),
        ),
    };
    let name = if is_ejection { format!("router {end} to {terminal}") } else { format!("{terminal} to router {end}") };
    Link { kind, name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::nossd::injection::controller_selector;
    use crate::fabric::wormhole::{NetworkReports, Packet, PacketClass};
    use crate::ids::ChipId;

    /// Checks the hold times of a row of two chips, with the controller beside the first. Alone in the network, a packet holds each link of its path
    /// for a cycle per flit. The two packets cross the half-duplex link between the routers one after the other.
    #[test]
    fn hold_times_count_both_directions_of_a_half_duplex_link() {
        let shape = crate::config::Geometry { channels: 1, chips_per_channel: 2, ..Default::default() };
        let geometry = Geometry::new(&shape).expect("the geometry is valid");
        let config = config::Nossd {
            half_duplex: true,
            interleave: Interleave::Packets,
            buffer_flits: 64,
            ..Default::default()
        };
        let topology = controller_selector::topology(&config, &geometry).expect("the network has two routers");
        let controllers = ControllerSelector::new(&config, &geometry, &topology);
        let (controller, chip) = (controllers.terminal(0), controllers.terminal_of_chip(ChipId(1)));
        let links = LinkAccounting::new(&topology, &controllers, &geometry, &config);
        let mut network =
            PacketNetwork::new(&config, topology, controller).expect("the parameters are in their bounds");
        for (now, source, destination, flits) in [(0, controller, chip, 8), (500, chip, controller, 20)] {
            let packet = Packet { token: 0, source, destination, flits, class: PacketClass::Small };
            network.inject(now, packet).expect("the packet can be delivered");
            network.advance_to_report(now + 499, now + 499, &mut NetworkReports::default());
        }
        let held: Vec<(&str, u64)> = links
            .layout()
            .links
            .iter()
            .zip(links.hold_times(&network, Time::from_ns(2)))
            .map(|(link, held)| (link.name.as_str(), held.as_ps() / Time::from_ns(2).as_ps()))
            .filter(|&(_, cycles)| cycles > 0)
            .collect();
        let expected = [
            ("router (0, 0) to (0, 1)", 8 + 20),
            ("chip 1 to router (0, 1)", 20),
            ("controller 0 to router (0, 0)", 8),
            ("router (0, 1) to chip 1", 8),
            ("router (0, 0) to controller 0", 20),
        ];
        assert_eq!(held, expected);
    }
}
