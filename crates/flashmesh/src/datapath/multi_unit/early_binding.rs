//! Programs whose mapping units got their pages when they were placed on a plane, before the grant of a path (`ftl.write-binding = "early"`).
//!
//! An early-bound program collects units until its last page is assigned. It is *closed* earlier if its first unit has waited for
//! `ftl.gather-timeout`, if a flush waits ([`Datapath::flush_partial_programs`]), or if a GC move takes the next page. A closed program may run once
//! all of its units are queued; a partial write is queued when its read-modify-write has read the page \[choice\].
//!
//! A program of another plane joins only if it may run on its own \[choice\], and if its page offset allows it.

use crate::datapath::operation::page_may_join;
use crate::datapath::{Datapath, NewOperation};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, PlaneId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::schedule::QueueId;
use crate::schedule::multi_plane::PlaneAddress;
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::units::Time;

/// Program that has not started, and whose mapping units already have their pages (early binding).
#[derive(Clone, Copy, Debug)]
struct PartialProgram {
    /// First page of the program.
    start: Ppn,
    /// Number of mapping units to which a page of the program was assigned.
    bound: u32,
    /// Number of mapping units of the program that are queued at their plane.
    queued: u32,
    /// Time at which the first mapping unit got its page.
    opened_at: Time,
    is_closed: bool,
}

impl PartialProgram {
    fn may_run(&self) -> bool {
        self.is_closed && self.queued == self.bound
    }
}

/// For each plane, the programs that have not started and whose mapping units already have their pages, in the order of their first units.
#[derive(Clone, Debug)]
pub(in super::super) struct EarlyBoundPrograms(Vec<Vec<PartialProgram>>);

impl EarlyBoundPrograms {
    pub(in super::super) fn new(planes: u32) -> EarlyBoundPrograms {
        EarlyBoundPrograms(vec![Vec::new(); planes as usize])
    }

    fn find(&mut self, geometry: &Geometry, page: Ppn) -> Option<&mut PartialProgram> {
        let start = geometry.program_start(page);
        self.0[geometry.plane_of(page).index()].iter_mut().find(|program| program.start == start)
    }

    fn may_run(&self, geometry: &Geometry, page: Ppn) -> bool {
        let start = geometry.program_start(page);
        self.0[geometry.plane_of(page).index()].iter().any(|program| program.start == start && program.may_run())
    }

    fn remove(&mut self, geometry: &Geometry, page: Ppn) {
        let start = geometry.program_start(page);
        self.0[geometry.plane_of(page).index()].retain(|program| program.start != start);
    }

    pub(super) fn has_runnable(&self, plane: PlaneId) -> bool {
        self.0[plane.index()].iter().any(PartialProgram::may_run)
    }

    /// Counts the mapping unit of `page` as queued, or as dequeued if `is_queued` is false.
    pub(in super::super) fn count_queued(&mut self, geometry: &Geometry, page: Ppn, is_queued: bool) {
        if let Some(program) = self.find(geometry, page) {
            program.queued = if is_queued { program.queued + 1 } else { program.queued - 1 };
        }
    }
}

impl<M: Model> Datapath<M> {
    fn die_of_page(&self, page: Ppn) -> DieId {
        self.geometry.die_of_plane(self.geometry.plane_of(page))
    }

    /// Counts a write as part of the program that contains `page`, the page assigned to the write.
    #[inline]
    pub fn bind(&mut self, page: Ppn, kernel: &mut Kernel<M>) {
        if self.gathers() {
            self.bind_unit(page, kernel);
        }
    }

    #[inline(never)]
    fn bind_unit(&mut self, page: Ppn, kernel: &mut Kernel<M>) {
        let geometry = &self.geometry;
        let is_closed = geometry.is_last_of_program(page);
        if let Some(program) = self.gather.early_bound.find(geometry, page) {
            program.bound += 1;
            program.is_closed |= is_closed;
            return;
        }
        let opened_at = kernel.now();
        let program = PartialProgram { start: geometry.program_start(page), bound: 1, queued: 0, opened_at, is_closed };
        self.gather.early_bound.0[geometry.plane_of(page).index()].push(program);
        if !is_closed {
            kernel.schedule(lane::GATHER, opened_at + self.gather.timeout(), Event::GatherDue(self.die_of_page(page)));
        }
    }

    /// Removes a cancelled write, to which `page` was assigned, from its program. Returns whether the remaining units of the program may be
    /// programmed now; `false` if none remains.
    pub fn unbind(&mut self, page: Ppn) -> bool {
        if !self.gathers() {
            return false;
        }
        let geometry = &self.geometry;
        let Some(program) = self.gather.early_bound.find(geometry, page) else { return false };
        program.bound -= 1;
        let (is_empty, may_run) = (program.bound == 0, program.may_run());
        if is_empty {
            self.gather.early_bound.remove(geometry, page);
        }
        may_run && !is_empty
    }

    /// Skips `page`, which was assigned to a logical page but is never programmed: with `ftl.first-touch = "write-block"` or
    /// `"reader-block"`, the first read of an unmapped logical page assigns it the next page of an open block.
    ///
    /// If `page` is the last page of a program of several units, closes the program, because no later write can join it.
    #[inline(never)]
    pub fn skip_page(&mut self, page: Ppn, kernel: &mut Kernel<M>) {
        if self.gathers() && self.geometry.is_last_of_program(page) {
            self.close_program(page);
            kernel.schedule(lane::GATHER, kernel.now(), Event::GatherDue(self.die_of_page(page)));
        }
    }

