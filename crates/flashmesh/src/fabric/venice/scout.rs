//! A scout: how it moves through the routers.

use super::bearing::{Goal, Position};
use super::counters::Counters;
use super::network::Step;
use super::ports::{Port, Ports};
use super::router::{Frame, Marks, Router, Table, clear, group};
use super::routes::Routes;
use super::tie_break::Draw;

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
    /// Its destination.
    pub goal: Goal,
    /// The router it is arriving at, in the tables.
    pub router: u32,
    /// Links between routers that it holds.
    pub held: u32,
    /// The port of that router by which it comes, forward or back; of no meaning where it holds no such link.
    pub via: Port,
    pub phase: Phase,
    /// Whether it has left a router that is not to see it again.
    pub has_closed: bool,
    /// The groups of the routers that remember something of it.
    pub groups: u64,
}

impl Scout {
    /// One in `phase` on its way to `router`.
    #[inline]
    pub const fn new(phase: Phase, router: u32, goal: Goal) -> Scout {
        Scout { goal, router, held: 0, via: Port::West, phase, has_closed: false, groups: 0 }
    }
}

/// The scout of one controller, with what is remembered of it.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub scout: Scout,
    /// What each router remembers of it.
    pub marks: Box<[Marks]>,
    /// The ports by which the links between routers of its circuit leave them, in the order of the way.
    pub exits: Vec<Port>,
}

impl Packet {
    /// That of a controller at the router at `position` which has sent no scout.
    pub fn new(router: usize, position: Position, frame: &Frame) -> Packet {
        Packet {
            scout: Scout::new(Phase::Free, router as u32, position.goal()),
            marks: vec![Marks::NONE; frame.table_len()].into(),
            exits: Vec::new(),
        }
    }

    /// Puts the ports by which the links between routers that its scout holds leave them into `exits`, in the order of the way.
    pub fn trace(&self, frame: &Frame, exits: &mut Vec<Port>) {
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

    /// Links that the scout has to cross, after its next step, to be back at its controller.
    #[inline]
    pub fn links_home(&self) -> u32 {
        match self.scout.phase {
            Phase::Free | Phase::Home => 0,
            Phase::Cancel => self.scout.held,
            Phase::Reserve | Phase::Circuit => self.scout.held + 1,
        }
    }

    /// The search is over, with or without a circuit: routers need no longer remember what the scout used.
    #[inline]
    pub fn end(&mut self, frame: &Frame) {
        if self.scout.phase == Phase::Circuit {
            let mut exits = std::mem::take(&mut self.exits);
            self.trace(frame, &mut exits);
            self.exits = exits;
        }
        clear(&mut self.marks, self.scout.groups, Marks::NONE);
    }
}

/// What scouts did, beside taking steps, since that was counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    misroutes: u64,
    backtracks: u64,
}

impl Tally {
    /// Adds it to `counters`.
    #[inline]
    pub fn add_to(self, counters: &mut Counters) {
        counters.misroutes += self.misroutes;
        counters.backtracks += self.backtracks;
    }
}

/// What scouts move through. With `COUNTS` routers count how often they see a scout, and a link may be crossed in both directions, one after
/// the other ([`Revisits::ThreeTimes`](crate::config::Revisits)); else the port by which a scout came is used once it has left backwards.
pub(super) struct Field<'a, R: ?Sized, D, const COUNTS: bool> {
    pub frame: &'a Frame,
    pub routers: &'a mut R,
    pub routes: &'a Routes,
    pub tie_break: &'a mut D,
}

