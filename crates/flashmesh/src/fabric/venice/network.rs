//! The network: scouts that reserve circuits hop by hop, and the circuits they reserved.

use std::hint::select_unpredictable;

use crate::ids::{ChannelId, ChipId, LinkId};

use super::counters::Counters;
use super::mesh::{Mesh, Place};
use super::ports::{Port, Ports};
use super::router::{Router, Row, Tables};
use super::routing::{AnyRouting, RoutingAlgorithm};
use super::tie_break::{Lfsr, TieBreaker};

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

/// What a controller does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing.
    Free,
    /// Its scout goes forward.
    Reserve,
    /// Its scout goes back and cancels.
    Cancel,
    /// Its scout goes back over the link of the controller.
    Home,
    /// It holds a circuit.
    Circuit,
}

/// The one scout of a controller.
#[derive(Clone, Debug)]
struct Scout {
    phase: Phase,
    target: Place,
    /// The router it is arriving at.
    at: Place,
    /// The port by which it arrives there, when it goes forward.
    entry: Port,
    /// Links between the controller and that router.
    hops: u32,
    /// Whether it has ever gone anywhere but nearer: before, it cannot meet itself.
    strayed: bool,
    /// The routers it has backtracked out of: they remember what it used.
    left: Vec<Place>,
}

/// A mesh of routers with a controller to the left of each row.
///
/// [`step`](Network::step) moves one scout by one link; the caller gives each scout its own time. Between two steps the scout
/// is on the link it goes over. Links are reserved, both directions at once, when a scout goes forward over them, and freed
/// when it has come back over them.
#[derive(Debug)]
pub struct Network {
    mesh: Mesh,
    routers: Vec<Router>,
    tables: Tables,
    scouts: Vec<Scout>,
    routing: AnyRouting,
    tie_break: TieBreaker,
    counters: Counters,
}

impl Network {
    /// A network without circuits.
    pub fn new(mesh: Mesh, routing: AnyRouting, tie_break: TieBreaker) -> Network {
        let routers = (0..mesh.routers()).map(|number| {
            let ports = mesh.ports(mesh.place(ChipId(number)));
            Router { busy: Ports::MESH.without(ports), register: Lfsr::new(number) }
        });
        let scouts = (0..mesh.rows()).map(|row| Scout {
            phase: Phase::Free,
            target: Place { row, column: 0 },
            at: Place { row, column: 0 },
            entry: Port::West,
            hops: 0,
            strayed: false,
            left: Vec::new(),
        });
        let (routers, scouts) = (routers.collect(), scouts.collect());
        let tables = Tables::new(mesh.routers(), mesh.rows());
        Network { mesh, routers, tables, scouts, routing, tie_break, counters: Counters::default() }
    }

