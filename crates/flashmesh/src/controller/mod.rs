//! The controller: decides where pages are read and written, which pages are cached, and which blocks are collected.
//!
//! The frontend requests pages ([`Backend::read`], [`Backend::write`]). Each page becomes a transaction of a [kind of work](work) and is
//! enqueued in the [datapath](crate::datapath). At its turn, the datapath queries the location of the page ([`page_source`]) and returns actions for
//! the controller ([`issue`]). Events of a transaction are passed to its kind of work ([`events`]), which pushes follow-up work as
//! [steps](follow_ups). The frontend takes completions with [`Controller::next_done`].
//!
//! # Terms
//! - *Kind of work*: purpose of transactions, with its own state, in one file of `work/`.
//! - *Step*: follow-up work on a stack. The follow-ups of a step run before its next sibling.
//! - *Collection*: garbage collection or wear levelling of a *victim* block. A *fold* is the collection of a block of the SLC cache.
//! - *Home*: a location from which a page can be read.
//! - *Gather*: mapping units wait at their plane until they fill a program.
//! - *Destage*: the write of a dirty page from the device cache to flash.

mod backend;
mod cache;
mod cores;
mod events;
mod follow_ups;
mod give_up;
mod issue;
mod page_source;
mod power_cut;
mod requests;
mod shared;
mod work;

use crate::config::{Config, MovedPages, PageMove};
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
use crate::policies::{self, AnyPolicy, CustomPlacement, FirmwarePolicy, PlacementStage, WritePlacer};
use crate::schedule::latency_account::LatencyBreakdown;
use crate::schedule::transaction::{Owner, Priority};
use crate::units::{Bytes, Time};

pub use backend::Backend;
pub use cache::DeviceCache;
pub use cores::Cores;
pub use power_cut::{pages_under_way, programs_under_way};
pub use work::replica::{self, Replication};

use follow_ups::FollowUpStack;
use shared::{Context, Rules, Shared};
use work::chip_to_chip::ChipToChipMoves;
use work::collect::foreground::Foreground;
use work::collect::{CollectionLevels, Collections};
use work::host_write::HostWrites;
use work::journal::Journal;
use work::map::CachedMap;
use work::parity::Parity;
use work::slc::SlcWork;

/// Page, or part of a page, that a request reads or writes.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    pub request: RequestId,
    /// Stream that issued the request.
    pub stream: StreamId,
    pub priority: Priority,
    pub lpn: Lpn,
    /// Offset of the requested data in the page.
    pub start: Bytes,
    /// Size of the requested data in the page.
    pub bytes: Bytes,
    /// Time at which the drive had received the command of the request, and a core had processed it if commands take core time. In the past if the
    /// command was held behind stalled writes.
    pub since: Time,
}

impl PageRequest {
    #[inline(always)]
    fn owner(&self) -> Owner {
        Owner { request: Some(self.request), stream: self.stream, priority: self.priority }
    }
}

/// A completion for the frontend.
#[derive(Clone, Copy, Debug)]
pub enum CompletedWork {
    /// A page of a request, or part of a page, completed by this transaction, which the frontend then removes.
    Page(TransactionId),
    /// Part of a page of a request, completed by the device cache without a transaction.
    Cached {
        request: RequestId,
        /// Size of the data that a read takes from DRAM; zero for a write.
        read: Bytes,
        /// Latency breakdown of the page, or of the part of the page.
        spent: LatencyBreakdown,
    },
    /// A flush whose data is on flash; `None` for a flush that no request issued.
    Flush(Option<RequestId>),
}

/// Counters of the controller.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Counters of garbage collection and wear levelling.
    pub gc: GcReport,
    /// Numbers of pages read and programmed.
    pub flash: FlashReport,
}

/// The controller: the translation layer, and all kinds of work (host reads, host writes, collection, ...).
#[derive(Clone)]
pub struct Controller {
    shared: Shared,
    work: Work,
}

/// States of the kinds of work that keep a state.
#[derive(Clone)]
struct Work {
    writes: HostWrites,
    collections: Collections,
    moves: ChipToChipMoves,
    /// Mapping cache; `None` if the whole map is in DRAM.
    map: Option<Box<CachedMap>>,
    /// Device cache; `None` if the drive has none.
    cache: Option<Box<DeviceCache>>,
    /// Schedule of superblock parity programs; `None` if the drive has no parity.
    parity: Option<Parity>,
}

