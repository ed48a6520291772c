//! From the queues of the dies to the arrays and back: paths, operations, transfers.
//!
//! The firmware puts transactions into the queue of a die ([`Datapath::enqueue`]). The die asks for a path when it may take one
//! ([`issue`]); which transactions it takes is decided only when the path is granted ([`grant`], [`join`]). Commands and data move
//! ([`send`], [`delivered`]) and the array works ([`array`](self::array)). What ends is given back to the firmware as a return value. What only the firmware
//! knows is asked of it through one seam, [`PageSource`].

mod alone;
mod array;
mod arrivals;
mod ask;
mod asker;
mod begin;
mod bound;
mod chips;
mod counters;
mod delivered;
mod dispatch;
mod figures;
mod gather;
mod grant;
mod interconnect;
mod issue;
mod join;
mod occupancy;
mod page_by_page;
mod parity;
mod parts;
mod path;
mod rules;
mod same_page;
mod scheduling;
mod send;
mod source;
mod suspended_chips;
mod whole;

use crate::config::{Config, EraseOrder, Priorities};
use crate::engine::table::Table;
use crate::fabric::{AnyFabric, FabricError, Facts};
use crate::flash::die::Die;
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use crate::ftl::IdleDies;
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::{Model, Probed};
use crate::kernel::probe::{Notice, ReadNotice};
use crate::measure::lower_bound::DieWork;
use crate::schedule::load::Load;
use crate::schedule::queues::{DieQueues, Transactions};
use crate::schedule::transaction::{Class, Transaction};
use crate::schedule::work::Work;
use crate::schedule::{AnyScheduler, Choice, Scheduler};
use crate::units::{Bytes, Time};

pub use array::Ended;
pub use begin::Beginning;
pub use counters::Counters;
pub use delivered::Arrived;
pub use figures::Figures;
pub use grant::{Next, Units};
pub use source::{HeldDie, PageSource, Wants};

use alone::Alone;
use arrivals::Arrivals;
use gather::Gather;
use interconnect::Interconnect;
use parts::Parts;
use path::PathRequest;
use rules::Rules;
use scheduling::Scheduling;

/// All that is kept of a die.
#[derive(Clone, Debug, Default)]
struct DieUnit {
    state: Die,
    path: PathRequest,
    work: DieWork,
    /// Whether it asks for a path to suspend what its chip does.
    asks_to_suspend: bool,
    /// When its chip was suspended last; kept for the first die of a chip.
    chip_suspended: Time,
}

/// The transactions in flight, the dies, and the interconnect between them and the controllers.
#[derive(Clone)]
pub struct Datapath<M: Model> {
    geometry: Geometry,
    timing: Timing,
    rules: Rules,
    transactions: Transactions,
    queues: DieQueues,
    scheduling: Scheduling,
    units: Table<DieId, DieUnit>,
    /// Dies with nothing to do, kept when the allocation asks for it.
    idle: IdleDies,
    /// What chips do by themselves.
    alone: Alone,
    parts: Parts,
    interconnect: Interconnect<M::Fabric>,
    arrivals: Arrivals,
    gather: Gather,
    counters: Counters,
}

impl Datapath<Probed> {
    /// The datapath of the drive that `config` describes over an interconnect of the kind `facts`, with nothing to do.
    ///
    /// # Errors
    /// When the interconnect does not fit the drive.
    pub fn new(config: &Config, geometry: &Geometry, facts: &'static Facts) -> Result<Datapath<Probed>, FabricError> {
        let dies = geometry.dies();
        let mut idle = IdleDies::new(dies);
        (0..dies).for_each(|die| idle.set(DieId(die), true));
        let scheduler = AnyScheduler::new(config, geometry);
        Ok(Datapath {
            timing: Timing::new(config, facts.on_die_controller_time(config)),
            rules: Rules::new(config, geometry, facts, &scheduler),
            transactions: Transactions::default(),
            queues: DieQueues::new(dies, geometry.planes_per_die, config.schedule.priorities != Priorities::Off),
            scheduling: Scheduling::new(scheduler, geometry),
            units: Table::of(DieUnit::default(), dies as usize),
            idle,
            alone: Alone::default(),
            parts: Parts::default(),
            interconnect: Interconnect::new(facts, AnyFabric::of_kind(facts, config, geometry)?),
            arrivals: Arrivals::default(),
            gather: Gather::new(config, geometry),
            counters: Counters::default(),
            geometry: geometry.clone(),
        })
    }

    /// Runs with a scheduling policy of the caller's own in place of the configured one.
    pub fn set_scheduler(&mut self, scheduler: AnyScheduler) {
        self.rules.dispatches = scheduler.dispatches();
        self.rules.first_goes &= scheduler.takes_only_queue();
        self.scheduling.scheduler = scheduler;
    }

    /// Leaves what waits too long and when erases go to the scheduler alone, whatever keys say: it sees whether space is nearly out, and what
    /// has waited for `schedule.age-bound` is not counted.
    pub fn leave_order_to_scheduler(&mut self) {
        (self.rules.age_bound, self.rules.erases) = (Time::MAX, EraseOrder::Last);
    }

