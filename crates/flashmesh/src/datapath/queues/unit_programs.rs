//! Programs of several mapping units in one plane: which of these programs may run, and which units they take from the queues.
//!
//! A *complete program* gets its data without the controller: a copyback, or pages collected in the page buffer of another chip. All of its units are
//! available when it is queued ([`Purpose::is_whole`](crate::schedule::purpose::Purpose::is_whole)). So a complete program does not wait for further
//! units, and precedes the programs of its queue that do.

use crate::datapath::{NewOperation, PageSource};
use crate::ids::{DieId, PlaneId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::schedule::QueueId;
use crate::schedule::queues::{NOTHING, PlaneMasks, planes};
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::units::Time;

use super::{IssueWait, TransactionQueues};

/// Classes of programs that wait for further mapping units only until a timeout (`ftl.gather-timeout`). Excludes GC moves, which wait without a
/// timeout.
const TIMED_PROGRAMS: PlaneMasks = PlaneMasks::all_of(&TransactionClass::WAITING_PROGRAMS);

impl<M: Model> TransactionQueues<M> {
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
        let (first, count) = (self.geometry.first_plane(die), self.geometry.planes_per_die);
        if self.is_early_bound(class) {
            let may_run = |plane: &u8| self.early_bound.has_runnable(PlaneId(first.0 + u32::from(*plane)));
            return self::planes(planes).filter(may_run).fold(0, |ready, plane| ready | 1 << plane);
        }
        let released = self.gather.released(die, class);
        let moves = class == TransactionClass::CollectProgram;
        let units = |plane: u8| {
            let writes_slc = || source.writes_slc(PlaneId(first.0 + u32::from(plane)));
            let is_page = self.geometry.has_slc() && class == TransactionClass::UserProgram && writes_slc();
            if is_page { self.geometry.units_per_page } else { self.geometry.units_per_program }
        };
        let is_full = |plane: u8| self.gather.queued(die, class, plane) >= units(plane);
        if self.gather.gathers_by_die() {
            if released != 0 || (moves && !source.has_unread_pages(first)) || (0..count as u8).all(is_full) {
                return planes;
            }
            // In superblocks, GC moves go to the plane with the fewest programmed pages, and the number of moves in flight is limited. So the moves
            // that would fill the other planes may never arrive: if one plane has moves for two programs queued, let the planes with a full program
            // run without the others.
            let has_two_programs = |plane: u8| self.gather.queued(die, class, plane) >= 2 * units(plane);
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

    /// Returns the planes among `planes` that may join a multi-plane program of GC moves: the planes whose own program may run, because a joiner is
    /// programmed even if its mapping units do not fill the program yet. In superblocks, returns all of `planes`: a plane that still waits for units
    /// has another page offset, and so cannot join.
    pub(in super::super) fn planes_with_full_moves<S: PageSource<M>>(&self, die: DieId, planes: u8, source: &S) -> u8 {
        if self.gather.gathers_by_die() {
            return planes;
        }
        self.runnable_programs(die, TransactionClass::CollectProgram, planes, source)
    }

    /// Returns whether a GC move at the head of a queue of `plane` may run without waiting for further mapping units. True for a complete program
    /// (all of its units were queued together). If GC uses Cleans (chip-to-chip moves of whole blocks), also true for a move whose page is no longer
    /// valid at its old address, because a move that waits for units which may never arrive would block the queue.
    pub(super) fn needs_no_companions<S: PageSource<M>>(&self, die: DieId, plane: u8, source: &S) -> bool {
        self.by_die.priorities().iter().any(|&priority| {
            let class = TransactionClass::CollectProgram;
            let head = self.by_die.head(QueueId { die, class, plane, priority }).map(|head| &self.transactions[head]);
            head.is_some_and(|head| head.purpose.is_whole() || (self.rules.cleans && !source.is_current(head)))
        })
    }

    /// Ends the wait for further mapping units in the programs of `die` that have waited for `ftl.gather-timeout`; with `is_flush`, in all programs.
    /// Returns the first page of each early-bound program (pages assigned before the grant) that this call closes; the pages of a closed program
    /// without a mapping unit stay empty. Next, call [`Datapath::try_issue`](crate::datapath::Datapath::try_issue).
    #[inline(never)]
    pub fn gather_due(&mut self, die: DieId, is_flush: bool, kernel: &Kernel<M>) -> Vec<Ppn> {
        let now = kernel.now();
        for class in TransactionClass::WAITING_PROGRAMS {
            if self.is_early_bound(class) {
                continue;
            }
            for plane in 0..self.geometry.planes_per_die as u8 {
                let Some(queued) = self.oldest_queued(die, class, plane) else { continue };
                if is_flush {
                    self.gather.release(die, class, plane);
                } else {
                    self.gather.release_due(die, class, plane, queued, now);
                }
            }
        }
        self.early_bound.close_due(die, is_flush, now)
    }

    /// Returns the time at which the oldest of the heads of the queues of `class` at `plane` was queued; `None` if these queues are empty.
    fn oldest_queued(&self, die: DieId, class: TransactionClass, plane: u8) -> Option<Time> {
        let heads = self.by_die.priorities().iter().filter_map(|&priority| {
            let head = self.by_die.head(QueueId { die, class, plane, priority })?;
            Some(self.transactions[head].account.queued())
        });
        heads.min()
    }

    /// Schedules an event that ends the wait of partial programs at `die` for further mapping units. Call this when a flush waits for these programs.
    /// The event follows all other events of the current time.
    #[inline(never)]
    pub fn flush_partial_programs(&self, die: DieId, kernel: &mut Kernel<M>) {
        let is_waiting = || self.by_die.masks(die).and(TIMED_PROGRAMS) != NOTHING || self.early_bound.has_open(die);
        if self.gathers() && is_waiting() {
            kernel.schedule(lane::GATHER, kernel.now(), Event::GatherDue(die));
        }
    }

    /// Dequeues a further mapping unit for the program that was added last to `operation`, and charges `wait` to the unit; `None` if no queued unit
    /// fits. The earlier units of the program must already have their pages.
    #[inline(never)]
    pub(in super::super) fn next_unit_of_program<S: PageSource<M>>(
        &mut self,
        operation: &mut NewOperation,
        wait: IssueWait,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        let lead = *operation.transactions().last()?;
        if self.transactions[lead].purpose.is_whole() {
            return self.next_unit_of_complete_program(operation, lead, wait, kernel);
        }
        let id = if self.is_early_bound(operation.class()) {
            self.next_early_bound(operation, lead)?
        } else {
            self.next_late_bound(operation, lead, source)?
        };
        self.charge_issue_wait(id, operation.queue.die, wait, kernel);
        let last = self.transactions.with_companions(lead).last().unwrap_or(lead);
        self.transactions.append_companion(last, id);
        operation.companion_count += 1;
        Some(id)
    }

    /// Dequeues the next mapping unit for the program of `lead`, whose units get their pages now (late binding); `None` if the program is full, or no
    /// queued unit fits. Takes units of other priorities after those of its own, since a full program takes no longer than a partial one.
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
        let lookahead = self.rules.lookahead.max(units);
        self.by_die.of_all_priorities(QueueId { plane, ..operation.queue }).find_map(|queue| {
            self.by_die.dequeue_first(&mut self.transactions, queue, lookahead, |other| {
                leading.purpose.may_run_with(other.purpose)
                    && source.shares_block(&leading, other)
                    && source.is_current(other)
            })
        })
    }

    /// Dequeues and returns the next write, of any priority, whose page belongs to the program of `lead` (early binding); `None` if all such writes
    /// are dequeued.
    fn next_early_bound(&mut self, operation: &NewOperation, lead: TransactionId) -> Option<TransactionId> {
        let leading = &self.transactions[lead];
        let start = self.geometry.program_start(leading.to).0;
        let pages = start..start + self.geometry.units_per_program_of(self.geometry.block_of(leading.to));
        let plane = self.geometry.plane_in_die(leading.plane) as u8;
        for &priority in self.by_die.priorities() {
            let queue = QueueId { plane, priority, ..operation.queue };
            let is_of_program = |write: &Transaction| pages.contains(&write.to.0);
            let next = self.by_die.dequeue_first(&mut self.transactions, queue, u32::MAX, is_of_program);
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Returns the next mapping unit of a program that is being started, and whose units were all queued together; `None` after the last unit. All
    /// earlier units must already have their pages.
    fn next_unit_of_complete_program(
        &mut self,
        operation: &mut NewOperation,
        lead: TransactionId,
        wait: IssueWait,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        let id = self.transactions.with_companions(lead).nth(operation.companion_count as usize + 1)?;
        operation.companion_count += 1;
        self.charge_issue_wait(id, operation.queue.die, wait, kernel);
        Some(id)
    }

    /// Enqueues a complete program (all of its mapping units are known) behind the other complete programs of its queue, and before all other
    /// programs.
    pub(super) fn enqueue_complete_program(
        &mut self,
        die: DieId,
        plane: u8,
        lead: TransactionId,
        internal_busy: Time,
        kernel: &mut Kernel<M>,
    ) {
        self.start_companion_waits(die, lead, internal_busy, kernel);
        let ahead = |other: &Transaction| other.purpose.is_whole();
        self.by_die.insert_behind(&self.transactions, die, plane, lead, ahead);
    }

    /// Dequeues a write whose program may run, because all of its mapping units are queued and no more can be added: `chosen` if its program may run,
    /// otherwise the first write of the plane whose program may run. Returns the write with its queue; `None` if no program of the plane may run.
    pub(in super::super) fn dequeue_early_bound(
        &mut self,
        choice: QueueId,
        chosen: Option<TransactionId>,
    ) -> Option<(QueueId, TransactionId)> {
        if let Some(lead) = chosen.filter(|&lead| self.is_program_runnable(lead))
            && self.by_die.dequeue(&mut self.transactions, choice, lead)
        {
            return Some((choice, lead));
        }
        for queue in self.by_die.of_all_priorities(choice) {
            let bound = &self.early_bound;
            let lead =
                self.by_die.dequeue_first(&mut self.transactions, queue, u32::MAX, |write| bound.may_run(write.to));
            if let Some(lead) = lead {
                return Some((queue, lead));
            }
        }
        None
    }

    pub(super) fn is_program_runnable(&self, write: TransactionId) -> bool {
        self.early_bound.may_run(self.transactions[write].to)
    }

    /// Restarts the gather timeout (`ftl.gather-timeout`) for the mapping units that stay queued after the start of `operation`. With early binding,
    /// instead removes the started programs from the list of waiting programs.
    #[inline(never)]
    pub(in super::super) fn restart_gathering(&mut self, operation: &NewOperation, kernel: &mut Kernel<M>) {
        let (die, class) = (operation.queue.die, operation.class());
        if self.is_early_bound(class) {
            return self.remove_started_programs(operation);
        }
        for &lead in operation.transactions() {
            let plane = self.geometry.plane_in_die(self.transactions[lead].plane) as u8;
            let queued = self.oldest_queued(die, class, plane);
            self.gather.restart(die, class, plane, queued, kernel);
        }
    }

    /// Removes the programs that `operation` starts from the list of early-bound programs (pages assigned before the grant) that wait.
    fn remove_started_programs(&mut self, operation: &NewOperation) {
        for &lead in operation.transactions() {
            self.early_bound.remove(self.transactions[lead].to);
        }
    }

    /// Returns whether the head of a queue of GC moves must become the lead (first transaction), because the head need not wait for further mapping
    /// units. Another move as the lead would start a partial program (not filled with mapping units), and each victim block may cause only one such
    /// program.
    #[inline(always)]
    pub(in super::super) fn starts_with_head<S: PageSource<M>>(&self, queue: QueueId, source: &S) -> bool {
        self.gathers()
            && queue.class == TransactionClass::CollectProgram
            && self.needs_no_companions(queue.die, queue.plane, source)
    }
}
