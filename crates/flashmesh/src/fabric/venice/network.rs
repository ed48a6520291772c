//! The network: scouts that reserve circuits hop by hop, and the circuits they reserved.

use crate::ids::{ChannelId, ChipId, LinkId};
use crate::units::Time;

use super::counters::Counters;
use super::mesh::{Mesh, Place};
use super::ports::{Port, Ports};
use super::router::{Frame, Marks, Router};
use super::routing::{AnyRouting, RoutingAlgorithm};
use super::scout::{Field, Packet, Phase, Scout, Tally, set_busy};
use super::tie_break::{Lfsr, TieBreaker};
use super::turns::Turns;

/// What a scout did when it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It reserved a link and goes on over it.
    Forward,
    /// It found no way on and goes back to the router, or the controller, it came from.
    Back,
    /// It reserved the pins of the chip: the circuit stands. The scout goes back over it, `hops` links.
    Reached {
        /// Links between the controller and the router of the chip.
        hops: u32,
    },
    /// It is back at its controller and holds nothing.
    Failed,
}

/// A mesh of routers with a controller to the left of each row.
///
/// [`step`](Network::step) moves one scout by one link; the caller gives each scout its own time. Between two steps the scout
/// is on the link it goes over. Links are reserved, both directions at once, when a scout goes forward over them, and freed
/// when it has come back over them.
#[derive(Debug)]
pub struct Network {
    mesh: Mesh,
    frame: Frame,
    routers: Vec<Router>,
    /// The links of each router, by its ports.
    links: Vec<[LinkId; 5]>,
    /// By the controller.
    packets: Vec<Packet>,
    routing: AnyRouting,
    tie_break: TieBreaker,
    counters: Counters,
}

impl Network {
    /// A network without circuits.
    pub fn new(mesh: Mesh, routing: AnyRouting, tie_break: TieBreaker) -> Network {
        let frame = Frame::new(&mesh);
        let nowhere = mesh.place(ChipId(0));
        let mut routers = vec![Router { busy: Ports::MESH, register: Lfsr::new(0), place: nowhere }; frame.len()];
        let mut links = vec![[LinkId(u32::MAX); 5]; frame.len()];
        for number in 0..mesh.routers() {
            let place = mesh.place(ChipId(number));
            let ports = mesh.ports(place);
            let index = frame.index(place);
            routers[index] = Router { busy: Ports::MESH.without(ports), register: Lfsr::new(number), place };
            for port in Port::MESH.into_iter().filter(|port| ports.contains(*port)).chain([Port::Chip]) {
                links[index][port as usize] = mesh.link(place, port);
            }
        }
        let packet = |row| {
            let entrance = mesh.entrance(ChannelId(row));
            Packet {
                scout: Scout::new(Phase::Free, entrance, entrance, &frame),
                marks: vec![Marks::NONE; frame.len()],
                exits: Vec::new(),
            }
        };
        let packets = (0..mesh.rows()).map(packet).collect();
        Network { mesh, frame, routers, links, packets, routing, tie_break, counters: Counters::default() }
    }

    /// The shape of the network.
    pub const fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// What the scouts did so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The first scout for a path has failed.
    #[inline]
    pub(super) fn count_first_failure(&mut self) {
        self.counters.failed_first += 1;
    }

    /// Whether `controller` has neither a scout under way nor a circuit.
    #[inline]
    pub fn is_free(&self, controller: ChannelId) -> bool {
        self.packets[controller.index()].scout.phase == Phase::Free
    }

    /// Sends the scout of `controller`, which must be free, to look for a path to `target`. It arrives at the first router
    /// with its first step.
    #[inline]
    pub fn launch(&mut self, controller: ChannelId, target: ChipId) {
        debug_assert!(self.is_free(controller), "{controller:?} has a scout or a circuit already");
        self.counters.sent += 1;
        let (entrance, target) = (self.mesh.entrance(controller), self.mesh.place(target));
        self.packets[controller.index()].launch(Scout::new(Phase::Reserve, entrance, target, &self.frame));
    }

