//! Transfers: the phases for which dies request paths, and the payloads that move over them.

use crate::flash::die::OperationKind;
use crate::ids::{AcknowledgementId, DieId, PathId};
use crate::units::{Bytes, Time};

#[cfg(doc)]
use super::Fabric;

/// The purpose of a path request. As wide as an id, so that a [`Grant`] has no padding to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum TransferPhase {
    /// Reception of the next command, and of the data of a program.
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

/// Owner class of outgoing data, in order of precedence for the arbitration rules that use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataOwner {
    /// The mapping cache: translation pages.
    Mapping,
    /// A host request.
    Request,
    /// GC or wear levelling.
    Collection,
}

/// A path granted to a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The requesting die.
    pub die: DieId,
    /// The requested phase.
    pub phase: TransferPhase,
    /// The granted path, held until its release. Numbers start at 0, because oracles keep a table of paths.
    pub path: PathId,
}

/// Kind of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferKind {
    /// A read command. The data leaves the die later.
    Read,
    /// A program command with its data.
    Program,
    /// An erase command.
    Erase,
    /// A command to move pages within their plane.
    Copyback,
    /// Read data of one page.
    Data,
    /// Read data of one page, for the page buffer of another chip.
    ChipToChipData,
}

impl TransferKind {
    /// Returns the command that starts `operation`.
    #[inline]
    pub fn command_for(operation: OperationKind) -> TransferKind {
        match operation {
            OperationKind::Read => TransferKind::Read,
            OperationKind::Program => TransferKind::Program,
            OperationKind::Erase => TransferKind::Erase,
            OperationKind::Copyback => TransferKind::Copyback,
        }
    }
}

/// Content of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    /// Kind of the transfer.
    pub kind: TransferKind,
    /// Number of planes that the command addresses, or from which the data comes.
    pub planes: u32,
    /// Time of command and address cycles on a shared channel; zero for outgoing data.
    pub command_time: Time,
    /// Data with its share of the spare area; for the command of a Clean, the page list.
    pub bytes: Bytes,
}

/// Times of a started transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendOutcome {
    /// Arrival time of the last byte; `None` if the fabric raises [`FabricEvent::Delivered`] when the time is known.
    pub arrival: Option<Time>,
    /// Minimum duration of the transfer: over the shortest path, without contention.
    pub min_duration: Time,
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
    /// Like [`Wake`](Self::Wake), but a fabric has only one alarm, which replaces a pending one. An alarm set far ahead may still fire after its
    /// replacement.
    Alarm(u32),
}
