//! State shared by all kinds of work: the translation layer, counters, completions and pending steps.

use crate::config::{Config, FirstTouch, WriteBinding, WriteStreams};
use crate::datapath::Datapath;
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, OpenBlockKind};
use crate::ids::{DieId, Lpn, PlaneId, Ppn, RequestId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::job::Job;
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, ReadNotice};
use crate::persistence::{Persistence, ProgramReason};
use crate::policies::{AnyPolicy, FirmwarePolicy, PolicyEvent};
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::{Owner, Transaction};

use super::cores::Cores;
use super::follow_ups::{FollowUp, FollowUpStack};
use super::work::collect::foreground::Foreground;
use super::work::journal::Journal;
use super::work::replica::Replication;
use super::work::slc::SlcWork;
use super::{CompletedWork, Counters};

/// Settings of the configuration that affect the controller.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Whether a write is assigned its physical page when it is placed on a plane (early binding), instead of at the start of its program.
    pub preallocates: bool,
    /// Whether garbage collection and the destage of stripes take turns (`gc.paced` with `cache.destage-stripe`).
    pub alternates_with_destage: bool,
    pub partial_program: bool,
    pub copyback: bool,
    pub preemptible: bool,
    /// Whether reads suspend operations while a write waits for space in the device cache.
    pub suspends_when_full: bool,
    /// Whether idle dies start background work: collection of their planes, or folds (moves of SLC cache blocks to native blocks).
    pub collects_in_background: bool,
    /// Whether collection moves pages directly from chip to chip; if `cleans` is set, one packet moves all pages of a block.
    pub moves_chip_to_chip: bool,
    pub cleans: bool,
    /// Whether all host writes of a plane share one open block.
    pub shares_open_block: bool,
    /// Whether a destage goes to the open block of the stream that wrote the page, not to a shared block.
    pub destages_apart: bool,
    /// Whether the first read of an unmapped page assigns a location to the page.
    pub places_for_reads: bool,
    /// Whether a location assigned by a read is in the open block of the stream that issued the read.
    pub places_by_reader: bool,
    /// Whether the allocator is user-supplied. Such an allocator is notified of page reads. With late binding, the allocator can change the plane of
    /// a write that could be programmed now.
    pub asks_allocator: bool,
    /// Whether DRAM holds only a cache of mapping entries; otherwise DRAM holds the whole map.
    pub has_map_cache: bool,
}

impl Rules {
    pub fn new(config: &Config, has_map_cache: bool) -> Rules {
        let preallocates = config.ftl.write_binding == WriteBinding::Early;
        Rules {
            preallocates,
            alternates_with_destage: config.gc_alternates_with_destage(),
            partial_program: config.flash.partial_program,
            copyback: config.gc.copyback,
            preemptible: config.gc.preemptible,
            suspends_when_full: config.cache.suspend_when_full,
            collects_in_background: config.gc.background_threshold != 0.0 || config.slc.is_on(),
            moves_chip_to_chip: config.gc.r#move.crosses_chips(),
            cleans: config.gc.r#move == crate::config::PageMove::Clean,
            shares_open_block: config.ftl.write_streams == WriteStreams::Shared && !config.slc.is_on(),
            destages_apart: config.ftl.write_streams == WriteStreams::PerStreamDestaged,
            places_by_reader: config.ftl.first_touch == FirstTouch::ReaderBlock,
            places_for_reads: preallocates && config.ftl.first_touch.assigns_location(),
            asks_allocator: false,
            has_map_cache,
        }
    }
}

/// State shared by all kinds of work (host reads, host writes, collection, ...).
#[derive(Clone)]
pub struct Shared {
    pub geometry: Geometry,
    pub rules: Rules,
    pub ftl: Ftl,
    pub policy: AnyPolicy,
    pub journal: Journal,
    /// Replicas of pages on other dies; `None` without replication.
    pub replication: Option<Box<Replication>>,
    pub counters: Counters,
    /// Processor cores; `None` if no job of the firmware takes time.
    pub cores: Option<Box<Cores>>,
    /// Counters of the SLC cache; `None` if the drive has none.
    pub slc: Option<Box<SlcWork>>,
    /// Number of flushes in progress.
    pub flushes: u32,
    /// Number of foreground collections (begun or promoted for lack of space) of each die.
    pub foreground: Foreground,
    /// Completions for the frontend to take.
    pub done: Vec<CompletedWork>,
    pub follow_ups: FollowUpStack,
    /// Whether the power was cut and the drive runs on capacitors. Work for requests is then dropped.
    pub is_cut_off: bool,
}

impl Shared {
    /// Returns whether a page can have several locations: with replication, or during a Clean (chip-to-chip move of a whole block). If so,
    /// the location of a read is chosen when the read is queued.
    #[inline(always)]
    pub fn has_homes<M: Model>(&self) -> bool {
        M::ALL_FEATURES && (self.replication.is_some() || self.rules.cleans)
    }

    /// Returns whether the end of each user read is reported: to replication, or to a firmware policy other than `page`.
    #[inline(always)]
    pub fn reports_reads<M: Model>(&self) -> bool {
        M::ALL_FEATURES && (!self.policy.is_page() || self.replication.is_some())
    }

