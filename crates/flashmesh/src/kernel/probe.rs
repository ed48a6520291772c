//! Probes: observers of a run, such as oracles, timelines and analyses.

use std::ops::Range;

use super::job::Job;
use crate::cache::Sectors;
use crate::error::RunError;
use crate::fabric::{
    Causes, Grant, Layout, LinkUsage, LinkUse, Payload, ScoutSearch, ScoutStep, SendOutcome, TransferPhase,
};
use crate::flash::die::{Extent, OperationKind};
use crate::ftl::Ftl;
use crate::ftl::mapping_cache::EntryEvent;
use crate::host::interface::InterfaceNotice;
use crate::ids::{AcknowledgementId, BlockId, DieId, LinkId, Lpn, PlaneId, Ppn, RequestId, StreamId, TransactionId};
use crate::measure::cache::PowerCutReport;
use crate::measure::report::Report;
use crate::persistence::Recovered;
use crate::power::energy::PowerReport;
use crate::schedule::purpose::ReadPurpose;
use crate::schedule::transaction::TransactionClass;
use crate::units::Time;
use crate::workload::IoRequest;

/// An observer of a run.
///
/// # Contract
/// - [`notify`](Probe::notify) is called in the order of events, with the simulated time of each event. A probe of [`Scope::Reads`] receives its notices
///   in batches, some time after the events.
/// - A probe changes nothing: a run has the same report with or without the probe.
/// - An objection ends the run with an error, after the current event.
pub trait Probe {
    /// Handles the notice of an event at `now`.
    fn notify(&mut self, now: Time, notice: &Notice<'_>);

    /// Handles the notices of reads since the last call, in order, each with the time of its event. Called only for probes of [`Scope::Reads`].
    fn notify_reads(&mut self, notices: &[(Time, ReadNotice)]) {
        notices.iter().for_each(|&(now, notice)| self.notify(now, &Notice::Read(notice)));
    }

    /// Returns an error if the run has violated a rule that the probe checks.
    ///
    /// # Errors
    /// The first objection.
    fn check_run(&self) -> Result<(), RunError> {
        Ok(())
    }

    /// Returns whether the probe needs only the notice of the end of the run from now on. Polled regularly: when all probes are done, the run
    /// continues faster, without notices.
    fn is_done(&mut self, _now: Time) -> bool {
        false
    }

    /// Returns the notices that the probe receives. Called once, when the probe is added.
    fn scope(&self) -> Scope {
        Scope::All
    }

    /// Returns a clone of the probe in its current state, for a snapshot of the drive; `None` if the probe cannot be cloned.
    fn snapshot(&self) -> Option<Box<dyn Probe + Send>> {
        None
    }

    /// Adds the results of the probe to the report of the ended run. Called before [`Notice::Ended`].
    fn conclude(&mut self, _now: Time, _report: &mut Report) {}
}

impl Clone for Box<dyn Probe + Send> {
    fn clone(&self) -> Self {
        self.snapshot().expect("only drives with probes that can be copied are copied")
    }
}

/// The notices that a probe receives. Fewer notices cost less run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every notice.
    All,
    /// [`Notice::Read`] only. [`Probe::check_run`] is not called.
    Reads,
}

/// An event of the read of a user page at a die, or of the page itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadNotice {
    /// A read of a user page was enqueued at its die, for this purpose.
    Queued(TransactionId, DieId, Lpn, ReadPurpose),
    /// A read was dequeued because its page has moved; it will be enqueued again under the same id.
    Rerouted(TransactionId),
    /// The data of a read has left the die, or the read was sent to another die or dropped.
    Left(TransactionId, DieId),
    /// The newest version of a user page was replaced or deallocated.
    Superseded(Lpn),
}

/// Origin of the content of a programmed page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Data of a write request.
    User(RequestId),
    /// Data from the device cache, of any request.
    Destaged,
    /// A page moved from this location by garbage collection, wear levelling or the firmware policy (reallocation).
    Moved(Ppn),
    /// A translation page that is written back.
    Map,
    /// A replica of the page that was read at this location.
    Replica(Ppn),
}

/// The interconnect at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct FabricEndState<'a> {
    /// The links, controllers and routers of the interconnect.
    pub layout: &'a Layout,
    /// Traffic of each link.
    pub usage: &'a [LinkUsage],
    /// Links that are still reserved (held) at the end of the run, each with its die.
    pub held: &'a [(LinkId, DieId)],
    /// Whether transfers may still be in flight, whose link uses were not reported.
    pub has_transfers_in_flight: bool,
    /// Number of links crossed, summed over all transfers.
    pub hops: u64,
}

/// The state of the drive and parts of the report at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunEndState<'a> {
    /// The translation layer at the end of the run.
    pub ftl: &'a Ftl,
    /// State of the interconnect.
    pub links: FabricEndState<'a>,
    /// Energy part of the report.
    pub power: &'a PowerReport,
    /// Power-cut part of the report; `None` without a power cut.
    pub power_cut: Option<&'a PowerCutReport>,
    /// Whether the run ended normally: not by an interrupt, a power cut, or a completed measurement.
    pub is_complete: bool,
}

