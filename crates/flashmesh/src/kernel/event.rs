//! What happens in a drive, and the lane of the event queue each kind of event lines up in.

use crate::fabric::{FabricEvent, TransferPhase};
use crate::flash::die::OperationKind;
use crate::host::interface::{HostEvent, Token};
use crate::ids::{DieId, StreamId};

/// Something that happens at its time.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// Open replay: the next request of a stream arrives.
    Arrive(StreamId),
    /// Closed replay: a thread of a stream has thought long enough.
    ThreadReady(StreamId, u32),
    /// The interface to the host asked for it.
    Host(HostEvent),
    /// The fabric asked to be called.
    Fabric(FabricEvent),
    /// The array of a die is done, unless its operation was suspended since.
    ArrayEnd(DieId),
    /// The array of a die works again after a suspension, and may be suspended anew.
    Resumed(DieId),
    /// The access to the DRAM of the cache that was queued first is done.
    Memory,
    /// The power is cut.
    PowerCut,
}

/// Events of one lane mostly fall due in the order in which they are scheduled.
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
    /// Programs that end.
    pub const PROGRAM: usize = 4;
    /// Messages that reach the host.
    pub const TO_HOST: usize = 5;
    /// Wakes of the fabric; the last lane, which is passed over where the fabric asks for none.
    pub const FABRIC: usize = 6;
    /// Acknowledgements that reach a controller.
    pub const ACKNOWLEDGED: usize = NO_LANE;
    /// The host's adapter.
    pub const ADAPTER: usize = NO_LANE;
    /// Accesses to DRAM.
    pub const MEMORY: usize = NO_LANE;
    /// Arrivals of requests.
    pub const ARRIVAL: usize = NO_LANE;
    /// Erases and copybacks that end.
    pub const ERASE: usize = NO_LANE;
}

/// The lane of an event that the interface to the host asked for: messages of one direction arrive in the order in which they are sent.
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

/// The lane of an event that a fabric asked for.
#[inline]
pub fn fabric_lane(event: FabricEvent) -> usize {
    match event {
        FabricEvent::Delivered(grant) if grant.phase == TransferPhase::Command => lane::COMMAND,
        FabricEvent::Delivered(_) => lane::DATA,
        FabricEvent::Acknowledged(_) => lane::ACKNOWLEDGED,
        FabricEvent::Wake(_) => lane::FABRIC,
    }
}

/// The lane of the end of an operation.
#[inline]
pub fn array_lane(kind: OperationKind) -> usize {
    match kind {
        OperationKind::Read => lane::READ,
        OperationKind::Program => lane::PROGRAM,
        OperationKind::Erase | OperationKind::Copyback => lane::ERASE,
    }
}
