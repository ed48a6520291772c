//! Movement of a scout through the routers.

use super::counters::Counters;
use super::direction::{Destination, Position};
use super::network::ScoutAction;
use super::ports::{Port, PortSet};
use super::router::{PaddedGrid, Router, ScoutMarks, Table, clear, group};
use super::routing_table::RoutingTable;
use super::tie_break::Draw;

/// Phase of the search of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No scout and no circuit.
    Free,
    /// The scout moves forward.
    Reserve,
    /// The scout backtracks and cancels reservations.
    Cancel,
    /// The scout returns to the controller over the controller link.
    Home,
    /// The controller holds a circuit.
    Circuit,
}

/// The scout of a controller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scout {
    pub goal: Destination,
    /// Table index of the router at which the scout arrives.
    pub router: u32,
    /// Number of held links between routers.
    pub held: u32,
    /// Port of that router by which the scout arrives, forward or back; meaningless if the scout holds no link between routers.
    pub via: Port,
    pub phase: Phase,
    /// Whether the scout has backtracked out of a router that it must not enter again.
    pub has_closed: bool,
    /// Groups of the routers where the scout has marks.
    pub groups: u64,
}

impl Scout {
    /// Creates a scout in `phase` on its way to `router`.
    #[inline]
    pub const fn new(phase: Phase, router: u32, goal: Destination) -> Scout {
        Scout { goal, router, held: 0, via: Port::West, phase, has_closed: false, groups: 0 }
    }
}

/// The scout of a controller, with its marks.
#[derive(Clone, Debug)]
pub(super) struct MarkedScout {
    pub scout: Scout,
    /// Marks of the scout at all routers, indexed by router.
    pub marks: Box<[ScoutMarks]>,
    /// Ports by which the circuit leaves its routers, in order.
    pub exits: Vec<Port>,
}

impl MarkedScout {
    /// Creates the idle scout of a controller whose link leads to the router at `position`.
    pub fn new(router: usize, position: Position, frame: &PaddedGrid) -> MarkedScout {
        MarkedScout {
            scout: Scout::new(Phase::Free, router as u32, position.destination()),
            marks: vec![ScoutMarks::NONE; frame.table_len()].into(),
            exits: Vec::new(),
        }
    }

    /// Writes to `exits` the ports by which the held path leaves its routers, in order.
    pub fn trace(&self, frame: &PaddedGrid, exits: &mut Vec<Port>) {
        let Scout { router, held, via, phase, .. } = self.scout;
        exits.clear();
        let mut at = router as usize;
        let mut entry = via;
        if phase == Phase::Cancel && held > 0 {
            exits.push(entry);
            entry = self.marks[at].entered_by();
        }
        while exits.len() < held as usize {
            exits.push(entry.opposite());
            at = frame.beyond(at, entry);
            entry = self.marks[at].entered_by();
        }
        exits.reverse();
    }

    /// Returns the number of links that the scout has to cross, after its next step, in order to return to its controller.
    #[inline]
    pub fn links_home(&self) -> u32 {
        match self.scout.phase {
            Phase::Free | Phase::Home => 0,
            Phase::Cancel => self.scout.held,
            Phase::Reserve | Phase::Circuit => self.scout.held + 1,
        }
    }

    /// Ends the search. Stores the exit ports of a circuit, and clears the marks.
    #[inline]
    pub fn end(&mut self, frame: &PaddedGrid) {
        if self.scout.phase == Phase::Circuit {
            let mut exits = std::mem::take(&mut self.exits);
            self.trace(frame, &mut exits);
            self.exits = exits;
        }
        clear(&mut self.marks, self.scout.groups, ScoutMarks::NONE);
    }
}

/// Counts of steps that are not added to the totals yet.
#[derive(Debug, Default)]
pub(super) struct Tally {
    misroutes: u64,
    backtracks: u64,
}

impl Tally {
    /// Adds the counts to `counters`.
    #[inline]
    pub fn add_to(self, counters: &mut Counters) {
        counters.misroutes += self.misroutes;
        counters.backtracks += self.backtracks;
    }
}

/// State of the network in which scouts move. With `COUNTS`, routers count visits and a link may be crossed once in each direction
/// ([`Revisits::ThreeTimes`](crate::config::Revisits)). Without it, the port of entry counts as used after the scout has backtracked through it.
pub(super) struct StepContext<'a, R: ?Sized, D, const COUNTS: bool> {
    pub frame: &'a PaddedGrid,
    pub routers: &'a mut R,
    pub routes: &'a RoutingTable,
    pub tie_break: &'a mut D,
}

