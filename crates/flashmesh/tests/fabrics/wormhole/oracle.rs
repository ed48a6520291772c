//! Slow and simple simulation of the network, flit by flit and cycle by cycle, written independently of the simulator.

use std::collections::VecDeque;

use flashmesh::fabric::wormhole::{
    Arbitration, Crossing, GrantRule, Packet, PacketClass, Parameters, TerminalId, Topology, WireSharing,
};
use flashmesh::ids::LinkId;

/// Flit in the buffer at the end of a link.
struct Flit {
    packet: usize,
    index: u32,
    crossed: u64,
}

/// Packet that holds a link. `head` is the cycle in which its head flit crosses.
struct Holder {
    packet: usize,
    /// Link whose buffer the packet comes from; `None` if it comes from a terminal.
    source: Option<LinkId>,
    sent: u32,
    head: u64,
}

#[derive(Default)]
struct Port {
    holder: Option<Holder>,
    buffer: VecDeque<Flit>,
    /// Cycles in which the free slots of the buffer become usable.
    slots: VecDeque<u64>,
    /// First cycle in which the head flit behind the previous packet may request a link.
    looked_at: u64,
    /// First cycle in which the link can send its next flit.
    flit_free: u64,
    /// First cycle in which the link can be granted to its next packet.
    grant_free: u64,
    served: Option<u32>,
    /// Links that can forward packets to this link, with their arbitration inputs.
    feeders: Vec<(LinkId, u32)>,
    reverse: Option<LinkId>,
    served_last: bool,
    /// Opposite direction, if both directions share one wire flit by flit.
    other_way: Option<LinkId>,
    /// Whether this direction sends first if both directions of a shared wire have a flit ready.
    has_token: bool,
}

/// Request for a link, which could be granted from cycle `ready` on.
struct Asking {
    packet: usize,
    source: Option<LinkId>,
    input: u32,
    ready: u64,
}

pub struct Oracle<'a> {
    topology: &'a Topology,
    parameters: Parameters,
    /// Packets with their creation cycles, in order of injection.
    packets: &'a [(u64, Packet)],
    paths: Vec<Vec<LinkId>>,
    ports: Vec<Port>,
    /// Packets waiting at each terminal.
    waiting: Vec<VecDeque<usize>>,
    crossings: Vec<Crossing>,
    delivered: usize,
}

impl<'a> Oracle<'a> {
    /// Runs `packets`, ordered by creation, to the end. Returns every crossing of every link.
    ///
    /// # Panics
    /// If no flit moves for longer than any finite wait.
    pub fn run(topology: &'a Topology, parameters: Parameters, packets: &'a [(u64, Packet)]) -> Vec<Crossing> {
        Oracle::run_over(topology, parameters, WireSharing::Separate, packets)
    }

    /// Like [`run`](Self::run), but the two directions of a link may share a wire flit by flit.
    ///
    /// # Panics
    /// If no flit moves for longer than any finite wait.
    pub fn run_over(
        topology: &'a Topology,
        parameters: Parameters,
        wires: WireSharing,
        packets: &'a [(u64, Packet)],
    ) -> Vec<Crossing> {
        let paths = packets.iter().map(|(_, packet)| topology.path(packet.source, packet.destination).collect());
        let mut oracle = Oracle {
            topology,
            parameters,
            packets,
            paths: paths.collect(),
            ports: (0..topology.links()).map(|_| Port::default()).collect(),
            waiting: (0..topology.terminals()).map(|_| VecDeque::new()).collect(),
            crossings: Vec::new(),
            delivered: 0,
        };
        oracle.connect();
        oracle.share(wires);
        let (mut now, mut created, mut moved) = (0, 0, 0);
        while oracle.delivered < packets.len() {
            if oracle.delivered == created && packets[created].0 > now {
                (now, moved) = (packets[created].0, packets[created].0);
            }
            while created < packets.len() && packets[created].0 == now {
                oracle.waiting[packets[created].1.source.index()].push_back(created);
                created += 1;
            }
            oracle.grant(now);
            if oracle.transfer(now) {
                moved = now;
            }
            assert!(now - moved < 10_000, "no flit has moved since cycle {moved}");
            now += 1;
        }
        oracle.crossings
    }

    fn connect(&mut self) {
        let (routers, terminals) = (self.topology.links(), self.topology.terminals());
        for link in (0..routers).map(LinkId) {
            self.ports[link.index()].slots = (0..self.parameters.buffer_flits).map(|_| 0).collect();
            if self.parameters.half_duplex {
                self.ports[link.index()].reverse = self.topology.reverse(link);
            }
        }
        // A link feeds every link that follows it on some path.
        for (from, to) in (0..terminals).flat_map(|from| (0..terminals).map(move |to| (from, to))) {
            let path: Vec<LinkId> = self.topology.path(TerminalId(from), TerminalId(to)).collect();
            for pair in path.windows(2) {
                let feeder = (pair[0], self.topology.input(pair[0]));
                let feeders = &mut self.ports[pair[1].index()].feeders;
                if !feeders.contains(&feeder) {
                    feeders.push(feeder);
                }
            }
        }
    }

