//! Gathering: mapping units wait in the queue of their plane until they fill a program.
//!
//! A partial program runs when its oldest unit has waited for `ftl.gather-timeout`, when a flush waits for the program
//! ([`TransactionQueues::flush_partial_programs`](super::TransactionQueues::flush_partial_programs)), or when no more units can arrive (the last
//! units of a GC victim block). In superblocks, whose planes are written at equal offsets, a program waits until every plane of the die has a full
//! program. Writes that already have their pages (early binding) wait in the program of their page ([`EarlyBoundPrograms`]).

mod early_bound;

use crate::config::{Config, MultiPlane};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, PlaneId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::policies;
use crate::schedule::purpose::Purpose;
use crate::schedule::queues::{NOTHING, PlaneMasks, planes};
use crate::schedule::transaction::{CLASSES, TransactionClass};
use crate::units::Time;

pub use early_bound::EarlyBoundPrograms;

/// State of programs that get their pages at the grant (late binding), and wait in their queues until mapping units fill them.
#[derive(Clone, Debug)]
pub struct GatherState {
    is_enabled: bool,
    timeout: Time,
    /// Whether the planes of a die are programmed only when all of them have a full program (superblocks).
    gathers_by_die: bool,
    geometry: Geometry,
    /// Planes whose partial programs (not filled with mapping units) may run, by die and class.
    released: Vec<PlaneMasks>,
    /// Number of queued mapping units that wait to fill a program, by die, class and plane. Empty if each program of the drive has one mapping unit.
    queued: Vec<u32>,
}

impl GatherState {
    pub(super) fn new(config: &Config, geometry: &Geometry) -> GatherState {
        let is_enabled = geometry.gathers_units();
        let dies = if is_enabled { geometry.dies() as usize } else { 0 };
        GatherState {
            is_enabled,
            timeout: config.ftl.gather_timeout,
            gathers_by_die: policies::ftl_rules(config).superblock_dies.is_some()
                && config.flash.multi_plane != MultiPlane::Off,
            geometry: geometry.clone(),
            released: vec![NOTHING; dies],
            queued: vec![0; dies * CLASSES * geometry.planes_per_die as usize],
        }
    }

    #[inline(always)]
    pub(super) fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    #[inline]
    pub(super) fn gathers_by_die(&self) -> bool {
        self.gathers_by_die
    }

    /// Returns whether programs of `class` write GC moves in superblocks. Such programs fill a die by rows: one program in each plane. Mapping units
    /// that a row leaves unfilled are lost until the erase, and the reserve of GC covers the loss of few of them.
    #[inline]
    pub(super) fn gathers_moves_by_die(&self, class: TransactionClass) -> bool {
        self.gathers_by_die && class == TransactionClass::CollectProgram
    }

    #[inline]
    fn index(&self, die: DieId, class: TransactionClass, plane: u8) -> usize {
        (die.index() * CLASSES + class.index()) * self.geometry.planes_per_die as usize + usize::from(plane)
    }

    #[inline]
    pub(super) fn queued(&self, die: DieId, class: TransactionClass, plane: u8) -> u32 {
        self.queued[self.index(die, class, plane)]
    }

    /// Adds a queued mapping unit of `class` to the count of units that wait at `plane` of `die` to fill a program. The first unit starts the timeout
    /// (`ftl.gather-timeout`); GC moves have no timeout.
    #[inline(never)]
    pub(super) fn count_queued(
        &mut self,
        die: DieId,
        class: TransactionClass,
        plane: u8,
        kernel: &mut Kernel<impl Model>,
    ) {
        let at = self.index(die, class, plane);
        self.queued[at] += 1;
        if self.queued[at] == 1 && class.waits_for_page() {
            kernel.schedule(lane::GATHER, kernel.now() + self.timeout, Event::GatherDue(die));
        }
    }

    /// Returns the planes in `planes` (bit mask by index in the die) whose programs of `class` are full and may run in a superblock. `units` returns
    /// the number of mapping units in a program of a plane.
    ///
    /// Programs wait until every plane of the die has a full one. But GC moves go to the plane with the fewest programmed pages, and their number in
    /// flight is limited, so the moves that would fill the other planes may never arrive. Therefore, once a plane has moves for two programs queued,
    /// full programs of moves run without the other planes.
    pub(super) fn full_programs_of_die(
        &self,
        die: DieId,
        class: TransactionClass,
        planes: u8,
        units: impl Fn(u8) -> u32,
    ) -> u8 {
        let of_die = 0..self.geometry.planes_per_die as u8;
        let has_programs = |plane: u8, count: u32| self.queued(die, class, plane) >= count * units(plane);
        let is_full = |plane: &u8| has_programs(*plane, 1);
        let may_run = of_die.clone().all(|plane| is_full(&plane))
            || (class == TransactionClass::CollectProgram && of_die.clone().any(|plane| has_programs(plane, 2)));
        self::planes(planes).filter(|plane| may_run && is_full(plane)).fold(0, |full, plane| full | 1 << plane)
    }