impl<R: Table<Router> + ?Sized, D: Draw, const COUNTS: bool> StepContext<'_, R, D, COUNTS> {
    /// Ports of entry that count as used when the scout backtracks through them.
    const ENTRIES: PortSet = if COUNTS { PortSet::NONE } else { PortSet::MESH };

    /// Moves `scout`, which is in flight, to the end of its current link, where the scout acts. `marks` are its marks at all routers.
    #[inline(always)]
    pub fn step(
        &mut self,
        scout: &mut Scout,
        marks: &mut (impl Table<ScoutMarks> + ?Sized),
        tally: &mut Tally,
    ) -> ScoutAction {
        let index = scout.router as usize;
        let router = self.routers.at_mut(index);
        let nearer = router.position.productive_ports(scout.goal);
        let mark = *marks.at(index);
        let seen = if COUNTS { mark.seen() + 1 } else { 0 };
        let (mut busy, mut used, mut entry) = (router.busy, mark.used(), scout.via);
        if scout.phase == Phase::Reserve {
            if nearer.is_empty() {
                if busy.contains(Port::Chip) {
                    return self.turn_back(scout, marks, used, seen, tally);
                }
                router.busy = busy.with(PortSet::of(Port::Chip));
                scout.phase = Phase::Circuit;
                return ScoutAction::Reached { hops: scout.held + 1 };
            }
        } else {
            if scout.held == 0 {
                scout.phase = Phase::Free;
                return ScoutAction::Failed;
            }
            scout.held -= 1;
            // The link over which the scout backtracked is released, and is not tried again.
            let hop = self.frame.hop(entry);
            busy = busy.without(hop.here);
            router.busy = busy;
            used = used.with(hop.here);
            entry = mark.entered_by();
            scout.via = entry;
            let far = self.routers.at_mut(hop.neighbour(index));
            far.busy = far.busy.without(hop.there);
        }
        let mut open = PortSet::MESH.without(busy.with(used));
        if open.is_empty() || seen >= ScoutMarks::MAX_VISITS {
            return self.turn_back(scout, marks, used, seen, tally);
        }
        // A scout that holds at most two links can meet no held router but the previous one.
        if scout.held > 2 || (COUNTS && scout.has_closed) {
            open = open.without(ScoutMarks::held_around(marks, self.frame, index));
        }
        let router = self.routers.at_mut(index);
        let drawn = self.tie_break.choose(self.routes, router.register, nearer, open);
        router.register = drawn.register;
        let Some(port) = drawn.port else {
            return self.turn_back(scout, marks, used, seen, tally);
        };
        tally.misroutes += u64::from(drawn.is_detour);
        let hop = self.frame.hop(port);
        router.busy = busy.with(hop.here);
        *marks.at_mut(index) = ScoutMarks::held(used, entry, seen);
        scout.groups |= group(index);
        let beyond = hop.neighbour(index);
        let next = self.routers.at_mut(beyond);
        next.busy = next.busy.with(hop.there);
        scout.via = hop.entry;
        scout.held += 1;
        scout.phase = Phase::Reserve;
        scout.router = beyond as u32;
        ScoutAction::Forward
    }

    /// Makes `scout` backtrack from a router that it has visited `seen` times and where it used the ports `used`.
    #[inline(always)]
    fn turn_back(
        &mut self,
        scout: &mut Scout,
        marks: &mut (impl Table<ScoutMarks> + ?Sized),
        used: PortSet,
        seen: u16,
        tally: &mut Tally,
    ) -> ScoutAction {
        tally.backtracks += 1;
        let index = scout.router as usize;
        if scout.held > 0 {
            let hop = self.frame.hop(scout.via);
            *marks.at_mut(index) = ScoutMarks::left(used.with(hop.here.and(Self::ENTRIES)), seen);
            scout.groups |= group(index);
            scout.has_closed |= seen >= ScoutMarks::MAX_VISITS;
            scout.phase = Phase::Cancel;
            scout.via = hop.entry;
            scout.router = hop.neighbour(index) as u32;
        } else {
            scout.phase = Phase::Home;
        }
        ScoutAction::Back
    }
}

/// Reserves or releases the link at `port` of router `index`, at both ends. A chip link has only one end.
#[inline(always)]
#[cfg(feature = "internals")]
pub(super) fn set_busy(routers: &mut [Router], frame: &PaddedGrid, index: usize, port: Port, busy: bool) {
    for (index, port) in [(index, port), (frame.beyond(index, port), port.opposite())] {
        let (router, port) = (&mut routers[index], PortSet::of(port));
        router.busy = if busy { router.busy.with(port) } else { router.busy.without(port) };
    }
}