    /// The shape of the network.
    pub const fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// What the scouts did so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
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
        let (at, target) = (self.mesh.entrance(controller), self.mesh.place(target));
        self.counters.sent += 1;
        let scout = &mut self.scouts[controller.index()];
        scout.phase = Phase::Reserve;
        scout.target = target;
        scout.at = at;
        scout.entry = Port::West;
        scout.hops = 1;
        scout.strayed = false;
    }

    /// The scout of `controller`, which must be under way, arrives at the end of the link it was on, and acts there.
    pub fn step(&mut self, controller: ChannelId) -> Step {
        self.counters.steps += 1;
        let scout = &self.scouts[controller.index()];
        let Scout { at, target, phase, entry, strayed, .. } = *scout;
        debug_assert!(!matches!(phase, Phase::Free | Phase::Circuit), "{controller:?} has no scout under way");
        if phase == Phase::Home {
            return self.give_up(controller);
        }
        let (packet, router) = (controller.index(), self.mesh.chip(at).index());
        let mut row = self.tables.row(packet, router);
        if phase == Phase::Cancel {
            // The link it came back over is free again.
            self.set_busy(router, row.exit, false);
            row.valid = false;
        } else {
            row.entry = entry;
            row.used = row.used.with(Ports::of(entry));
        }
        let minimal = at.towards(target);
        let port = if minimal.is_empty() {
            (!self.routers[router].busy.contains(Port::Chip)).then_some(Port::Chip)
        } else {
            let mut open = Ports::MESH.without(self.routers[router].busy).without(row.used);
            if strayed {
                open = open.without(self.own(packet, router, open));
            }
            let candidates = self.routing.candidates(at, target, open);
            self.tie_break.choose(&mut self.routers[router].register, candidates)
        };
        if let Some(port) = port {
            row.valid = true;
            row.exit = port;
            row.used = row.used.with(Ports::of(port));
            self.set_busy(router, port, true);
        }
        self.tables.set(packet, router, row);
        match port {
            None => self.turn_back(controller, row.entry),
            Some(Port::Chip) => self.arrive(controller),
            Some(port) => self.go_on(controller, port, minimal.contains(port)),
        }
    }

    /// Tears down the circuit of `controller`, which must hold one.
    pub fn release(&mut self, controller: ChannelId) {
        debug_assert!(self.scouts[controller.index()].phase == Phase::Circuit, "{controller:?} holds no circuit");
        let mut router = self.mesh.chip(self.mesh.entrance(controller)).index();
        loop {
            let Row { exit, .. } = self.tables.take(controller.index(), router);
            self.set_busy(router, exit, false);
            if exit == Port::Chip {
                break;
            }
            router = self.mesh.neighbour(router, exit);
        }
        self.scouts[controller.index()].phase = Phase::Free;
    }

    /// The links that `controller` holds, from its own to the one its scout is on or to that of the chip.
    pub fn held(&self, controller: ChannelId) -> impl Iterator<Item = LinkId> {
        let own = (!self.is_free(controller)).then(|| self.mesh.controller_link(controller));
        let mut next = own.map(|_| self.mesh.entrance(controller));
        own.into_iter().chain(std::iter::from_fn(move || {
            let at = next?;
            let row = self.tables.row(controller.index(), self.mesh.chip(at).index());
            next = (row.valid && row.exit != Port::Chip).then(|| at.beyond(row.exit));
            row.valid.then(|| self.mesh.link(at, row.exit))
        }))
    }

    /// How many links, after its next step, the scout of `controller` has to cross at least until a circuit may be granted: to its
    /// destination and back from there; or home in vain, and then out and back for a scout that leaves in its place.
    #[inline]
    pub fn links_to_go(&self, controller: ChannelId) -> u32 {
        const OUT_AND_BACK: u32 = 2;
        let scout = &self.scouts[controller.index()];
        let home = if scout.phase == Phase::Home { 0 } else { scout.hops };
        let way_back = self.mesh.entrance(controller).distance(scout.target) + 1;
        (scout.at.distance(scout.target) + way_back).min(home + OUT_AND_BACK)
    }

    /// The router that the scout of `controller` is arriving at; `None` when it has none under way, or is about to be back.
    pub fn position(&self, controller: ChannelId) -> Option<ChipId> {
        let scout = &self.scouts[controller.index()];
        matches!(scout.phase, Phase::Reserve | Phase::Cancel).then(|| self.mesh.chip(scout.at))
    }

    /// Whether a mesh link or the link of a chip is taken.
    pub fn is_taken(&self, link: LinkId) -> bool {
        let (place, port) = self.mesh.end(link);
        self.routers[self.mesh.chip(place).index()].busy.contains(port)
    }

    /// Takes a mesh link or the link of a chip, which must be free, out of service; or puts it back.
    pub fn set_out_of_service(&mut self, link: LinkId, out: bool) {
        let (place, port) = self.mesh.end(link);
        debug_assert!(self.is_taken(link) != out, "{link:?} is in use, or out of service already");
        self.set_busy(self.mesh.chip(place).index(), port, out);
    }

    /// Whether no router has a row.
    pub fn is_clear(&self) -> bool {
        self.tables.is_clear()
    }

    /// Reserves or frees the link at `port` of router `number`, at both its ends; that of a chip has but one.
    #[inline(always)]
    fn set_busy(&mut self, number: usize, port: Port, busy: bool) {
        for (number, port) in [(number, port), (self.mesh.neighbour(number, port), port.opposite())] {
            let (router, port) = (&mut self.routers[number], Ports::of(port));
            router.busy = if busy { router.busy.with(port) } else { router.busy.without(port) };
        }
    }

    /// The ports of `ports` that lead from router `number` to one which `packet` holds.
    #[inline]
    fn own(&self, packet: usize, number: usize, ports: Ports) -> Ports {
        Port::MESH.into_iter().fold(Ports::NONE, |own, port| {
            // All four are looked at, which costs less than guessing which of them are asked for.
            let is_asked = ports.contains(port);
            let other = select_unpredictable(is_asked, self.mesh.neighbour(number, port), number);
            own.with(Ports::of_if(port, is_asked & self.tables.is_held(packet, other)))
        })
    }

    #[inline]
    fn go_on(&mut self, controller: ChannelId, port: Port, is_minimal: bool) -> Step {
        let scout = &mut self.scouts[controller.index()];
        scout.phase = Phase::Reserve;
        scout.at = scout.at.beyond(port);
        scout.entry = port.opposite();
        scout.hops += 1;
        scout.strayed |= !is_minimal;
        self.counters.misroutes += u64::from(!is_minimal);
        Step::Forward
    }

    #[inline]
    fn turn_back(&mut self, controller: ChannelId, entry: Port) -> Step {
        self.counters.backtracks += 1;
        let scout = &mut self.scouts[controller.index()];
        scout.left.push(scout.at);
        if entry == Port::West && scout.at.column == 0 {
            scout.phase = Phase::Home;
        } else {
            scout.phase = Phase::Cancel;
            scout.at = scout.at.beyond(entry);
            scout.hops -= 1;
        }
        Step::Back
    }

    fn arrive(&mut self, controller: ChannelId) -> Step {
        self.forget(controller);
        let scout = &mut self.scouts[controller.index()];
        scout.phase = Phase::Circuit;
        self.counters.circuit(scout.hops + 1);
        Step::Reached { hops: scout.hops }
    }

    fn give_up(&mut self, controller: ChannelId) -> Step {
        self.forget(controller);
        self.scouts[controller.index()].phase = Phase::Free;
        self.counters.failed += 1;
        Step::Failed
    }

    /// The search is over: the routers need no longer remember what the scout used.
    #[inline]
    fn forget(&mut self, controller: ChannelId) {
        for at in self.scouts[controller.index()].left.drain(..) {
            self.tables.forget(controller.index(), self.mesh.chip(at).index());
        }
    }
}
