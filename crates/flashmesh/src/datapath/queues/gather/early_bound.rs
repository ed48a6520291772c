//! Programs of early-bound mapping units, whose pages are assigned when the units are placed on a plane, before the grant of a path
//! (`ftl.write-binding = "early"`).
//!
//! An early-bound program waits for mapping units until its last page is assigned. The program is *closed* earlier if its first unit has waited for
//! `ftl.gather-timeout`, if a flush waits ([`TransactionQueues::flush_partial_programs`](super::super::TransactionQueues::flush_partial_programs)),
//! or if a GC move takes the next page. A closed program may run once all of its units are queued; a partial write is queued when its
//! read-modify-write has read the page \[choice\].
//!
//! A program joins a multi-plane operation only if it could run alone \[choice\] and its page offset allows it.

use crate::flash::geometry::Geometry;
use crate::ids::{DieId, PlaneId, Ppn};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::units::Time;

/// Program that has not started, and whose mapping units already have their pages (early binding).
#[derive(Clone, Copy, Debug)]
struct WaitingProgram {
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

impl WaitingProgram {
    fn may_run(&self) -> bool {
        self.is_closed && self.queued == self.bound
    }
}

/// Programs that have not started and whose mapping units already have their pages (early binding).
#[derive(Clone, Debug)]
pub struct EarlyBoundPrograms {
    /// For each plane, its programs that have not started, in the order in which their first mapping units got their pages. Empty if each program of
    /// the drive has one mapping unit.
    programs: Vec<Vec<WaitingProgram>>,
    timeout: Time,
    geometry: Geometry,
}

impl EarlyBoundPrograms {
    pub(in super::super) fn new(timeout: Time, geometry: &Geometry) -> EarlyBoundPrograms {
        let planes = if geometry.gathers_units() { geometry.planes() } else { 0 };
        EarlyBoundPrograms { programs: vec![Vec::new(); planes as usize], timeout, geometry: geometry.clone() }
    }

    /// Returns the program that contains `page`; `None` if the program has started, or if no mapping unit of the program has its page yet.
    fn find(&mut self, page: Ppn) -> Option<&mut WaitingProgram> {
        let start = self.geometry.program_start(page);
        let programs = self.programs.get_mut(self.geometry.plane_of(page).index())?;
        programs.iter_mut().find(|program| program.start == start)
    }

    /// Returns whether the program that contains `page` may run: all of its mapping units are queued, and no more can be added.
    pub(in super::super) fn may_run(&self, page: Ppn) -> bool {
        let start = self.geometry.program_start(page);
        let mut programs = self.programs[self.geometry.plane_of(page).index()].iter();
        programs.any(|program| program.start == start && program.may_run())
    }

    pub(in super::super) fn remove(&mut self, page: Ppn) {
        let start = self.geometry.program_start(page);
        self.programs[self.geometry.plane_of(page).index()].retain(|program| program.start != start);
    }

    pub(in super::super) fn has_runnable(&self, plane: PlaneId) -> bool {
        self.programs[plane.index()].iter().any(WaitingProgram::may_run)
    }

    /// Counts the mapping unit of `page` as queued, or as dequeued if `is_queued` is false.
    pub(in super::super) fn count_queued(&mut self, page: Ppn, is_queued: bool) {
        if let Some(program) = self.find(page) {
            program.queued = if is_queued { program.queued + 1 } else { program.queued - 1 };
        }
    }

    fn die_of_page(&self, page: Ppn) -> DieId {
        self.geometry.die_of_plane(self.geometry.plane_of(page))
    }

    /// Adds a write, to which `page` was assigned, to the program that contains `page`. Does nothing if each program of the drive has one mapping
    /// unit.
    #[inline]
    pub fn bind(&mut self, page: Ppn, kernel: &mut Kernel<impl Model>) {
        if !self.programs.is_empty() {
            self.add_to_program(page, kernel);
        }
    }

    #[inline(never)]
    fn add_to_program(&mut self, page: Ppn, kernel: &mut Kernel<impl Model>) {
        let is_closed = self.geometry.is_last_of_program(page);
        if let Some(program) = self.find(page) {
            program.bound += 1;
            program.is_closed |= is_closed;
            return;
        }
        let opened_at = kernel.now();
        let program =
            WaitingProgram { start: self.geometry.program_start(page), bound: 1, queued: 0, opened_at, is_closed };
        self.programs[self.geometry.plane_of(page).index()].push(program);
        if !is_closed {
            kernel.schedule(lane::GATHER, opened_at + self.timeout, Event::GatherDue(self.die_of_page(page)));
        }
    }

    /// Removes a cancelled write, to which `page` was assigned, from its program. Returns whether the rest of the program may run now; `false` if
    /// nothing is left, or if each program of the drive has one mapping unit.
    pub fn unbind(&mut self, page: Ppn) -> bool {
        let Some(program) = self.find(page) else { return false };
        program.bound -= 1;
        let (is_empty, may_run) = (program.bound == 0, program.may_run());
        if is_empty {
            self.remove(page);
        }
        may_run && !is_empty
    }

    /// Skips `page`, which is never programmed: the first read of an unmapped logical page has assigned it (`ftl.first-touch`).
    ///
    /// If `page` is the last page of a program of several mapping units, closes the program, because no later write can join it.
    #[inline(never)]
    pub fn skip(&mut self, page: Ppn, kernel: &mut Kernel<impl Model>) {
        if !self.programs.is_empty() && self.geometry.is_last_of_program(page) {
            self.close(page);
            kernel.schedule(lane::GATHER, kernel.now(), Event::GatherDue(self.die_of_page(page)));
        }
    }

    /// Closes the program that contains `page`: it gets no further mapping units, and may run once all of its units are queued.
    pub fn close(&mut self, page: Ppn) {
        if let Some(program) = self.find(page) {
            program.is_closed = true;
        }
    }

    /// Closes the programs of `die` that have waited for `ftl.gather-timeout`; with `is_flush`, all programs. Closed programs get no further mapping
    /// units. Returns the first page of each newly closed program.
    pub(in super::super) fn close_due(&mut self, die: DieId, is_flush: bool, now: Time) -> Vec<Ppn> {
        let (first, timeout) = (self.geometry.first_plane(die).index(), self.timeout);
        let planes = first..first + self.geometry.planes_per_die as usize;
        let mut closed = Vec::new();
        for program in self.programs[planes].iter_mut().flatten() {
            if !program.is_closed && (is_flush || program.opened_at + timeout <= now) {
                program.is_closed = true;
                closed.push(program.start);
            }
        }
        closed
    }

    /// Returns whether a program of `die` still accepts mapping units.
    pub(in super::super) fn has_open(&self, die: DieId) -> bool {
        let first = self.geometry.first_plane(die).index();
        let planes = first..first + self.geometry.planes_per_die as usize;
        self.programs.get(planes).is_some_and(|planes| planes.iter().flatten().any(|program| !program.is_closed))
    }
}
