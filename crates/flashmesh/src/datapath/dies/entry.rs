//! Entries of [`Dies`](super::Dies): the state that the datapath keeps for each die.

use crate::config::Config;
use crate::datapath::path::DiePathState;
use crate::flash::die::{Die, DieRules, Operation};
use crate::flash::geometry::Geometry;
use crate::flash::plane_reads::PlaneReads;
use crate::ids::TransactionId;
use crate::measure::lower_bound::DieWork;
use crate::units::Time;

/// State of a die, of its path requests, and of the reads of its planes.
#[derive(Clone, Debug, Default)]
pub struct DieEntry {
    /// State of the operations that occupy the whole die: all operations or, if planes read independently (`flash.multi-plane = "independent"`), all
    /// operations except reads.
    pub(in super::super) state: Die,
    /// State of the reads, if planes read independently; otherwise `None`.
    pub(super) plane_reads: Option<Box<PlaneReadEntry>>,
    pub(in super::super) path: DiePathState,
    /// Array and transfer times of the die, for a lower bound on run time. If planes read independently, their reads are excluded.
    pub(in super::super) work: DieWork,
    /// Whether the pending path request is for a read that suspends the operations of the chip or runs during such a suspension.
    pub(in super::super) requests_suspension: bool,
    /// Time of the last suspension of the die. If chips are suspended as a whole, stored only in the first die of the chip.
    pub(in super::super) suspended_at: Time,
    /// Time that the last suspension takes, from [`suspended_at`](Self::suspended_at) until the array is free.
    pub(in super::super) suspension_time: Time,
    /// Whether paced GC (`gc.paced`) of the die is overdue: a GC transaction waited for `schedule.age-bound` while GC held back host writes of the
    /// die. Cleared when the writes are no longer held back.
    pub(in super::super) is_collection_overdue: bool,
}

/// State of the reads of a die whose planes read independently: the reads of each plane, and whether the die drains.
#[derive(Clone, Debug)]
pub(super) struct PlaneReadEntry {
    pub state: PlaneReads,
    /// Array and transfer times of the reads of each plane, for a lower bound on run time.
    pub work: Vec<DieWork>,
    /// Whether the die drains: no read begins until the reads of all planes have ended, because the scheduler has chosen an operation that needs the
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
    pub(in super::super) fn new(config: &Config, geometry: &Geometry) -> DieEntry {
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
    pub(in super::super) fn is_idle(&self) -> bool {
        self.state.is_idle() && self.plane_reads.as_ref().is_none_or(|reads| reads.state.are_inactive())
    }

    /// Returns whether the operation in the array may be suspended at `now`.
    #[inline]
    pub(super) fn may_suspend(&self, rules: &DieRules, now: Time) -> bool {
        self.state.may_suspend(rules, now)
            && self.plane_reads.as_ref().is_none_or(|reads| reads.state.registers_are_empty())
    }

    /// Returns the operations that are in the array or whose commands are in transfer, and the suspended operation if there is one.
    pub fn in_progress(&self) -> impl Iterator<Item = &Operation> {
        self.state.in_progress().chain(self.planes().iter().flat_map(Die::in_progress))
    }

    pub(super) fn outstanding(&self) -> usize {
        self.state.outstanding() + self.planes().iter().map(Die::outstanding).sum::<usize>()
    }

    pub(super) fn is_moving(&self) -> bool {
        self.state.is_moving() || self.plane_reads.as_ref().is_some_and(|reads| reads.state.are_moving())
    }

    /// Returns the reads whose pages have been sensed: their data is in a register, or waits in an array for the register.
    pub(in super::super) fn sensed(&self) -> impl Iterator<Item = &TransactionId> {
        self.state.sensed().chain(self.planes().iter().flat_map(Die::sensed))
    }

    /// Returns the transaction whose data leaves the die next. If no register holds data, returns the first transaction of the operation in progress,
    /// otherwise of the suspended operation; `None` if the die has no operation.
    #[inline]
    pub(super) fn first_in_progress(&self) -> Option<TransactionId> {
        let Some(reads) = &self.plane_reads else { return self.state.first_in_progress() };
        let first = || self.planes().iter().find_map(Die::first_in_progress);
        reads.state.outgoing().or_else(first).or_else(|| self.state.first_in_progress())
    }

    #[inline(always)]
    pub(in super::super) fn outgoing(&self) -> Option<TransactionId> {
        match &self.plane_reads {
            None => self.state.outgoing(),
            Some(reads) => reads.state.outgoing(),
        }
    }

    #[inline]
    pub(in super::super) fn is_sending_internal(&self) -> bool {
        match &self.plane_reads {
            None => self.state.is_sending_internal(),
            Some(reads) => reads.state.is_sending_internal(),
        }
    }

    /// Returns the time until `now` for which the die was busy. If planes read independently, the time of their reads is averaged over the planes of
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

    /// Returns the time until `now` for which GC or wear levelling occupied the die. If planes read independently, includes only the reads of `plane`
    /// (index in the die).
    #[inline(always)]
    pub(super) fn internal_busy_of(&self, plane: u32, now: Time) -> Time {
        let whole = self.state.internal_busy(now);
        match &self.plane_reads {
            None => whole,
            Some(reads) => whole + reads.state.planes()[plane as usize].internal_busy(now),
        }
    }

    /// Returns the array and transfer times of the die, for a lower bound on run time. If planes read independently, adds the reads of the busiest
    /// plane only.
    pub(in super::super) fn all_work(&self, read_cache: bool) -> DieWork {
        let reads = self.plane_reads.iter().flat_map(|reads| &reads.work);
        let most = reads.max_by_key(|work| work.min_busy_time(read_cache)).copied().unwrap_or_default();
        self.work.and(most)
    }
}
