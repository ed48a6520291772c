//! What all kinds of work share: where pages are, who has to know when one changes, and what is left to do.

use crate::config::{Config, FirstTouch, WriteBinding, WriteStreams};
use crate::datapath::Datapath;
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, Stream};
use crate::ids::{DieId, Lpn, PlaneId, Ppn, RequestId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::job::Job;
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, ReadNotice};
use crate::persistence::{Persistence, Programmed};
use crate::policies::{AnyPolicy, FirmwarePolicy, PolicyEvent};
use crate::schedule::transaction::{Class, Owner, Transaction};
use crate::schedule::work::{Route, Work};

use super::cores::Cores;
use super::steps::{Step, Todo};
use super::work::foreground::Foreground;
use super::work::journal::Journal;
use super::work::replica::Replication;
use super::work::slc::SlcWork;
use super::{Counters, Done};

/// What of the configuration decides what the controller does.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Whether writes get their pages before their turn.
    pub preallocates: bool,
    pub partial_program: bool,
    pub copyback: bool,
    pub preemptible: bool,
    /// Whether reads suspend what dies do while a write waits for room in the device cache.
    pub suspends_when_full: bool,
    /// Whether planes of idle dies are collected, or folded.
    pub collects_in_background: bool,
    /// Whether pages move from chip to chip, and those of a block by one packet.
    pub copies: bool,
    pub cleans: bool,
    /// Whether all that the host writes goes to one open block of a plane.
    pub shares_open_block: bool,
    /// Whether a page that holds nothing is given a place when it is read.
    pub places_for_reads: bool,
    /// Whether the allocator is the caller's own, which is told of requests and asked again when a write could be programmed.
    pub asks_allocator: bool,
    /// Whether entries of the map are cached.
    pub has_map_cache: bool,
}

impl Rules {
    pub fn new(config: &Config, has_map_cache: bool) -> Rules {
        let preallocates = config.ftl.write_binding == WriteBinding::Early;
        Rules {
            preallocates,
            partial_program: config.flash.partial_program,
            copyback: config.gc.copyback,
            preemptible: config.gc.preemptible,
            suspends_when_full: config.cache.suspend_when_full,
            collects_in_background: config.gc.background_threshold != 0.0 || config.slc.is_on(),
            copies: config.gc.r#move.leaves_the_chip(),
            cleans: config.gc.r#move == crate::config::Move::Clean,
            shares_open_block: config.ftl.write_streams == WriteStreams::Shared && !config.slc.is_on(),
            places_for_reads: preallocates && config.ftl.first_touch == FirstTouch::WriteBlock,
            asks_allocator: false,
            has_map_cache,
        }
    }
}

/// What all kinds of work share.
#[derive(Clone)]
pub struct Shared {
    pub geometry: Geometry,
    pub rules: Rules,
    pub ftl: Ftl,
    pub policy: AnyPolicy,
    pub journal: Journal,
    /// Copies of pages on other dies, when there are to be any.
    pub copies: Option<Box<Replication>>,
    pub counters: Counters,
    /// The processor cores, where anything takes them time.
    pub cores: Option<Box<Cores>>,
    /// Where the drive has an SLC cache.
    pub slc: Option<Box<SlcWork>>,
    /// Flushes under way.
    pub flushes: u32,
    /// Which dies collect since they are short of space.
    pub foreground: Foreground,
    /// What is done for requests.
    pub done: Vec<Done>,
    pub todo: Todo,
    /// Whether the host is there no more: what was to be done for requests is given up.
    pub is_cut_off: bool,
}

impl Shared {
    /// Whether a page may have several homes: with replication, or while a Clean moves it. A read chooses one when it is queued.
    #[inline(always)]
    pub fn has_homes(&self) -> bool {
        self.copies.is_some() || self.rules.cleans
    }

    /// Whether completed reads are reported: to a policy other than the page policy, or to replication.
    #[inline(always)]
    pub fn reports_reads(&self) -> bool {
        !self.policy.is_page() || self.copies.is_some()
    }
}

/// What a kind of work acts on beside its own state.
pub struct Context<'a, M: Model> {
    pub shared: &'a mut Shared,
    pub datapath: &'a mut Datapath<M>,
    pub kernel: &'a mut Kernel<M>,
}

