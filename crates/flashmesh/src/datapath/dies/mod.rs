//! The dies of a drive: their states, the set of idle dies, and the die that requests paths for each chip.
//!
//! Each die requests its own paths. If a chip executes one operation at a time, the first die of the chip requests the paths for all of its dies.

mod entry;
mod operations;
mod plane_reads;
mod suspension;

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use crate::config::{Allocation, Config, PageMove, Suspension, SuspensionScope};
use crate::engine::id_table::IdTable;
use crate::fabric::Grant;
use crate::flash::die::DieRules;
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use crate::ftl::IdleDies;
use crate::ids::{DieId, PlaneId};
use crate::kernel::model::Model;
use crate::schedule::DieStates;
use crate::schedule::latency_account::PathWait;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::TransactionClass;
use crate::units::Time;

pub use entry::DieEntry;

use super::queues::IssueWait;

/// States of all dies: their operations, path requests and suspensions, and the set of idle dies.
#[derive(Clone)]
pub struct Dies<M: Model> {
    entries: IdTable<DieId, DieEntry>,
    /// Set of idle dies, maintained only if [`DiesRules::track_idle`].
    idle: IdleDies,
    rules: DiesRules,
    geometry: Geometry,
    suspensions: u64,
    model: PhantomData<M>,
}

/// Rules by which dies accept and suspend operations, derived from the configuration.
#[derive(Clone, Debug)]
struct DiesRules {
    die: DieRules,
    /// Whether chips have several dies but execute one operation at a time (`flash.die-interleaving = false`).
    take_turns: bool,
    /// Whether a die requests a command path only while all dies of its chip are idle, unless a read suspends an operation (`flash.die-start =
    /// "together"`).
    start_together: bool,
    /// Whether a suspending read suspends all dies of its chip, not only its own (`flash.suspension-scope = "chip"`).
    suspend_as_chips: bool,
    /// Whether the planes of a die read independently (`flash.multi-plane = "independent"`).
    planes_read_alone: bool,
    /// Classes of transactions that may start while other planes of the die read, if planes read independently.
    independent_reads: PlaneMasks,
    track_idle: bool,
    suspend_time: Time,
    resume_time: Time,
}

/// View of the states of all dies, for the scheduler and the allocation policies.
pub struct DiesView<'a>(&'a [DieEntry], &'a DieRules);

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

impl<M: Model> Index<DieId> for Dies<M> {
    type Output = DieEntry;

    #[inline(always)]
    fn index(&self, die: DieId) -> &DieEntry {
        &self.entries[die]
    }
}

impl<M: Model> IndexMut<DieId> for Dies<M> {
    #[inline(always)]
    fn index_mut(&mut self, die: DieId) -> &mut DieEntry {
        &mut self.entries[die]
    }
}

