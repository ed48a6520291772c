//! Simulation events, and the lane of the event queue for each kind.

use crate::engine::queue::{KINDS, Queued};
use crate::fabric::{FabricEvent, TransferPhase};
use crate::flash::die::OperationKind;
use crate::host::interface::{HostEvent, WakeReason};
use crate::ids::{AcknowledgementId, DieId, Id, JobId, StreamId, id};

id! {
    /// Token by which the fabric recognises the reason for a wake-up that it requested.
    WakeToken
}

/// Declares the events: for each kind its id (if any), its usual lane (a FIFO of the event queue), and its encoding in the event queue.
macro_rules! events {
    ($($(#[$doc:meta])* $name:ident $(($id:ident))? in $lane:ident,)*) => {
        /// An event of the simulation: a kind, and at most one id.
        #[derive(Clone, Copy, Debug)]
        pub enum Event {
            $($(#[$doc])* $name $(($id))?,)*
        }

        #[repr(u8)]
        enum Kind {
            $($name,)*
        }

        const _: () = assert!([$(Kind::$name),*].len() <= KINDS, "a key of the event queue has room for the kind");

        impl Queued for Event {
            #[inline(always)]
            fn parts(self) -> (u8, u32) {
                match self {
                    $(Event::$name $({ 0: $id(number) })? => (Kind::$name as u8, 0 $(+ $id(number).as_u32())?),)*
                }
            }

            #[inline(always)]
            fn of_kind(kind: u8, take: impl FnOnce(usize) -> u32) -> Event {
                match kind {
                    $(kind if kind == Kind::$name as u8 => {
                        let _number = take(lane::$lane);
                        Event::$name $(($id::from_u32(_number)))?
                    })*
                    _ => unreachable!("the queue gives back kinds that it was given"),
                }
            }
        }
    };
}

// Events of the same time are handled in this order: first events that free resources, then work of the controller, then work of the host, then
// timers. Events of one kind are handled in the order of their ids.
events! {
    /// A completion-queue head doorbell write reaches the drive.
    CompletionDoorbell(StreamId) in TO_DRIVE,
    /// A wake-up with this token, requested by the fabric, is due.
    FabricWake(WakeToken) in FABRIC,
    /// An acknowledgement arrives at a flash controller.
    Acknowledged(AcknowledgementId) in ACKNOWLEDGED,
    /// A command, with its data, arrives over the path that this die requested.
    CommandDelivered(DieId) in COMMAND,
    /// Read data arrives at the controller over the path that this die requested.
    DataDelivered(DieId) in DATA,
    /// Read data arrives at another chip over the path that this die requested.
    CopyDelivered(DieId) in DATA,
    /// The array operation of a die ends. Ignored if the operation was suspended meanwhile.
    ArrayEnd(DieId) in READ,
    /// The array of a die has resumed a suspended operation, which queued reads may suspend again.
    Resumed(DieId) in ERASE,
    /// The oldest pending DRAM access of the device cache ends.
    Memory in MEMORY,
    /// A core of the controller finishes a job.
    CoreDone(JobId) in CORE,
    /// A submission-queue tail doorbell write reaches the drive.
    SubmissionDoorbell(StreamId) in TO_DRIVE,
    /// The fetched submission entry of a write arrives in the drive.
    EntryArrived in TO_DRIVE,
    /// The oldest command in flight to the drive arrives, with its data. With NVMe in run-ahead mode, the messages before a command are not events,
    /// and this event can be too early; the command is then still in flight.
    InDrive in TO_DRIVE,
    /// The drive's read request for a submission entry reaches the host.
    EntryRead in TO_HOST,
    /// The drive's read request for the data of a write reaches the host.
    DataRead in TO_HOST,
    /// The oldest completion in flight to the host arrives.
    AtHost in TO_HOST,
    /// The host adapter has processed a command.
    AdapterIssue in ADAPTER,
    /// The next request of a stream arrives, in open replay.
    Arrive(StreamId) in ARRIVAL,
    /// The earliest think time of this stream ends, in closed replay.
    ThreadReady(StreamId) in ARRIVAL,
    /// The write throttle of the device cache admits the next write.
    CacheOpens in GATHER,
    /// Partly filled programs of a die may stop waiting for more data: after `ftl.gather-timeout`, for a flush, or because the last page of a program
    /// is skipped.
    GatherDue(DieId) in GATHER,
    /// The power is cut.
    PowerCut in ARRIVAL,
    /// The event loop pauses, at the end of a step of a stepped drive or of the measured run.
    Pause in ARRIVAL,
}

impl From<HostEvent> for Event {
    #[inline(always)]
    fn from(event: HostEvent) -> Event {
        match event {
            HostEvent::InDrive(_) => Event::InDrive,
            HostEvent::AtHost(_) => Event::AtHost,
            HostEvent::Wake(WakeReason::SubmissionDoorbell(stream)) => Event::SubmissionDoorbell(stream),
            HostEvent::Wake(WakeReason::CompletionDoorbell(stream)) => Event::CompletionDoorbell(stream),
            HostEvent::Wake(WakeReason::EntryRead) => Event::EntryRead,
            HostEvent::Wake(WakeReason::EntryArrived) => Event::EntryArrived,
            HostEvent::Wake(WakeReason::DataRead) => Event::DataRead,
            HostEvent::Wake(WakeReason::AdapterIssue) => Event::AdapterIssue,
        }
    }
}

impl From<FabricEvent> for Event {
    /// Converts an event of the fabric. Die and phase identify a delivery, because a die has at most one path per phase.
    #[inline(always)]
    fn from(event: FabricEvent) -> Event {
        match event {
            FabricEvent::Delivered(grant) => Event::delivered(grant.phase, grant.die),
            FabricEvent::Acknowledged(id) => Event::Acknowledged(id),
            FabricEvent::Wake(token) | FabricEvent::Alarm(token) => Event::FabricWake(WakeToken(token)),
        }
    }
}

impl Event {
    /// Returns the reason of the wake-up, if this event wakes the host interface; otherwise `None`.
    #[inline(always)]
    pub fn token(self) -> Option<WakeReason> {
        Some(match self {
            Event::SubmissionDoorbell(stream) => WakeReason::SubmissionDoorbell(stream),
            Event::CompletionDoorbell(stream) => WakeReason::CompletionDoorbell(stream),
            Event::EntryRead => WakeReason::EntryRead,
            Event::EntryArrived => WakeReason::EntryArrived,
            Event::DataRead => WakeReason::DataRead,
            Event::AdapterIssue => WakeReason::AdapterIssue,
            _ => return None,
        })
    }

    pub fn is_of_host(self) -> bool {
        let is_request = matches!(self, Event::InDrive | Event::AtHost | Event::Arrive(_) | Event::ThreadReady(_));
        is_request || self.token().is_some()
    }

    /// Returns the event for the arrival of the transfer of `phase` over the path of `die`.
    #[inline(always)]
    pub fn delivered(phase: TransferPhase, die: DieId) -> Event {
        match phase {
            TransferPhase::Command => Event::CommandDelivered(die),
            TransferPhase::DataOut => Event::DataDelivered(die),
            TransferPhase::Copy => Event::CopyDelivered(die),
        }
    }
}

/// Lanes (FIFOs) of the event queue. Events of one lane are mostly scheduled in the order of their times.
pub mod lane {
    use crate::engine::queue::NO_LANE;

    /// Lane of messages from the host to the drive.
    pub const TO_DRIVE: usize = 0;
    /// Lane of the arrivals of commands at dies.
    pub const COMMAND: usize = 1;
    /// Lane of the arrivals of read data from dies.
    pub const DATA: usize = 2;
    /// Lane of the ends of array reads.
    pub const READ: usize = 3;
    /// Lane of messages from the drive to the host.
    pub const TO_HOST: usize = 4;
    pub const PROGRAM: usize = 5;
    /// Wake-ups of the fabric, which have no lane.
    pub const FABRIC: usize = NO_LANE;
    /// Arrivals of acknowledgements at flash controllers, which have no lane.
    pub const ACKNOWLEDGED: usize = NO_LANE;
    pub const ADAPTER: usize = NO_LANE;
    pub const MEMORY: usize = NO_LANE;
    pub const ARRIVAL: usize = NO_LANE;
    /// Ends of jobs of controller cores, which have no lane.
    pub const CORE: usize = NO_LANE;
    pub const GATHER: usize = NO_LANE;
    /// Ends of erases and copybacks, and resumptions of suspended operations, which have no lane.
    pub const ERASE: usize = NO_LANE;
}

/// Returns the lane of an event of the host interface: one for each direction, in which messages arrive in the order of sending. The event of the
/// host adapter has no lane.
#[inline]
pub fn host_lane(event: HostEvent) -> usize {
    match event {
        HostEvent::InDrive(_) => lane::TO_DRIVE,
        HostEvent::AtHost(_) => lane::TO_HOST,
        HostEvent::Wake(
            WakeReason::SubmissionDoorbell(_) | WakeReason::CompletionDoorbell(_) | WakeReason::EntryArrived,
        ) => lane::TO_DRIVE,
        HostEvent::Wake(WakeReason::EntryRead | WakeReason::DataRead) => lane::TO_HOST,
        HostEvent::Wake(WakeReason::AdapterIssue) => lane::ADAPTER,
    }
}

#[inline]
pub fn fabric_lane(event: FabricEvent) -> usize {
    match event {
        FabricEvent::Delivered(grant) if grant.phase == TransferPhase::Command => lane::COMMAND,
        FabricEvent::Delivered(_) => lane::DATA,
        FabricEvent::Acknowledged(_) => lane::ACKNOWLEDGED,
        FabricEvent::Wake(_) | FabricEvent::Alarm(_) => lane::FABRIC,
    }
}

#[inline]
pub fn array_lane(kind: OperationKind) -> usize {
    const LANES: [usize; OperationKind::ALL.len()] = [lane::READ, lane::PROGRAM, lane::ERASE, lane::ERASE];
    LANES[kind.index()]
}
