//! Gathering of mapping units that share a page of the array or a program.
//!
//! Units of one page or program run as one transaction: the first unit leads, and the others are chained to it as its *companions*.
//!
//! - Reads of one page that wait in the same queue are sensed once and transferred together.
//! - Programs gather in the queue of their plane until they fill one program. A partial program runs when its oldest unit has waited for
//!   `ftl.gather-timeout`, when a flush waits for it ([`Datapath::flush_partial_programs`]), or when no more units can arrive (the last units of a
//!   victim).
//! - Early-bound writes gather in the program of their page ([`early_binding`](super::early_binding)).
//! - In superblocks, whose planes are written at the same offset, a program waits until all planes of the die are full.

use crate::config::{Config, MultiPlane};
use crate::datapath::multi_unit::EarlyBoundPrograms;
use crate::datapath::{Datapath, NewOperation, PageSource};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, PlaneId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::policies;
use crate::schedule::QueueId;
use crate::schedule::purpose::Purpose;
use crate::schedule::queues::{NOTHING, PlaneMasks, planes};
use crate::schedule::transaction::{CLASSES, TransactionClass};
use crate::units::Time;

/// State of programs that gather: they wait in their queues until mapping units fill a program.
#[derive(Clone, Debug)]
pub(in super::super) struct GatherState {
    is_enabled: bool,
    pub(in super::super) units_per_page: u32,
    units_per_program: u32,
    timeout: Time,
    /// Whether no plane of a die is programmed before all planes of the die have a full program (superblocks).
    gathers_by_die: bool,
    planes_per_die: u32,
    /// Planes whose partial programs may run without further mapping units, by die and class.
    released: Vec<PlaneMasks>,
    /// Number of queued mapping units that get their pages at the grant (late binding), indexed by die, class and plane. Empty if programs
    /// do not gather.
    queued: Vec<u32>,
    /// Programs of mapping units that got their pages when they were placed on a plane (early binding).
    pub(in super::super) early_bound: EarlyBoundPrograms,
}

impl GatherState {
    pub(in super::super) fn new(config: &Config, geometry: &Geometry) -> GatherState {
        let is_enabled = geometry.gathers_units();
        let dies = if is_enabled { geometry.dies() as usize } else { 0 };
        GatherState {
            is_enabled,
            units_per_page: geometry.units_per_page,
            units_per_program: geometry.units_per_program,
            timeout: config.ftl.gather_timeout,
            gathers_by_die: policies::ftl_rules(config).superblock_dies.is_some()
                && config.flash.multi_plane != MultiPlane::Off,
            planes_per_die: geometry.planes_per_die,
            released: vec![NOTHING; dies],
            queued: vec![0; dies * CLASSES * geometry.planes_per_die as usize],
            early_bound: EarlyBoundPrograms::new(if is_enabled { geometry.planes() } else { 0 }),
        }
    }

    #[inline(always)]
    pub(in super::super) fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    pub(super) fn timeout(&self) -> Time {
        self.timeout
    }

    fn index(&self, die: DieId, class: TransactionClass, plane: u8) -> usize {
        (die.index() * CLASSES + class.index()) * self.planes_per_die as usize + usize::from(plane)
    }

    fn is_full(&self, die: DieId, class: TransactionClass, plane: u8, units: u32) -> bool {
        self.queued[self.index(die, class, plane)] >= units
    }
}

/// Returns whether a program for `work` may wait for further mapping units.
fn may_gather(work: Purpose) -> bool {
    work.class().is_program() && work != Purpose::Parity && !work.is_whole()
}

/// Programs that wait for further mapping units at most until a timeout. GC moves are not included, because their wait has no timeout.
const TIMED_PROGRAMS: PlaneMasks = PlaneMasks::all_of(&TransactionClass::WAITING_PROGRAMS);

impl<M: Model> Datapath<M> {
    /// Counts a mapping unit that is queued at its die.
    #[inline(always)]
    pub(in super::super) fn count_queued(
        &mut self,
        id: TransactionId,
        die: DieId,
        work: Purpose,
        plane: u8,
        kernel: &mut Kernel<M>,
    ) {
        if self.gathers() && self.is_early_bound(work.class()) {
            self.gather.early_bound.count_queued(&self.geometry, self.transactions[id].to, true);
        } else if self.gathers() && may_gather(work) {
            self.count_gathering(die, work.class(), plane, kernel);
        }
    }