    /// Returns the counters of the SLC cache; `None` if the drive has none.
    #[inline(always)]
    pub fn slc_mut<M: Model>(&mut self) -> Option<&mut SlcWork> {
        if M::ALL_FEATURES { self.slc.as_deref_mut() } else { None }
    }

    /// Notifies the firmware policy about `event`. The policy `page` ignores all events; plain drives (compiled without optional features) have
    /// no other.
    #[inline(always)]
    pub fn notify_policy<M: Model>(&mut self, event: PolicyEvent) {
        if M::ALL_FEATURES {
            self.policy.notify(event);
        }
    }
}

/// Access of a kind of work (host reads, collection, ...) to everything outside its own state: shared state, datapath and event queue.
pub struct Context<'a, M: Model> {
    pub shared: &'a mut Shared,
    pub datapath: &'a mut Datapath<M>,
    pub kernel: &'a mut Kernel<M>,
}

impl<M: Model> Context<'_, M> {
    /// Returns whether the drive has superblocks: sets of planes that open, collect and erase blocks together.
    #[inline(always)]
    pub fn has_superblocks(&self) -> bool {
        M::ALL_FEATURES && self.shared.ftl.blocks().has_twins()
    }

    /// Starts the latency account of a transaction, and inserts the transaction into the datapath without enqueueing it at a die.
    #[inline]
    pub fn begin(&mut self, mut transaction: Transaction) -> TransactionId {
        transaction.account.begin(self.kernel.now());
        self.datapath.queues.transactions.insert(transaction)
    }

    /// Begins a transaction of the firmware for a whole page.
    pub fn begin_internal(&mut self, work: Purpose, lpn: Lpn, from: Ppn, plane: PlaneId) -> TransactionId {
        let bytes = self.shared.geometry.page_size;
        self.begin(Transaction::new(work, Owner::FIRMWARE, lpn, plane, from, bytes))
    }

    /// Queues a job at the processor cores to handle a page that collection has read. Returns `false` if such a job takes no time; the
    /// caller then continues the move at once.
    pub fn asks_core_to_move(&mut self, id: TransactionId) -> bool {
        let Context { shared, kernel, .. } = self;
        shared.cores.as_mut().is_some_and(|cores| cores.queue_job(Job::Move(id), kernel).is_some())
    }

    /// Pushes a follow-up step. The steps that one event or step pushes run in the order in which they were pushed.
    #[inline]
    pub fn push(&mut self, step: FollowUp) {
        self.shared.follow_ups.push(step);
    }

    /// Notifies probes and replication that the newest version of `lpn` was replaced or deallocated. Removes the replica of `lpn`, if any,
    /// because it is then invalid.
    #[inline]
    pub fn superseded(&mut self, lpn: Lpn) {
        self.kernel.notify_read(ReadNotice::Superseded(lpn));
        if let Some(copies) = &mut self.shared.replication {
            copies.superseded(lpn);
            self.remove_invalid_replicas();
        }
    }

    /// Removes the replicas that the translation layer has invalidated.
    pub fn remove_invalid_replicas(&mut self) {
        let Shared { ftl, replication: copies, journal, .. } = &mut *self.shared;
        let Some(copies) = copies else { return };
        while let Some(lpn) = ftl.replica_pages().next_dropped() {
            self.kernel.notify(|| Notice::ReplicaDropped(lpn));
            journal.log(|state| state.mark_replica_page(lpn));
            copies.ended(lpn);
        }
    }
}

impl Shared {
    /// Logs a change of the map in the journal; no-op without a journal.
    #[inline]
    pub fn persist(&mut self, log: impl FnOnce(&mut Persistence)) {
        self.journal.log(log);
    }

    /// Notifies the journal that the array has programmed host page `lpn` at `ppn`; no-op without a journal, and for pages of the map.
    #[inline]
    pub fn persist_program(&mut self, lpn: Lpn, ppn: Ppn, what: ProgramReason) {
        self.persist(|state| state.programmed(lpn, ppn, what));
    }

    /// Ends a transaction: passes it to the frontend if it is for a request, otherwise removes it.
    #[inline]
    pub fn finished<M: Model>(&mut self, id: TransactionId, request: Option<RequestId>, datapath: &mut Datapath<M>) {
        if request.is_some() {
            self.done.push(CompletedWork::Page(id))
        } else {
            datapath.queues.transactions.remove(id)
        }
    }

    pub fn planes_of(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = self.geometry.first_plane(die).0;
        (first..first + self.geometry.planes_per_die).map(PlaneId)
    }

    /// Returns the kind of open block to which a write of a request, or a destage, goes.
    #[inline]
    pub fn stream_of_write(&self, transaction: &Transaction) -> OpenBlockKind {
        let is_of_stream = transaction.owner.request.is_some() || self.rules.destages_apart;
        self.ftl.write_block_kind(transaction.plane, is_of_stream.then_some(transaction.owner.stream))
    }

    /// Returns the page that a partial write must read first; `None` if the write covers the whole page, or if the page is unmapped.
    #[inline]
    pub fn page_to_modify(&self, write: &Transaction) -> Option<Ppn> {
        if write.bytes < self.geometry.page_size { self.ftl.lookup(write.lpn) } else { None }
    }
}
