//! The network: scouts that reserve circuits hop by hop, and the circuits they reserved.

use crate::ids::{ChannelId, ChipId, LinkId};
use crate::units::Time;

use super::counters::Counters;
use super::mesh::{Mesh, Place};
use super::ports::{Port, Ports};
use super::router::{Frame, Marks, Router};
use super::routing::AnyRouting;
use super::scout::{Field, Phase, Scout, set_busy};
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
    /// What the routers remember of the scout of each controller, a table of all routers for each.
    ///
    /// What no scout has touched are zero pages of the system, so a large mesh takes no more memory than its scouts visit.
    marks: Vec<Marks>,
    /// The exits along the path of each controller, as many as there are routers for each.
    exits: Vec<Port>,
    scouts: Vec<Scout>,
    routing: AnyRouting,
    tie_break: TieBreaker,
    counters: Counters,
}

impl Network {
    /// A network without circuits.
    pub fn new(mesh: Mesh, routing: AnyRouting, tie_break: TieBreaker) -> Network {
        let frame = Frame::new(&mesh);
        let mut routers = vec![Router { busy: Ports::MESH, register: Lfsr::new(0) }; frame.len()];
        for number in 0..mesh.routers() {
            let place = mesh.place(ChipId(number));
            let busy = Ports::MESH.without(mesh.ports(place));
            routers[frame.index(place)] = Router { busy, register: Lfsr::new(number) };
        }
        let free = |row| {
            let entrance = mesh.entrance(ChannelId(row));
            Scout::new(Phase::Free, entrance, entrance, frame)
        };
        let controllers = mesh.rows() as usize;
        Network {
            mesh,
            frame,
            routers,
            marks: vec![Marks::NONE; controllers * frame.len()],
            exits: vec![Port::North; controllers * mesh.routers() as usize],
            scouts: (0..mesh.rows()).map(free).collect(),
            routing,
            tie_break,
            counters: Counters::default(),
        }
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
        self.scouts[controller.index()].phase == Phase::Free
    }

    /// Sends the scout of `controller`, which must be free, to look for a path to `target`. It arrives at the first router
    /// with its first step.
    #[inline]
    pub fn launch(&mut self, controller: ChannelId, target: ChipId) {
        debug_assert!(self.is_free(controller), "{controller:?} has a scout or a circuit already");
        self.counters.sent += 1;
        let (entrance, target) = (self.mesh.entrance(controller), self.mesh.place(target));
        self.scouts[controller.index()] = Scout::new(Phase::Reserve, entrance, target, self.frame);
    }

    /// The scout of `controller`, which must be under way, arrives at the end of the link it was on, and acts there.
    pub fn step(&mut self, controller: ChannelId) -> Step {
        let (mut field, scout) = self.field(controller);
        field.step(scout)
    }

    /// Lets the scout of `controller`, which must be the only one under way, go until it has found a circuit or failed, or its next step
    /// falls due after `until`. Its first step falls due at `at`, which is not later than that, and each after the one before
    /// by `hop`. Gives when it took its last step, and what that was.
    pub(super) fn walk(&mut self, controller: ChannelId, mut at: Time, hop: Time, until: Time) -> (Time, Step) {
        let (mut field, scout) = self.field(controller);
        let mut moving = *scout;
        let step = loop {
            let step = field.step(&mut moving);
            let is_over = matches!(step, Step::Reached { .. } | Step::Failed);
            if is_over | (at + hop > until) {
                break step;
            }
            at += hop;
        };
        *scout = moving;
        (at, step)
    }

    /// Lets the scouts of `turns` go until one of them has found a circuit or failed, or all next steps fall due after `until`. Gives who
    /// has ended, when and how; its turn is not over.
    pub(super) fn walk_in_turn(
        &mut self,
        turns: &mut Turns,
        hop: Time,
        until: Time,
    ) -> Option<(Time, ChannelId, Step)> {
        while let Some((at, controller)) = turns.first()
            && at <= until
        {
            let (mut field, scout) = self.field(controller);
            match field.step(scout) {
                Step::Forward | Step::Back => turns.turn(at + hop),
                end @ (Step::Reached { .. } | Step::Failed) => return Some((at, controller, end)),
            }
        }
        None
    }