/// A notice to probes: something that happened in a drive.
#[derive(Clone, Debug)]
pub enum Notice<'a> {
    /// The clock advanced to the next event.
    Event,
    /// An event and all its immediate consequences have been handled.
    Settled(&'a Ftl),
    /// The map was recovered after a power cut.
    Recovered(&'a Recovered),
    /// The run has ended.
    Ended(RunEndState<'a>),
    /// The host issued a request of this stream.
    RequestIssued(RequestId, StreamId),
    /// A command made a step through the queues of the host interface.
    Interface(InterfaceNotice),
    /// The drive admitted a request, whose offset is now an address in the drive instead of a namespace.
    RequestSubmitted(RequestId, IoRequest),
    /// The drive refused a request.
    RequestRefused(RequestId),
    /// A job that takes time was queued at the cores of the controller.
    CoreAsked(Job),
    /// A core has finished a job.
    CoreDone(Job),
    /// A flush of these logical pages began.
    FlushBegan(RequestId, Range<u32>),
    /// The completion of a request reached the host.
    RequestCompleted(RequestId),
    /// A logical page was deallocated.
    Deallocated(Lpn),
    /// An unmapped logical page was assigned a physical page because it was read (`ftl.first-touch`).
    PagePlaced(Ppn, Lpn),
    /// A transaction of a request, or of the firmware (`None`), was enqueued at a die.
    Enqueued(DieId, TransactionClass, Option<RequestId>),
    /// A transaction was dequeued for the next operation of a die.
    Taken(DieId, TransactionClass, Option<RequestId>),
    /// A transaction was dequeued from a die because its page has moved.
    Rerouted(DieId, TransactionClass, Option<RequestId>),
    /// A die requested a path.
    PathAsked(DieId, TransferPhase),
    /// An event of a read at its die, or of its page.
    Read(ReadNotice),
    /// A path that these causes have blocked for this time is granted now.
    PathBlocked(Grant, Causes, Time),
    /// A path was granted.
    PathGranted(Grant),
    /// A transfer of this die was sent over a path.
    Sent(Grant, DieId, Payload, SendOutcome),
    /// The transfer over a path has arrived.
    Delivered(Grant),
    /// A path was released.
    PathReleased(Grant),
    /// The use of a link ended now.
    LinkUsed(LinkUse),
    /// A scout of Venice moved, now or earlier.
    ScoutMoved(ScoutStep),
    /// A search by a scout of Venice ended, during which no other search reserved or released a link.
    Searched(ScoutSearch),
    /// A chip sent the acknowledgement of an operation. Acknowledgements of one die arrive in the order of sending.
    AcknowledgementSent(DieId, AcknowledgementId),
    /// The acknowledgement of an operation arrived at its controller.
    Acknowledged(DieId, AcknowledgementId),
    /// An operation on this number of planes started at a die.
    OperationBegan(DieId, Extent, OperationKind, usize),
    /// The array of a die, or of one of its planes, began to work. It ends at the given time.
    ArrayBegan(DieId, Extent, OperationKind, Time),
    /// The array of a die, or of one of its planes, finished.
    ArrayEnded(DieId, Extent),
    /// The array operation of a die was suspended.
    Suspended(DieId),
    /// The array operation of a die was resumed. It ends at the given time.
    Resumed(DieId, Time),
    /// The data of one plane left the register of a die, or of the plane.
    DataLeft(DieId, Extent),
    /// The array read a page, for a request or for the firmware (`None`).
    PageRead(Ppn, Lpn, Option<RequestId>),
    /// The array programmed a page.
    PageProgrammed(Ppn, Lpn, Origin),
    /// The array programmed parity, which has no logical page. The page is the last one of the data program before it, in the same plane.
    ParityProgrammed(Ppn),
    /// A partial read of this page was extended to the whole page.
    WholePageWanted(Option<RequestId>, Lpn),
    /// The data of a planned replica, read from this page, reached the controller.
    ReplicaSourceRead(Lpn, Ppn),
    /// A programmed copy became the replica of its logical page.
    ReplicaMade(Lpn, Ppn),
    /// The replica of a logical page was dropped.
    ReplicaDropped(Lpn),
    /// The original of a logical page was dropped; its replica is now the only version.
    ReplicaKept(Lpn),
    /// The array erased a block.
    BlockErased(BlockId),
    /// The data of a page arrived at another chip directly from its chip, and will be programmed in this plane.
    PageCopied(Ppn, PlaneId),
    /// Data for a program in this plane, sent directly by the chip that had read it, was discarded.
    CopyDropped(Ppn, PlaneId),
    /// A transaction must wait for the mapping entry of a logical page.
    EntryWanted(Option<RequestId>, Lpn),
    /// A transaction used the mapping entry of a logical page.
    EntryUsed(Option<RequestId>, Lpn),
    /// An entry of the mapping cache changed its state.
    EntryChanged(EntryEvent),
    /// A read of a translation page was issued.
    TranslationReadIssued(Lpn),
    /// The data of a translation page reached the controller.
    TranslationReadEnded(Lpn),
    /// A program of a translation page was issued.
    TranslationProgramIssued(Lpn),
    /// The program of a translation page, with the current state of its entries, began.
    TranslationProgramBegan(Lpn),
    /// The controller received the acknowledgement of the program of a translation page.
    TranslationProgramEnded(Lpn),
    /// A read found sectors of a page in the device cache.
    CacheFound(RequestId, Lpn, Sectors),
    /// The device cache accepted sectors of a write, either to keep them or to pass them on to flash.
    CacheTook {
        /// Request of the write.
        request: RequestId,
        /// Page of the write.
        lpn: Lpn,
        /// Accepted sectors.
        sectors: Sectors,
        /// Whether the write completes as soon as its sectors are in the cache, without waiting for flash.
        stays: bool,
    },
    /// The device cache kept sectors that were read from flash.
    CacheFilled(RequestId, Lpn, Sectors),
    /// The device cache no longer holds a page.
    CacheRemoved(Lpn),
    /// The device cache began the destage of sectors of a page.
    DestageBegan(Lpn, Sectors),
    /// A page was deallocated while its destage was in flight.
    DestageForgotten(Lpn),
}
