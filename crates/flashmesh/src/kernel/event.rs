//! What happens in a drive, and the lane of the event queue each kind of event lines up in.

use crate::engine::queue::{KINDS, Queued};
use crate::fabric::{FabricEvent, TransferPhase};
use crate::flash::die::OperationKind;
use crate::host::interface::{HostEvent, Token};
use crate::ids::{AcknowledgementId, DieId, Id, JobId, StreamId, id};

id! {
    /// What a fabric has asked to be called with.
    WakeToken
}

/// Declares events with their id, if any, and their usual lane, and their form in the event queue.
macro_rules! events {
    ($($(#[$doc:meta])* $name:ident $(($id:ident))? in $lane:ident,)*) => {
        /// Something that happens at its time: what it is, and one number at most.
        #[derive(Clone, Copy, Debug)]
        pub enum Event {
            $($(#[$doc])* $name $(($id))?,)*
        }

        /// The kinds of events, numbered.
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

// What comes at the same time comes in this order, and of one kind by number: first what becomes free, then what the controller does, then what the
// host does, then what waited for a time.
events! {
    /// The drive hears that a queue has one completion less.
    CompletionDoorbell(StreamId) in TO_DRIVE,
    /// The fabric asked to be called, with this token.
    FabricWake(WakeToken) in FABRIC,
    /// An acknowledgement has reached a controller.
    Acknowledged(AcknowledgementId) in ACKNOWLEDGED,
    /// Command and data have reached the die that asked for a path.
    CommandDelivered(DieId) in COMMAND,
    /// The data that leaves the die which asked for a path has reached the controller.
    DataDelivered(DieId) in DATA,
    /// The data that leaves the die which asked for a path has reached another chip.
    CopyDelivered(DieId) in DATA,
    /// The array of a die is done, unless its operation was suspended since.
    ArrayEnd(DieId) in READ,
    /// The array of a die works again after a suspension, and may be suspended anew.
    Resumed(DieId) in ERASE,
    /// The access to the DRAM of the cache that was queued first is done.
    Memory in MEMORY,
    /// A core of the controller has done what it was asked for.
    CoreDone(JobId) in CORE,
    /// The drive hears that a queue has one command more.
    SubmissionDoorbell(StreamId) in TO_DRIVE,
    /// A submission entry whose command writes is in the drive.
    EntryArrived in TO_DRIVE,
    /// The command of the request that was sent first, and the data that goes with it, is in the drive; or on its way still, where the interface runs
    /// ahead.
    InDrive in TO_DRIVE,
    /// The host is asked for a submission entry.
    EntryRead in TO_HOST,
    /// The host is asked for the data of a write.
    DataRead in TO_HOST,
    /// The completion that was sent first is at the host.
    AtHost in TO_HOST,
    /// The adapter of the host has looked at a command.
    AdapterIssue in ADAPTER,
    /// Open replay: the next request of a stream arrives.
    Arrive(StreamId) in ARRIVAL,
    /// Closed replay: the thread of a stream that thinks longest has thought long enough.
    ThreadReady(StreamId) in ARRIVAL,
    /// The device cache takes in another write that was slowed down.
    CacheOpens in GATHER,
    /// Programs of a die may have waited for others to gather for as long as they may.
    GatherDue(DieId) in GATHER,
    /// The power is cut.
    PowerCut in ARRIVAL,
    /// A drive that is stepped has come to the time that it was to be advanced to.
    Pause in ARRIVAL,
}

impl From<HostEvent> for Event {
    #[inline(always)]
    fn from(event: HostEvent) -> Event {
        match event {
            HostEvent::InDrive(_) => Event::InDrive,
            HostEvent::AtHost(_) => Event::AtHost,
            HostEvent::Wake(Token::SubmissionDoorbell(stream)) => Event::SubmissionDoorbell(stream),
            HostEvent::Wake(Token::CompletionDoorbell(stream)) => Event::CompletionDoorbell(stream),
            HostEvent::Wake(Token::EntryRead) => Event::EntryRead,
            HostEvent::Wake(Token::EntryArrived) => Event::EntryArrived,
            HostEvent::Wake(Token::DataRead) => Event::DataRead,
            HostEvent::Wake(Token::AdapterIssue) => Event::AdapterIssue,
        }
    }
}

impl From<FabricEvent> for Event {
    /// The path of a delivery is that which its die holds for the phase.
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
    /// The token of a wake-up of the host interface.
    #[inline(always)]
    pub fn token(self) -> Option<Token> {
        Some(match self {
            Event::SubmissionDoorbell(stream) => Token::SubmissionDoorbell(stream),
            Event::CompletionDoorbell(stream) => Token::CompletionDoorbell(stream),
            Event::EntryRead => Token::EntryRead,
            Event::EntryArrived => Token::EntryArrived,
            Event::DataRead => Token::DataRead,
            Event::AdapterIssue => Token::AdapterIssue,
            _ => return None,
        })
    }

    pub fn is_of_host(self) -> bool {
        let is_request = matches!(self, Event::InDrive | Event::AtHost | Event::Arrive(_) | Event::ThreadReady(_));
        is_request || self.token().is_some()
    }

    /// The transfer over the path of `die` for `phase` has arrived.
    #[inline(always)]
    pub fn delivered(phase: TransferPhase, die: DieId) -> Event {
        match phase {
            TransferPhase::Command => Event::CommandDelivered(die),
            TransferPhase::DataOut => Event::DataDelivered(die),
            TransferPhase::Copy => Event::CopyDelivered(die),
        }
    }
}

/// Events of one lane are mostly scheduled in the order in which they are due.
pub mod lane {
    use crate::engine::queue::NO_LANE;

    /// Messages that reach the drive.
    pub const TO_DRIVE: usize = 0;
    /// Commands that reach their die.
    pub const COMMAND: usize = 1;
    /// Data that has left a die.
    pub const DATA: usize = 2;
    /// Array reads that end.
    pub const READ: usize = 3;
    /// Messages that reach the host.
    pub const TO_HOST: usize = 4;
    pub const PROGRAM: usize = 5;
    /// Wakes of the fabric.
    pub const FABRIC: usize = NO_LANE;
    /// Acknowledgements that reach a controller.
    pub const ACKNOWLEDGED: usize = NO_LANE;
    pub const ADAPTER: usize = NO_LANE;
    pub const MEMORY: usize = NO_LANE;
    pub const ARRIVAL: usize = NO_LANE;
    /// Jobs that cores of the controller have done.
    pub const CORE: usize = NO_LANE;
    pub const GATHER: usize = NO_LANE;
    /// Erases and copybacks that end.
    pub const ERASE: usize = NO_LANE;
}

/// The lane of an event of the host interface: messages of one direction arrive in the order of sending.
#[inline]
pub fn host_lane(event: HostEvent) -> usize {
    match event {
        HostEvent::InDrive(_) => lane::TO_DRIVE,
        HostEvent::AtHost(_) => lane::TO_HOST,
        HostEvent::Wake(Token::SubmissionDoorbell(_) | Token::CompletionDoorbell(_) | Token::EntryArrived) => {
            lane::TO_DRIVE
        }
        HostEvent::Wake(Token::EntryRead | Token::DataRead) => lane::TO_HOST,
        HostEvent::Wake(Token::AdapterIssue) => lane::ADAPTER,
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
