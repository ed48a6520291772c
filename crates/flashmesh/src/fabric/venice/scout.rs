//! Movement of a scout through the routers.

use super::counters::Counters;
use super::direction::{PackedCoord, PackedDestination};
use super::network::ScoutAction;
use super::ports::{Port, PortSet};
use super::router::{PaddedGrid, Router, RouterTable, ScoutMarks, clear, group};
use super::routing_table::RoutingTable;
use super::tie_break::TieBreakRule;

/// Phase of the search of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScoutPhase {
    /// No scout and no circuit.
    Free,
    /// The scout moves forward.
    Reserve,
    /// The scout backtracks and cancels reservations.
    Cancel,
    /// The scout returns to the controller over the controller link.
    Return,
    /// The controller holds a circuit.
    Circuit,
}

/// The scout of a controller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scout {
    pub destination: PackedDestination,
    /// Table index of the router at which the scout arrives.
    pub router: u32,
    /// Number of held links between routers.
    pub held_count: u32,
    /// Port of `router` by which the scout arrives, forward or back; meaningless if the scout holds no link between routers.
    pub arrival_port: Port,
    pub phase: ScoutPhase,
    /// Whether the scout has backtracked out of a router that it must not enter again.
    pub has_closed: bool,
    /// Groups of table indices in which the scout has marks, as a bit set (see [`group`]).
    pub groups: u64,
}

impl Scout {
    /// Creates a scout in `phase` on its way to `router`.
    #[inline]
    pub const fn new(phase: ScoutPhase, router: u32, goal: PackedDestination) -> Scout {
        Scout {
            destination: goal,
            router,
            held_count: 0,
            arrival_port: Port::West,
            phase,
            has_closed: false,
            groups: 0,
        }
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
    pub fn new(router: usize, position: PackedCoord, frame: &PaddedGrid) -> MarkedScout {
        MarkedScout {
            scout: Scout::new(ScoutPhase::Free, router as u32, position.destination()),
            marks: vec![ScoutMarks::NONE; frame.table_len()].into(),
            exits: Vec::new(),
        }
    }

    /// Writes to `exits` the ports by which the held path leaves its routers, in order.
    pub fn trace_exits(&self, frame: &PaddedGrid, exits: &mut Vec<Port>) {
        let Scout { router, held_count: held, arrival_port: via, phase, .. } = self.scout;
        exits.clear();
        let mut at = router as usize;
        let mut entry = via;
        if phase == ScoutPhase::Cancel && held > 0 {
            exits.push(entry);
            entry = self.marks[at].entry_port();
        }
        while exits.len() < held as usize {
            exits.push(entry.opposite());
            at = frame.neighbour(at, entry);
            entry = self.marks[at].entry_port();
        }
        exits.reverse();
    }

    /// Returns the number of links that the scout has to cross, after its next step, in order to return to its controller.
    #[inline]
    pub fn return_links(&self) -> u32 {
        match self.scout.phase {
            ScoutPhase::Free | ScoutPhase::Return => 0,
            ScoutPhase::Cancel => self.scout.held_count,
            ScoutPhase::Reserve | ScoutPhase::Circuit => self.scout.held_count + 1,
        }
    }

    /// Ends the search. Stores the exit ports of a circuit, and clears the marks.
    #[inline]
    pub fn end(&mut self, frame: &PaddedGrid) {
        if self.scout.phase == ScoutPhase::Circuit {
            let mut exits = std::mem::take(&mut self.exits);
            self.trace_exits(frame, &mut exits);
            self.exits = exits;
        }
        clear(&mut self.marks, self.scout.groups, ScoutMarks::NONE);
    }
}

/// Counts of a loop of steps, to be added to [`Counters`] after the loop.
#[derive(Debug, Default)]
pub(super) struct StepCounts {
    misroutes: u64,
    backtracks: u64,
}

impl StepCounts {
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

impl<R: RouterTable<Router> + ?Sized, D: TieBreakRule, const COUNTS: bool> StepContext<'_, R, D, COUNTS> {
    /// Ports of entry that count as used when the scout backtracks through them.
    const ENTRIES: PortSet = if COUNTS { PortSet::NONE } else { PortSet::MESH };

