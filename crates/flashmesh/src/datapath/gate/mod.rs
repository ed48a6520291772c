//! The gate: rules that decide which queued transactions of a die may run now, and whether a read may suspend the operation of the die.
//!
//! [`Gate`] reads the queues and the dies, and changes nothing.

mod gathering;
mod pages;
mod parity;
mod paused_collection;
mod precedence;
mod rules;
mod suspended;

use crate::ids::DieId;
use crate::kernel::model::Model;
use crate::schedule::queues::{NOTHING, PlaneMasks};
use crate::schedule::transaction::TransactionClass;
use crate::units::Time;

use super::{Dies, PageSource, TransactionQueues};

pub(super) use rules::GateRules;

/// Read-only view of the queues and dies that decides which transactions may run (the gate).
pub struct Gate<'a, M: Model> {
    rules: &'a GateRules,
    queues: &'a TransactionQueues<M>,
    dies: &'a Dies<M>,
}

impl<'a, M: Model> Gate<'a, M> {
    #[inline(always)]
    pub(super) fn new(rules: &'a GateRules, queues: &'a TransactionQueues<M>, dies: &'a Dies<M>) -> Gate<'a, M> {
        Gate { rules, queues, dies }
    }

    /// Returns the planes of `die` with a transaction that may run, by class.
    ///
    /// A program whose plane has no free page waits for GC of the plane. While an operation is suspended, only reads that a request waits for may
    /// run; no transaction may run if the suspended operation belongs to GC with priority over reads.
    #[inline(always)]
    pub(super) fn ready_planes<S: PageSource<M>>(&self, die: DieId, source: &S) -> PlaneMasks {
        self.ready_of_queued(die, self.queues.masks(die), source)
    }

    /// Like [`ready_planes`](Self::ready_planes), for callers that already know the planes with queued transactions (`masks`).
    #[inline(always)]
    pub(super) fn ready_of_queued<S: PageSource<M>>(&self, die: DieId, masks: PlaneMasks, source: &S) -> PlaneMasks {
        let is_limited = masks.and(self.rules.limited) != NOTHING || self.dies.is_limited_to_reads(die);
        let ready = if !is_limited {
            masks
        } else if self.is_limited_only_by_pages(die, masks, source) {
            self.with_shared_pages(die, masks, source)
        } else {
            self.filter_by_all_rules(die, masks, source)
        };
        if self.dies.planes_read_alone() { self.dies.without_busy_planes(die, ready) } else { ready }
    }

    /// Returns whether only a lack of free pages can hold back transactions queued at `die`, so that the other rules can be skipped. This requires
    /// that no program except host writes depends on free pages, and that all host writes of a plane share one open block.
    #[inline(always)]
    fn is_limited_only_by_pages<S: PageSource<M>>(&self, die: DieId, masks: PlaneMasks, source: &S) -> bool {
        source.shares_open_block()
            && masks.and(SEPARATE_PROGRAMS) == NOTHING
            && self.dies_are_independent()
            && !self.dies.is_limited_to_reads(die)
            && !source.writes_wait(die)
    }

    /// Returns the planes in `masks` (planes with queued transactions, by class) whose transactions may run now by all rules.
    ///
    /// Rarely executed, so not inlined: the hot path keeps its CPU registers.
    #[inline(never)]
    fn filter_by_all_rules<S: PageSource<M>>(&self, die: DieId, masks: PlaneMasks, source: &S) -> PlaneMasks {
        let masks = self.during_suspension(die, masks, source);
        if let Some(ready) = self.ready_beside_parity(die, masks) {
            return ready;
        }
        let masks = self.with_free_pages(die, masks, source);
        let masks = self.without_paced_writes(die, masks, source);
        let masks = self.without_paused_collection(die, masks, source);
        self.without_gathering_programs(die, masks, source)
    }

    /// Returns whether the transactions that may run at `die` depend only on its own queues and state, apart from free pages and paced GC
    /// (`gc.paced`). On drives with suspension, returns `false` while the die cannot begin an operation or has a suspended operation.
    #[inline(always)]
    pub(super) fn is_independent(&self, die: DieId) -> bool {
        self.dies_are_independent() && (!self.dies.have_suspension() || self.dies.is_free(die))
    }

    /// Returns whether the transactions that may run at a die depend only on its own queues and state, on this drive. Always true in models (compiled
    /// variants of the simulation) without optional features.
    #[inline(always)]
    fn dies_are_independent(&self) -> bool {
        !M::ALL_FEATURES || self.rules.dies_are_independent
    }

    /// Returns whether an issue attempt at `die` could have an effect, if no Clean (chip-to-chip move of a whole block) is in progress. `false` while
    /// a command path is requested. Otherwise `true` if a queued program may need GC (`may_need_collection`), if the die can begin an operation, or
    /// if a read in `queued` can suspend its operation.
    #[inline(always)]
    pub(super) fn may_issue(&self, die: DieId, queued: PlaneMasks, may_need_collection: bool, now: Time) -> bool {
        let may_suspend = || has_awaited_read(&queued) && self.dies.may_suspend(die, now);
        !self.dies[self.dies.requester(die)].path.requests_command()
            && (may_need_collection || self.dies.accepts(die) || may_suspend())
    }

    /// Returns the planes of `die` (bit mask by index in the die) with a queued program that may not run now, usually for lack of a free page.
    /// Programs of GC moves do not count.
    pub fn held_planes<S: PageSource<M>>(&self, die: DieId, source: &S) -> u8 {
        let (queued, ready) = (self.queues.masks(die), self.ready_planes(die, source));
        let short = |class: TransactionClass| queued.of(class) & !ready.of(class);
        TransactionClass::WAITING_PROGRAMS.iter().fold(0, |planes, &class| planes | short(class))
    }

    /// Returns whether programs of `die` may have to wait for a free page. `ready` contains the planes with transactions that may run.
    #[inline]
    pub(super) fn is_short_of_pages<S: PageSource<M>>(&self, die: DieId, ready: PlaneMasks, source: &S) -> bool {
        let queued = self.queues.masks(die);
        source.may_hold_programs(&ready, &queued) && !self.dies.is_limited_to_reads(die)
    }
}

/// Classes of programs that may lack a free page. Unlike GC, they have no reserve of pages.
const UNRESERVED_PROGRAMS: PlaneMasks = PlaneMasks::all_of(&TransactionClass::WAITING_PROGRAMS);
/// Classes of programs that may lack a free page, and never use the open block of host writes.
const SEPARATE_PROGRAMS: PlaneMasks =
    PlaneMasks::all_of(&[TransactionClass::MapProgram, TransactionClass::ReplicaProgram]);
const AWAITED_READS: PlaneMasks = PlaneMasks::all_of(&TransactionClass::AWAITED_READS);

/// Returns whether `queued` contains programs that may lack a free page, because they have no reserve of pages as GC has.
#[inline(always)]
pub(super) fn has_unreserved_programs(queued: &PlaneMasks) -> bool {
    queued.and(UNRESERVED_PROGRAMS) != NOTHING
}

/// Returns whether `masks` contains user reads or map reads, for which host requests wait.
#[inline]
pub(super) fn has_awaited_read(masks: &PlaneMasks) -> bool {
    masks.and(AWAITED_READS) != NOTHING
}
