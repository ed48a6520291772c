//! The seam of those who watch a run: the oracles, timelines, analyses.

use std::ops::Range;

use super::job::Job;
use crate::cache::Sectors;
use crate::error::RunError;
use crate::fabric::{Causes, Grant, Layout, LinkUsage, LinkUse, Payload, ScoutStep, Search, Sent, TransferPhase};
use crate::flash::die::OperationKind;
use crate::ftl::Ftl;
use crate::ftl::mapping_cache::EntryEvent;
use crate::host::interface::Seen;
use crate::ids::{AcknowledgementId, BlockId, DieId, LinkId, Lpn, PlaneId, Ppn, RequestId, StreamId, TransactionId};
use crate::measure::cache::PowerCutReport;
use crate::measure::report::Report;
use crate::persistence::Recovered;
use crate::power::energy::PowerReport;
use crate::schedule::transaction::Class;
use crate::schedule::work::ReadFor;
use crate::units::Time;
use crate::workload::IoRequest;

/// Watches a run.
///
/// # Contract
/// - [`tell`](Probe::tell) is called in the order in which things happen, with the simulated time at which they do. A probe of
///   [`Scope::Reads`] is told of many at once, some time after they happened.
/// - A probe changes nothing: a run with it gives the same report as one without.
/// - An objection ends the run with an error after the event during which it was raised.
pub trait Probe {
    /// Something happens at `now`.
    fn tell(&mut self, now: Time, notice: &Notice<'_>);

    /// What happened to reads since the last call, in order, each with its time; for probes of [`Scope::Reads`].
    fn tell_of_reads(&mut self, notices: &[(Time, ReadNotice)]) {
        notices.iter().for_each(|&(now, notice)| self.tell(now, &Notice::Read(notice)));
    }

    /// Nothing, or what must not have happened.
    ///
    /// # Errors
    /// The first objection.
    fn verdict(&self) -> Result<(), RunError> {
        Ok(())
    }

    /// Whether nothing matters to it any more but the end of the run, which it is told in any case. Asked now and then: once no probe wants
    /// to be told of anything else, the run goes on without telling, and faster.
    fn is_done(&mut self, _now: Time) -> bool {
        false
    }

    /// What it is told of; asked once, as it is added.
    fn scope(&self) -> Scope {
        Scope::All
    }

    /// The same probe in the same state, for a snapshot of the drive; none where it cannot be copied.
    fn copied(&self) -> Option<Box<dyn Probe + Send>> {
        None
    }

    /// The run is over: what was found may go into its report. Called before [`Notice::Ended`].
    fn conclude(&mut self, _now: Time, _report: &mut Report) {}
}

impl Clone for Box<dyn Probe + Send> {
    fn clone(&self) -> Self {
        self.copied().expect("only drives with probes that can be copied are copied")
    }
}

/// What a probe is told of. One that asks for less costs less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    All,
    /// [`Notice::Read`] only; it is not asked for a verdict.
    Reads,
}

/// What happens to reads at their dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadNotice {
    /// A read of a user page was put into the queue of its die.
    Queued(TransactionId, DieId, Lpn, ReadFor),
    /// A read that has left the queue of its die since its page has moved will be queued again, as the same read.
    Rerouted(TransactionId),
    /// Its data has left the die; or it goes elsewhere, or nowhere.
    Left(TransactionId, DieId),
    /// The newest version of a user page is another one now, or none.
    Superseded(Lpn),
}

/// Where the content of a programmed page comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A request wrote it.
    User(RequestId),
    /// The device cache sent it, whoever wrote it.
    Destaged,
    /// Garbage collection or wear levelling moved it from there.
    Moved(Ppn),
    /// The translation page is written back.
    Map,
    /// It is a copy of what was read there.
    Replica(Ppn),
}

/// The interconnect at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct LinksAtEnd<'a> {
    /// Its parts.
    pub layout: &'a Layout,
    /// What its links carried.
    pub usage: &'a [LinkUsage],
    /// The links that are held, each with the die it is held for.
    pub held: &'a [(LinkId, DieId)],
    /// Whether the run stopped with transfers under way, whose use of links has not been told.
    pub is_torn: bool,
    /// Links crossed, summed over the transfers.
    pub hops: u64,
}

/// A run at its end, as the parts of the drive and the report have it.
#[derive(Clone, Copy, Debug)]
pub struct AtEnd<'a> {
    /// Where pages live.
    pub ftl: &'a Ftl,
    /// The interconnect.
    pub links: LinksAtEnd<'a>,
    /// Energy, as reported.
    pub power: &'a PowerReport,
    /// The cut of the power, as reported.
    pub power_cut: Option<&'a PowerCutReport>,
    /// Whether all requests ran to their end.
    pub is_complete: bool,
}