    #[inline(never)]
    fn count_gathering(&mut self, die: DieId, class: TransactionClass, plane: u8, kernel: &mut Kernel<M>) {
        let at = self.gather.index(die, class, plane);
        self.gather.queued[at] += 1;
        if self.gather.queued[at] == 1 && class.waits_for_page() {
            kernel.schedule(lane::GATHER, kernel.now() + self.gather.timeout, Event::GatherDue(die));
        }
    }

    /// Counts a mapping unit that leaves the queue of its die.
    #[inline(always)]
    pub(in super::super) fn count_dequeued(&mut self, id: TransactionId) {
        if self.gathers() {
            let transaction = &self.transactions[id];
            if !may_gather(transaction.purpose) {
                return;
            }
            if self.is_early_bound(transaction.class()) {
                return self.gather.early_bound.count_queued(&self.geometry, transaction.to, false);
            }
            let die = self.geometry.die_of_plane(transaction.plane);
            let plane = self.geometry.plane_in_die(transaction.plane) as u8;
            let at = self.gather.index(die, transaction.class(), plane);
            self.gather.queued[at] -= 1;
        }
    }

    /// Returns the number of GC moves that wait at `plane` until they fill a program.
    pub fn moves_that_gather(&self, plane: PlaneId) -> u32 {
        let (die, in_die) = (self.geometry.die_of_plane(plane), self.geometry.plane_in_die(plane) as u8);
        self.gather.queued[self.gather.index(die, TransactionClass::CollectProgram, in_die)]
    }

    /// Returns the planes among `planes` (bit mask by index in the die) whose programs of `class` may run: full programs, and programs that
    /// need not wait for further mapping units.
    pub(in super::super) fn runnable_programs<S: PageSource<M>>(
        &self,
        die: DieId,
        class: TransactionClass,
        planes: u8,
        source: &S,
    ) -> u8 {
        if planes == 0 {
            return 0;
        }
        let GatherState { gathers_by_die, planes_per_die, released, .. } = &self.gather;
        let (first, count) = (self.geometry.first_plane(die), *planes_per_die);
        if self.is_early_bound(class) {
            let may_run = |plane: &u8| self.gather.early_bound.has_runnable(PlaneId(first.0 + u32::from(*plane)));
            return self::planes(planes).filter(may_run).fold(0, |ready, plane| ready | 1 << plane);
        }
        let released = released[die.index()].of(class);
        let moves = class == TransactionClass::CollectProgram;
        let units = |plane: u8| {
            let writes_slc = || source.writes_slc(PlaneId(first.0 + u32::from(plane)));
            let is_page = self.geometry.has_slc() && class == TransactionClass::UserProgram && writes_slc();
            if is_page { self.gather.units_per_page } else { self.gather.units_per_program }
        };
        let is_full = |plane: u8| self.gather.is_full(die, class, plane, units(plane));
        if *gathers_by_die {
            if released != 0 || (moves && !source.has_unread_pages(first)) || (0..count as u8).all(is_full) {
                return planes;
            }
            // In superblocks, moves go to the plane with the fewest programmed pages. If one plane has moves for two programs queued, the
            // planes with a full program run without the others: the number of moves in flight is limited, so moves for the other planes
            // may never arrive.
            let has_two_programs = |plane: u8| self.gather.is_full(die, class, plane, 2 * units(plane));
            let may_run = moves && (0..count as u8).any(has_two_programs);
            return self::planes(planes)
                .filter(|&plane| may_run && is_full(plane))
                .fold(0, |ready, plane| ready | 1 << plane);
        }
        let is_ready = |plane: &u8| {
            released >> plane & 1 != 0
                || is_full(*plane)
                || (moves && self.needs_no_companions(die, *plane, source))
                || (moves && !source.has_unread_pages(PlaneId(first.0 + u32::from(*plane))))
        };
        self::planes(planes).filter(is_ready).fold(0, |ready, plane| ready | 1 << plane)
    }

    /// Returns the planes among `planes` that may join a program of GC moves: planes whose own program may run, since a plane whose moves
    /// still gather would join with a partial program. In superblocks, returns all of `planes`: a plane that still gathers cannot join
    /// anyway, because its page offset differs from the lead's.
    pub(in super::super) fn planes_with_full_moves<S: PageSource<M>>(&self, die: DieId, planes: u8, source: &S) -> u8 {
        if self.gather.gathers_by_die {
            return planes;
        }
        self.runnable_programs(die, TransactionClass::CollectProgram, planes, source)
    }

