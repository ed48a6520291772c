//! The network: scouts that reserve circuits hop by hop, and the circuits they reserved.

use crate::ids::{ChannelId, ChipId, LinkId};

use super::counters::Counters;
use super::mesh::{Mesh, Place};
use super::ports::{Port, Ports};
use super::router::Router;
use super::routing::{AnyRouting, RoutingAlgorithm};
use super::tie_break::TieBreaker;

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
    scouts: Vec<Scout>,
    routing: AnyRouting,
    tie_break: TieBreaker,
    counters: Counters,
}

impl Network {
    /// A network without circuits.
    pub fn new(mesh: Mesh, routing: AnyRouting, tie_break: TieBreaker) -> Network {
        let routers = (0..mesh.routers()).map(|number| Router::new(mesh.ports(mesh.place(ChipId(number))), number));
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
        Network { mesh, routers, scouts, routing, tie_break, counters: Counters::default() }
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
        self.counters.scouts += 1;
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
        let (at, phase) = (scout.at, scout.phase);
        debug_assert!(!matches!(phase, Phase::Free | Phase::Circuit), "{controller:?} has no scout under way");
        match phase {
            Phase::Home => {
                self.forget(controller);
                self.scouts[controller.index()].phase = Phase::Free;
                self.counters.failed += 1;
                return Step::Failed;
            }
            Phase::Cancel => self.cancel(controller, at),
            Phase::Reserve | Phase::Free | Phase::Circuit => {
                let entry = scout.entry;
                self.router(at).enter(controller, entry);
            }
        }
        let Some(port) = self.choose(controller, at) else {
            self.turn_back(controller, at);
            return Step::Back;
        };
        let row = self.router(at).row(controller).expect("a scout has a row where it has arrived");
        row.valid = true;
        row.exit = port;
        row.used = row.used.with(Ports::of(port));
        self.set_busy(at, port, true);
        if port == Port::Chip { self.arrive(controller) } else { self.go_on(controller, at, port) }
    }

    /// Tears down the circuit of `controller`, which must hold one.
    pub fn release(&mut self, controller: ChannelId) {
        debug_assert!(self.scouts[controller.index()].phase == Phase::Circuit, "{controller:?} holds no circuit");
        let mut at = self.mesh.entrance(controller);
        while let Some(row) = self.router(at).remove(controller) {
            self.set_busy(at, row.exit, false);
            if row.exit == Port::Chip {
                break;
            }
            at = at.beyond(row.exit);
        }
        self.scouts[controller.index()].phase = Phase::Free;
    }

    /// The links that `controller` holds, from its own to the one its scout is on or to that of the chip.
    pub fn held(&self, controller: ChannelId) -> impl Iterator<Item = LinkId> {
        let own = (!self.is_free(controller)).then(|| self.mesh.controller_link(controller));
        let mut next = own.map(|_| self.mesh.entrance(controller));
        own.into_iter().chain(std::iter::from_fn(move || {
            let at = next?;
            let row = self.routers[self.mesh.chip(at).index()].circuit(controller)?;
            next = (row.exit != Port::Chip).then(|| at.beyond(row.exit));
            Some(self.mesh.link(at, row.exit))
        }))
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
        self.set_busy(place, port, out);
    }

    /// Whether no router has a row.
    pub fn is_clear(&self) -> bool {
        self.routers.iter().all(|router| router.rows().is_empty())
    }

    #[inline]
    fn router(&mut self, at: Place) -> &mut Router {
        let number = self.mesh.chip(at).index();
        &mut self.routers[number]
    }

    /// Reserves or frees the link at `port`, at both its ends.
    #[inline]
    fn set_busy(&mut self, at: Place, port: Port, busy: bool) {
        let set = |router: &mut Router, port| {
            let port = Ports::of(port);
            router.busy = if busy { router.busy.with(port) } else { router.busy.without(port) };
        };
        set(self.router(at), port);
        if port != Port::Chip {
            set(self.router(at.beyond(port)), port.opposite());
        }
    }

    /// A scout is back at the router from which it had gone forward: the link it came back over is free.
    #[inline]
    fn cancel(&mut self, controller: ChannelId, at: Place) {
        let row = self.router(at).row(controller).expect("a scout backtracks over routers that it holds");
        row.valid = false;
        let exit = row.exit;
        self.set_busy(at, exit, false);
    }

    /// The port by which a scout goes on from the router it has arrived at.
    #[inline]
    fn choose(&mut self, controller: ChannelId, at: Place) -> Option<Port> {
        let Scout { target, strayed, .. } = self.scouts[controller.index()];
        let router = self.router(at);
        if at == target {
            return (!router.busy.contains(Port::Chip)).then_some(Port::Chip);
        }
        let used = router.row(controller).map_or(Ports::NONE, |row| row.used);
        let mut open = Ports::MESH.without(router.busy).without(used);
        if strayed {
            open = open.without(self.own(controller, at, open));
        }
        let candidates = self.routing.candidates(at, target, open);
        let number = self.mesh.chip(at).index();
        self.tie_break.choose(&mut self.routers[number].register, candidates)
    }

    /// The ports of `ports` that lead to a router which the scout holds.
    fn own(&self, controller: ChannelId, at: Place, ports: Ports) -> Ports {
        let holds = |port: &Port| self.routers[self.mesh.chip(at.beyond(*port)).index()].circuit(controller).is_some();
        let own = Port::MESH.into_iter().filter(|port| ports.contains(*port)).filter(holds);
        own.fold(Ports::NONE, |own, port| own.with(Ports::of(port)))
    }

    #[inline]
    fn go_on(&mut self, controller: ChannelId, at: Place, port: Port) -> Step {
        let scout = &mut self.scouts[controller.index()];
        let is_minimal = at.towards(scout.target).contains(port);
        scout.phase = Phase::Reserve;
        scout.at = at.beyond(port);
        scout.entry = port.opposite();
        scout.hops += 1;
        scout.strayed |= !is_minimal;
        self.counters.misroutes += u64::from(!is_minimal);
        Step::Forward
    }

    fn turn_back(&mut self, controller: ChannelId, at: Place) {
        self.counters.backtracks += 1;
        let entry = self.router(at).row(controller).expect("a scout has a row where it has arrived").entry;
        let is_entrance = entry == Port::West && at.column == 0;
        let scout = &mut self.scouts[controller.index()];
        scout.left.push(at);
        if is_entrance {
            scout.phase = Phase::Home;
        } else {
            scout.phase = Phase::Cancel;
            scout.at = at.beyond(entry);
            scout.hops -= 1;
        }
    }

    fn arrive(&mut self, controller: ChannelId) -> Step {
        self.forget(controller);
        let scout = &mut self.scouts[controller.index()];
        scout.phase = Phase::Circuit;
        let hops = scout.hops;
        self.counters.circuit(hops + 1);
        Step::Reached { hops }
    }

    /// The search is over: the routers need no longer remember what the scout used.
    #[inline]
    fn forget(&mut self, controller: ChannelId) {
        let mut left = std::mem::take(&mut self.scouts[controller.index()].left);
        for at in left.drain(..) {
            self.router(at).forget(controller);
        }
        self.scouts[controller.index()].left = left;
    }
}
