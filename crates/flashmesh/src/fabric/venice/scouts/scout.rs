//! Movement of a scout through the routers.

use super::counters::Counters;
use super::network::ScoutAction;
use super::router::{PaddedGrid, Router, RouterTable, ScoutMarks, clear, group};
use super::routing_table::RoutingTable;
use super::tie_break::TieBreakRule;
use crate::fabric::venice::mesh::direction::{PackedCoord, PackedDestination};
use crate::fabric::venice::mesh::ports::{Port, PortSet};

/// Phase of the scout of a controller, between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScoutPhase {
    /// The controller has neither a scout nor a circuit.
    Free,
    /// The scout moves forward over the link that it reserved last.
    Reserve,
    /// The scout backtracks over the link that it reserved last, and then cancels this reservation.
    Cancel,
    /// The scout crosses the controller link, the last link of its return without a path.
    Return,
    /// The scout has reserved a circuit, which the controller holds.
    Circuit,
}

/// The scout of a controller, or the circuit that it reserved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scout {
    pub destination: PackedDestination,
    /// Table index of the router at which the scout arrives next; for a circuit, of the router of the chip.
    pub router: u32,
    /// Number of links between routers that the scout or circuit holds.
    pub held_count: u32,
    /// Port of `router` by which the scout arrives, forward or back; meaningless if the scout holds no link between routers.
    pub arrival_port: Port,
    pub phase: ScoutPhase,
    /// Whether the scout has used up its visits of some router, which it must not enter again. `false` if visits are not counted.
    pub has_closed: bool,
    /// Groups of table entries in which the scout has marks, as a bit set (see [`group`]).
    pub groups: u64,
}

impl Scout {
    /// Creates a scout in `phase`, without links and marks, on its way to the router with table index `router`. `goal` is its destination.
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

/// The scout of a controller, with its marks at all routers (ports used, visits, port of entry), and the ports of its circuit.
#[derive(Clone, Debug)]
pub(super) struct MarkedScout {
    pub scout: Scout,
    /// Marks of the scout at all routers, indexed by router.
    pub marks: Box<[ScoutMarks]>,
    /// Ports by which the circuit leaves its routers, in order from the controller, without the chip port; meaningless without a circuit.
    pub exits: Vec<Port>,
}

impl MarkedScout {
    /// Creates the record of a controller that has sent no scout yet. Its link leads to the router with table index `router`, at `position`.
    pub fn new(router: usize, position: PackedCoord, frame: &PaddedGrid) -> MarkedScout {
        MarkedScout {
            scout: Scout::new(ScoutPhase::Free, router as u32, position.destination()),
            marks: vec![ScoutMarks::NONE; frame.table_len()].into(),
            exits: Vec::new(),
        }
    }

    /// Replaces the content of `exits` with the ports by which the path held by the scout leaves its routers, in order from the controller.
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

    /// Returns the number of links from the next stop of the scout back to its controller, if it finds no path.
    #[inline]
    pub fn return_links(&self) -> u32 {
        match self.scout.phase {
            ScoutPhase::Free | ScoutPhase::Return => 0,
            ScoutPhase::Cancel => self.scout.held_count,
            ScoutPhase::Reserve | ScoutPhase::Circuit => self.scout.held_count + 1,
        }
    }

    /// Ends the search: stores the exit ports of a reserved circuit, and clears the marks of the scout.
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

/// Counts of misroutes (steps not nearer to the destination) and backtracks in a loop of steps, to be added to [`Counters`] after the loop.
#[derive(Debug, Default)]
pub(super) struct StepCounts {
    misroutes: u64,
    backtracks: u64,
}

impl StepCounts {
    #[inline]
    pub fn add_to(self, counters: &mut Counters) {
        counters.misroutes += self.misroutes;
        counters.backtracks += self.backtracks;
    }
}

/// State of the network in which scouts move. `COUNTS` is whether routers count visits: a scout may then move forward over a link once in each
/// direction ([`Revisits::ThreeTimes`](crate::config::Revisits)). Otherwise its port of entry counts as used once it has backtracked out of a router.
pub(super) struct StepContext<'a, R: ?Sized, D, const COUNTS: bool> {
    pub frame: &'a PaddedGrid,
    pub routers: &'a mut R,
    pub routes: &'a RoutingTable,
    pub tie_break: &'a mut D,
}

impl<R: RouterTable<Router> + ?Sized, D: TieBreakRule, const COUNTS: bool> StepContext<'_, R, D, COUNTS> {
    /// Mesh ports that count as used after the scout entered and backtracked through them: none with `COUNTS`, otherwise all.
    const ENTRIES: PortSet = if COUNTS { PortSet::NONE } else { PortSet::MESH };

    /// Moves `scout`, which is in flight, to the end of its current link. Returns its action there. `marks` are its marks at all routers. `tally`
    /// counts misroutes and backtracks.
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
            // The link of the backtrack is released, and is not tried again from this router.
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
        // `open` must exclude ports to routers that the scout holds. With at most two links, the only held neighbour is the previous router, whose
        // link is busy, so there is nothing to exclude.
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

    /// Makes `scout` backtrack from its router, after `seen` visits there (0 if not counted) in which it used the ports `used`. Returns
    /// [`ScoutAction::Back`].
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

/// Marks the link at `port` of router `index` as busy or free, at both of its ends. A chip link has only one end.
#[inline(always)]
#[cfg(feature = "internals")]
pub(super) fn set_busy(routers: &mut [Router], frame: &PaddedGrid, index: usize, port: Port, busy: bool) {
    for (index, port) in [(index, port), (frame.neighbour(index, port), port.opposite())] {
        let (router, port) = (&mut routers[index], PortSet::from_port(port));
        router.busy = if busy { router.busy.union(port) } else { router.busy.difference(port) };
    }
}