    /// Ends the wait for further mapping units in the programs of `die` whose gather timeout has passed; with `is_flush`, in all programs.
    /// Returns the first page of each early-bound program that was closed, whose pages without data stay empty. Next, call
    /// [`Datapath::try_issue`].
    #[inline(never)]
    pub fn gather_due(&mut self, die: DieId, is_flush: bool, kernel: &Kernel<M>) -> Vec<Ppn> {
        let now = kernel.now();
        for class in TransactionClass::WAITING_PROGRAMS {
            if self.is_early_bound(class) {
                continue;
            }
            for plane in 0..self.gather.planes_per_die as u8 {
                let heads = self.queues.priorities().iter().filter_map(|&priority| {
                    let head = self.queues.head(QueueId { die, class, plane, priority })?;
                    Some(self.transactions[head].account.queued())
                });
                if heads.min().is_some_and(|queued| is_flush || queued + self.gather.timeout <= now) {
                    self.gather.released[die.index()].insert(class, plane);
                }
            }
        }
        self.close_due_programs(die, is_flush, now)
    }

    /// Schedules an event that ends the wait of partial programs at `die` for further mapping units, because a flush waits for these
    /// programs. The event follows all other events of the current time.
    #[inline(never)]
    pub fn flush_partial_programs(&self, die: DieId, kernel: &mut Kernel<M>) {
        let is_waiting = || self.queues.masks(die).and(TIMED_PROGRAMS) != NOTHING || self.has_open_program(die);
        if self.gathers() && is_waiting() {
            kernel.schedule(lane::GATHER, kernel.now(), Event::GatherDue(die));
        }
    }

    /// Dequeues the next mapping unit for the program that was added last to `operation`; `None` if there is none. All earlier units must
    /// have their pages.
    #[inline(always)]
    pub fn next_companion<S: PageSource<M>>(
        &mut self,
        operation: &mut NewOperation,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        if self.gathers() { self.next_unit_of_program(operation, source, kernel) } else { None }
    }

    #[inline(never)]
    fn next_unit_of_program<S: PageSource<M>>(
        &mut self,
        operation: &mut NewOperation,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        let lead = *operation.transactions().last()?;
        if self.transactions[lead].purpose.is_whole() {
            return self.next_unit_of_complete_program(operation, lead, kernel);
        }
        let id = if self.is_early_bound(operation.class()) {
            self.next_early_bound(operation, lead)?
        } else {
            self.next_late_bound(operation, lead, source)?
        };
        self.on_dequeued(id, operation.queue.die, operation.path(), kernel);
        let last = self.with_companions(lead).last().unwrap_or(lead);
        self.append_companion(last, id);
        operation.companion_count += 1;
        Some(id)
    }

    /// Dequeues the next mapping unit for the open block of `lead` (late binding); `None` if the program of `lead` is full, or no queued
    /// unit fits.
    fn next_late_bound<S: PageSource<M>>(
        &mut self,
        operation: &NewOperation,
        lead: TransactionId,
        source: &S,
    ) -> Option<TransactionId> {
        let leading = self.transactions[lead];
        let units = self.geometry.units_per_program_of(self.geometry.block_of(leading.to));
        if leading.to.0 / units != (leading.to.0 + operation.companion_count + 1) / units {
            return None;
        }
        let plane = self.geometry.plane_in_die(leading.plane) as u8;
        let queue = QueueId { plane, ..operation.queue };
        let lookahead = self.rules.lookahead.max(units);
        self.queues.dequeue_first(&mut self.transactions, queue, lookahead, |other| {
            leading.purpose.may_run_with(other.purpose)
                && source.shares_block(&leading, other)
                && source.is_current(other)
        })
    }

    /// Restarts the gather timeout for the mapping units that stay queued after the start of `operation`. With early binding, removes the
    /// started programs instead.
    #[inline(never)]
    pub(in super::super) fn restart_gathering(&mut self, operation: &NewOperation, kernel: &mut Kernel<M>) {
        let (die, class) = (operation.queue.die, operation.class());
        if self.is_early_bound(class) {
            return self.remove_started_programs(operation);
        }
        for &lead in operation.transactions() {
            let plane = self.geometry.plane_in_die(self.transactions[lead].plane) as u8;
            self.gather.released[die.index()].remove(class, plane);
            let heads = self.queues.priorities().iter().filter_map(|&priority| {
                let head = self.queues.head(QueueId { die, class, plane, priority })?;
                Some(self.transactions[head].account.queued())
            });
            if let Some(queued) = heads.min()
                && class.waits_for_page()
            {
                let due = (queued + self.gather.timeout).max(kernel.now());
                kernel.schedule(lane::GATHER, due, Event::GatherDue(die));
            }
        }
    }
}
