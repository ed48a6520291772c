//! What the controller decides, in time: where pages are read and written, what is cached, and what is collected.
//!
//! The frontend asks for pages ([`Firmware::read`], [`Firmware::write`]); the firmware translates them and puts transactions into the
//! queues of the [datapath](crate::datapath), which asks back through [`PageSource`](crate::datapath::PageSource) where a page is when its
//! turn has come. What is done for requests is read with [`Firmware::next_done`].

mod cache;
mod clean;
mod collect;
mod commit;
mod copy;
mod events;
mod map;
mod mbm;
mod persistence;
mod place;
pub mod policy;
mod power_cut;
mod preallocate;
mod read;
pub mod replication;
mod source;
mod tbm;
mod write;

use crate::config::{Config, FirstTouch, Move, MovedPages, WriteBinding, WriteStreams};
use crate::datapath::Datapath;
use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ftl::mapping_cache::MappingCache;
use crate::ids::{DieId, Lpn, PlaneId, RequestId, StreamId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::measure::report::{FlashReport, GcReport};
use crate::persistence::Persistence;
use crate::schedule::account::LatencyBreakdown;
use crate::schedule::transaction::Priority;
use crate::units::{Bytes, Time};

pub use cache::DeviceCache;

use collect::Collections;
use map::CachedMap;
use persistence::Journaling;
use policy::{AnyPolicy, FirmwarePolicy};
use power_cut::PowerLoss;
use replication::Replication;
use write::Writes;

/// A page of a request.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    /// The request.
    pub request: RequestId,
    /// The stream that issued it.
    pub stream: StreamId,
    /// What its transactions have beside those of other requests.
    pub priority: Priority,
    /// The logical page.
    pub lpn: Lpn,
    /// Where in the page the request begins.
    pub start: Bytes,
    /// How much of the page it reads or writes.
    pub bytes: Bytes,
}

/// Something is done for a request.
#[derive(Clone, Copy, Debug)]
pub enum Done {
    /// A page of one, or a part of a page, by this transaction, which is still there and ends with the taking.
    Page(TransactionId),
    /// A part of a page of it, by the device cache.
    Cached {
        /// The request.
        request: RequestId,
        /// What was read for it.
        read: Bytes,
        /// Where the time of the page went.
        spent: LatencyBreakdown,
    },
    /// All that the device cache had to write for a flush; `None` for one that the drive itself waits for.
    Flush(Option<RequestId>),
}

/// What the firmware counts.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Garbage collection and wear levelling.
    pub gc: GcReport,
    /// Pages read and programmed.
    pub flash: FlashReport,
}

/// What of the configuration decides what the firmware does.
#[derive(Clone, Debug)]
struct Rules {
    /// Whether writes get their pages before their turn.
    preallocates: bool,
    copyback: bool,
    preemptible: bool,
    /// Whether idle dies are collected.
    collects_in_background: bool,
    /// Whether pages move from chip to chip.
    copies: bool,
    /// Whether those of a block move by one packet.
    cleans: bool,
    /// Whether all streams of the host write to one open block of a plane.
    shares_open_block: bool,
    /// Whether a page that holds nothing is given a place when it is read.
    places_for_reads: bool,
    /// Whether the allocator is the caller's own, which is told of requests and asked again when a write could be programmed.
    asks_allocator: bool,
    /// By stream.
    priorities: Vec<Priority>,
}

/// The flash translation layer and all that happens around it.
pub struct Firmware {
    geometry: Geometry,
    rules: Rules,
    /// What the policy decides.
    policy: AnyPolicy,
    ftl: Ftl,
    writes: Writes,
    collections: Collections,
    /// The device cache, when the drive has one.
    cache: Option<Box<DeviceCache>>,
    /// The cache of the map, unless all of it is in DRAM.
    map: Option<Box<CachedMap>>,
    power_loss: PowerLoss,
    /// Copies of pages on other dies, when there are to be any.
    replication: Option<Box<Replication>>,
    done: Vec<Done>,
    counters: Counters,
}