impl Controller {
    /// Creates the controller of the drive that `config` describes, with its translation layer in its initial state.
    pub fn new(config: &Config, geometry: &Geometry, ftl: Ftl) -> Controller {
        let priorities: Vec<Priority> = config.streams().iter().map(|stream| stream.queue.priority).collect();
        let pages_of_cache = ftl.translation_pages().filter(|_| config.mapping.cache_capacity.is_some());
        let map = pages_of_cache.map(|pages| {
            let cache = MappingCache::new(&config.mapping, pages, priorities.len());
            Box::new(CachedMap::new(cache, &config.mapping, geometry))
        });
        let rules = Rules::new(config, map.is_some());
        let writes = HostWrites::new(if rules.preallocates { geometry.planes() } else { 0 }, priorities);
        let moves =
            ChipToChipMoves::new(geometry, config.gc.r#move.crosses_chips(), config.gc.r#move == PageMove::Clean);
        let work = Work {
            writes,
            collections: Collections::new(config, geometry),
            moves,
            map,
            cache: DeviceCache::new(config, geometry, &ftl),
            parity: Parity::new(config, geometry),
        };
        Controller {
            work,
            shared: Shared {
                rules,
                policy: policies::build_policy(config, geometry),
                journal: Journal::new(config, geometry, &ftl),
                replication: Replication::new(config, geometry),
                counters: Counters::default(),
                cores: Cores::new(config),
                slc: SlcWork::new(geometry),
                flushes: 0,
                foreground: Foreground::new(geometry),
                done: Vec::new(),
                follow_ups: FollowUpStack::default(),
                is_cut_off: false,
                ftl,
                geometry: geometry.clone(),
            },
        }
    }

    /// Replaces the configured firmware policy, which must be `page`, with a user-supplied one.
    pub fn set_policy(&mut self, policy: Box<dyn FirmwarePolicy + Send>) {
        self.shared.ftl.set_moves_shared(policy.moved_pages() == MovedPages::WriteBlock);
        if policy.placement_stage() == PlacementStage::AtDispatch {
            self.shared.ftl.allow_any_plane();
        }
        self.shared.policy = AnyPolicy::Other(policy);
    }

    /// Lets a user-supplied placer choose the planes of host writes, in place of the configured policy.
    ///
    /// # Panics
    /// If the configured policy chooses planes only at dispatch ([`PlacementStage::AtDispatch`]).
    pub fn set_write_placer(&mut self, placer: Box<dyn WritePlacer + Send>) {
        let Shared { policy, ftl, geometry, .. } = &mut self.shared;
        assert_ne!(
            policy.placement_stage(),
            PlacementStage::AtDispatch,
            "writes are placed as they come: set ftl.policy to another one"
        );
        ftl.allow_other_planes();
        let placed = CustomPlacement::new(std::mem::replace(policy, policies::page_policy()), placer, geometry);
        *policy = AnyPolicy::Other(Box::new(placed));
    }

    /// Stores in tables the map entries that so far are computed at each lookup; see [`Ftl::materialize_map`](crate::ftl::Ftl::materialize_map).
    pub fn store_map(&mut self) {
        self.shared.ftl.materialize_map();
    }

    /// Replaces the allocator with a user-supplied one.
    pub fn set_allocator(&mut self, allocator: Box<dyn Allocator + Send>) {
        self.shared.rules.asks_allocator = true;
        self.shared.ftl.set_allocator(allocator);
    }

    /// Replaces the selection of victim blocks with a user-supplied one.
    pub fn set_victim_selector(&mut self, selector: Box<dyn VictimSelector + Send>) {
        self.shared.ftl.set_victim_selector(selector);
    }

    pub fn ftl(&self) -> &Ftl {
        &self.shared.ftl
    }

    /// Returns the number of blocks under collection, and the pages reclaimed from them so far, over all planes. Folds of the SLC cache do not
    /// count.
    pub fn collection_levels(&self) -> CollectionLevels {
        self.work.collections.progress(&self.shared)
    }

    pub fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    /// Returns the device cache; `None` if the drive has none.
    pub fn cache(&self) -> Option<&DeviceCache> {
        self.work.cache.as_deref()
    }

    /// Returns the processor cores; `None` if no job of the firmware takes time.
    pub fn cores(&self) -> Option<&Cores> {
        self.shared.cores.as_deref()
    }

    /// Returns whether two logical pages are currently mapped to the same page of flash.
    pub fn are_in_one_flash_page(&self, one: Lpn, other: Lpn) -> bool {
        let Shared { ftl, geometry, .. } = &self.shared;
        let page = |lpn: Lpn| {
            let ppn = ftl.lookup(lpn).unwrap_or_else(|| ftl.static_order().default_location_of(lpn));
            (geometry.block_of(ppn), geometry.array_page(ppn))
        };
        page(one) == page(other)
    }

    /// Queues a job at the processor cores. Returns the time at which the job ends; `None` if the job takes no time.
    pub fn ask_core<M: Model>(&mut self, job: Job, kernel: &mut Kernel<M>) -> Option<Time> {
        if M::ALL_FEATURES { self.shared.cores.as_mut()?.queue_job(job, kernel) } else { None }
    }

    /// Removes and returns job `id` of the processor cores, which ends now; `None` if no job takes time.
    pub fn core_done<M: Model>(&mut self, id: JobId, kernel: &mut Kernel<M>) -> Option<Job> {
        self.shared.cores.as_mut().map(|cores| cores.done(id, kernel))
    }

    /// Returns whether a write waits for space in the device cache, or because of the throttle.
    #[inline]
    pub fn has_waiting_writes(&self) -> bool {
        self.work.cache.as_ref().is_some_and(|cache| cache.has_waiting_writes())
    }

    /// Returns whether a write waits for space in the device cache. A write that the throttle delays counts only while more than seven eighths of the
    /// dirty limit are dirty.
    #[inline]
    pub fn is_cache_full(&self) -> bool {
        self.work.cache.as_ref().is_some_and(|cache| cache.is_full())
    }

    /// Returns the mapping cache; `None` if the whole map is in DRAM.
    pub fn mapping_cache(&self) -> Option<&MappingCache> {
        self.work.map.as_ref().map(|map| map.state())
    }

    /// Returns the state of page replication; `None` if it is disabled.
    pub fn replication(&self) -> Option<&Replication> {
        self.shared.replication.as_deref()
    }

    /// Returns the state of page replication for changes before the run; `None` if it is disabled.
    pub fn replication_mut(&mut self) -> Option<&mut Replication> {
        self.shared.replication.as_deref_mut()
    }

    /// Returns the counters of the SLC cache; `None` if the drive has none.
    pub fn slc(&self) -> Option<&SlcWork> {
        self.shared.slc.as_deref()
    }

    /// Returns the journal and checkpoints of the map on flash; `None` if the map has no journal.
    pub fn persistence(&self) -> Option<&Persistence> {
        self.shared.journal.state()
    }

    /// Starts recording changes of cached mapping entries, and removals of pages from the device cache, for probes.
    pub fn record_changes(&mut self) {
        if let Some(map) = &mut self.work.map {
            map.keep_events();
        }
        if let Some(cache) = &mut self.work.cache {
            cache.keep_removed();
        }
    }

    /// Stops recording changes of cached mapping entries, and removals of pages from the device cache.
    pub fn stop_recording(&mut self) {
        if let Some(map) = &mut self.work.map {
            map.drop_events();
        }
        if let Some(cache) = &mut self.work.cache {
            cache.drop_removed();
        }
    }

    /// Returns whether completions are pending for the frontend.
    #[inline(always)]
    pub fn has_completions(&self) -> bool {
        !self.shared.done.is_empty()
    }

    /// Returns the pending completion at index `next`, in order of occurrence; `None` if there is none.
    #[inline(always)]
    pub fn next_done(&self, next: usize) -> Option<&CompletedWork> {
        self.shared.done.get(next)
    }

    /// Removes all pending completions, after the frontend has handled them.
    #[inline(always)]
    pub fn clear_completions(&mut self) {
        self.shared.done.clear();
    }

    /// Returns whether the firmware policy may be holding writes that can be sent to their dies now.
    #[inline]
    pub fn has_due_writes(&self) -> bool {
        !self.shared.policy.is_page() && self.shared.policy.may_dispatch()
    }

    /// Counts the pages that a request writes.
    pub fn count_written(&mut self, pages: u32) {
        self.shared.counters.flash.pages_written += u64::from(pages);
    }

    /// Prefetches the mapping entries of `pages` into the CPU cache.
    pub fn prefetch(&self, pages: &[Lpn]) {
        if let Some(map) = &self.work.map {
            map.state().prefetch(pages.iter().copied());
        }
        pages.iter().for_each(|&lpn| self.shared.ftl.map().prefetch(lpn));
    }

    /// Records that the completion of a request has reached the host.
    #[inline]
    pub fn acknowledge(&mut self, request: RequestId) {
        if let Some(cache) = &mut self.work.cache {
            cache.acknowledge(request);
        }
    }
}
