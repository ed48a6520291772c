//! Mapping units that share a page of the array, or a program, run as one transaction: the first leads, and the others follow it in a
//! chain, its *companions*.
//!
//! - Reads of the same page that wait in one queue are sensed once, and their data leaves together.
//! - Programs gather in the queue of their plane until there are as many as one program writes. They run with fewer when the oldest has waited
//!   for `ftl.gather-timeout`, when a flush waits for them ([`Datapath::hurry`]), or when no more will come (the last units of a victim).
//! - Writes that were given their places before gather in the program that has these ([`bound`](super::bound)).
//! - Where the planes of a die write at one pointer, all of them gather before any runs, so that a program is over all planes.

use crate::config::{Config, MultiPlane};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, PlaneId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::policies;
use crate::schedule::Choice;
use crate::schedule::queues::{NOTHING, PlaneMasks, planes};
use crate::schedule::transaction::{CLASSES, Class};
use crate::schedule::work::Work;
use crate::units::Time;

use super::bound::BoundPrograms;
use super::{Beginning, Datapath, PageSource};

/// Programs that gather.
#[derive(Clone, Debug)]
pub(super) struct Gather {
    is_on: bool,
    pub(super) units_per_page: u32,
    units_per_program: u32,
    timeout: Time,
    /// Whether the planes of a die gather together.
    by_die: bool,
    planes_per_die: u32,
    /// By die: programs that run with what there is.
    due: Vec<PlaneMasks>,
    /// By die, class and plane: transactions that wait; kept where programs gather.
    waiting: Vec<u32>,
    /// Programs whose units were given their places before.
    pub(super) bound: BoundPrograms,
}

impl Gather {
    pub(super) fn new(config: &Config, geometry: &Geometry) -> Gather {
        let is_on = geometry.gathers();
        let dies = if is_on { geometry.dies() as usize } else { 0 };
        Gather {
            is_on,
            units_per_page: geometry.units_per_page,
            units_per_program: geometry.units_per_program,
            timeout: config.ftl.gather_timeout,
            by_die: policies::ftl_rules(config).superblock_dies.is_some()
                && config.flash.multi_plane != MultiPlane::Off,
            planes_per_die: geometry.planes_per_die,
            due: vec![NOTHING; dies],
            waiting: vec![0; dies * CLASSES * geometry.planes_per_die as usize],
            bound: BoundPrograms::none(if is_on { geometry.planes() } else { 0 }),
        }
    }

    #[inline(always)]
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(super) fn timeout(&self) -> Time {
        self.timeout
    }

    fn at(&self, die: DieId, class: Class, plane: u8) -> usize {
        (die.index() * CLASSES + class.index()) * self.planes_per_die as usize + usize::from(plane)
    }

    /// Whether as many programs wait as `units`.
    fn is_full(&self, die: DieId, class: Class, plane: u8, units: u32) -> bool {
        self.waiting[self.at(die, class, plane)] >= units
    }
}

/// Whether what is queued for `work` may wait for others, to run with them.
fn gathers_as(work: Work) -> bool {
    work.class().is_program() && work != Work::Parity && !work.is_whole()
}

const WAITING_PROGRAMS: PlaneMasks = PlaneMasks::all_of(&Class::WAITING_PROGRAMS);

impl<M: Model> Datapath<M> {
    #[inline(always)]
    pub(super) fn gathers(&self) -> bool {
        M::ALL_FEATURES && self.gather.is_on
    }

    /// The transaction that runs with `id` and comes after it.
    #[inline(always)]
    pub fn companion(&self, id: TransactionId) -> Option<TransactionId> {
        if self.gathers() { self.transactions[id].companion() } else { None }
    }

    /// `id` and all that run with it.
    pub fn with_companions(&self, id: TransactionId) -> impl Iterator<Item = TransactionId> {
        std::iter::successors(Some(id), |&id| self.companion(id))
    }

