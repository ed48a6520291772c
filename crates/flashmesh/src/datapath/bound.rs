//! Programs whose mapping units were given their places before their turn (`ftl.write-binding = "early"`).
//!
//! A program gathers units until its last place is given away, or is *closed* before: the oldest has waited for `ftl.gather-timeout`, a flush waits
//! ([`Datapath::hurry`]), or a page that is moved takes what follows. A closed program runs when all units bound to it wait for their die: those of a part of
//! a unit read the rest first \[choice\]. Of other planes only programs join that could run by themselves \[choice\]; which places they have says
//! whether they may.

use crate::flash::geometry::Geometry;
use crate::ids::{DieId, PlaneId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::schedule::Choice;
use crate::schedule::fuse::InPlane;
use crate::schedule::transaction::Transaction;
use crate::units::Time;

use super::join::page_may_join;
use super::{Beginning, Datapath};

/// A program that has not begun.
#[derive(Clone, Copy, Debug)]
struct Program {
    /// The first of its places.
    start: Ppn,
    /// Units that were given one of them.
    bound: u32,
    /// Those of them that wait in the queue of their plane.
    waiting: u32,
    /// When the first one was bound.
    since: Time,
    is_closed: bool,
}

impl Program {
    fn may_run(&self) -> bool {
        self.is_closed && self.waiting == self.bound
    }
}

/// The programs of each plane, in the order in which their first units were bound.
#[derive(Clone, Debug)]
pub(super) struct BoundPrograms(Vec<Vec<Program>>);

impl BoundPrograms {
    /// None on any of `planes`.
    pub(super) fn none(planes: u32) -> BoundPrograms {
        BoundPrograms(vec![Vec::new(); planes as usize])
    }

    /// The program that has this place, among those of its plane.
    fn find(&mut self, geometry: &Geometry, place: Ppn) -> Option<&mut Program> {
        let start = geometry.program_start(place);
        self.0[geometry.plane_of(place).index()].iter_mut().find(|program| program.start == start)
    }

    fn may_run(&self, geometry: &Geometry, place: Ppn) -> bool {
        let start = geometry.program_start(place);
        self.0[geometry.plane_of(place).index()].iter().any(|program| program.start == start && program.may_run())
    }

    fn forget(&mut self, geometry: &Geometry, place: Ppn) {
        let start = geometry.program_start(place);
        self.0[geometry.plane_of(place).index()].retain(|program| program.start != start);
    }

    /// Whether a program of a plane may run.
    pub(super) fn has_gathered(&self, plane: PlaneId) -> bool {
        self.0[plane.index()].iter().any(Program::may_run)
    }

    /// A unit waits in its queue, or leaves it.
    pub(super) fn count_waiting(&mut self, geometry: &Geometry, place: Ppn, is_there: bool) {
        if let Some(program) = self.find(geometry, place) {
            program.waiting = if is_there { program.waiting + 1 } else { program.waiting - 1 };
        }
    }
}

impl<M: Model> Datapath<M> {
    fn die_of_place(&self, place: Ppn) -> DieId {
        self.geometry.die_of_plane(self.geometry.plane_of(place))
    }

    /// A write was given a place.
    #[inline]
    pub fn bind(&mut self, place: Ppn, kernel: &mut Kernel<M>) {
        if self.gathers() {
            self.bind_unit(place, kernel);
        }
    }

    #[inline(never)]
    fn bind_unit(&mut self, place: Ppn, kernel: &mut Kernel<M>) {
        let geometry = &self.geometry;
        let is_closed = geometry.is_last_of_program(place);
        if let Some(program) = self.gather.bound.find(geometry, place) {
            program.bound += 1;
            program.is_closed |= is_closed;
            return;
        }
        let since = kernel.now();
        let program = Program { start: geometry.program_start(place), bound: 1, waiting: 0, since, is_closed };
        self.gather.bound.0[geometry.plane_of(place).index()].push(program);
        if !is_closed {
            kernel.schedule(lane::GATHER, since + self.gather.timeout(), Event::GatherDue(self.die_of_place(place)));
        }
    }

    /// A write that has a place does not come: gives whether what is bound beside it may run without it.
    pub fn unbind(&mut self, place: Ppn) -> bool {
        if !self.gathers() {
            return false;
        }
        let geometry = &self.geometry;
        let Some(program) = self.gather.bound.find(geometry, place) else { return false };
        program.bound -= 1;
        let (is_empty, may_run) = (program.bound == 0, program.may_run());
        if is_empty {
            self.gather.bound.forget(geometry, place);
        }
        may_run && !is_empty
    }

    /// A page that is read before it was written takes a place, for which nothing is programmed. A program that waited for its last one may run.
    #[inline(never)]
    pub fn place_taken(&mut self, place: Ppn, kernel: &mut Kernel<M>) {
        if self.gathers() && self.geometry.is_last_of_program(place) {
            self.close_program(place);
            kernel.schedule(lane::GATHER, kernel.now(), Event::GatherDue(self.die_of_place(place)));
        }
    }

    /// The program with this place takes no more units.
    pub fn close_program(&mut self, place: Ppn) {
        if let Some(program) = self.gather.bound.find(&self.geometry, place) {
            program.is_closed = true;
        }
    }

    /// Closes the programs of a die that have waited for as long as they may, or all when they `hurry`: gives the first place of each.
    pub(super) fn close_due(&mut self, die: DieId, hurry: bool, now: Time) -> Vec<Ppn> {
        let (first, timeout) = (self.geometry.first_plane(die).index(), self.gather.timeout());
        let planes = first..first + self.geometry.planes_per_die as usize;
        let mut closed = Vec::new();
        for program in self.gather.bound.0[planes].iter_mut().flatten() {
            if !program.is_closed && (hurry || program.since + timeout <= now) {
                program.is_closed = true;
                closed.push(program.start);
            }
        }
        closed
    }

    /// Whether a program of a die takes more units.
    pub(super) fn has_open_program(&self, die: DieId) -> bool {
        let first = self.geometry.first_plane(die).index();
        let planes = first..first + self.geometry.planes_per_die as usize;
        self.gather.bound.0.get(planes).is_some_and(|planes| planes.iter().flatten().any(|program| !program.is_closed))
    }

    /// Whether a write is one whose program may run.
    pub(super) fn has_gathered(&self, write: TransactionId) -> bool {
        self.gather.bound.may_run(&self.geometry, self.transactions[write].to)
    }

    /// Takes a write of a program that may run out of the queues of a plane: the one that a policy chose, or the first.
    pub(super) fn take_gathered(
        &mut self,
        choice: Choice,
        chosen: Option<TransactionId>,
    ) -> Option<(Choice, TransactionId)> {
        if let Some(lead) = chosen.filter(|&lead| self.has_gathered(lead))
            && self.queues.take(&mut self.transactions, choice, lead)
        {
            return Some((choice, lead));
        }
        let others = self.queues.priorities().iter().copied().filter(|&other| other != choice.priority);
        for priority in std::iter::once(choice.priority).chain(others) {
            let queue = Choice { priority, ..choice };
            let (geometry, bound) = (&self.geometry, &self.gather.bound);
            let lead = self
                .queues
                .take_first(&mut self.transactions, queue, u32::MAX, |write| bound.may_run(geometry, write.to));
            if let Some(lead) = lead {
                return Some((queue, lead));
            }
        }
        None
    }

    /// Takes a write of another plane whose program may run with the one that leads.
    pub(super) fn gathered_joiner(&mut self, queue: Choice, lead_at: InPlane) -> Option<TransactionId> {
        let (rule, geometry, bound) = (self.rules.multi_plane, &self.geometry, &self.gather.bound);
        let lookahead = self.rules.lookahead.saturating_mul(geometry.units_per_program);
        self.queues.take_first(&mut self.transactions, queue, lookahead, |other| {
            page_may_join(geometry, rule, lead_at, geometry.program_start(other.to))
                && bound.may_run(geometry, other.to)
        })
    }

    /// Takes the next write of the program that `beginning` took last, whatever its priority.
    pub(super) fn next_bound(&mut self, beginning: &Beginning, lead: TransactionId) -> Option<TransactionId> {
        let leading = &self.transactions[lead];
        let start = self.geometry.program_start(leading.to).0;
        let places = start..start + self.geometry.units_per_program_of(self.geometry.block_of(leading.to));
        let plane = self.geometry.plane_in_die(leading.plane) as u8;
        for &priority in self.queues.priorities() {
            let queue = Choice { plane, priority, ..beginning.queue };
            let is_of_program = |write: &Transaction| places.contains(&write.to.0);
            let next = self.queues.take_first(&mut self.transactions, queue, u32::MAX, is_of_program);
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// The programs begin that these writes lead.
    pub(super) fn bound_began(&mut self, beginning: &Beginning) {
        for &lead in beginning.transactions() {
            self.gather.bound.forget(&self.geometry, self.transactions[lead].to);
        }
    }
}
