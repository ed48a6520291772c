//! A scout: how it moves through the routers.

use super::counters::Counters;
use super::mesh::Place;
use super::network::Step;
use super::ports::{Port, Ports};
use super::router::{Frame, Marks, Router};
use super::routing::RoutingAlgorithm;
use super::tie_break::TieBreaker;

/// What a controller does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Scout {
    pub phase: Phase,
    /// Whether it has ever gone anywhere but nearer: before, it cannot meet itself.
    strayed: bool,
    /// The router it is arriving at, in the tables.
    pub router: u32,
    /// Its destination there.
    goal: u32,
    /// Where that is.
    pub target: Place,
    /// The first and the last router in the tables that it has been at.
    first: u32,
    last: u32,
}

impl Scout {
    /// One on its way to the router at `at`.
    #[inline]
    pub const fn new(phase: Phase, at: Place, target: Place, frame: &Frame) -> Scout {
        let router = frame.index(at) as u32;
        let goal = frame.index(target) as u32;
        Scout { phase, strayed: false, router, goal, target, first: router, last: router }
    }
}

/// The scout of one controller, with what is remembered of it.
#[derive(Debug)]
pub(super) struct Packet {
    pub scout: Scout,
    /// What each router remembers of it.
    pub marks: Vec<Marks>,
    /// The ports by which the links between routers that it holds leave them, in the order of the way: the last link is the one it is on,
    /// going forward or back.
    pub exits: Vec<Port>,
}

impl Packet {
    /// It leaves its controller, which is free, as `scout`.
    #[inline]
    pub fn launch(&mut self, scout: Scout) {
        self.scout = scout;
        self.exits.clear();
        let entrance = &mut self.marks[scout.router as usize];
        *entrance = entrance.using(Ports::of(Port::West));
    }

    /// Links that the scout has to cross, after its next step, to be back at its controller.
    pub fn links_home(&self) -> u32 {
        let held = self.exits.len() as u32;
        match self.scout.phase {
            Phase::Free | Phase::Home => 0,
            Phase::Cancel => held,
            Phase::Reserve | Phase::Circuit => held + 1,
        }
    }

    /// The port of the router it is arriving at by which it comes, forward or back; that of the controller where it holds no other link.
    pub fn via(&self) -> Port {
        let exit = self.exits.last().copied().unwrap_or(Port::East);
        if self.scout.phase == Phase::Cancel { exit } else { exit.opposite() }
    }
}

/// What scouts did since that was counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    steps: u64,
    misroutes: u64,
    backtracks: u64,
}

impl Tally {
    /// Adds it to `counters`.
    #[inline]
    pub fn add_to(self, counters: &mut Counters) {
        counters.steps += self.steps;
        counters.misroutes += self.misroutes;
        counters.backtracks += self.backtracks;
    }
}

/// What scouts move through.
pub(super) struct Field<'a> {
    pub frame: &'a Frame,
    pub routers: &'a mut [Router],
    pub tie_break: &'a mut TieBreaker,
}

impl Field<'_> {
    /// `scout`, which is under way, arrives at the end of the link it was on, and acts there. `marks` and `exits` are those of its
    /// [`Packet`].
    #[inline(always)]
    pub fn step(
        &mut self,
        scout: &mut Scout,
        marks: &mut [Marks],
        exits: &mut Vec<Port>,
        routing: impl RoutingAlgorithm,
        tally: &mut Tally,
    ) -> Step {
        tally.steps += 1;
        let index = scout.router as usize;
        let mut here = marks[index];
        if scout.phase == Phase::Reserve {
            if scout.router == scout.goal {
                let router = &mut self.routers[index];
                if router.busy.contains(Port::Chip) {
                    return self.turn_back(scout, exits, tally);
                }
                router.busy = router.busy.with(Ports::of(Port::Chip));
                scout.phase = Phase::Circuit;
                return Step::Reached { hops: exits.len() as u32 + 1 };
            }
        } else if let Some(exit) = exits.pop() {
            // The link it came back over is free again.
            let way = self.frame.way(exit);
            let far = &mut self.routers[way.from(index)];
            far.busy = far.busy.without(way.there);
            let router = &mut self.routers[index];
            router.busy = router.busy.without(way.here);
            here = here.let_go();
            marks[index] = here;
        } else {
            scout.phase = Phase::Free;
            return Step::Failed;
        }
        let router = &mut self.routers[index];
        let mut open = Ports::MESH.without(router.busy.with(here.used()));
        if open.is_empty() {
            return self.turn_back(scout, exits, tally);
        }
        if scout.strayed {
            open = open.without(Marks::held_around(marks, self.frame, index));
        }
        let nearer = router.place.towards(scout.target);
        let candidates = routing.candidates(router.place, scout.target, open);
        let Some(port) = self.tie_break.choose(&mut router.register, candidates) else {
            return self.turn_back(scout, exits, tally);
        };
        let way = self.frame.way(port);
        let is_detour = !nearer.contains(port);
        marks[index] = here.using(way.here).held();
        router.busy = router.busy.with(way.here);
        let beyond = way.from(index);
        let next = &mut self.routers[beyond];
        next.busy = next.busy.with(way.there);
        marks[beyond] = marks[beyond].using(way.there);
        exits.push(port);
        scout.phase = Phase::Reserve;
        scout.router = beyond as u32;
        (scout.first, scout.last) = (scout.first.min(scout.router), scout.last.max(scout.router));
        scout.strayed |= is_detour;
        tally.misroutes += u64::from(is_detour);
        Step::Forward
    }

    #[inline(always)]
    fn turn_back(&mut self, scout: &mut Scout, exits: &[Port], tally: &mut Tally) -> Step {
        tally.backtracks += 1;
        if let Some(&exit) = exits.last() {
            scout.phase = Phase::Cancel;
            scout.router = self.frame.way(exit).back_from(scout.router as usize) as u32;
        } else {
            scout.phase = Phase::Home;
        }
        Step::Back
    }
}

impl Packet {
    /// The search is over, with or without a circuit: routers need no longer remember what the scout used.
    #[inline]
    pub fn end(&mut self) {
        let Packet { scout, marks, .. } = self;
        marks[scout.first as usize..=scout.last as usize].fill(Marks::NONE);
    }
}

/// Reserves or frees the link at `port` of router `index`, at both its ends; that of a chip has but one.
#[inline(always)]
pub(super) fn set_busy(routers: &mut [Router], frame: &Frame, index: usize, port: Port, busy: bool) {
    for (index, port) in [(index, port), (frame.beyond(index, port), port.opposite())] {
        let (router, port) = (&mut routers[index], Ports::of(port));
        router.busy = if busy { router.busy.with(port) } else { router.busy.without(port) };
    }
}