    /// Closes the program of `page`: no more units are bound to it.
    pub fn close_program(&mut self, page: Ppn) {
        if let Some(program) = self.gather.early_bound.find(&self.geometry, page) {
            program.is_closed = true;
        }
    }

    /// Closes the programs of `die` whose gather timeout has passed; with `is_flush`, all programs. Returns the first page of each program
    /// that was closed.
    pub(super) fn close_due_programs(&mut self, die: DieId, is_flush: bool, now: Time) -> Vec<Ppn> {
        let (first, timeout) = (self.geometry.first_plane(die).index(), self.gather.timeout());
        let planes = first..first + self.geometry.planes_per_die as usize;
        let mut closed = Vec::new();
        for program in self.gather.early_bound.0[planes].iter_mut().flatten() {
            if !program.is_closed && (is_flush || program.opened_at + timeout <= now) {
                program.is_closed = true;
                closed.push(program.start);
            }
        }
        closed
    }

    /// Returns whether a program of `die` still accepts mapping units with early binding.
    pub(super) fn has_open_program(&self, die: DieId) -> bool {
        let first = self.geometry.first_plane(die).index();
        let planes = first..first + self.geometry.planes_per_die as usize;
        self.gather
            .early_bound
            .0
            .get(planes)
            .is_some_and(|planes| planes.iter().flatten().any(|program| !program.is_closed))
    }

    pub(in super::super) fn is_program_runnable(&self, write: TransactionId) -> bool {
        self.gather.early_bound.may_run(&self.geometry, self.transactions[write].to)
    }

    /// Dequeues a write whose program may run: `chosen` if its program may, otherwise the first such write of the plane. Returns the write
    /// with its queue; `None` if there is none.
    pub(in super::super) fn dequeue_early_bound(
        &mut self,
        choice: QueueId,
        chosen: Option<TransactionId>,
    ) -> Option<(QueueId, TransactionId)> {
        if let Some(lead) = chosen.filter(|&lead| self.is_program_runnable(lead))
            && self.queues.dequeue(&mut self.transactions, choice, lead)
        {
            return Some((choice, lead));
        }
        let others = self.queues.priorities().iter().copied().filter(|&other| other != choice.priority);
        for priority in std::iter::once(choice.priority).chain(others) {
            let queue = QueueId { priority, ..choice };
            let (geometry, bound) = (&self.geometry, &self.gather.early_bound);
            let lead = self
                .queues
                .dequeue_first(&mut self.transactions, queue, u32::MAX, |write| bound.may_run(geometry, write.to));
            if let Some(lead) = lead {
                return Some((queue, lead));
            }
        }
        None
    }

    /// Dequeues and returns a write of another plane (`queue`) whose program may run together with the program at `lead_location`; `None`
    /// if there is none.
    pub(in super::super) fn dequeue_early_bound_joiner(
        &mut self,
        queue: QueueId,
        lead_location: PlaneAddress,
    ) -> Option<TransactionId> {
        let (rule, geometry, bound) = (self.rules.multi_plane, &self.geometry, &self.gather.early_bound);
        let lookahead = self.rules.lookahead.saturating_mul(geometry.units_per_program);
        self.queues.dequeue_first(&mut self.transactions, queue, lookahead, |other| {
            page_may_join(geometry, rule, lead_location, geometry.program_start(other.to))
                && bound.may_run(geometry, other.to)
        })
    }

    /// Dequeues and returns the next write of the program of `lead`, of any priority; `None` if all writes of the program are dequeued.
    pub(super) fn next_early_bound(&mut self, operation: &NewOperation, lead: TransactionId) -> Option<TransactionId> {
        let leading = &self.transactions[lead];
        let start = self.geometry.program_start(leading.to).0;
        let pages = start..start + self.geometry.units_per_program_of(self.geometry.block_of(leading.to));
        let plane = self.geometry.plane_in_die(leading.plane) as u8;
        for &priority in self.queues.priorities() {
            let queue = QueueId { plane, priority, ..operation.queue };
            let is_of_program = |write: &Transaction| pages.contains(&write.to.0);
            let next = self.queues.dequeue_first(&mut self.transactions, queue, u32::MAX, is_of_program);
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Removes the early-bound programs that `operation` starts.
    pub(super) fn remove_started_programs(&mut self, operation: &NewOperation) {
        for &lead in operation.transactions() {
            self.gather.early_bound.remove(&self.geometry, self.transactions[lead].to);
        }
    }

    /// Returns whether programs of `class` get their pages when they are placed on a plane, not at the grant of a path.
    #[inline(always)]
    pub(in super::super) fn is_early_bound(&self, class: TransactionClass) -> bool {
        self.rules.binds_early && class == TransactionClass::UserProgram
    }

    /// Returns whether `id` is a program that must get its page at the grant (late binding).
    #[inline(always)]
    pub fn needs_page(&self, id: TransactionId) -> bool {
        let class = self.transactions[id].class();
        class.is_program() && !self.is_early_bound(class)
    }
}