    /// Subtracts a dequeued mapping unit of `class` from the count of units that wait at `plane` of `die` to fill a program.
    pub(super) fn count_dequeued(&mut self, die: DieId, class: TransactionClass, plane: u8) {
        let at = self.index(die, class, plane);
        self.queued[at] -= 1;
    }

    /// Returns the planes of `die` whose partial programs of `class` (not filled with mapping units) may run.
    #[inline]
    pub(super) fn released(&self, die: DieId, class: TransactionClass) -> u8 {
        self.released[die.index()].of(class)
    }

    /// Lets the programs of `class` at `plane` of `die` run without further mapping units, if `ftl.gather-timeout` has passed at `now` since
    /// `queued`, the time at which their oldest unit was queued.
    #[inline]
    pub(super) fn release_due(&mut self, die: DieId, class: TransactionClass, plane: u8, queued: Time, now: Time) {
        if queued + self.timeout <= now {
            self.release(die, class, plane);
        }
    }

    #[inline]
    pub(super) fn release(&mut self, die: DieId, class: TransactionClass, plane: u8) {
        self.released[die.index()].insert(class, plane);
    }

    /// Restarts the wait for further mapping units at `plane` of `die`, after a program has started. `queued` is the time at which the oldest
    /// remaining unit was queued; `None` if the queues are empty. GC moves have no timeout.
    pub(super) fn restart(
        &mut self,
        die: DieId,
        class: TransactionClass,
        plane: u8,
        queued: Option<Time>,
        kernel: &mut Kernel<impl Model>,
    ) {
        self.released[die.index()].remove(class, plane);
        if let Some(queued) = queued
            && class.waits_for_page()
        {
            let due = (queued + self.timeout).max(kernel.now());
            kernel.schedule(lane::GATHER, due, Event::GatherDue(die));
        }
    }

    /// Returns the number of GC moves that wait at `plane` until they fill a program.
    pub fn moves_at(&self, plane: PlaneId) -> u32 {
        let (die, in_die) = (self.geometry.die_of_plane(plane), self.geometry.plane_in_die(plane) as u8);
        self.queued(die, TransactionClass::CollectProgram, in_die)
    }
}

/// Returns whether transactions of purpose `work` are programs that may wait for further mapping units.
pub(super) fn may_gather(work: Purpose) -> bool {
    work.class().is_program() && work != Purpose::Parity && !work.is_whole()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FirmwarePolicy;
    use crate::kernel::model::Probed;
    use crate::units::Bytes;

    const DIE: DieId = DieId(1);
    const MOVE: TransactionClass = TransactionClass::CollectProgram;
    const WRITE: TransactionClass = TransactionClass::UserProgram;

    /// Returns the planes of a die of three planes whose programs of four units may run, as a bit mask, with `queued` units of `class` at each plane.
    fn full_programs(class: TransactionClass, queued: [u32; 3]) -> u8 {
        let mut config = Config::default();
        config.geometry.planes_per_die = 3;
        config.geometry.page_size = Bytes::from_kib(16);
        config.ftl.mapping_unit = Some(Bytes::from_kib(4));
        config.ftl.policy = FirmwarePolicy::Tbm;
        let geometry = Geometry::from_config(&config).expect("the geometry is valid");
        let (mut gather, mut kernel) = (GatherState::new(&config, &geometry), Kernel::<Probed>::default());
        for (plane, units) in (0..).zip(queued) {
            (0..units).for_each(|_| gather.count_queued(DIE, class, plane, &mut kernel));
        }
        gather.full_programs_of_die(DIE, class, 0b111, |_| 4)
    }

    #[test]
    fn planes_of_a_superblock_wait_until_each_has_a_full_program() {
        for class in [MOVE, WRITE] {
            assert_eq!(full_programs(class, [4, 7, 3]), 0);
            assert_eq!(full_programs(class, [4, 7, 4]), 0b111);
        }
    }

    /// Checks that the planes with the fewest programmed pages run alone when they have all moves in flight, and the others none.
    #[test]
    fn full_programs_of_moves_do_not_wait_for_other_planes_once_a_plane_has_two() {
        assert_eq!(full_programs(MOVE, [0, 7, 4]), 0);
        assert_eq!(full_programs(MOVE, [0, 8, 0]), 0b010);
        assert_eq!(full_programs(MOVE, [3, 8, 4]), 0b110);
        assert_eq!(full_programs(WRITE, [0, 8, 4]), 0, "further writes may still arrive at the first plane");
    }
}