    /// The scout of `controller`, which must be under way, arrives at the end of the link it was on, and acts there.
    pub fn step(&mut self, controller: ChannelId) -> Step {
        let routing = self.routing;
        let mut tally = Tally::default();
        let (mut field, Packet { scout, marks, exits }) = self.field(controller);
        let step = field.step(scout, marks, exits, routing, &mut tally);
        self.count(tally, controller, step);
        step
    }

    /// Counts what the scouts did, the last step of which was that of `controller`, whose search may be over with it.
    #[inline(always)]
    fn count(&mut self, tally: Tally, controller: ChannelId, step: Step) {
        tally.add_to(&mut self.counters);
        match step {
            Step::Forward | Step::Back => return,
            Step::Failed => self.counters.failed += 1,
            Step::Reached { hops } => self.counters.circuit(hops + 1),
        }
        self.packets[controller.index()].end();
    }

    /// Lets the scout of `controller`, which must be the only one under way, go until it has found a circuit or failed, or its next step
    /// falls due after `until`. Its first step falls due at `at`, which is not later than that, and each after the one before
    /// by `hop`. Gives when it took its last step, and what that was.
    #[inline]
    pub(super) fn walk(&mut self, controller: ChannelId, at: Time, hop: Time, until: Time) -> (Time, Step) {
        match self.routing {
            AnyRouting::Venice(routing) => self.walk_by(routing, controller, at, hop, until),
            routing => self.walk_by(routing, controller, at, hop, until),
        }
    }

    fn walk_by(
        &mut self,
        routing: impl RoutingAlgorithm + Copy,
        controller: ChannelId,
        mut at: Time,
        hop: Time,
        until: Time,
    ) -> (Time, Step) {
        let (mut field, Packet { scout, marks, exits }) = self.field(controller);
        let (mut moving, mut tally) = (*scout, Tally::default());
        let step = loop {
            let step = field.step(&mut moving, marks, exits, routing, &mut tally);
            let is_over = matches!(step, Step::Reached { .. } | Step::Failed);
            if is_over | (at + hop > until) {
                break step;
            }
            at += hop;
        };
        *scout = moving;
        self.count(tally, controller, step);
        (at, step)
    }

    /// Lets the scouts of `turns` go until one of them has found a circuit or failed, or all next steps fall due after `until`. Gives who
    /// has ended, when and how; its turn is not over.
    #[inline]
    pub(super) fn walk_in_turn(
        &mut self,
        turns: &mut Turns,
        hop: Time,
        until: Time,
    ) -> Option<(Time, ChannelId, Step)> {
        match self.routing {
            AnyRouting::Venice(routing) => self.walk_in_turn_by(routing, turns, hop, until),
            routing => self.walk_in_turn_by(routing, turns, hop, until),
        }
    }

    fn walk_in_turn_by(
        &mut self,
        routing: impl RoutingAlgorithm + Copy,
        turns: &mut Turns,
        hop: Time,
        until: Time,
    ) -> Option<(Time, ChannelId, Step)> {
        let Network { frame, routers, packets, tie_break, .. } = self;
        let (mut field, mut tally) = (Field { frame, routers, tie_break }, Tally::default());
        while let Some((at, controller)) = turns.first()
            && at <= until
        {
            let Packet { scout, marks, exits } = &mut packets[controller.index()];
            match field.step(scout, marks, exits, routing, &mut tally) {
                Step::Forward | Step::Back => turns.turn(at + hop),
                end @ (Step::Reached { .. } | Step::Failed) => {
                    self.count(tally, controller, end);
                    return Some((at, controller, end));
                }
            }
        }
        tally.add_to(&mut self.counters);
        None
    }

    /// What the scout of `controller` moves through, and the scout.
    #[inline(always)]
    fn field(&mut self, controller: ChannelId) -> (Field<'_>, &mut Packet) {
        let field = Field { frame: &self.frame, routers: &mut self.routers, tie_break: &mut self.tie_break };
        (field, &mut self.packets[controller.index()])
    }

