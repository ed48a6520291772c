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
    /// The port of the router it is arriving at by which it comes, forward or back.
    pub via: Port,
    /// Whether it has ever gone anywhere but nearer: before, it cannot meet itself.
    strayed: bool,
    /// Links between the controller and the router it is arriving at.
    pub hops: u32,
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
        Scout { phase, via: Port::West, strayed: false, hops: 1, router, goal, target, first: router, last: router }
    }

    /// Links between routers that it holds: with the one it is on, going forward or back.
    pub const fn links_held(&self) -> u32 {
        match self.phase {
            Phase::Free | Phase::Home => 0,
            Phase::Reserve | Phase::Circuit => self.hops - 1,
            Phase::Cancel => self.hops,
        }
    }
}

/// The scout of one controller, with what is remembered of it.
#[derive(Debug)]
pub(super) struct Packet {
    pub scout: Scout,
    /// What each router remembers of it.
    pub marks: Vec<Marks>,
    /// The ports by which its circuit leaves the routers on its way, once it stands.
    pub exits: Vec<Port>,
}

impl Packet {
    /// The ports by which the path that the scout holds leaves the routers on its way.
    pub fn path(&self, frame: &Frame) -> Vec<Port> {
        let Packet { scout, marks, exits } = self;
        if scout.phase == Phase::Circuit {
            return exits.clone();
        }
        let held = scout.links_held() as usize;
        let mut path = Vec::with_capacity(held);
        let mut index = scout.router as usize;
        if scout.phase == Phase::Cancel {
            path.push(scout.via);
        } else if held > 0 {
            path.push(scout.via.opposite());
            index = frame.beyond(index, scout.via);
        }
        trace_back(&mut path, held, marks, frame, index);
        path.reverse();
        path
    }
}

/// Adds to `path`, up to `length`, the exits of the routers through which a scout has come to router `index`, the last one first.
#[inline]
fn trace_back(path: &mut Vec<Port>, length: usize, marks: &[Marks], frame: &Frame, mut index: usize) {
    while path.len() < length {
        let entry = marks[index].entry();
        path.push(entry.opposite());
        index = frame.beyond(index, entry);
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
    /// `scout`, which is under way, arrives at the end of the link it was on, and acts there. `marks` are those of its [`Packet`].
    #[inline(always)]
    pub fn step(
        &mut self,
        scout: &mut Scout,
        marks: &mut [Marks],
        routing: impl RoutingAlgorithm,
        tally: &mut Tally,
    ) -> Step {
        tally.steps += 1;
        let index = scout.router as usize;
        let way = self.frame.way(scout.via);
        if scout.phase == Phase::Reserve {
            marks[index] = marks[index].entered(scout.via, way.here);
            if scout.router == scout.goal {
                let router = &mut self.routers[index];
                if router.busy.contains(Port::Chip) {
                    return self.turn_back(scout, marks[index], tally);
                }
                router.busy = router.busy.with(Ports::of(Port::Chip));
                scout.phase = Phase::Circuit;
                return Step::Reached { hops: scout.hops };
            }
        } else if scout.phase == Phase::Cancel {
            // The link it came back over is free again.
            let far = &mut self.routers[way.from(index)];
            far.busy = far.busy.without(way.there);
            let router = &mut self.routers[index];
            router.busy = router.busy.without(way.here);
            marks[index] = marks[index].back_by(way.here);
        } else {
            scout.phase = Phase::Free;
            return Step::Failed;
        }
        let here = marks[index];
        let mut open = Ports::MESH.without(self.routers[index].busy.with(here.used()));
        if open.is_empty() {
            return self.turn_back(scout, here, tally);
        }
        if scout.strayed {
            open = open.without(Marks::held_around(marks, self.frame, index));
        }
        let router = &mut self.routers[index];
        let candidates = routing.candidates(router.place, scout.target, open);
        let Some(port) = self.tie_break.choose(&mut router.register, candidates) else {
            return self.turn_back(scout, here, tally);
        };
        let way = self.frame.way(port);
        let is_detour = way.here.and(router.place.towards(scout.target)).is_empty();
        marks[index] = here.held();
        router.busy = router.busy.with(way.here);
        let beyond = way.from(index);
        let next = &mut self.routers[beyond];
        next.busy = next.busy.with(way.there);
        scout.phase = Phase::Reserve;
        scout.router = beyond as u32;
        scout.via = way.opposite;
        (scout.first, scout.last) = (scout.first.min(scout.router), scout.last.max(scout.router));
        scout.hops += 1;
        scout.strayed |= is_detour;
        tally.misroutes += u64::from(is_detour);
        Step::Forward
    }

    #[inline(always)]
    fn turn_back(&mut self, scout: &mut Scout, here: Marks, tally: &mut Tally) -> Step {
        tally.backtracks += 1;
        scout.hops -= 1;
        if scout.hops == 0 {
            scout.phase = Phase::Home;
        } else {
            let way = self.frame.way(here.entry());
            scout.phase = Phase::Cancel;
            scout.via = way.opposite;
            scout.router = way.from(scout.router as usize) as u32;
        }
        Step::Back
    }
}

impl Packet {
    /// The search is over, with or without a circuit: the path of that is kept, and routers need no longer remember what the scout used.
    #[inline]
    pub fn end(&mut self, frame: &Frame) {
        let Packet { scout, marks, exits } = self;
        if scout.phase == Phase::Circuit {
            exits.clear();
            trace_back(exits, scout.links_held() as usize, marks, frame, scout.router as usize);
            exits.reverse();
        }
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