impl<R: Table<Router> + ?Sized, D: Draw, const COUNTS: bool> Field<'_, R, D, COUNTS> {
    /// The ports, of which that by which a scout has come is used once it has left backwards.
    const ENTRIES: Ports = if COUNTS { Ports::NONE } else { Ports::MESH };

    /// `scout`, which is under way, arrives at the end of the link it was on, and acts there. `marks` is what the routers remember of it.
    #[inline(always)]
    pub fn step(&mut self, scout: &mut Scout, marks: &mut (impl Table<Marks> + ?Sized), tally: &mut Tally) -> Step {
        let index = scout.router as usize;
        let router = self.routers.at_mut(index);
        let nearer = router.position.towards(scout.goal);
        let mark = *marks.at(index);
        let seen = if COUNTS { mark.seen() + 1 } else { 0 };
        let (mut busy, mut used, mut entry) = (router.busy, mark.used(), scout.via);
        if scout.phase == Phase::Reserve {
            if nearer.is_empty() {
                if busy.contains(Port::Chip) {
                    return self.turn_back(scout, marks, used, seen, tally);
                }
                router.busy = busy.with(Ports::of(Port::Chip));
                scout.phase = Phase::Circuit;
                return Step::Reached { hops: scout.held + 1 };
            }
        } else {
            if scout.held == 0 {
                scout.phase = Phase::Free;
                return Step::Failed;
            }
            scout.held -= 1;
            // The link it came back over is free again, and is not tried another time.
            let way = self.frame.way(entry);
            busy = busy.without(way.here);
            router.busy = busy;
            used = used.with(way.here);
            entry = mark.entered_by();
            scout.via = entry;
            let far = self.routers.at_mut(way.from(index));
            far.busy = far.busy.without(way.there);
        }
        let mut open = Ports::MESH.without(busy.with(used));
        if open.is_empty() || seen >= Marks::SEEN_MOST {
            return self.turn_back(scout, marks, used, seen, tally);
        }
        // Only by three links or more does it come next to a router that it holds, other than the one before.
        if scout.held > 2 || (COUNTS && scout.has_closed) {
            open = open.without(Marks::held_around(marks, self.frame, index));
        }
        let router = self.routers.at_mut(index);
        let drawn = self.tie_break.choose(self.routes, router.register, nearer, open);
        router.register = drawn.register;
        let Some(port) = drawn.port else {
            return self.turn_back(scout, marks, used, seen, tally);
        };
        tally.misroutes += u64::from(drawn.is_detour);
        let way = self.frame.way(port);
        router.busy = busy.with(way.here);
        *marks.at_mut(index) = Marks::held(used, entry, seen);
        scout.groups |= group(index);
        let beyond = way.from(index);
        let next = self.routers.at_mut(beyond);
        next.busy = next.busy.with(way.there);
        scout.via = way.entry;
        scout.held += 1;
        scout.phase = Phase::Reserve;
        scout.router = beyond as u32;
        Step::Forward
    }

    /// `scout`, which has used the ports `used` of the router it is at and was seen there `seen` times, goes back the way it came.
    #[inline(always)]
    fn turn_back(
        &mut self,
        scout: &mut Scout,
        marks: &mut (impl Table<Marks> + ?Sized),
        used: Ports,
        seen: u16,
        tally: &mut Tally,
    ) -> Step {
        tally.backtracks += 1;
        let index = scout.router as usize;
        if scout.held > 0 {
            let way = self.frame.way(scout.via);
            *marks.at_mut(index) = Marks::left(used.with(way.here.and(Self::ENTRIES)), seen);
            scout.groups |= group(index);
            scout.has_closed |= seen >= Marks::SEEN_MOST;
            scout.phase = Phase::Cancel;
            scout.via = way.entry;
            scout.router = way.from(index) as u32;
        } else {
            scout.phase = Phase::Home;
        }
        Step::Back
    }
}

/// Reserves or frees the link at `port` of router `index`, at both its ends; that of a chip has but one.
#[inline(always)]
#[cfg(feature = "internals")]
pub(super) fn set_busy(routers: &mut [Router], frame: &Frame, index: usize, port: Port, busy: bool) {
    for (index, port) in [(index, port), (frame.beyond(index, port), port.opposite())] {
        let (router, port) = (&mut routers[index], Ports::of(port));
        router.busy = if busy { router.busy.with(port) } else { router.busy.without(port) };
    }
}
