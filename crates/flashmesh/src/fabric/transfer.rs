//! Transfers: what dies request paths for, and what moves over the paths.

use crate::flash::die::OperationKind;
use crate::ids::{AcknowledgementId, DieId, PathId};
use crate::units::{Bytes, Time};

#[cfg(doc)]
use super::Fabric;

/// The purpose for which a die requests a path. As wide as the neighbouring ids, so that a [`Grant`] has no padding to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum TransferPhase {
    /// Reception of the next command, with the data of a program.
    Command,
    /// Transfer of read data to a controller.
    DataOut,
    /// Transfer of read data to another chip.
    Copy,
}

impl TransferPhase {
    /// All phases, in index order.
    pub const ALL: [TransferPhase; 3] = [TransferPhase::Command, TransferPhase::DataOut, TransferPhase::Copy];

    /// Returns the index of this phase in tables by phase.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Owner class of outgoing data, in order of precedence under the arbitrations that use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataOf {
    /// Translation pages.
    Mapping,
    /// A host request.
    Request,
    /// Garbage collection or wear levelling.
    Collection,
}

/// A path granted to a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The requesting die.
    pub die: DieId,
    /// The requested phase.
    pub phase: TransferPhase,
    /// The path, held until its release. Paths are numbered from 0, since oracles keep a table of them.
    pub path: PathId,
}

/// Kind of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A read command; the data leaves the die later.
    Read,
    /// A program command with its data.
    Program,
    /// An erase command.
    Erase,
    /// A command to move pages within their planes.
    Copyback,
    /// Read data of one page.
    Data,
    /// Read data of one page, to the page buffer of another chip.
    Copy,
}

impl Message {
    /// Returns the command that starts `operation`.
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

/// Content of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    /// Kind of the transfer.
    pub message: Message,
    /// Planes that the command addresses, or that the data comes from.
    pub planes: u32,
    /// Time of the command and address cycles on a shared channel; zero for outgoing data.
    pub command: Time,
    /// Host data and its metadata.
    pub bytes: Bytes,
}

/// A started transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Arrival time of the last byte; `None` if not known yet, and the fabric will raise [`FabricEvent::Delivered`].
    pub delivered: Option<Time>,
    /// Shortest possible duration of the transfer: over the shortest path, without contention.
    pub least: Time,
}

/// Exclusive upper bound of wake-up tokens.
pub const TOKENS: u32 = crate::engine::queue::NUMBERS;

/// An event scheduled by a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricEvent {
    /// The payload sent over the path has arrived.
    Delivered(Grant),
    /// An acknowledgement has arrived at a controller.
    Acknowledged(AcknowledgementId),
    /// A call of [`Fabric::wake`] with this token is due.
    Wake(u32),
    /// Like [`Wake`](Self::Wake), but a fabric has one alarm, which replaces the last one that is still pending. An alarm set far ahead can still
    /// fire after it was replaced.
    Alarm(u32),
}