    /// Keeps the dies with nothing to do, for an allocator that may look for such.
    pub fn track_idle(&mut self) {
        self.rules.tracks_idle = true;
    }

    /// The same datapath for a run of another model: over the interconnect that `resolve` finds in this one.
    pub fn into_model<N: Model>(self, resolve: impl FnOnce(AnyFabric) -> N::Fabric) -> Datapath<N> {
        Datapath {
            geometry: self.geometry,
            timing: self.timing,
            rules: self.rules,
            transactions: self.transactions,
            queues: self.queues,
            scheduling: self.scheduling,
            units: self.units,
            idle: self.idle,
            alone: self.alone,
            parts: self.parts,
            interconnect: self.interconnect.resolved(resolve),
            arrivals: self.arrivals,
            gather: self.gather,
            counters: self.counters,
        }
    }
}

impl<M: Model> Datapath<M> {
    /// Has the fabric tell of every use of a link, for probes.
    pub fn tell_uses(&mut self) {
        self.interconnect.outbox.uses = Some(Vec::new());
    }

    /// Ends that.
    pub fn stop_telling(&mut self) {
        self.interconnect.outbox.uses = None;
    }

    /// What it has done, for reports.
    pub fn figures(&self) -> Figures<'_> {
        Figures {
            fabric: &self.interconnect.fabric,
            facts: self.interconnect.facts,
            counters: &self.counters,
            units: self.units.values(),
            rules: &self.rules,
        }
    }

    /// The interconnect.
    pub fn fabric(&self) -> &M::Fabric {
        &self.interconnect.fabric
    }

    /// The interconnect, to be set up before a run.
    pub fn fabric_mut(&mut self) -> &mut M::Fabric {
        &mut self.interconnect.fabric
    }

    /// The kind of the interconnect.
    pub fn facts(&self) -> &'static Facts {
        self.interconnect.facts
    }

    /// The dies.
    pub fn dies(&self) -> impl ExactSizeIterator<Item = &Die> {
        self.units.values().iter().map(|unit| &unit.state)
    }

    /// The dies as policies see them.
    pub fn states(&self) -> Units<'_> {
        Units(self.units.values(), &self.rules.die)
    }

    /// What waits for the dies, for policies that look at load.
    pub fn load<'a>(&'a self, states: &'a Units<'a>) -> Load<'a> {
        Load::new(states, &self.queues, &self.transactions)
    }

    /// Dies with nothing to do, where the allocation looks for such.
    #[inline]
    pub fn idle_dies(&self) -> &IdleDies {
        &self.idle
    }

    /// The transaction `id`.
    #[inline]
    pub fn transaction(&self, id: TransactionId) -> &Transaction {
        &self.transactions[id]
    }

    /// The transaction `id`, to change what it asks for while it is in no queue.
    #[inline]
    pub fn transaction_mut(&mut self, id: TransactionId) -> &mut Transaction {
        &mut self.transactions[id]
    }

    /// Takes up a transaction, which is in no queue yet.
    #[inline]
    pub fn insert(&mut self, transaction: Transaction) -> TransactionId {
        self.transactions.insert(transaction)
    }

    /// Forgets a transaction that is in no queue.
    #[inline]
    pub fn remove(&mut self, id: TransactionId) {
        self.transactions.remove(id);
    }

    /// How long a die has worked for the firmware up to `now`.
    #[inline]
    pub fn internal_busy(&self, die: DieId, now: Time) -> Time {
        self.units[die].state.internal_busy(now)
    }

    /// Whether the array has read the page of `id`, a read outstanding on `die`: its data waits in the register, or leaves it.
    pub fn is_in_register(&self, die: DieId, id: TransactionId) -> bool {
        self.units[die].state.sensed().any(|&lead| self.with_companions(lead).any(|held| held == id))
    }

    /// Whether `id`, a read outstanding on `die`, is being read by the array, or its command is on the way.
    pub fn is_sensed_now(&self, die: DieId, id: TransactionId) -> bool {
        let mut leads = self.units[die].state.under_way().flat_map(|operation| operation.transactions());
        leads.any(|&lead| self.with_companions(lead).any(|sensed| sensed == id))
    }

    /// Whether a die has nothing to do and nothing waits for it.
    pub fn is_idle(&self, die: DieId) -> bool {
        !self.queues.has_work(die) && self.units[die].state.is_idle()
    }

    /// The next place in the order of arrival among all transactions.
    #[inline]
    pub fn take_order(&mut self) -> u64 {
        self.arrivals.take_order()
    }

    /// Puts a transaction, which is for `work`, into the queue of its die: gives the die, for which [`Datapath::try_issue`] follows.
    #[inline(always)]
    pub fn enqueue(&mut self, id: TransactionId, work: Work, kernel: &mut Kernel<M>) -> DieId {
        let now = kernel.now();
        // A write with a page has had its turn since it got that.
        let transaction = &mut self.transactions[id];
        debug_assert_eq!(transaction.work, work, "a transaction is enqueued for what it is for");
        let class = work.class();
        let has_turn = class == Class::UserProgram && self.rules.preallocates;
        // Parity goes before all else: the die programs nothing before it.
        let goes_first = M::ALL_FEATURES && work == Work::Parity;
        if !has_turn {
            transaction.order = if goes_first { 0 } else { self.arrivals.take_order() };
        }
        let request = transaction.owner.request;
        self.arrivals.enqueued(request);
        let die = self.geometry.die_of_plane(transaction.plane);
        let plane = self.geometry.plane_in_die(transaction.plane) as u8;
        kernel.tell(|| Notice::Enqueued(die, class, request));
        transaction.account.queue(now, self.units[die].state.internal_busy(now));
        if self.gathers() && work.is_whole() {
            self.queue_whole(die, plane, id, kernel);
        } else if has_turn || goes_first {
            self.queues.insert(&mut self.transactions, die, plane, id);
        } else {
            self.queues.push_of(&mut self.transactions, die, class, plane, id);
        }
        self.count_queued(id, die, work, plane, kernel);
        if self.dispatches() {
            self.scheduling.scheduler.queue_changed(die);
        }
        if M::ALL_FEATURES && self.rules.tracks_idle {
            self.idle.set(die, false);
            if self.rules.dies_take_turns {
                self.dies_of_chip(die).for_each(|die| self.idle.set(die, false));
            }
        }
        if class == Class::UserRead && kernel.watches_reads() {
            let Transaction { lpn, work, .. } = self.transactions[id];
            kernel.tell_of_read(ReadNotice::Queued(id, die, lpn, work.read_for()));
        }
        die
    }

    /// Tells the probes, when there are any, of a read of a user page that is outstanding on its die no longer.
    #[inline(always)]
    pub fn tell_left(&self, id: TransactionId, kernel: &mut Kernel<M>) {
        if kernel.watches_reads() {
            self.tell_read_left(id, kernel);
        }
    }

    #[inline(never)]
    fn tell_read_left(&self, id: TransactionId, kernel: &mut Kernel<M>) {
        let transaction = &self.transactions[id];
        if transaction.class() == Class::UserRead {
            let die = self.geometry.die_of_plane(transaction.plane);
            kernel.tell_of_read(ReadNotice::Left(id, die));
        }
    }

    /// Tells the probes, when there are any, of a transaction that was taken out of its queue to go elsewhere.
    pub fn tell_rerouted(&self, id: TransactionId, kernel: &mut Kernel<M>) {
        self.tell_left(id, kernel);
        let transaction = &self.transactions[id];
        let die = self.geometry.die_of_plane(transaction.plane);
        let (class, request) = (transaction.class(), transaction.owner.request);
        kernel.tell(|| Notice::Rerouted(die, class, request));
    }

    /// Counts the wait of a transaction in its queue up to now, though it does not run yet.
    pub fn count_wait(&mut self, id: TransactionId, now: Time) {
        let die = self.geometry.die_of_plane(self.transactions[id].plane);
        let internal_busy = self.units[die].state.internal_busy(now);
        self.transactions[id].account.wait(now, internal_busy);
    }

    /// Takes the transactions of requests for which `is_unwanted` out of the queues of the dies.
    pub fn take_out(
        &mut self,
        is_unwanted: impl Fn(&Transaction) -> bool,
        kernel: &mut Kernel<M>,
    ) -> Vec<TransactionId> {
        let mut kept: Vec<TransactionId> = Vec::new();
        let mut taken: Vec<TransactionId> = Vec::new();
        let priorities = self.queues.priorities();
        for die in (0..self.geometry.dies()).map(DieId) {
            for class in [Class::UserRead, Class::UserProgram] {
                let planes = 0..self.geometry.planes_per_die as u8;
                for (plane, &priority) in
                    planes.flat_map(|plane| priorities.iter().map(move |priority| (plane, priority)))
                {
                    let queue = Choice { die, class, plane, priority };
                    while let Some(id) = self.queues.pop(&mut self.transactions, queue) {
                        if is_unwanted(&self.transactions[id]) { taken.push(id) } else { kept.push(id) }
                    }
                    for id in kept.drain(..) {
                        self.queues.push(&mut self.transactions, die, plane, id);
                    }
                }
            }
        }
        if self.dispatches() {
            (0..self.geometry.dies()).for_each(|die| self.scheduling.scheduler.queue_changed(DieId(die)));
        }
        if M::ALL_FEATURES {
            taken.iter().for_each(|&id| {
                self.count_left(id);
                self.tell_left(id, kernel);
            });
        }
        taken
    }

    /// User data of `bytes` with its share of the metadata of the page.
    #[inline]
    fn with_spare(&self, bytes: Bytes) -> Bytes {
        let spare = self.geometry.page_spare;
        if spare == Bytes::ZERO {
            return bytes;
        }
        bytes + Bytes::new((bytes.as_u64() * spare.as_u64()).div_ceil(self.geometry.array_page_size().as_u64()))
    }
}
