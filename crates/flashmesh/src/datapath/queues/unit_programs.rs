//! Programs of several mapping units in one plane: readiness, and selection of their units from the queues.
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

/// Classes of programs whose wait for further mapping units ends after a timeout (`ftl.gather-timeout`). GC moves have none.
const TIMED_PROGRAMS: PlaneMasks = PlaneMasks::all_of(&TransactionClass::WAITING_PROGRAMS);

impl<M: Model> TransactionQueues<M> {
    /// Returns the planes in `planes` (bit mask by index in the die) with a program of `class` that may run: it is full, or need not wait for further
    /// mapping units.
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
        let first = self.geometry.first_plane(die);
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
            let may_run = released != 0 || (moves && !source.has_unread_pages(first));
            return if may_run { planes } else { self.gather.full_programs_of_die(die, class, planes, units) };
        }
        let is_ready = |plane: &u8| {
            released >> plane & 1 != 0
                || is_full(*plane)
                || (moves && self.needs_no_companions(die, *plane, source))
                || (moves && !source.has_unread_pages(PlaneId(first.0 + u32::from(*plane))))
        };
        self::planes(planes).filter(is_ready).fold(0, |ready, plane| ready | 1 << plane)
    }

    /// Returns the planes in `planes` that may join a multi-plane program of GC moves. A joiner is programmed even if it is not full, so its program
    /// must be ready to run alone. In superblocks, returns all of `planes`: a plane that still waits for units has another page offset and cannot
    /// join.
    pub(in super::super) fn planes_with_full_moves<S: PageSource<M>>(&self, die: DieId, planes: u8, source: &S) -> u8 {
        if self.gather.gathers_by_die() {
            return planes;
        }
        self.runnable_programs(die, TransactionClass::CollectProgram, planes, source)
    }

    /// Returns whether a GC move at the head of a queue of `plane` may run without further mapping units: it starts a complete program (all units
    /// queued together), or its page has become invalid and GC uses Cleans (chip-to-chip moves of whole blocks). Waiting for units that may never
    /// arrive would then block the queue.
    pub(super) fn needs_no_companions<S: PageSource<M>>(&self, die: DieId, plane: u8, source: &S) -> bool {
        self.by_die.priorities().iter().any(|&priority| {
            let class = TransactionClass::CollectProgram;
            let head = self.by_die.head(QueueId { die, class, plane, priority }).map(|head| &self.transactions[head]);
            head.is_some_and(|head| head.purpose.is_whole() || (self.rules.cleans && !source.is_current(head)))
        })
    }

    /// Ends the wait for further mapping units in the programs of `die` that have waited for `ftl.gather-timeout`; with `is_flush`, in all programs.
    /// Returns the first page of each early-bound program (pages assigned before the grant) that this call closes. The unused pages of a closed
    /// program stay empty. Next, call [`Datapath::try_issue`](crate::datapath::Datapath::try_issue).
    #[inline(never)]
    pub fn release_due_programs(&mut self, die: DieId, is_flush: bool, kernel: &Kernel<M>) -> Vec<Ppn> {
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

    /// Returns the queueing time of the oldest head among the queues of `class` at `plane`; `None` if they are empty.
    fn oldest_queued(&self, die: DieId, class: TransactionClass, plane: u8) -> Option<Time> {
        let heads = self.by_die.priorities().iter().filter_map(|&priority| {
            let head = self.by_die.head(QueueId { die, class, plane, priority })?;
            Some(self.transactions[head].account.queued())
        });
        heads.min()
    }

    /// Schedules an event that releases the partial programs of `die`, for a flush that waits for them. The event follows all other events of the
    /// current time.
    #[inline(never)]
    pub fn flush_partial_programs(&self, die: DieId, kernel: &mut Kernel<M>) {
        let is_waiting = || self.by_die.masks(die).and(TIMED_PROGRAMS) != NOTHING || self.early_bound.has_open(die);
        if self.gathers() && is_waiting() {
            kernel.schedule(lane::GATHER, kernel.now(), Event::GatherDue(die));
        }
    }

    /// Dequeues a further mapping unit for the program that was added last to `operation`, and charges `wait` to the unit; `None` if no queued unit
    /// fits. Pages must already be assigned to the earlier units.
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

    /// Dequeues the next mapping unit for the late-bound program of `lead`; `None` if the program is full, or no queued unit fits. Units of other
    /// priorities follow those of its own, because a full program takes no longer than a partial one.
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
        let by_row = self.gather.gathers_moves_by_die(operation.class());
        let lookahead = if by_row { u32::MAX } else { self.rules.lookahead.max(units) };
        self.by_die.of_all_priorities(QueueId { plane, ..operation.queue }).find_map(|queue| {
            self.by_die.dequeue_first(&mut self.transactions, queue, lookahead, |other| {
                leading.purpose.may_run_with(other.purpose)
                    && source.shares_block(&leading, other)
                    && source.is_current(other)
            })
        })
    }

    /// Dequeues and returns the next write, of any priority, whose page belongs to the same program as that of `lead`, to which both were bound when
    /// they were queued (early binding); `None` after the last.
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

    /// Returns the next mapping unit of a complete program (all units queued together) that is being started; `None` after the last. Pages must
    /// already be assigned to the earlier units.
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

    /// Dequeues a write whose program may run: all of its mapping units are queued, and it accepts no more. Prefers the program of `chosen`, then the
    /// first such write of the plane. Returns the write with its queue; `None` if no program of the plane may run.
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

    /// Restarts the gather timeout (`ftl.gather-timeout`) for the mapping units left in the queue after the start of `operation`. With early binding,
    /// only removes the started programs from the waiting ones.
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

    /// Removes the programs that `operation` starts from the waiting early-bound programs (pages assigned before the grant).
    fn remove_started_programs(&mut self, operation: &NewOperation) {
        for &lead in operation.transactions() {
            self.early_bound.remove(self.transactions[lead].to);
        }
    }

    /// Returns whether the lead (first transaction) must be the head of a queue of GC moves, because the head need not wait for further mapping
    /// units. Any other lead would start a partial program, of which each victim block may cause only one.
    #[inline(always)]
    pub(in super::super) fn starts_with_head<S: PageSource<M>>(&self, queue: QueueId, source: &S) -> bool {
        self.gathers()
            && queue.class == TransactionClass::CollectProgram
            && self.needs_no_companions(queue.die, queue.plane, source)
    }
}