    /// A transaction came into the queue of its die.
    #[inline(always)]
    pub(super) fn count_queued(
        &mut self,
        id: TransactionId,
        die: DieId,
        work: Work,
        plane: u8,
        kernel: &mut Kernel<M>,
    ) {
        if self.gathers() && self.has_page(work.class()) {
            self.gather.bound.count_waiting(&self.geometry, self.transactions[id].to, true);
        } else if self.gathers() && gathers_as(work) {
            self.gather_queued(die, work.class(), plane, kernel);
        }
    }

    #[inline(never)]
    fn gather_queued(&mut self, die: DieId, class: Class, plane: u8, kernel: &mut Kernel<M>) {
        let at = self.gather.at(die, class, plane);
        self.gather.waiting[at] += 1;
        if self.gather.waiting[at] == 1 && class.waits_for_page() {
            kernel.schedule(lane::GATHER, kernel.now() + self.gather.timeout, Event::GatherDue(die));
        }
    }

    /// A transaction left the queue of its die.
    #[inline(always)]
    pub(super) fn count_left(&mut self, id: TransactionId) {
        if self.gathers() {
            let transaction = &self.transactions[id];
            if !gathers_as(transaction.work) {
                return;
            }
            if self.has_page(transaction.class()) {
                return self.gather.bound.count_waiting(&self.geometry, transaction.to, false);
            }
            let die = self.geometry.die_of_plane(transaction.plane);
            let plane = self.geometry.plane_in_die(transaction.plane) as u8;
            let at = self.gather.at(die, transaction.class(), plane);
            self.gather.waiting[at] -= 1;
        }
    }

    /// How many moves wait for others in the queue of a plane.
    pub fn moves_that_gather(&self, plane: PlaneId) -> u32 {
        let (die, in_die) = (self.geometry.die_of_plane(plane), self.geometry.plane_in_die(plane) as u8);
        self.gather.waiting[self.gather.at(die, Class::CollectProgram, in_die)]
    }

    /// The planes among `planes` whose programs of `class` may run: they fill a program, or do not wait for others.
    pub(super) fn gathered<S: PageSource<M>>(&self, die: DieId, class: Class, planes: u8, source: &S) -> u8 {
        if planes == 0 {
            return 0;
        }
        let Gather { by_die, planes_per_die, due, .. } = &self.gather;
        let (first, count) = (self.geometry.first_plane(die), *planes_per_die);
        if self.has_page(class) {
            let may_run = |plane: &u8| self.gather.bound.has_gathered(PlaneId(first.0 + u32::from(*plane)));
            return self::planes(planes).filter(may_run).fold(0, |ready, plane| ready | 1 << plane);
        }
        let due = due[die.index()].of(class);
        let moves = class == Class::CollectProgram;
        let units = |plane: u8| {
            let writes_slc = || source.writes_slc(PlaneId(first.0 + u32::from(plane)));
            let is_page = self.geometry.has_slc() && class == Class::UserProgram && writes_slc();
            if is_page { self.gather.units_per_page } else { self.gather.units_per_program }
        };
        let is_full = |plane: u8| self.gather.is_full(die, class, plane, units(plane));
        if *by_die {
            let is_ready = due != 0 || (moves && !source.moves_more(first)) || (0..count as u8).all(is_full);
            return if is_ready { planes } else { 0 };
        }
        let is_ready = |plane: &u8| {
            due >> plane & 1 != 0
                || is_full(*plane)
                || (moves && self.waits_for_nothing(die, *plane, source))
                || (moves && !source.moves_more(PlaneId(first.0 + u32::from(*plane))))
        };
        self::planes(planes).filter(is_ready).fold(0, |ready, plane| ready | 1 << plane)
    }

