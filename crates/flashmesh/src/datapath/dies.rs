//! States of the dies.

use crate::config::Config;
use crate::flash::die::{Die, DieRules, Operation};
use crate::flash::geometry::Geometry;
use crate::flash::plane_reads::PlaneReads;
use crate::ftl::IdleDies;
use crate::ids::{DieId, PlaneId, TransactionId};
use crate::kernel::model::Model;
use crate::measure::lower_bound::DieWork;
use crate::schedule::DieStates;
use crate::schedule::load::LoadView;
use crate::units::Time;

use super::Datapath;
use super::path::DiePathState;

/// State of a die, of its path requests, and of the reads of its planes.
#[derive(Clone, Debug, Default)]
pub struct DieEntry {
    /// State of the die. Excludes its reads if its planes read independently (`flash.multi-plane = "independent"`).
    pub(super) state: Die,
    /// Independent reads of the planes; `None` if the planes do not read independently.
    pub(super) plane_reads: Option<Box<PlaneReadEntry>>,
    pub(super) path: DiePathState,
    /// Array and transfer times of the die, from which a lower bound for the length of the run is computed. Excludes reads if planes read
    /// independently.
    pub(super) work: DieWork,
    /// Whether the pending path request is for a read that suspends the operations of the chip, or that runs during their suspension.
    pub(super) requests_suspension: bool,
    /// Time of the last suspension of the die. If chips are suspended as a whole, only the first die of the chip has this time.
    pub(super) suspended_at: Time,
    /// Time that the last suspension takes, from [`suspended_at`](Self::suspended_at) until the array is free.
    pub(super) suspension_time: Time,
    /// Whether GC of the die is overdue (`gc.paced`): a GC transaction waited for `schedule.age-bound` while writes of the die waited for page moves,
    /// and writes have waited for page moves ever since.
    pub(super) is_collection_overdue: bool,
}

/// Independent reads of the planes of a die.
#[derive(Clone, Debug)]
pub(super) struct PlaneReadEntry {
    pub state: PlaneReads,
    /// Array and transfer times of the reads of each plane, from which a lower bound for the length of the run is computed.
    pub work: Vec<DieWork>,
    /// Whether no further read may begin until the reads of all planes have ended, because the scheduler has chosen an operation of the
    /// whole die.
    pub is_draining: bool,
}

impl PlaneReadEntry {
    pub fn new(planes: u32, at_once_max: u32) -> PlaneReadEntry {
        PlaneReadEntry {
            state: PlaneReads::new(planes, at_once_max),
            work: vec![DieWork::default(); planes as usize],
            is_draining: false,
        }
    }
}

impl DieEntry {
    pub(super) fn new(config: &Config, geometry: &Geometry) -> DieEntry {
        let planes = geometry.planes_per_die;
        let at_once_max = config.flash.plane_reads_max.unwrap_or(planes);
        let is_alone = config.planes_read_alone();
        let plane_reads = is_alone.then(|| Box::new(PlaneReadEntry::new(planes, at_once_max)));
        DieEntry { plane_reads, ..DieEntry::default() }
    }

    fn planes(&self) -> &[Die] {
        self.plane_reads.as_ref().map_or(&[], |reads| reads.state.planes())
    }

    /// Returns whether the die can begin some operation. If its planes read independently, this may be only the read of a free plane.
    #[inline(always)]
    pub(super) fn accepts(&self, rules: &DieRules) -> bool {
        self.state.accepts(rules)
            && self.plane_reads.as_ref().is_none_or(|reads| !reads.is_draining && reads.state.free(rules) != 0)
    }

