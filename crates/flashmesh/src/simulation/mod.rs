//! The drive as a whole: owns the layers and the event queue, and runs a workload through them.
//!
//! `host` exchanges requests with the host, `submit` cuts them into transactions, `cache` takes pages through the device cache,
//! `map` reads and writes translation pages, `bind` gives writes their pages before their turn, `ready` lets dies ask for paths,
//! `dispatch` lets them take transactions (`chips` those that take turns, `join` with several planes), `operation` follows an
//! operation through path and array, `copy` sends pages to other chips, `collect` moves pages out of victim blocks, `complete` closes requests and measures
//! them, `timeline` in stretches of the run, `power_cut` ends a run that leaves dirty pages.

mod bind;
mod cache;
mod chips;
mod collect;
mod complete;
mod control;
mod copy;
mod dispatch;
mod event;
mod host;
mod join;
mod map;
mod operation;
mod power_cut;
mod ready;
mod request;
mod streams;
mod submit;
mod timeline;

use std::time::Instant;

use rustc_hash::FxHashMap;

use crate::check::{LinksAtEnd, Oracles};
use crate::config::{Allocation, Arbitration, Config, Move, Priorities, WriteBinding};
use crate::engine::queue::EventQueue;
use crate::error::{RunError, WorkloadError};
use crate::fabric::{self, AnyFabric, Causes, Fabric, FabricEvent, Grant, Granted, Leg, Outbox};
use crate::flash::die::{Die, DieRules, Operation};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use crate::ftl::mapping_cache::MappingCache;
use crate::ftl::{Ftl, IdleDies};
use crate::host::interface::AnyInterface;
use crate::host::namespace::Namespaces;
use crate::host::replay::Next;
use crate::ids::{AcknowledgementId, DieId, Lpn, PlaneId, RequestId, TransactionId};
use crate::measure::report::Report;
use crate::schedule::queues::{DieQueues, PlaneMasks, Transactions};
use crate::schedule::{AnyScheduler, Custom, Scheduler};
use crate::units::Time;
use crate::workload::source::WorkloadSource;

pub use control::Control;

use bind::HeldBack;
use cache::DeviceCache;
use collect::Collection;
use complete::Measures;
use event::{Event, fabric_lane, lane};
use host::{Flush, Unfinished};
use power_cut::{Ending, PowerCut};
use request::Request;
use streams::Stream;

/// Events between two looks at the [`Control`].
const EVENTS_PER_LOOK: u32 = 8192;

/// What a die has asked of the fabric, and how it went.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    command: Option<Time>,
    data: Option<Time>,
    /// Whether the last path of each leg had to be waited for.
    waited: [bool; Leg::ALL.len()],
    /// What was in the way of the data that leaves the register.
    causes: Causes,
    /// How long what moves for each leg takes at least.
    least: [Time; Leg::ALL.len()],
}

/// One drive and the workloads it runs.
pub struct Simulation {
    config: Config,
    geometry: Geometry,
    timing: Timing,
    rules: DieRules,
    queue: EventQueue<Event>,
    requests: crate::engine::arena::Arena<RequestId, Request>,
    transactions: Transactions,
    streams: Vec<Stream>,
    interface: AnyInterface,
    namespaces: Namespaces,
    /// By namespace.
    unfinished: Vec<Unfinished>,
    flushes: Vec<Flush>,
    /// The device cache, when the drive has one.
    cache: Option<Box<DeviceCache>>,
    ftl: Ftl,
    /// The cache of the map, unless all of it is in DRAM.
    map: Option<Box<MappingCache>>,
    /// By plane under collection: translation pages that are to be written back when its victim is empty; kept with such a cache.
    map_updates: Vec<Vec<Lpn>>,
    /// The last write in flight of each logical page: writes of one page keep their order.
    writes_in_flight: FxHashMap<Lpn, TransactionId>,
    /// Whether writes get their pages before their turn.
    binds_early: bool,
    held_back: HeldBack,
    queues: DieQueues,
    scheduler: AnyScheduler,
    /// Dies with nothing to do, kept when the allocation asks for it.
    idle: IdleDies,
    tracks_idle: bool,
    dies: Vec<Die>,
    /// Whether a chip takes one operation at a time, for one of several dies.
    dies_take_turns: bool,
    /// What is ready on each die of a chip, while one of them is chosen.
    ready_of_chip: Vec<PlaneMasks>,
    asked: Vec<Asked>,
    fabric: AnyFabric,
    /// Whether data that leaves the dies has an order beside that of asking: `data-first-round-robin`.
    data_has_rank: bool,
    outbox: Outbox,
    /// Operations that are done, while the controllers have not been told.
    unacknowledged: crate::engine::arena::Arena<AcknowledgementId, Operation>,
    collections: Vec<Option<Collection>>,
    /// For each plane that a page is on its way to from another chip, the plane whose collection sent it; kept when pages move
    /// from chip to chip.
    arrivals: Vec<Option<PlaneId>>,
    /// Collections in progress on each die that are not in the background.
    foreground_collections: Vec<u32>,
    transaction_order: u64,
    ending: Ending,
    power_cut: Option<Box<PowerCut>>,
    measures: Measures,
    oracles: Option<Box<Oracles>>,
}