    fn share(&mut self, wires: WireSharing) {
        let WireSharing::Shared { terminals_from } = wires else { return };
        let routers =
            (0..self.topology.links()).map(LinkId).filter_map(|link| Some((link, self.topology.reverse(link)?)));
        let terminals = (terminals_from.0..self.topology.terminals())
            .map(TerminalId)
            .map(|terminal| (self.topology.injection(terminal), self.topology.ejection(terminal)));
        for (one, other) in routers.chain(terminals).collect::<Vec<_>>() {
            for (link, reverse) in [(one, other), (other, one)] {
                self.ports[link.index()].other_way = Some(reverse);
                self.ports[link.index()].has_token = link < reverse;
            }
        }
    }

    /// Returns the link after `link` on the path of a packet, which must not be its last link.
    fn next(&self, packet: usize, link: LinkId) -> LinkId {
        let path = &self.paths[packet];
        path[path.iter().position(|&other| other == link).expect("the packet is on its path") + 1]
    }

    fn asking(&self, link: LinkId, now: u64) -> Vec<Asking> {
        let p = &self.parameters;
        let mut all = Vec::new();
        for &(feeder, input) in &self.ports[link.index()].feeders {
            let port = &self.ports[feeder.index()];
            if let Some(&Flit { packet, index: 0, crossed }) = port.buffer.front()
                && self.next(packet, feeder) == link
            {
                let ready = (crossed + u64::from(p.hop_cycles + p.head_cycles)).max(port.looked_at);
                all.push(Asking { packet, source: Some(feeder), input, ready });
            }
        }
        for terminal in (0..self.topology.terminals()).map(TerminalId) {
            if self.topology.injection(terminal) == link {
                let queue = &self.waiting[terminal.index()];
                let is_small = |&&packet: &&usize| self.packets[packet].1.class == PacketClass::Small;
                let oldest = |small: bool| queue.iter().find(|packet| is_small(packet) == small);
                let heads = if p.small_first { [oldest(true), oldest(false)] } else { [queue.front(), None] };
                all.extend(heads.into_iter().flatten().map(|&packet| Asking {
                    packet,
                    source: None,
                    input: 0,
                    ready: self.packets[packet].0 + u64::from(p.interface_cycles),
                }));
            }
        }
        all.retain(|asking| asking.ready <= now);
        all
    }

    /// Returns the request that `link` would grant at `now`; `None` if nothing requests the link or the buffer behind it has too few free slots.
    fn choose(&self, link: LinkId, now: u64) -> Option<Asking> {
        let port = &self.ports[link.index()];
        let after = |input: u32| match port.served {
            Some(served) if input <= served => u64::from(input) + 1_000_000,
            _ => u64::from(input),
        };
        let best = self.asking(link, now).into_iter().min_by_key(|asking| {
            let (created, packet) = self.packets[asking.packet];
            let small_first = if self.parameters.small_first { packet.class as u32 } else { 0 };
            let key = match self.parameters.arbitration {
                Arbitration::RoundRobin => (after(asking.input), 0),
                Arbitration::Fifo => (asking.ready, u64::from(asking.input)),
                Arbitration::Oldest => (created, asking.packet as u64),
            };
            (small_first, key)
        })?;
        let needs = match self.parameters.grant_rule {
            _ if self.topology.is_ejection(link) => 0,
            GrantRule::Immediate => 0,
            GrantRule::OneSlot => 1,
            GrantRule::WholePacket => self.packets[best.packet].1.flits as usize,
        };
        let free = port.slots.iter().filter(|&&slot| slot <= now).count();
        (free >= needs).then_some(best)
    }

    fn is_free(&self, link: LinkId, now: u64) -> bool {
        let port = &self.ports[link.index()];
        port.holder.is_none() && port.grant_free <= now
    }

    fn grant(&mut self, now: u64) {
        for link in (0..self.ports.len() as u32).map(LinkId) {
            let reverse = self.ports[link.index()].reverse;
            if !self.is_free(link, now) || !reverse.is_none_or(|reverse| self.is_free(reverse, now)) {
                continue;
            }
            let Some(best) = self.choose(link, now) else { continue };
            // If both directions of a half-duplex link have a request, they are served alternately.
            if let Some(reverse) = reverse {
                let mine = self.ports[link.index()].served_last;
                let theirs = self.ports[reverse.index()].served_last;
                let is_preferred = if mine == theirs { link < reverse } else { theirs };
                if !is_preferred && self.choose(reverse, now).is_some() {
                    continue;
                }
                self.ports[reverse.index()].served_last = false;
                self.ports[link.index()].served_last = true;
            }
            if best.source.is_none() {
                let source = self.packets[best.packet].1.source;
                self.waiting[source.index()].retain(|&packet| packet != best.packet);
            }
            let port = &mut self.ports[link.index()];
            port.served = Some(best.input);
            port.holder = Some(Holder { packet: best.packet, source: best.source, sent: 0, head: now });
        }
    }