    /// What the scout of `controller` moves through, and the scout.
    #[inline(always)]
    fn field(&mut self, controller: ChannelId) -> (Field<'_>, &mut Scout) {
        let (packet, frame, routers) = (controller.index(), self.frame, self.mesh.routers() as usize);
        let field = Field {
            frame,
            routers: &mut self.routers,
            marks: &mut self.marks[packet * frame.len()..][..frame.len()],
            exits: &mut self.exits[packet * routers..][..routers],
            routing: self.routing,
            tie_break: &mut self.tie_break,
            counters: &mut self.counters,
        };
        (field, &mut self.scouts[packet])
    }

    /// Tears down the circuit of `controller`, which must hold one.
    pub fn release(&mut self, controller: ChannelId) {
        debug_assert!(self.scouts[controller.index()].phase == Phase::Circuit, "{controller:?} holds no circuit");
        let (field, scout) = self.field(controller);
        let links = scout.links_held() as usize;
        let mut index = field.frame.index(Place { row: controller.0, column: 0 });
        for &exit in &field.exits[..links] {
            set_busy(field.routers, field.frame, index, exit, false);
            index = field.frame.beyond(index, exit);
        }
        set_busy(field.routers, field.frame, index, Port::Chip, false);
        scout.phase = Phase::Free;
    }

    /// The links that `controller` holds, from its own to the one its scout is on or to that of the chip.
    pub fn held(&self, controller: ChannelId) -> impl Iterator<Item = LinkId> {
        let scout = &self.scouts[controller.index()];
        let own = (scout.phase != Phase::Free).then(|| self.mesh.controller_link(controller));
        let exits = &self.exits[controller.index() * self.mesh.routers() as usize..][..scout.links_held() as usize];
        let mut at = self.mesh.entrance(controller);
        let between = exits.iter().map(move |&exit| {
            let from = at;
            at = at.beyond(exit);
            self.mesh.link(from, exit)
        });
        let chip = (scout.phase == Phase::Circuit).then(|| self.mesh.link(scout.at, Port::Chip));
        own.into_iter().chain(between).chain(chip)
    }

    /// How many links `controller` holds, and the one that it has reserved last.
    pub(super) fn last_held(&self, controller: ChannelId) -> (usize, Option<LinkId>) {
        let scout = &self.scouts[controller.index()];
        let between = scout.links_held() as usize;
        match scout.phase {
            Phase::Free => (0, None),
            Phase::Circuit => (between + 2, Some(self.mesh.link(scout.at, Port::Chip))),
            _ if between == 0 => (1, Some(self.mesh.controller_link(controller))),
            _ => {
                let exit = self.exits[controller.index() * self.mesh.routers() as usize + between - 1];
                let from = if scout.phase == Phase::Cancel { scout.at } else { scout.at.beyond(exit.opposite()) };
                (between + 1, Some(self.mesh.link(from, exit)))
            }
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
        let scout = &self.scouts[controller.index()];
        let way_back = self.mesh.entrance(controller).distance(scout.target) + 1;
        (scout.at.distance(scout.target) + way_back).min(scout.hops + OUT_AND_BACK)
    }

    /// The router that the scout of `controller` is arriving at; `None` when it has none under way, or is about to be back.
    pub fn position(&self, controller: ChannelId) -> Option<ChipId> {
        let scout = &self.scouts[controller.index()];
        matches!(scout.phase, Phase::Reserve | Phase::Cancel).then(|| self.mesh.chip(scout.at))
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
        set_busy(&mut self.routers, self.frame, self.frame.index(place), port, out);
    }

    /// Whether there is no scout under way and no circuit, and no router remembers a scout.
    pub fn is_clear(&self) -> bool {
        self.scouts.iter().all(|scout| scout.phase == Phase::Free)
            && self.marks.iter().all(|marks| *marks == Marks::NONE)
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
            self.routers.iter().map(state).eq(other.routers.iter().map(state)) && self.marks == other.marks
        }
    }
}