impl Simulation {
    /// Builds the drive that `config` describes and opens the workloads that it names.
    ///
    /// # Errors
    /// When the drive cannot be built, or a workload cannot be used on it.
    pub fn new(config: &Config) -> Result<Simulation, RunError> {
        Simulation::opened(config, None)
    }

    /// The same drive with the stream at `index` alone: the others issue nothing, and everything else is as it is beside them,
    /// so that the two runs of the stream can be compared.
    ///
    /// # Errors
    /// When the drive cannot be built, there is no such stream, or its workload cannot be used.
    pub fn alone(config: &Config, index: usize) -> Result<Simulation, RunError> {
        let count = config.streams().len();
        if index >= count {
            return Err(WorkloadError::Unusable(format!("there is no stream {index}: there are {count}")).into());
        }
        Simulation::opened(config, Some(index))
    }

    fn opened(config: &Config, only: Option<usize>) -> Result<Simulation, RunError> {
        let opened = streams::open(config, &Geometry::new(&config.geometry)?, only)?;
        let mut simulation = Simulation::with_sources(config, opened.sources)?;
        for (stream, summary) in simulation.streams.iter_mut().zip(opened.summaries) {
            stream.summary = summary;
        }
        Ok(simulation)
    }

    /// Builds the drive that `config` describes, brings it to its initial state and connects `source` to its only stream.
    ///
    /// # Errors
    /// When the drive cannot be built, or the configuration has several streams.
    pub fn with_source(config: &Config, source: Box<dyn WorkloadSource>) -> Result<Simulation, RunError> {
        Simulation::with_sources(config, vec![source])
    }

