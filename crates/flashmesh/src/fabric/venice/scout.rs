//! A scout: how it moves through the routers.

use super::counters::Counters;
use super::mesh::Place;
use super::network::Step;
use super::ports::{Port, Ports};
use super::router::{Frame, Marks, Router};
use super::routing::{AnyRouting, RoutingAlgorithm};
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
    /// The port by which it arrives, when it goes forward.
    entry: Port,
    /// Whether it has ever gone anywhere but nearer: before, it cannot meet itself.
    strayed: bool,
    /// Links between the controller and the router it is arriving at.
    pub hops: u32,
    /// The router it is arriving at, in the tables.
    router: usize,
    /// Where that is.
    pub at: Place,
    pub target: Place,
    /// The first and the last row it has been in.
    pub rows: (u32, u32),
}

impl Scout {
    /// One on its way to the router at `at`.
    #[inline]
    pub const fn new(phase: Phase, at: Place, target: Place, frame: Frame) -> Scout {
        Scout {
            phase,
            entry: Port::West,
            strayed: false,
            hops: 1,
            router: frame.index(at),
            at,
            target,
            rows: (at.row, at.row),
        }
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

/// What scouts move through.
pub(super) struct Field<'a> {
    pub frame: Frame,
    pub routers: &'a mut [Router],
    /// What the routers remember of this scout.
    pub marks: &'a mut [Marks],
    /// The ports by which it has left the routers that it holds, in the order of its path.
    pub exits: &'a mut [Port],
    pub routing: AnyRouting,
    pub tie_break: &'a mut TieBreaker,
    pub counters: &'a mut Counters,
}

impl Field<'_> {
    /// `scout`, which is under way, arrives at the end of the link it was on, and acts there.
    #[inline(always)]
    pub fn step(&mut self, scout: &mut Scout) -> Step {
        self.counters.steps += 1;
        let index = scout.router;
        let mut marks = self.marks[index];
        match scout.phase {
            Phase::Reserve => marks = marks.with_used(scout.entry),
            Phase::Cancel => {
                // The link it came back over is free again.
                set_busy(self.routers, self.frame, index, self.exits[scout.hops as usize - 1], false);
                marks = marks.let_go();
            }
            Phase::Free | Phase::Home | Phase::Circuit => {
                self.forget(scout);
                scout.phase = Phase::Free;
                self.counters.failed += 1;
                return Step::Failed;
            }
        }
        let minimal = scout.at.towards(scout.target);
        let port = if minimal.is_empty() {
            self.marks[index] = marks;
            if !self.routers[index].busy.contains(Port::Chip) {
                return self.arrive(scout);
            }
            None
        } else {
            let mut open = Ports::MESH.without(self.routers[index].busy).without(marks.used());
            if scout.strayed & !open.is_empty() {
                open = open.without(Marks::held_around(self.marks, self.frame, index));
            }
            let candidates = self.routing.candidates(scout.at, scout.target, open);
            self.tie_break.choose(&mut self.routers[index].register, candidates)
        };
        match port {
            Some(port) => {
                self.marks[index] = marks.with_used(port).held();
                self.go_on(scout, port, minimal.contains(port))
            }
            None => {
                self.marks[index] = marks;
                self.turn_back(scout)
            }
        }
    }

    #[inline(always)]
    fn go_on(&mut self, scout: &mut Scout, port: Port, is_minimal: bool) -> Step {
        set_busy(self.routers, self.frame, scout.router, port, true);
        self.exits[scout.hops as usize - 1] = port;
        scout.phase = Phase::Reserve;
        scout.at = scout.at.beyond(port);
        scout.rows = (scout.rows.0.min(scout.at.row), scout.rows.1.max(scout.at.row));
        scout.router = self.frame.beyond(scout.router, port);
        scout.entry = port.opposite();
        scout.hops += 1;
        scout.strayed |= !is_minimal;
        self.counters.misroutes += u64::from(!is_minimal);
        Step::Forward
    }

    #[inline(always)]
    fn turn_back(&mut self, scout: &mut Scout) -> Step {
        self.counters.backtracks += 1;
        scout.hops -= 1;
        if scout.hops == 0 {
            scout.phase = Phase::Home;
        } else {
            let back = self.exits[scout.hops as usize - 1].opposite();
            scout.phase = Phase::Cancel;
            scout.at = scout.at.beyond(back);
            scout.router = self.frame.beyond(scout.router, back);
        }
        Step::Back
    }

    #[inline]
    fn arrive(&mut self, scout: &mut Scout) -> Step {
        set_busy(self.routers, self.frame, scout.router, Port::Chip, true);
        self.forget(scout);
        scout.phase = Phase::Circuit;
        self.counters.circuit(scout.hops + 1);
        Step::Reached { hops: scout.hops }
    }

    /// The search is over: the routers need no longer remember what the scout used.
    #[inline]
    fn forget(&mut self, scout: &Scout) {
        self.marks[self.frame.rows(scout.rows.0, scout.rows.1)].fill(Marks::NONE);
    }
}

/// Reserves or frees the link at `port` of router `index`, at both its ends; that of a chip has but one.
#[inline(always)]
pub(super) fn set_busy(routers: &mut [Router], frame: Frame, index: usize, port: Port, busy: bool) {
    for (index, port) in [(index, port), (frame.beyond(index, port), port.opposite())] {
        let (router, port) = (&mut routers[index], Ports::of(port));
        router.busy = if busy { router.busy.with(port) } else { router.busy.without(port) };
    }
}