    /// Moves `scout`, which is in flight, to the end of its current link, where the scout acts. `marks` are its marks at all routers.
    #[inline(always)]
    pub fn step(
        &mut self,
        scout: &mut Scout,
        marks: &mut (impl RouterTable<ScoutMarks> + ?Sized),
        tally: &mut StepCounts,
    ) -> ScoutAction {
        let index = scout.router as usize;
        let router = self.routers.at_mut(index);
        let nearer = router.position.productive_ports(scout.destination);
        let mark = *marks.at(index);
        let seen = if COUNTS { mark.visits() + 1 } else { 0 };
        let (mut busy, mut used, mut entry) = (router.busy, mark.used(), scout.arrival_port);
        if scout.phase == ScoutPhase::Reserve {
            if nearer.is_empty() {
                if busy.contains(Port::Chip) {
                    return self.backtrack(scout, marks, used, seen, tally);
                }
                router.busy = busy.union(PortSet::from_port(Port::Chip));
                scout.phase = ScoutPhase::Circuit;
                return ScoutAction::Reached { hops: scout.held_count + 1 };
            }
        } else {
            if scout.held_count == 0 {
                scout.phase = ScoutPhase::Free;
                return ScoutAction::Failed;
            }
            scout.held_count -= 1;
            // The link over which the scout backtracked is released, and is not tried again.
            let hop = self.frame.hop(entry);
            busy = busy.difference(hop.near_port);
            router.busy = busy;
            used = used.union(hop.near_port);
            entry = mark.entry_port();
            scout.arrival_port = entry;
            let far = self.routers.at_mut(hop.neighbour(index));
            far.busy = far.busy.difference(hop.far_port);
        }
        let mut open = PortSet::MESH.difference(busy.union(used));
        if open.is_empty() || seen >= ScoutMarks::MAX_VISITS {
            return self.backtrack(scout, marks, used, seen, tally);
        }
        // A scout that holds at most two links can meet no held router but the previous one.
        if scout.held_count > 2 || (COUNTS && scout.has_closed) {
            open = open.difference(ScoutMarks::held_neighbours(marks, self.frame, index));
        }
        let router = self.routers.at_mut(index);
        let drawn = self.tie_break.choose(self.routes, router.lfsr, nearer, open);
        router.lfsr = drawn.register;
        let Some(port) = drawn.port else {
            return self.backtrack(scout, marks, used, seen, tally);
        };
        tally.misroutes += u64::from(drawn.is_detour);
        let hop = self.frame.hop(port);
        router.busy = busy.union(hop.near_port);
        *marks.at_mut(index) = ScoutMarks::on_path(used, entry, seen);
        scout.groups |= group(index);
        let beyond = hop.neighbour(index);
        let next = self.routers.at_mut(beyond);
        next.busy = next.busy.union(hop.far_port);
        scout.arrival_port = hop.entry;
        scout.held_count += 1;
        scout.phase = ScoutPhase::Reserve;
        scout.router = beyond as u32;
        ScoutAction::Forward
    }

    /// Makes `scout` backtrack from a router that it has visited `seen` times and where it used the ports `used`.
    #[inline(always)]
    fn backtrack(
        &mut self,
        scout: &mut Scout,
        marks: &mut (impl RouterTable<ScoutMarks> + ?Sized),
        used: PortSet,
        seen: u16,
        tally: &mut StepCounts,
    ) -> ScoutAction {
        tally.backtracks += 1;
        let index = scout.router as usize;
        if scout.held_count > 0 {
            let hop = self.frame.hop(scout.arrival_port);
            *marks.at_mut(index) = ScoutMarks::backtracked(used.union(hop.near_port.intersection(Self::ENTRIES)), seen);
            scout.groups |= group(index);
            scout.has_closed |= seen >= ScoutMarks::MAX_VISITS;
            scout.phase = ScoutPhase::Cancel;
            scout.arrival_port = hop.entry;
            scout.router = hop.neighbour(index) as u32;
        } else {
            scout.phase = ScoutPhase::Return;
        }
        ScoutAction::Back
    }
}

/// Reserves or releases the link at `port` of router `index`, at both ends. A chip link has only one end.
#[inline(always)]
#[cfg(feature = "internals")]
pub(super) fn set_busy(routers: &mut [Router], frame: &PaddedGrid, index: usize, port: Port, busy: bool) {
    for (index, port) in [(index, port), (frame.neighbour(index, port), port.opposite())] {
        let (router, port) = (&mut routers[index], PortSet::from_port(port));
        router.busy = if busy { router.busy.union(port) } else { router.busy.difference(port) };
    }
}