    /// Builds the drive that `config` describes, brings it to its initial state and connects one of `sources` to each stream,
    /// in the order of [`Config::streams`]. Offsets of a source count from the beginning of the namespace of its stream.
    ///
    /// # Errors
    /// When the drive cannot be built, or there are not as many sources as streams.
    pub fn with_sources(config: &Config, sources: Vec<Box<dyn WorkloadSource>>) -> Result<Simulation, RunError> {
        let geometry = Geometry::new(&config.geometry)?;
        let streams = streams::connect(config, sources)?;
        let namespaces = streams::attach(config, &streams, &config.namespaces(&geometry)?)?;
        let priorities: Vec<_> = streams.iter().map(|stream| stream.config.queue.priority).collect();
        let mut ftl = Ftl::new(&geometry, config);
        ftl.precondition(&config.precondition, config.seed);
        let map =
            ftl.translation_pages().map(|pages| Box::new(MappingCache::new(&config.mapping, pages, streams.len())));
        let dies = geometry.dies();
        let binds_early = config.ftl.write_binding == WriteBinding::Early;
        let mut idle = IdleDies::new(dies);
        for die in 0..dies {
            idle.set(DieId(die), true);
        }
        Ok(Simulation {
            timing: Timing::new(&config.flash, fabric::on_die_controller_time(config)),
            rules: DieRules {
                read_cache: config.flash.read_cache,
                suspension: config.flash.suspension,
                suspensions_max: config.flash.suspensions_max,
                suspend_remaining_min: config.flash.suspend_remaining_min,
            },
            queue: EventQueue::new(Event::Memory),
            requests: Default::default(),
            transactions: Transactions::default(),
            interface: AnyInterface::new(config, &priorities),
            unfinished: vec![Unfinished::default(); namespaces.len()],
            namespaces,
            flushes: Vec::new(),
            map_updates: map.as_ref().map_or(Vec::new(), |_| vec![Vec::new(); geometry.planes() as usize]),
            map,
            cache: DeviceCache::new(config, &geometry, &ftl),
            ftl,
            writes_in_flight: FxHashMap::default(),
            binds_early,
            held_back: if binds_early { HeldBack::new(geometry.planes()) } else { HeldBack::default() },
            queues: DieQueues::new(dies, geometry.planes_per_die, config.schedule.priorities != Priorities::Off),
            scheduler: AnyScheduler::new(&config.schedule, dies),
            idle,
            tracks_idle: config.ftl.allocation == Allocation::Dynamic,
            dies: vec![Die::default(); dies as usize],
            dies_take_turns: !config.flash.die_interleaving && geometry.dies_per_chip > 1,
            ready_of_chip: Vec::new(),
            asked: vec![Asked::default(); dies as usize],
            fabric: AnyFabric::new(config, &geometry)?,
            data_has_rank: config.fabric.arbitration == Arbitration::DataFirstRoundRobin
                && fabric::has_channels(config.fabric.kind),
            outbox: Outbox::default(),
            unacknowledged: Default::default(),
            collections: vec![None; geometry.planes() as usize],
            arrivals: match config.gc.r#move {
                Move::ThroughController => Vec::new(),
                Move::ChipToChip => vec![None; geometry.planes() as usize],
            },
            foreground_collections: vec![0; dies as usize],
            transaction_order: 0,
            ending: Ending::default(),
            power_cut: None,
            measures: Measures::new(dies, streams.len(), &config.measure),
            oracles: None,
            streams,
            geometry,
            config: config.clone(),
        })
    }

    /// Runs with a scheduling policy of the caller's own in place of the configured one.
    pub fn set_scheduler(&mut self, scheduler: Box<dyn Scheduler + Send>) {
        self.scheduler = AnyScheduler::Custom(Custom(scheduler));
    }

    /// The translation layer, to look at where pages live.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The shape of the array.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Turns the oracles on: the run fails at the first thing that must not happen.
    pub fn enable_checks(&mut self) {
        self.outbox.uses = Some(Vec::new());
        if let Some(map) = &mut self.map {
            map.keep_events();
        }
        if let Some(device) = &mut self.cache {
            device.cache.keep_removed();
        }
        self.oracles = Some(Box::new(Oracles::new(&self.geometry, &self.config)));
    }

    /// Runs all streams to their end, or until `control` cancels it.
    ///
    /// # Errors
    /// When the workload cannot be read on, a sink takes no more records, or an oracle speaks.
    pub fn run(&mut self, control: &Control) -> Result<Report, RunError> {
        let started = Instant::now();
        control.begin(self.request_count());
        self.collect_idle_dies();
        self.settle();
        self.start_replay()?;
        if let Some(at) = self.config.cache.power_cut {
            self.queue.schedule(lane::ARRIVAL, at, Event::PowerCut);
        }
        let mut interrupted = false;
        'run: loop {
            for _ in 0..EVENTS_PER_LOOK {
                if self.outbox.wake_at <= self.queue.next_at() && self.outbox.wake_at < Time::MAX {
                    self.queue.advance_to(self.outbox.wake_at);
                    self.handle(Event::Fabric(FabricEvent::Wake(0)))?;
                } else {
                    let Some(due) = self.queue.advance() else { break 'run };
                    let event = self.queue.take(due);
                    self.handle(event)?;
                }
                if self.is_over() {
                    break 'run;
                }
            }
            if self.queue.now() > Time::RUN_MAX {
                return Err(RunError::TooLong);
            }
            control.publish(self.measures.completed, self.queue.now());
            if control.is_cancelled() {
                interrupted = true;
                break;
            }
        }
        control.publish(self.measures.completed, self.queue.now());
        if !interrupted && self.is_stalled() {
            let in_flight = self.streams.iter().map(|stream| stream.replay.in_flight()).sum();
            return Err(RunError::Stalled { at: self.queue.now(), in_flight });
        }
        self.fabric.finish(self.queue.now(), &mut self.outbox);
        self.tell_uses();
        let report = self.report(started.elapsed(), interrupted);
        if let Some(oracles) = &mut self.oracles {
            let (now, held) = (self.queue.now(), self.fabric.held());
            oracles.finish(&self.ftl, &held, !interrupted && self.power_cut.is_none(), now);
            oracles.cache_finished(report.power_cut.as_ref(), now);
            let (layout, usage, hops) = (self.fabric.layout(), self.fabric.usage(), self.fabric.hops());
            let is_torn = interrupted || self.power_cut.is_some();
            let links = LinksAtEnd { layout, usage, held: &held, is_torn, hops };
            oracles.reported(&report.power, links, now);
            oracles.verdict()?;
        }
        Ok(report)
    }

    #[inline(always)]
    fn handle(&mut self, event: Event) -> Result<(), RunError> {
        self.witness(|oracles, now| oracles.event(now));
        if self.measures.due <= self.queue.now() {
            self.cut_timeline(self.queue.now());
        }
        match event {
            Event::Arrive(_) | Event::ThreadReady(..) | Event::Host(_) if self.power_cut.is_some() => {}
            Event::Arrive(stream) => {
                self.streams[stream.index()].replay.alarm_rang();
                self.issue_open(stream)?;
            }
            Event::ThreadReady(stream, thread) => {
                if let Next::Issue(arrived) = self.streams[stream.index()].replay.thought(thread, self.queue.now()) {
                    self.issue(stream, arrived);
                }
            }
            Event::Host(event) => self.host_event(event)?,
            Event::Fabric(event) => self.fabric_event(event),
            Event::ArrayEnd(die) => self.array_end(die),
            Event::Resumed(die) => self.kick(die),
            Event::Memory => self.memory_done(),
            Event::PowerCut => self.cut_power(),
        }
        self.settle();
        match &mut self.oracles {
            Some(oracles) => {
                oracles.settled(&self.ftl, self.queue.now());
                oracles.verdict()
            }
            None => Ok(()),
        }
    }

    /// Tells the oracles, when they are on, what happens now.
    #[inline]
    fn witness(&mut self, tell: impl FnOnce(&mut Oracles, Time)) {
        if let Some(oracles) = &mut self.oracles {
            testify(oracles, self.queue.now(), tell);
        }
    }

    /// Hands granted paths to their dies until the fabric has nothing more to say.
    #[inline(always)]
    fn settle(&mut self) {
        if !self.outbox.grants.is_empty() || !self.outbox.events.is_empty() {
            self.empty_outbox();
        }
        self.tell_uses();
    }

    #[inline(never)]
    fn empty_outbox(&mut self) {
        let mut next = 0;
        while next < self.outbox.grants.len() {
            // Field by field: it was written so, and reading it whole would wait until that is in the cache.
            let Granted { grant: Grant { die, leg, path }, since, cause } = self.outbox.grants[next];
            next += 1;
            self.granted(Granted { grant: Grant { die, leg, path }, since, cause });
        }
        self.outbox.grants.clear();
        for (at, event) in self.outbox.events.drain(..) {
            self.queue.schedule(fabric_lane(event), at, Event::Fabric(event));
        }
    }

    /// Tells the oracles, when they are on, of the uses of links that ended.
    #[inline]
    fn tell_uses(&mut self) {
        if let (Some(oracles), Some(uses)) = (&mut self.oracles, &mut self.outbox.uses) {
            let now = self.queue.now();
            uses.drain(..).for_each(|link_use| oracles.link_used(link_use, now));
            self.outbox.searches.drain(..).for_each(|search| oracles.searched(search, now));
        }
    }
}

/// Kept out of line, so that the code of the oracles does not push that of the drive out of the instruction cache.
#[cold]
#[inline(never)]
fn testify(oracles: &mut Oracles, now: Time, tell: impl FnOnce(&mut Oracles, Time)) {
    tell(oracles, now);
}