impl Firmware {
    /// The firmware of the drive that `config` describes, with its translation layer in its initial state.
    pub fn new(config: &Config, geometry: &Geometry, ftl: Ftl) -> Firmware {
        let priorities: Vec<Priority> = config.streams().iter().map(|stream| stream.queue.priority).collect();
        let pages_of_cache = ftl.translation_pages().filter(|_| config.mapping.cache_capacity.is_some());
        let map = pages_of_cache.map(|pages| {
            let cache = MappingCache::new(&config.mapping, pages, priorities.len());
            Box::new(CachedMap::new(cache, &config.mapping, geometry))
        });
        let preallocates = config.ftl.write_binding == WriteBinding::Early;
        let copies = config.gc.r#move.leaves_the_chip();
        let cleans = config.gc.r#move == Move::Clean;
        Firmware {
            rules: Rules {
                preallocates,
                copyback: config.gc.copyback,
                preemptible: config.gc.preemptible,
                collects_in_background: config.gc.background_threshold != 0.0,
                copies,
                cleans,
                shares_open_block: config.ftl.write_streams == WriteStreams::Shared,
                places_for_reads: preallocates && config.ftl.first_touch == FirstTouch::WriteBlock,
                asks_allocator: false,
                priorities,
            },
            policy: AnyPolicy::new(config, geometry),
            writes: Writes::new(if preallocates { geometry.planes() } else { 0 }),
            collections: Collections::new(geometry, copies, cleans),
            cache: DeviceCache::new(config, geometry, &ftl),
            map,
            power_loss: PowerLoss {
                journaling: Persistence::new(config, geometry, &ftl).map(|state| Journaling::new(config, state)),
                is_cut_off: false,
            },
            replication: Replication::new(config, geometry),
            done: Vec::new(),
            counters: Counters::default(),
            ftl,
            geometry: geometry.clone(),
        }
    }

    /// Runs with a firmware policy of the caller's own in place of the configured one, which is `page`.
    pub fn set_policy(&mut self, policy: Box<dyn FirmwarePolicy + Send>) {
        self.ftl.set_moves_shared(policy.moved_pages() == MovedPages::WriteBlock);
        self.policy = AnyPolicy::Custom(policy);
    }

    /// The translation layer.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// What it has counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The device cache, when the drive has one.
    pub fn cache(&self) -> Option<&DeviceCache> {
        self.cache.as_deref()
    }

    /// The cache of the map, unless all of it is in DRAM.
    pub fn mapping_cache(&self) -> Option<&MappingCache> {
        self.map.as_ref().map(|map| &map.cache)
    }

    /// Copies of pages on other dies, when there are to be any.
    pub fn replication(&self) -> Option<&Replication> {
        self.replication.as_deref()
    }

    /// The same, to be set up before the run.
    pub fn replication_mut(&mut self) -> Option<&mut Replication> {
        self.replication.as_deref_mut()
    }

    /// Has the caches keep what probes are told of.
    pub fn tell_probes(&mut self) {
        if let Some(map) = &mut self.map {
            map.cache.keep_events();
        }
        if let Some(device) = &mut self.cache {
            device.cache.keep_removed();
        }
    }

    /// Whether anything is done for requests.
    #[inline(always)]
    pub fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    /// What is done for requests, in the order in which it was, from the one numbered `next` on.
    #[inline(always)]
    pub fn next_done(&self, next: usize) -> Option<&Done> {
        self.done.get(next)
    }

    /// All that was done has been taken.
    #[inline(always)]
    pub fn done_taken(&mut self) {
        self.done.clear();
    }