/// What happens in a drive.
#[derive(Clone, Debug)]
pub enum Notice<'a> {
    /// The clock has moved to the next event.
    Event,
    /// All that follows from an event at once has happened.
    Settled(&'a Ftl),
    /// After a cut of the power the map was found anew.
    Recovered(&'a Recovered),
    /// The run is over.
    Ended(AtEnd<'a>),
    /// The host issued a request of this stream.
    RequestIssued(RequestId, StreamId),
    /// The interface between host and drive did something.
    Interface(Seen),
    /// The drive admitted a request, which lies there on the drive.
    RequestSubmitted(RequestId, IoRequest),
    /// The drive refused a request.
    RequestRefused(RequestId),
    /// A core of the controller is asked for a job, which takes time.
    CoreAsked(Job),
    /// A core has done it.
    CoreDone(Job),
    /// A flush of these logical pages began.
    FlushBegan(RequestId, Range<u32>),
    /// The completion of a request reached the host.
    RequestCompleted(RequestId),
    /// A logical page was forgotten.
    Deallocated(Lpn),
    /// A page that held nothing was given a place for a read.
    PagePlaced(Ppn, Lpn),
    /// A transaction of a request, or of none, joined the queue of a die.
    Enqueued(DieId, Class, Option<RequestId>),
    /// A transaction left the queue of a die, to be part of the operation that begins there next.
    Taken(DieId, Class, Option<RequestId>),
    /// A transaction left the queue of a die because its page is elsewhere by now.
    Rerouted(DieId, Class, Option<RequestId>),
    /// A die asked for a path.
    PathAsked(DieId, TransferPhase),
    /// Something happened to a read at its die, or to its page.
    Read(ReadNotice),
    /// A path that is granted now had to be waited for: for how long, and what was in the way.
    PathBlocked(Grant, Causes, Time),
    /// A path was granted.
    PathGranted(Grant),
    /// Something was sent over a path, for this die.
    Sent(Grant, DieId, Payload, Sent),
    /// What was sent has arrived.
    Delivered(Grant),
    /// A path was given back.
    PathReleased(Grant),
    /// A link was in use until now.
    LinkUsed(LinkUse),
    /// A scout of Venice moved, now or before.
    ScoutMoved(ScoutStep),
    /// A scout of Venice that met no other found a path, or none.
    Searched(Search),
    /// A chip began to tell the end of an operation. The ends of a die follow the order in which its operations were sent.
    AcknowledgementSent(DieId, AcknowledgementId),
    /// A controller was told the end of an operation.
    Acknowledged(DieId, AcknowledgementId),
    /// A die took an operation of so many planes.
    OperationBegan(DieId, OperationKind, usize),
    /// The array began to work, until the time given.
    ArrayBegan(DieId, OperationKind, Time),
    /// The array was done.
    ArrayEnded(DieId),
    /// The operation in the array was suspended.
    Suspended(DieId),
    /// It was resumed, and ends at the time given.
    Resumed(DieId, Time),
    /// The data of a plane left the register.
    DataLeft(DieId),
    /// The array read a page, for a request or for none.
    PageRead(Ppn, Lpn, Option<RequestId>),
    /// The array programmed a page.
    PageProgrammed(Ppn, Lpn, Origin),
    /// The array programmed parity in the plane of this page, the last one of the data that it follows.
    ParityProgrammed(Ppn),
    /// More than a request asks for of this page is to be read, all of it.
    WholePageWanted(Option<RequestId>, Lpn),
    /// A page programmed as a copy is the second home of its logical page from now on.
    ReplicaMade(Lpn, Ppn),
    /// The second home of a logical page was given up.
    ReplicaDropped(Lpn),
    /// The original was given up: the second home is the only one now.
    ReplicaKept(Lpn),
    /// The array erased a block.
    BlockErased(BlockId),
    /// The data of a page arrived in the chip of another plane.
    PageCopied(Ppn, PlaneId),
    /// The data of a page that had arrived for a plane is not needed any more.
    CopyDropped(Ppn, PlaneId),
    /// A transaction has to wait for its entry of the map.
    EntryWanted(Option<RequestId>, Lpn),
    /// A transaction goes on with its entry.
    EntryUsed(Option<RequestId>, Lpn),
    /// The cache of the map did something.
    EntryChanged(EntryEvent),
    /// A translation page is to be read.
    TranslationReadIssued(Lpn),
    /// A translation page reached the controller.
    TranslationReadEnded(Lpn),
    /// A translation page is to be programmed.
    TranslationProgramIssued(Lpn),
    /// Its content is what the entries say now.
    TranslationProgramBegan(Lpn),
    /// The controller knows that it has been programmed.
    TranslationProgramEnded(Lpn),
    /// A read found sectors of a page in the device cache.
    CacheFound(RequestId, Lpn, Sectors),
    /// The device cache took sectors of a write, to keep them or to pass them on.
    CacheTook {
        /// The write.
        request: RequestId,
        /// The page.
        lpn: Lpn,
        /// The sectors.
        sectors: Sectors,
        /// Whether the write ends in the cache.
        stays: bool,
    },
    /// Sectors that were read from flash stay in the device cache.
    CacheFilled(RequestId, Lpn, Sectors),
    /// The device cache holds a page no more.
    CacheRemoved(Lpn),
    /// The device cache began to write sectors of a page to flash.
    DestageBegan(Lpn, Sectors),
    /// A page was deallocated while it was on its way from the device cache to flash.
    DestageForgotten(Lpn),
}