impl<M: Model> Dies<M> {
    /// Creates the dies of the drive in `config`, all of them idle.
    pub(super) fn new(config: &Config, geometry: &Geometry, timing: &Timing) -> Dies<M> {
        let dies = geometry.dies();
        let mut idle = IdleDies::new(dies);
        (0..dies).for_each(|die| idle.set(DieId(die), true));
        let start_together = config.dies_start_together();
        let rules = DiesRules {
            die: DieRules {
                read_cache: config.flash.read_cache,
                suspension: config.suspension(),
                suspensions_max: config.flash.suspensions_max,
                suspend_interval: config.flash.suspend_interval,
                suspend_remaining_min: config.flash.suspend_remaining_min,
            },
            take_turns: config.dies_take_turns(),
            start_together,
            suspend_as_chips: start_together
                && config.flash.suspension_scope == SuspensionScope::Chip
                && config.suspension() != Suspension::Off,
            planes_read_alone: config.planes_read_alone(),
            independent_reads: if config.gc.r#move == PageMove::Clean {
                PlaneMasks::all_of(&TransactionClass::AWAITED_READS)
            } else {
                PlaneMasks::all_of(&TransactionClass::READS)
            },
            track_idle: config.ftl.allocation == Allocation::Dynamic,
            suspend_time: timing.suspend,
            resume_time: timing.resume,
        };
        let entries = IdTable::filled(DieEntry::new(config, geometry), dies as usize);
        Dies { entries, idle, rules, geometry: geometry.clone(), suspensions: 0, model: PhantomData }
    }

    /// Converts the dies to model `N` (a variant of the simulation, compiled for one set of features).
    pub(super) fn into_model<N: Model>(self) -> Dies<N> {
        let Dies { entries, idle, rules, geometry, suspensions, .. } = self;
        Dies { entries, idle, rules, geometry, suspensions, model: PhantomData }
    }

    #[inline]
    pub fn values(&self) -> &[DieEntry] {
        self.entries.values()
    }

    /// Returns whether the array can sense the next page while the data of the previous page is in the register (`flash.read-cache`).
    pub(super) fn have_read_cache(&self) -> bool {
        self.rules.die.read_cache
    }

    pub(super) fn suspensions(&self) -> u64 {
        self.suspensions
    }

    /// Returns whether chips have several dies but execute one operation at a time (`flash.die-interleaving = false`).
    #[inline(always)]
    pub(super) fn take_turns(&self) -> bool {
        M::ALL_FEATURES && self.rules.take_turns
    }

    /// Returns whether a die requests a command path only while all dies of its chip are idle, unless a read suspends an operation (`flash.die-start
    /// = "together"`).
    #[inline(always)]
    pub(super) fn start_together(&self) -> bool {
        M::ALL_FEATURES && self.rules.start_together
    }

    /// Returns whether the planes of a die read independently (`flash.multi-plane = "independent"`).
    #[inline(always)]
    pub(super) fn planes_read_alone(&self) -> bool {
        M::ALL_FEATURES && self.rules.planes_read_alone
    }

    /// Returns the classes of transactions that may start while other planes of the die read.
    #[inline(always)]
    pub(super) fn independent_reads(&self) -> PlaneMasks {
        self.rules.independent_reads
    }

    /// Returns whether `die` can begin some operation. If its planes read independently, this may be only the read of a free plane.
    #[inline(always)]
    pub(super) fn accepts(&self, die: DieId) -> bool {
        let entry = &self.entries[die];
        if self.planes_read_alone() { entry.accepts(&self.rules.die) } else { entry.state.accepts(&self.rules.die) }
    }

    /// Returns whether `die` can begin an operation, not counting the independent reads of its planes.
    #[inline(always)]
    pub(super) fn accepts_beside_plane_reads(&self, die: DieId) -> bool {
        self.entries[die].state.accepts(&self.rules.die)
    }

    /// Returns whether `die` can begin an operation and has no suspended operation, not counting the independent reads of its planes.
    #[inline]
    pub(super) fn is_free(&self, die: DieId) -> bool {
        self.entries[die].state.is_free(&self.rules.die)
    }

    /// Returns whether `die` can begin or resume an operation that occupies the whole die.
    #[inline(always)]
    pub(super) fn accepts_whole(&self, die: DieId) -> bool {
        let entry = &self.entries[die];
        if self.planes_read_alone() {
            entry.accepts_whole(&self.rules.die)
        } else {
            entry.state.accepts(&self.rules.die)
        }
    }

    /// Returns the total time up to `now` for which GC or wear levelling occupied the die of `plane`. If planes read independently, counts only the
    /// reads of `plane`.
    #[inline(always)]
    pub fn internal_busy(&self, plane: PlaneId, now: Time) -> Time {
        self.internal_busy_at(self.geometry.die_of_plane(plane), plane, now)
    }

    /// Like [`internal_busy`](Self::internal_busy), for callers that already know the `die` of `plane`.
    #[inline(always)]
    pub(super) fn internal_busy_at(&self, die: DieId, plane: PlaneId, now: Time) -> Time {
        let entry = &self.entries[die];
        if self.planes_read_alone() {
            entry.internal_busy_of(self.geometry.plane_in_die(plane), now)
        } else {
            entry.state.internal_busy(now)
        }
    }

    /// Returns the wait to charge to the latency account of a transaction issued at `now` on `plane` of `die`: the path wait `path`, and the total
    /// time for which GC or wear levelling has occupied the plane. From the latter, the account separates the wait behind GC from the wait for the
    /// die.
    #[inline(always)]
    pub(super) fn issue_wait(&self, die: DieId, plane: PlaneId, path: PathWait, now: Time) -> IssueWait {
        IssueWait { path, internal_busy: self.internal_busy_at(die, plane, now) }
    }

    /// Returns a view of the states of all dies, for the scheduler and the allocation policies.
    #[inline]
    pub fn states(&self) -> DiesView<'_> {
        DiesView(self.entries.values(), &self.rules.die)
    }

    /// Starts tracking idle dies, for an allocator that prefers them.
    pub fn track_idle(&mut self) {
        self.rules.track_idle = true;
    }

    /// Returns whether the set of idle dies is kept up to date.
    #[inline(always)]
    fn tracks_idle(&self) -> bool {
        M::ALL_FEATURES && self.rules.track_idle
    }

    /// Returns the set of idle dies, which is up to date only if idle dies are [tracked](Dies::track_idle).
    #[inline]
    pub fn idle_dies(&self) -> &IdleDies {
        &self.idle
    }

    /// Adds `die` to the set of idle dies, if the allocator needs this set.
    #[inline(always)]
    pub(super) fn mark_idle(&mut self, die: DieId) {
        if self.tracks_idle() {
            self.idle.set(die, true);
        }
    }

    /// Removes `die` from the set of idle dies, with all dies of its chip if the chip executes one operation at a time.
    #[inline(always)]
    pub(super) fn mark_busy(&mut self, die: DieId) {
        if self.tracks_idle() {
            self.idle.set(die, false);
            if self.take_turns() {
                self.dies_of_chip(die).for_each(|die| self.idle.set(die, false));
            }
        }
    }

    /// Removes all dies of the chip of `die` from the set of idle dies, if dies of a chip start only together: no other die of the chip can start
    /// until the operation of `die` has ended.
    #[inline(always)]
    pub(super) fn mark_others_waiting(&mut self, die: DieId) {
        if self.start_together() && self.tracks_idle() {
            self.dies_of_chip(die).for_each(|die| self.idle.set(die, false));
        }
    }

    /// Returns the die that requests paths for `die`: the first die of the chip if the chip executes one operation at a time, otherwise
    /// `die` itself.
    #[inline(always)]
    pub(super) fn requester(&self, die: DieId) -> DieId {
        if self.take_turns() { self.first_die_of_chip(die) } else { die }
    }

    /// Returns the die that uses the path of `grant`. If a chip executes one operation at a time, an operation must already be chosen for the path.
    #[inline(always)]
    pub(super) fn die_of_grant(&self, grant: Grant) -> DieId {
        self.path_user(grant.die).expect("a chip whose dies take turns uses a path for its busy die")
    }

    /// Returns the die that uses a path granted to `requester`. If a chip executes one operation at a time, this is the busy die of the chip; `None`
    /// if all of its dies are idle.
    #[inline(always)]
    pub(super) fn path_user(&self, requester: DieId) -> Option<DieId> {
        if !self.take_turns() {
            return Some(requester);
        }
        self.dies_of_chip(requester).find(|&die| !self.entries[die].is_idle())
    }

    /// Returns the dies that may use the next path granted to `requester`: the first one, and the number of consecutive dies.
    #[inline(always)]
    pub(super) fn possible_path_users(&self, requester: DieId) -> (DieId, u32) {
        match self.path_user(requester) {
            Some(die) => (die, 1),
            None => (self.first_die_of_chip(requester), self.geometry.dies_per_chip),
        }
    }

    #[inline]
    pub(super) fn first_die_of_chip(&self, die: DieId) -> DieId {
        DieId(self.geometry.chip_of(die).0 * self.geometry.dies_per_chip)
    }

    #[inline]
    pub(super) fn dies_of_chip(&self, die: DieId) -> impl Iterator<Item = DieId> + use<M> {
        let first = self.first_die_of_chip(die).0;
        (first..first + self.geometry.dies_per_chip).map(DieId)
    }
}
