//! What the controller decides, in time: where pages are read and written, what is cached, and what is collected.
//!
//! The frontend asks for pages ([`Controller::read`], [`Controller::write`]); each page becomes a transaction of a [kind of work](work), and
//! goes into a queue of the [datapath](crate::datapath), which asks where pages are when their turn has come ([`questions`]) and returns
//! what it wants done ([`issue`]). What happens to a transaction is given to its kind of work ([`events`]). What follows is a
//! list of [`steps`]. What is done for requests is read with [`Controller::next_done`].

mod cache;
mod cores;
mod events;
mod issue;
mod power_cut;
mod questions;
mod requests;
mod shared;
mod steps;
mod work;

use crate::config::{Config, Move, MovedPages};
use crate::datapath::Datapath;
use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ftl::allocation::Allocator;
use crate::ftl::collection::VictimSelector;
use crate::ftl::mapping_cache::MappingCache;
use crate::ids::{JobId, Lpn, RequestId, StreamId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::job::Job;
use crate::kernel::model::Model;
use crate::measure::report::{FlashReport, GcReport};
use crate::persistence::Persistence;
use crate::policies::{self, AnyPolicy, FirmwarePolicy, Placed, Placing, WritePlacer};
use crate::schedule::account::LatencyBreakdown;
use crate::schedule::transaction::{Owner, Priority};
use crate::units::{Bytes, Time};

pub use cache::DeviceCache;
pub use cores::Cores;
pub use work::replica::{self, Replication};

use shared::{Context, Rules, Shared};
use steps::Todo;
use work::collect::Collections;
use work::foreground::Foreground;
use work::host_write::HostWrites;
use work::journal::Journal;
use work::map::CachedMap;
use work::moves::Moves;
use work::parity::Parity;
use work::slc::SlcWork;

/// A page of a request.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    pub request: RequestId,
    /// The stream that issued it.
    pub stream: StreamId,
    pub priority: Priority,
    pub lpn: Lpn,
    /// Where in the page the request begins.
    pub start: Bytes,
    /// How much of the page it reads or writes.
    pub bytes: Bytes,
    /// When the request reached the drive: earlier than now when it waited for writes that had no room in the cache.
    pub since: Time,
}

impl PageRequest {
    #[inline(always)]
    fn owner(&self) -> Owner {
        Owner { request: Some(self.request), stream: self.stream, priority: self.priority }
    }
}

/// Something is done for a request.
#[derive(Clone, Copy, Debug)]
pub enum Done {
    /// A page of one, or a part of a page, by this transaction, which is still there and ends with the taking.
    Page(TransactionId),
    /// A part of a page of it, by the device cache.
    Cached {
        request: RequestId,
        /// What was read for it.
        read: Bytes,
        /// Where the time of the page went.
        spent: LatencyBreakdown,
    },
    /// All that the device cache had to write for a flush; `None` for one that the drive itself waits for.
    Flush(Option<RequestId>),
}

/// What the controller counts.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Garbage collection and wear levelling.
    pub gc: GcReport,
    /// Pages read and programmed.
    pub flash: FlashReport,
}

/// The translation layer and all that happens around it.
#[derive(Clone)]
pub struct Controller {
    shared: Shared,
    writes: HostWrites,
    collections: Collections,
    moves: Moves,
    /// The cache of the map, unless all of it is in DRAM.
    map: Option<Box<CachedMap>>,
    /// The device cache, when the drive has one.
    cache: Option<Box<DeviceCache>>,
    /// Parity of superblocks, where they have any.
    parity: Option<Parity>,
}