    /// Programs of a die may have waited for others for as long as they may, or for nothing more when they `hurry`:
    /// [`Datapath::try_issue`] follows. Gives the first place of each program that takes no more units, which were given their places before: what is
    /// left of it stays empty.
    #[inline(never)]
    pub fn gather_due(&mut self, die: DieId, hurry: bool, kernel: &Kernel<M>) -> Vec<Ppn> {
        let now = kernel.now();
        for class in Class::WAITING_PROGRAMS {
            if self.has_page(class) {
                continue;
            }
            for plane in 0..self.gather.planes_per_die as u8 {
                let heads = self.queues.priorities().iter().filter_map(|&priority| {
                    let head = self.queues.head(Choice { die, class, plane, priority })?;
                    Some(self.transactions[head].account.queued())
                });
                if heads.min().is_some_and(|queued| hurry || queued + self.gather.timeout <= now) {
                    self.gather.due[die.index()].insert(class, plane);
                }
            }
        }
        self.close_due(die, hurry, now)
    }

    /// A flush waits for programs of a die: those that are queued by the end of this moment do not wait for others.
    #[inline(never)]
    pub fn hurry(&self, die: DieId, kernel: &mut Kernel<M>) {
        let is_waiting = || self.queues.masks(die).and(WAITING_PROGRAMS) != NOTHING || self.has_open_program(die);
        if self.gathers() && is_waiting() {
            kernel.schedule(lane::GATHER, kernel.now(), Event::GatherDue(die));
        }
    }

    /// The next program that runs with the one that `beginning` took last, in the same plane; all before it have their pages.
    #[inline(always)]
    pub fn next_companion<S: PageSource<M>>(
        &mut self,
        beginning: &mut Beginning,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        if self.gathers() { self.next_program_of_plane(beginning, source, kernel) } else { None }
    }

    #[inline(never)]
    fn next_program_of_plane<S: PageSource<M>>(
        &mut self,
        beginning: &mut Beginning,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        let lead = *beginning.transactions().last()?;
        if self.transactions[lead].work.is_whole() {
            return self.next_of_whole(beginning, lead, kernel);
        }
        let id = if self.has_page(beginning.class()) {
            self.next_bound(beginning, lead)?
        } else {
            self.next_waiting(beginning, lead, source)?
        };
        self.taken(id, beginning.queue.die, beginning.path(), kernel);
        let last = self.with_companions(lead).last().unwrap_or(lead);
        self.chain(last, id);
        beginning.companions += 1;
        Some(id)
    }

    /// Takes the next program of the same plane and open block, unless the one that `lead` leads is full.
    fn next_waiting<S: PageSource<M>>(
        &mut self,
        beginning: &Beginning,
        lead: TransactionId,
        source: &S,
    ) -> Option<TransactionId> {
        let leading = self.transactions[lead];
        let units = self.geometry.units_per_program_of(self.geometry.block_of(leading.to));
        if leading.to.0 / units != (leading.to.0 + beginning.companions + 1) / units {
            return None;
        }
        let plane = self.geometry.plane_in_die(leading.plane) as u8;
        let queue = Choice { plane, ..beginning.queue };
        let lookahead = self.rules.lookahead.max(units);
        self.queues.take_first(&mut self.transactions, queue, lookahead, |other| {
            leading.work.may_run_with(other.work) && source.shares_block(&leading, other) && source.is_current(other)
        })
    }

    pub(super) fn chain(&mut self, last: TransactionId, id: TransactionId) {
        self.transactions[id].end_chain();
        self.transactions[last].set_companion(id);
    }

    /// Programs over these planes begin: what is left in the queues of the planes gathers anew.
    #[inline(never)]
    pub(super) fn gather_anew(&mut self, beginning: &Beginning, kernel: &mut Kernel<M>) {
        let (die, class) = (beginning.queue.die, beginning.class());
        if self.has_page(class) {
            return self.bound_began(beginning);
        }
        for &lead in beginning.transactions() {
            let plane = self.geometry.plane_in_die(self.transactions[lead].plane) as u8;
            self.gather.due[die.index()].remove(class, plane);
            let heads = self.queues.priorities().iter().filter_map(|&priority| {
                let head = self.queues.head(Choice { die, class, plane, priority })?;
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