    /// Moves every flit that can move in cycle `now`. Returns whether at least one moved.
    fn transfer(&mut self, now: u64) -> bool {
        let mut has_moved = false;
        // Arbitration of a shared wire uses the state at the start of the cycle.
        let ready: Vec<bool> = (0..self.ports.len() as u32).map(|link| self.can_move(LinkId(link), now)).collect();
        let waits = |ports: &[Port], link: LinkId| {
            let port: &Port = &ports[link.index()];
            port.other_way.is_some_and(|other| {
                ports[other.index()].flit_free > now || (ready[other.index()] && ports[other.index()].has_token)
            })
        };
        let waiting: Vec<bool> = (0..self.ports.len() as u32).map(|link| waits(&self.ports, LinkId(link))).collect();
        // A slot freed in this cycle can be refilled in the same cycle, so flits move until none can.
        loop {
            let mut moved = false;
            for link in (0..self.ports.len() as u32).map(LinkId).filter(|link| !waiting[link.index()]) {
                if self.transfer_over(link, now).is_some() {
                    moved = true;
                    if let Some(other) = self.ports[link.index()].other_way {
                        self.ports[link.index()].has_token = false;
                        self.ports[other.index()].has_token = true;
                    }
                }
            }
            if !moved {
                return has_moved;
            }
            has_moved = true;
        }
    }

    /// Returns whether `link` has a flit to move and a free slot in the buffer at its end.
    fn can_move(&self, link: LinkId, now: u64) -> bool {
        let port = &self.ports[link.index()];
        let Some(holder) = &port.holder else { return false };
        let has_slot = self.topology.is_ejection(link) || port.slots.front().is_some_and(|&slot| slot <= now);
        let has_flit = holder.source.is_none_or(|source| {
            self.ports[source.index()].buffer.front().is_some_and(|flit| {
                (flit.packet, flit.index) == (holder.packet, holder.sent)
                    && flit.crossed + u64::from(self.parameters.hop_cycles) <= now
            })
        });
        has_slot && has_flit && port.flit_free <= now
    }

    fn transfer_over(&mut self, link: LinkId, now: u64) -> Option<()> {
        let p = self.parameters;
        let is_ejection = self.topology.is_ejection(link);
        let is_injection =
            |link: LinkId| (0..self.topology.terminals()).any(|t| self.topology.injection(TerminalId(t)) == link);
        let port = &self.ports[link.index()];
        let holder = port.holder.as_ref()?;
        let (packet, source, index) = (holder.packet, holder.source, holder.sent);
        let has_slot = is_ejection || port.slots.front().is_some_and(|&slot| slot <= now);
        let has_flit = match source {
            None => true,
            Some(source) => self.ports[source.index()].buffer.front().is_some_and(|flit| {
                (flit.packet, flit.index) == (packet, index) && flit.crossed + u64::from(p.hop_cycles) <= now
            }),
        };
        if !has_slot || !has_flit || port.flit_free > now {
            return None;
        }
        let is_tail = index + 1 == self.packets[packet].1.flits;
        if let Some(source) = source {
            let credit = if is_injection(source) { p.injection_credit_cycles } else { p.credit_cycles };
            let feeder = &mut self.ports[source.index()];
            feeder.buffer.pop_front();
            feeder.slots.push_back(now + u64::from(credit));
            if is_tail {
                feeder.looked_at = now + 1 + u64::from(p.head_of_line_cycles);
            }
        }
        let gap = if is_injection(link) { 0 } else { p.gap_cycles };
        let port = &mut self.ports[link.index()];
        if !is_ejection {
            port.slots.pop_front();
            port.buffer.push_back(Flit { packet, index, crossed: now });
        }
        port.flit_free = now + u64::from(p.flit_cycles);
        let holder = port.holder.as_mut()?;
        holder.sent += 1;
        if index == 0 {
            holder.head = now;
        }
        if is_tail {
            let head = holder.head;
            port.holder = None;
            port.grant_free = now + u64::from(p.flit_cycles + gap);
            if let Some(reverse) = port.reverse {
                self.ports[reverse.index()].grant_free = now + u64::from(p.flit_cycles + gap);
            }
            self.crossings.push(Crossing { token: self.packets[packet].1.token, link, head, tail: now });
            self.delivered += usize::from(is_ejection);
        }
        Some(())
    }
}