impl Controller {
    /// The controller of the drive that `config` describes, with its translation layer in its initial state.
    pub fn new(config: &Config, geometry: &Geometry, ftl: Ftl) -> Controller {
        let priorities: Vec<Priority> = config.streams().iter().map(|stream| stream.queue.priority).collect();
        let pages_of_cache = ftl.translation_pages().filter(|_| config.mapping.cache_capacity.is_some());
        let map = pages_of_cache.map(|pages| {
            let cache = MappingCache::new(&config.mapping, pages, priorities.len());
            Box::new(CachedMap::new(cache, &config.mapping, geometry))
        });
        let rules = Rules::new(config, map.is_some());
        let writes = HostWrites::new(if rules.preallocates { geometry.planes() } else { 0 }, priorities);
        let moves = Moves::new(geometry, config.gc.r#move.leaves_the_chip(), config.gc.r#move == Move::Clean);
        Controller {
            writes,
            collections: Collections::new(config, geometry),
            moves,
            map,
            cache: DeviceCache::new(config, geometry, &ftl),
            parity: Parity::new(config, geometry),
            shared: Shared {
                rules,
                policy: policies::policy_of(config, geometry),
                journal: Journal::new(config, geometry, &ftl),
                copies: Replication::new(config, geometry),
                counters: Counters::default(),
                cores: Cores::new(config),
                slc: SlcWork::new(geometry),
                flushes: 0,
                foreground: Foreground::new(geometry),
                done: Vec::new(),
                todo: Todo::default(),
                is_cut_off: false,
                ftl,
                geometry: geometry.clone(),
            },
        }
    }

    /// Runs with a firmware policy of the caller's own in place of the configured one, which is `page`.
    pub fn set_policy(&mut self, policy: Box<dyn FirmwarePolicy + Send>) {
        self.shared.ftl.set_moves_shared(policy.moved_pages() == MovedPages::WriteBlock);
        if policy.placing() == Placing::Late {
            self.shared.ftl.set_placed_late();
        }
        self.shared.policy = AnyPolicy::Other(policy);
    }

    /// Places writes by a part of the caller's own, beside the configured policy.
    ///
    /// # Panics
    /// When that chooses the planes of writes as they leave its queues.
    pub fn set_write_placer(&mut self, placer: Box<dyn WritePlacer + Send>) {
        let Shared { policy, ftl, geometry, .. } = &mut self.shared;
        assert_ne!(policy.placing(), Placing::Late, "writes are placed as they come: set ftl.policy to another one");
        ftl.set_placed_beside();
        let placed = Placed::new(std::mem::replace(policy, policies::page_policy()), placer, geometry);
        *policy = AnyPolicy::Other(Box::new(placed));
    }

    /// See [`Ftl::store_map`](crate::ftl::Ftl::store_map).
    pub fn store_map(&mut self) {
        self.shared.ftl.store_map();
    }

    /// Places pages by an allocator of the caller's own.
    pub fn set_allocator(&mut self, allocator: Box<dyn Allocator + Send>) {
        self.shared.rules.asks_allocator = true;
        self.shared.ftl.set_allocator(allocator);
    }

    /// Chooses victims by a policy of the caller's own.
    pub fn set_victim_selector(&mut self, selector: Box<dyn VictimSelector + Send>) {
        self.shared.ftl.set_victim_selector(selector);
    }

    pub fn ftl(&self) -> &Ftl {
        &self.shared.ftl
    }

    pub fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    /// The device cache, when the drive has one.
    pub fn cache(&self) -> Option<&DeviceCache> {
        self.cache.as_deref()
    }

    /// The processor cores, where anything takes them time.
    pub fn cores(&self) -> Option<&Cores> {
        self.shared.cores.as_deref()
    }

    /// Asks the cores for a job; gives when it will be done, and `None` where it takes no time.
    pub fn ask_core<M: Model>(&mut self, job: Job, kernel: &mut Kernel<M>) -> Option<Time> {
        if M::ALL_FEATURES { self.shared.cores.as_mut()?.ask(job, kernel) } else { None }
    }

    /// The job that a core has done now.
    pub fn core_done<M: Model>(&mut self, id: JobId, kernel: &mut Kernel<M>) -> Option<Job> {
        self.shared.cores.as_mut().map(|cores| cores.done(id, kernel))
    }

    /// Whether a write waits for room in the device cache.
    #[inline]
    pub fn has_waiting_writes(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.is_full())
    }

    /// The cache of the map, unless all of it is in DRAM.
    pub fn mapping_cache(&self) -> Option<&MappingCache> {
        self.map.as_ref().map(|map| map.state())
    }

    /// Copies of pages on other dies, when there are to be any.
    pub fn replication(&self) -> Option<&Replication> {
        self.shared.copies.as_deref()
    }

    /// The same, to be set up before the run.
    pub fn replication_mut(&mut self) -> Option<&mut Replication> {
        self.shared.copies.as_deref_mut()
    }

    /// What was done with the SLC cache, when the drive has one.
    pub fn slc(&self) -> Option<&SlcWork> {
        self.shared.slc.as_deref()
    }

    /// What of the map is on flash, where it does not survive a cut of the power by itself.
    pub fn persistence(&self) -> Option<&Persistence> {
        self.shared.journal.state()
    }

    /// Has the caches keep what probes are told of.
    pub fn tell_probes(&mut self) {
        if let Some(map) = &mut self.map {
            map.keep_events();
        }
        if let Some(cache) = &mut self.cache {
            cache.keep_removed();
        }
    }

    /// Ends that.
    pub fn stop_telling(&mut self) {
        if let Some(map) = &mut self.map {
            map.drop_events();
        }
        if let Some(cache) = &mut self.cache {
            cache.drop_removed();
        }
    }

    /// Whether anything is done for requests.
    #[inline(always)]
    pub fn has_done(&self) -> bool {
        !self.shared.done.is_empty()
    }

    /// What is done for requests, in the order in which it was, from the one numbered `next` on.
    #[inline(always)]
    pub fn next_done(&self, next: usize) -> Option<&Done> {
        self.shared.done.get(next)
    }

    /// All that was done has been taken.
    #[inline(always)]
    pub fn done_taken(&mut self) {
        self.shared.done.clear();
    }

    /// Whether the policy has writes that may go to their dies.
    #[inline]
    pub fn has_due_writes(&self) -> bool {
        !self.shared.policy.is_page() && self.shared.policy.is_due()
    }

    /// Hands granted paths to their dies until the fabric has nothing more to say; gives whether it had anything.
    #[inline(always)]
    pub fn settle<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) -> bool {
        let mut has_answered = false;
        loop {
            if M::ALL_FEATURES && self.has_due_writes() {
                self.send_due(datapath, kernel);
            }
            let may_dispatch = datapath.dispatches() && (datapath.has_candidates() || datapath.has_answers());
            let has_dispatched = may_dispatch && self.dispatch(datapath, kernel);
            let has_answers = datapath.has_answers();
            // In line on plain drives, where no other place takes any.
            if has_answers && M::ALL_FEATURES {
                self.take_grants_out_of_line(datapath, kernel);
            } else if has_answers {
                self.take_grants(datapath, kernel);
            }
            has_answered |= has_dispatched || has_answers;
            // What a grant has freed may let further writes go on, and no event need come to say so.
            if !(M::ALL_FEATURES && self.has_due_writes()) {
                break;
            }
        }
        datapath.tell_link_uses(kernel);
        has_answered
    }
}