    /// Hands granted paths to their dies until the fabric has nothing more to say; gives whether it had anything.
    #[inline(always)]
    pub fn settle<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) -> bool {
        let mut has_answered = false;
        loop {
            if M::FULL {
                self.dispatch_if_due(datapath, kernel);
            }
            let has_dispatched = datapath.dispatches() && self.settle_dispatch(datapath, kernel);
            let has_answers = datapath.has_answers();
            if has_answers {
                self.take_grants(datapath, kernel);
            }
            has_answered |= has_dispatched || has_answers;
            // What a grant has freed may let further writes go on, and no event need come to say so.
            if !(M::FULL && self.has_due_writes()) {
                break;
            }
        }
        datapath.tell_link_uses(kernel);
        has_answered
    }

    /// Lets the scheduling policy name the dies that ask for paths, until neither it nor the fabric has more to say; gives whether they had
    /// anything.
    #[inline(never)]
    fn settle_dispatch<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) -> bool {
        let mut has_answered = false;
        loop {
            while datapath.dispatch(self, kernel) {
                has_answered = true;
            }
            if !datapath.has_answers() {
                return has_answered;
            }
            has_answered = true;
            self.take_grants(datapath, kernel);
        }
    }

    #[inline(never)]
    fn take_grants<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let mut next = 0;
        while let Some(granted) = datapath.next_grant(&mut next) {
            if let Some(die) = datapath.granted(granted, self, kernel) {
                let mut place = 0;
                while let Some(plane) = datapath.plane_at_work(die, place) {
                    self.collect_if_needed(plane, datapath, kernel);
                    place += 1;
                }
            }
        }
        datapath.grants_taken(kernel);
    }

    /// Prefetches what requests for `pages` need of the tables of the translation layer.
    pub fn prefetch(&self, pages: &[Lpn]) {
        if let Some(map) = &self.map {
            map.cache.prefetch(pages.iter().copied());
        }
        pages.iter().for_each(|&lpn| self.ftl.prefetch(lpn));
    }

    /// Forgets logical pages.
    pub fn deallocate<M: Model>(
        &mut self,
        pages: std::ops::Range<u32>,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        for lpn in pages.map(Lpn) {
            let had_copy = self.replication.is_some() && self.ftl.replica_of(lpn).is_some();
            let was_mapped = self.ftl.deallocate(lpn);
            if was_mapped || had_copy {
                self.persist(|state| state.unmapped(lpn));
            }
            kernel.tell(|| Notice::Deallocated(lpn));
            self.page_superseded(lpn, kernel);
            if was_mapped {
                self.entry_changed(lpn, datapath, kernel);
            }
            self.forget_cached(lpn, datapath, kernel);
        }
        self.settle_journal(datapath, kernel);
        self.collect_idle_dies(datapath, kernel);
    }

    /// A request reads `pages`, all of which follow.
    #[inline]
    pub fn begin_read<M: Model>(&mut self, pages: std::ops::RangeInclusive<u32>, bytes: Bytes) {
        if M::FULL {
            self.plan_reallocation(pages, bytes);
        }
    }

    /// Counts pages that a request writes.
    pub fn count_written(&mut self, pages: u32) {
        self.counters.flash.pages_written += u64::from(pages);
    }

    /// A transaction is done: the request that waits for it takes it; nobody waits for others.
    #[inline]
    fn finished<M: Model>(&mut self, id: TransactionId, request: Option<RequestId>, datapath: &mut Datapath<M>) {
        if request.is_some() { self.done.push(Done::Page(id)) } else { datapath.remove(id) }
    }

    /// The planes of a die.
    fn planes_of(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = self.geometry.first_plane(die).0;
        (first..first + self.geometry.planes_per_die).map(PlaneId)
    }

    /// Puts a transaction into the queue of its die.
    #[inline(never)]
    fn enqueue<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.enqueue_now(id, datapath, kernel);
    }

    /// The same, inlined into the way that most transactions take.
    #[inline(always)]
    fn enqueue_now<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if M::FULL && self.is_held(id, datapath, kernel) {
            return;
        }
        datapath.enqueue(id, self, kernel);
    }
}

/// A breakdown of time that was spent in the device cache.
fn in_cache(time: Time) -> LatencyBreakdown {
    LatencyBreakdown { cache: time, ..LatencyBreakdown::default() }
}