    /// Returns whether the die can begin or resume an operation that occupies the whole die.
    #[inline(always)]
    pub(super) fn accepts_whole(&self, rules: &DieRules) -> bool {
        self.state.accepts(rules) && self.plane_reads.as_ref().is_none_or(|reads| reads.state.leave_die_free(rules))
    }

    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.state.is_idle() && self.plane_reads.as_ref().is_none_or(|reads| reads.state.are_inactive())
    }

    /// Returns whether the operation in the array may be suspended at `now`.
    #[inline]
    pub(super) fn may_suspend(&self, rules: &DieRules, now: Time) -> bool {
        self.state.may_suspend(rules, now)
            && self.plane_reads.as_ref().is_none_or(|reads| reads.state.registers_are_empty())
    }

    /// Returns the operations that are in the array or whose commands are in transfer, and the suspended operation.
    pub fn in_progress(&self) -> impl Iterator<Item = &Operation> {
        self.state.in_progress().chain(self.planes().iter().flat_map(Die::in_progress))
    }

    fn outstanding(&self) -> usize {
        self.state.outstanding() + self.planes().iter().map(Die::outstanding).sum::<usize>()
    }

    fn is_moving(&self) -> bool {
        self.state.is_moving() || self.plane_reads.as_ref().is_some_and(|reads| reads.state.are_moving())
    }

    /// Returns the reads whose pages have been sensed: their data is in a register, or waits in an array for the register.
    fn sensed(&self) -> impl Iterator<Item = &TransactionId> {
        self.state.sensed().chain(self.planes().iter().flat_map(Die::sensed))
    }

    /// Returns the transaction whose data leaves the die next; if no register holds data, the first transaction in progress; `None` if there is none.
    #[inline]
    pub(super) fn first_in_progress(&self) -> Option<TransactionId> {
        let Some(reads) = &self.plane_reads else { return self.state.first_in_progress() };
        let first = || self.planes().iter().find_map(Die::first_in_progress);
        reads.state.outgoing().or_else(first).or_else(|| self.state.first_in_progress())
    }

    #[inline(always)]
    pub(super) fn outgoing(&self) -> Option<TransactionId> {
        match &self.plane_reads {
            None => self.state.outgoing(),
            Some(reads) => reads.state.outgoing(),
        }
    }

    #[inline]
    pub(super) fn is_sending_internal(&self) -> bool {
        match &self.plane_reads {
            None => self.state.is_sending_internal(),
            Some(reads) => reads.state.is_sending_internal(),
        }
    }

    /// Returns the time for which the die was busy until `now`. If planes read independently, the time of their reads is averaged over the planes of
    /// the die.
    pub fn busy(&self, now: Time) -> Time {
        self.state.busy(now) + self.mean_of_planes(|plane| plane.busy(now))
    }

    /// Returns the time until `now` for which the die worked for GC or wear levelling. If planes read independently, the time of their reads is
    /// averaged over the planes of the die.
    pub fn internal_busy(&self, now: Time) -> Time {
        self.state.internal_busy(now) + self.mean_of_planes(|plane| plane.internal_busy(now))
    }

    fn mean_of_planes(&self, of: impl Fn(&Die) -> Time) -> Time {
        let planes = self.planes();
        Time::from_ps(planes.iter().map(|plane| of(plane).as_ps()).sum::<u64>() / planes.len().max(1) as u64)
    }

    /// Returns the time until `now` for which GC or wear levelling kept transactions of `plane` (its index in the die) from starting.
    #[inline(always)]
    pub(super) fn internal_busy_of(&self, plane: u32, now: Time) -> Time {
        let whole = self.state.internal_busy(now);
        match &self.plane_reads {
            None => whole,
            Some(reads) => whole + reads.state.planes()[plane as usize].internal_busy(now),
        }
    }

    /// Returns the array and transfer times of the die. If planes read independently, includes the reads of only one plane, the one whose
    /// reads have the largest minimum busy time, and all operations that occupy the whole die.
    pub(super) fn all_work(&self, read_cache: bool) -> DieWork {
        let reads = self.plane_reads.iter().flat_map(|reads| &reads.work);
        let most = reads.max_by_key(|work| work.min_busy_time(read_cache)).copied().unwrap_or_default();
        self.work.and(most)
    }
}

/// States of all dies, for policies.
pub struct DiesView<'a>(pub(super) &'a [DieEntry], pub(super) &'a DieRules);

impl DieStates for DiesView<'_> {
    fn accepts(&self, die: DieId) -> bool {
        self.0[die.index()].accepts(self.1)
    }

    fn is_idle(&self, die: DieId) -> bool {
        self.0[die.index()].is_idle()
    }

    fn in_progress(&self, die: DieId) -> usize {
        self.0[die.index()].outstanding()
    }

    fn requests_path(&self, die: DieId) -> bool {
        self.0[die.index()].path.requests_command()
    }

    fn uses_path(&self, die: DieId) -> bool {
        let entry = &self.0[die.index()];
        entry.path.requests_command() || entry.path.requests_data() || entry.is_moving()
    }
}

impl<M: Model> Datapath<M> {
    pub fn dies(&self) -> &[DieEntry] {
        self.dies.values()
    }

    pub fn states(&self) -> DiesView<'_> {
        DiesView(self.dies.values(), &self.rules.die)
    }

    /// Returns a view of the queue lengths and states of the dies, for policies that balance load.
    pub fn load<'a>(&'a self, states: &'a DiesView<'a>) -> LoadView<'a> {
        LoadView::new(states, &self.queues, &self.transactions)
    }

    /// Returns the set of idle dies, which is up to date only if idle dies are [tracked](Self::track_idle).
    #[inline]
    pub fn idle_dies(&self) -> &IdleDies {
        &self.idle
    }

    /// Returns the total time up to `now` for which GC or wear levelling kept transactions of `plane` from starting.
    #[inline(always)]
    pub fn internal_busy(&self, plane: PlaneId, now: Time) -> Time {
        self.internal_busy_at(self.geometry.die_of_plane(plane), plane, now)
    }

    /// Like [`internal_busy`](Self::internal_busy), for callers that already know the `die` of `plane`.
    #[inline(always)]
    pub(super) fn internal_busy_at(&self, die: DieId, plane: PlaneId, now: Time) -> Time {
        let entry = &self.dies[die];
        if M::ALL_FEATURES {
            entry.internal_busy_of(self.geometry.plane_in_die(plane), now)
        } else {
            entry.state.internal_busy(now)
        }
    }

    /// Returns whether the page of `id`, a read of `die`, has been sensed: its data is in the register, in transfer, or waits in the array
    /// for the register.
    pub fn is_in_register(&self, die: DieId, id: TransactionId) -> bool {
        self.dies[die].sensed().any(|&lead| self.with_companions(lead).any(|held| held == id))
    }

    /// Returns whether `id`, a read of `die`, is being sensed or its command is in transfer.
    pub fn is_sensed_now(&self, die: DieId, id: TransactionId) -> bool {
        let mut leads = self.dies[die].in_progress().flat_map(|operation| operation.transactions());
        leads.any(|&lead| self.with_companions(lead).any(|sensed| sensed == id))
    }

    /// Returns whether `die` is idle and has no queued transactions.
    pub fn is_idle(&self, die: DieId) -> bool {
        !self.queues.has_work(die) && self.dies[die].is_idle()
    }

    /// Adds `die` to the set of idle dies, if the allocator needs this set.
    #[inline]
    pub(super) fn mark_idle(&mut self, die: DieId) {
        if M::ALL_FEATURES && self.rules.tracks_idle {
            self.idle.set(die, true);
        }
    }
}