    /// Tears down the circuit of `controller`, which must hold one.
    #[inline]
    pub fn release(&mut self, controller: ChannelId) {
        let mut index = self.frame.index(self.mesh.entrance(controller));
        let Packet { scout, exits, .. } = &mut self.packets[controller.index()];
        debug_assert!(scout.phase == Phase::Circuit, "{controller:?} holds no circuit");
        let mut entry = Ports::NONE;
        for &exit in exits.iter() {
            let router = &mut self.routers[index];
            router.busy = router.busy.without(entry.with(Ports::of(exit)));
            entry = Ports::of(exit.opposite());
            index = self.frame.beyond(index, exit);
        }
        let router = &mut self.routers[index];
        router.busy = router.busy.without(entry.with(Ports::of(Port::Chip)));
        scout.phase = Phase::Free;
        exits.clear();
    }

    /// The links that `controller` holds, from its own to the one its scout is on or to that of the chip.
    pub fn held(&self, controller: ChannelId) -> impl Iterator<Item = LinkId> {
        let packet = &self.packets[controller.index()];
        let scout = &packet.scout;
        let own = (scout.phase != Phase::Free).then(|| self.mesh.controller_link(controller));
        let chip = (scout.phase == Phase::Circuit).then(|| self.links[scout.router as usize][Port::Chip as usize]);
        own.into_iter().chain(self.links_between(controller, &packet.exits)).chain(chip)
    }

    /// Puts the links of the circuit of `controller` into `links`, from its own to that of the chip.
    #[inline]
    pub(super) fn list_circuit(&self, controller: ChannelId, links: &mut Vec<LinkId>) {
        let Packet { scout, exits, .. } = &self.packets[controller.index()];
        links.clear();
        links.push(self.mesh.controller_link(controller));
        links.extend(self.links_between(controller, exits));
        links.push(self.links[scout.router as usize][Port::Chip as usize]);
    }

    /// The links of a path from the router of `controller` that leaves routers by `exits`.
    #[inline]
    fn links_between<'a>(&'a self, controller: ChannelId, exits: &'a [Port]) -> impl Iterator<Item = LinkId> + 'a {
        let mut index = self.frame.index(self.mesh.entrance(controller));
        exits.iter().map(move |&exit| {
            let link = self.links[index][exit as usize];
            index = self.frame.beyond(index, exit);
            link
        })
    }

    /// How many links `controller` holds, and the one that it has reserved last.
    pub(super) fn last_held(&self, controller: ChannelId) -> (usize, Option<LinkId>) {
        let packet = &self.packets[controller.index()];
        let (between, links) = (packet.exits.len(), &self.links[packet.scout.router as usize]);
        match packet.scout.phase {
            Phase::Free => (0, None),
            Phase::Circuit => (between + 2, Some(links[Port::Chip as usize])),
            _ if between == 0 => (1, Some(self.mesh.controller_link(controller))),
            _ => (between + 1, Some(links[packet.via() as usize])),
        }
    }

    /// The ports of the router at `place` whose link is free, with that of the chip.
    pub(super) fn free_ports(&self, place: Place) -> Ports {
        Ports::MESH.with(Ports::of(Port::Chip)).without(self.routers[self.frame.index(place)].busy)
    }

    /// The routing algorithm.
    pub(super) const fn routing(&self) -> &AnyRouting {
        &self.routing
    }

    /// How many links, after its next step, the scout of `controller` has to cross at least until a circuit may be granted: to its
    /// destination and back from there; or home in vain, and then out and back for a scout that leaves in its place.
    #[inline]
    pub(super) fn links_to_go(&self, controller: ChannelId) -> u32 {
        const OUT_AND_BACK: u32 = 2;
        let packet = &self.packets[controller.index()];
        let target = packet.scout.target;
        let way_back = self.mesh.entrance(controller).distance(target) + 1;
        let at = self.routers[packet.scout.router as usize].place;
        (at.distance(target) + way_back).min(packet.links_home() + OUT_AND_BACK)
    }