impl<M: Model> Context<'_, M> {
    /// Takes up a transaction that begins now.
    #[inline]
    pub fn begin(&mut self, mut transaction: Transaction) -> TransactionId {
        transaction.account.begin(self.kernel.now());
        self.datapath.insert(transaction)
    }

    /// A transaction of the controller's own, of a whole page, that begins now.
    pub fn begin_own(&mut self, work: Work, lpn: Lpn, from: Ppn, plane: PlaneId) -> TransactionId {
        let bytes = self.shared.geometry.page_size;
        self.begin(Transaction::new(work, Owner::FIRMWARE, lpn, plane, from, bytes))
    }

    /// Asks a core to handle a page that collection has read; false if that takes no time.
    pub fn asks_core_to_move(&mut self, id: TransactionId) -> bool {
        let Context { shared, kernel, .. } = self;
        shared.cores.as_mut().is_some_and(|cores| cores.ask(Job::Move(id), kernel).is_some())
    }

    /// What follows, once all that was asked for before is done.
    #[inline]
    pub fn then(&mut self, step: Step) {
        self.shared.todo.push(step);
    }

    /// The newest version of `lpn` is another one now, or none: no copy of what was there counts.
    #[inline]
    pub fn superseded(&mut self, lpn: Lpn) {
        self.kernel.tell_of_read(ReadNotice::Superseded(lpn));
        if let Some(copies) = &mut self.shared.copies {
            copies.superseded(lpn);
            self.copies_ended();
        }
    }

    /// Forgets the copies that ended in the translation layer.
    pub fn copies_ended(&mut self) {
        let Shared { ftl, copies, journal, .. } = &mut *self.shared;
        let Some(copies) = copies else { return };
        while let Some(lpn) = ftl.next_ended_replica() {
            self.kernel.tell(|| Notice::ReplicaDropped(lpn));
            journal.log(|state| state.copy_changed(lpn));
            copies.ended(lpn);
        }
    }
}

impl Shared {
    /// Logs a change of the map, where the map does not survive a cut of the power by itself.
    #[inline]
    pub fn persist(&mut self, log: impl FnOnce(&mut Persistence)) {
        self.journal.log(log);
    }

    /// The array has programmed `ppn` with a page of the host.
    #[inline]
    pub fn persist_program(&mut self, lpn: Lpn, ppn: Ppn, what: Programmed) {
        self.persist(|state| state.programmed(lpn, ppn, what));
    }

    /// A transaction is done: the request that waits for it takes it; nobody waits for others.
    #[inline]
    pub fn finished<M: Model>(&mut self, id: TransactionId, request: Option<RequestId>, datapath: &mut Datapath<M>) {
        if request.is_some() { self.done.push(Done::Page(id)) } else { datapath.remove(id) }
    }

    pub fn planes_of(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = self.geometry.first_plane(die).0;
        (first..first + self.geometry.planes_per_die).map(PlaneId)
    }

    /// Which open block a program goes to; `None` when it is something else.
    #[inline]
    pub fn stream_of(&self, transaction: &Transaction) -> Option<Stream> {
        match transaction.work {
            Work::HostWrite(_) => Some(self.stream_of_write(transaction)),
            // What is laid out anew for reads stays there.
            Work::Reallocate => Some(self.ftl.host_stream(transaction.plane, None)),
            Work::MapProgram => Some(Stream::Translation),
            Work::ReplicaProgram => Some(Stream::Replica),
            Work::CollectProgram(Route::Controller | Route::Plane) => Some(self.ftl.stream_of_move(transaction.from)),
            Work::CollectProgram(_) => Some(Stream::Arrival),
            Work::MapRead
            | Work::HostRead(_)
            | Work::ReadModify(_)
            | Work::CollectRead(_)
            | Work::Erase
            | Work::Parity => None,
        }
    }

    /// Which open block of its plane a write goes to.
    #[inline]
    pub fn stream_of_write(&self, transaction: &Transaction) -> Stream {
        let stream = transaction.owner.request.map(|_| transaction.owner.stream);
        self.ftl.write_stream(transaction.plane, stream)
    }

    /// The page that a write of a part of it has to read first.
    #[inline]
    pub fn page_to_modify(&self, write: &Transaction) -> Option<Ppn> {
        if write.bytes < self.geometry.page_size { self.ftl.lookup(write.lpn) } else { None }
    }

    /// Takes a page of its plane for a program.
    #[inline]
    pub fn allocate<M: Model>(&mut self, transaction: &Transaction) -> Option<Ppn> {
        let stream = self.stream_of(transaction)?;
        let class = transaction.class();
        let page = match class {
            Class::CollectProgram => self.ftl.allocate_move(transaction.plane, stream),
            _ => {
                self.ftl.prefetch_older(transaction.lpn);
                self.ftl.allocate(transaction.plane, stream)
            }
        };
        if M::ALL_FEATURES {
            self.policy.tell(PolicyEvent::PageTaken(class, transaction.plane));
        }
        page
    }
}
