//! What moves over an interconnect, and what a die asks for.

use crate::flash::die::OperationKind;
use crate::ids::{AcknowledgementId, DieId, PathId};
use crate::units::{Bytes, Time};

#[cfg(doc)]
use super::Fabric;

/// What a die wants a path for; as wide as the ids beside it, so that a grant has no padding to be copied around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum TransferPhase {
    /// To receive its next command, with the data of a program.
    Command,
    /// To send the data of a read to a controller.
    DataOut,
    /// To send the data of a read to another chip.
    Copy,
}

impl TransferPhase {
    /// All phases, by their index.
    pub const ALL: [TransferPhase; 3] = [TransferPhase::Command, TransferPhase::DataOut, TransferPhase::Copy];

    /// The position in a table by phase.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Whose data leaves a die, in the order of the arbitrations that tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataOf {
    /// Pages of the mapping table.
    Mapping,
    /// A request.
    Request,
    /// Garbage collection or wear levelling.
    Collection,
}

/// A path was granted to a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The die that asked.
    pub die: DieId,
    /// What it asked for.
    pub phase: TransferPhase,
    /// The path it holds until it is released. Paths count from 0: oracles keep a table of them.
    pub path: PathId,
}

/// What a transfer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A command that makes the die read pages, whose data will leave it later.
    Read,
    /// A command with the data to program.
    Program,
    /// A command to erase blocks.
    Erase,
    /// A command to move pages inside their planes.
    Copyback,
    /// The data of one page that was read.
    Data,
    /// The same on its way to the page buffer of another chip.
    Copy,
}

impl Message {
    /// The command for an operation.
    #[inline]
    pub fn commanding(operation: OperationKind) -> Message {
        match operation {
            OperationKind::Read => Message::Read,
            OperationKind::Program => Message::Program,
            OperationKind::Erase => Message::Erase,
            OperationKind::Copyback => Message::Copyback,
        }
    }
}

/// What moves over a path.
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    /// What it is.
    pub message: Message,
    /// The planes that a command addresses, or whose data this is.
    pub planes: u32,
    /// Time of command and address on a shared channel; nothing when data leaves.
    pub command: Time,
    /// User data and the metadata that travels with it.
    pub bytes: Bytes,
}

/// What was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When the last byte arrives, where that is known now; else the fabric raises [`FabricEvent::Delivered`] by itself.
    pub delivered: Option<Time>,
    /// How long this transfer takes at least, over the shortest path and with nothing in its way.
    pub least: Time,
}

/// Tokens of wake-ups are smaller.
pub const TOKENS: u32 = crate::engine::queue::NUMBERS;

/// An event a fabric asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricEvent {
    /// What was sent over the path has arrived.
    Delivered(Grant),
    /// An acknowledgement has reached a controller.
    Acknowledged(AcknowledgementId),
    /// Time for [`Fabric::wake`], with this token, which is smaller than [`TOKENS`].
    Wake(u32),
    /// The same, in place of the last one that has not come: a fabric has one alarm, which it may set to another time. One that is
    /// set far ahead may still come when it has been set anew.
    Alarm(u32),
}