    /// The router that the scout of `controller` is arriving at; `None` when it has none under way, or is about to be back.
    pub fn position(&self, controller: ChannelId) -> Option<ChipId> {
        let scout = &self.packets[controller.index()].scout;
        let at = || self.mesh.chip(self.routers[scout.router as usize].place);
        matches!(scout.phase, Phase::Reserve | Phase::Cancel).then(at)
    }

    /// Whether a mesh link or the link of a chip is taken.
    pub fn is_taken(&self, link: LinkId) -> bool {
        let (place, port) = self.mesh.end(link);
        self.routers[self.frame.index(place)].busy.contains(port)
    }

    /// Takes a mesh link or the link of a chip, which must be free, out of service; or puts it back.
    pub fn set_out_of_service(&mut self, link: LinkId, out: bool) {
        let (place, port) = self.mesh.end(link);
        debug_assert!(self.is_taken(link) != out, "{link:?} is in use, or out of service already");
        set_busy(&mut self.routers, &self.frame, self.frame.index(place), port, out);
    }

    /// Whether there is no scout under way and no circuit, and no router remembers a scout.
    pub fn is_clear(&self) -> bool {
        let is_clear = |packet: &Packet| {
            packet.scout.phase == Phase::Free && packet.marks.iter().all(|marks| *marks == Marks::NONE)
        };
        self.packets.iter().all(is_clear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Routing, TieBreak};
    use crate::engine::random::SimRng;

    #[test]
    fn a_walk_is_as_many_steps_as_there_is_time_for() {
        const HOP: Time = Time::from_ns(2);
        let mut random = SimRng::new(3);
        for case in 0..200 {
            let mesh = Mesh::new(1 + random.below(7), 1 + random.below(7));
            let new = || {
                let tie_break = TieBreaker::new(TieBreak::ALL[case / 4 % TieBreak::ALL.len()], 9);
                Network::new(mesh, AnyRouting::new(Routing::ALL[case % Routing::ALL.len()]), tie_break)
            };
            let (mut walked, mut stepped) = (new(), new());
            for link in mesh.mesh_links().filter(|_| random.below(3) == 0).collect::<Vec<_>>() {
                walked.set_out_of_service(link, true);
                stepped.set_out_of_service(link, true);
            }
            for _ in 0..10 {
                let (controller, target) = (ChannelId(random.below(mesh.rows())), ChipId(random.below(mesh.routers())));
                walked.launch(controller, target);
                stepped.launch(controller, target);
                let mut due = Time::from_ns(1);
                loop {
                    let until = due + Time::from_ns(u64::from(random.below(20)));
                    let (last, end) = walked.walk(controller, due, HOP, until);
                    let mut step = stepped.step(controller);
                    while due + HOP <= until && !matches!(step, Step::Reached { .. } | Step::Failed) {
                        due += HOP;
                        step = stepped.step(controller);
                    }
                    assert_eq!((last, end), (due, step));
                    assert_eq!(walked.counters(), stepped.counters());
                    assert!(walked.held(controller).eq(stepped.held(controller)));
                    assert_eq!(walked.last_held(controller).0, stepped.held(controller).count());
                    assert_eq!(walked.last_held(controller).1, stepped.held(controller).last());
                    match end {
                        Step::Forward | Step::Back => due += HOP,
                        Step::Failed => break,
                        Step::Reached { .. } => {
                            walked.release(controller);
                            stepped.release(controller);
                            break;
                        }
                    }
                }
            }
            assert!(walked.counters().sent == 10 && walked.mesh_is_as(&stepped));
        }
    }

    impl Network {
        /// Whether all routers are in the same state as those of `other`.
        fn mesh_is_as(&self, other: &Network) -> bool {
            let state = |router: &Router| (router.busy, router.register);
            let marks = |network: &Network| network.packets.iter().flat_map(|packet| packet.marks.clone()).collect();
            let (own, others): (Vec<_>, Vec<_>) = (marks(self), marks(other));
            self.routers.iter().map(state).eq(other.routers.iter().map(state)) && own == others
        }
    }
}
