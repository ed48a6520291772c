//! Transfers: the phases for which dies request paths, and the payloads that move over them.

use crate::flash::die::OperationKind;
use crate::ids::{AcknowledgementId, DieId, PathId};
use crate::units::{Bytes, Time};

#[cfg(doc)]
use super::Fabric;

/// Purpose of a path request. 32 bit wide, like an id, so that a [`Grant`] has no padding bytes to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum TransferPhase {
    /// Transfer of the next command to the die, with the data of a program.
    Command,
    /// Transfer of read data from the die to a controller.
    DataOut,
    /// Transfer of read data from the die directly to another chip.
    Copy,
}

impl TransferPhase {
    /// All phases, in the order of [`TransferPhase::index`].
    pub const ALL: [TransferPhase; 3] = [TransferPhase::Command, TransferPhase::DataOut, TransferPhase::Copy];

    /// Returns the index of this phase in [`TransferPhase::ALL`], and in arrays with an entry per phase.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Owner class of outgoing data. Under the data-first round-robin rules of `fabric.arbitration`, classes are served in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataOwner {
    /// The mapping cache of the FTL, which reads translation pages.
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
    /// The phase for which the path was requested.
    pub phase: TransferPhase,
    /// The granted path, held until it is released. Path numbers are small, because probes that check a run index tables by path.
    pub path: PathId,
}

/// Kind of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferKind {
    /// A read command. The data leaves the die later, as one transfer for each plane.
    Read,
    /// A program command with its data.
    Program,
    /// An erase command.
    Erase,
    /// A copyback command, which moves pages within their plane.
    Copyback,
    /// Read data of one page, sent to a controller.
    Data,
    /// Read data of one page, sent to the page buffer of another chip.
    ChipToChipData,
}

impl TransferKind {
    /// Returns the kind of the transfer whose command starts an operation of kind `operation`.
    pub fn command_for(operation: OperationKind) -> TransferKind {
        match operation {
            OperationKind::Read => TransferKind::Read,
            OperationKind::Program => TransferKind::Program,
            OperationKind::Erase => TransferKind::Erase,
            OperationKind::Copyback => TransferKind::Copyback,
        }
    }
}

/// Content of a transfer over a path.
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    /// Kind of the transfer.
    pub kind: TransferKind,
    /// Number of planes that the command addresses; 1 for outgoing data, which comes from one plane at a time.
    pub planes: u32,
    /// Time of command and address cycles on a shared channel; zero for outgoing data.
    pub command_time: Time,
    /// Size of the data, with its share of the spare area. For the command of a Clean (a GC move from chip to chip), size of the page list;
    /// for other commands without data, zero.
    pub bytes: Bytes,
}

/// Arrival time and minimum duration of a started transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendOutcome {
    /// Arrival time of the last byte; `None` if unknown, in which case the fabric later adds [`FabricEvent::Delivered`] to the outbox.
    pub arrival: Option<Time>,
    /// Duration of the transfer over the shortest path and without contention.
    pub min_duration: Time,
}

/// Exclusive upper bound of the tokens of [`FabricEvent::Wake`] and [`FabricEvent::Alarm`]. A token is the fabric's reason for a wake-up.
pub const TOKENS: u32 = crate::engine::queue::NUMBERS;

/// An event that a fabric schedules through its outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricEvent {
    /// The last byte of the payload sent over the path of this grant has arrived.
    Delivered(Grant),
    /// The acknowledgement with this id has arrived at a controller.
    Acknowledged(AcknowledgementId),
    /// A call of [`Fabric::wake`] with this token is due.
    Wake(u32),
    /// Like [`Wake`](Self::Wake), but there is one alarm per fabric: a new one replaces the pending one. Exception: beyond the range of event keys,
    /// an alarm becomes an ordinary event, which occurs even if it was replaced.
    Alarm(u32),
}
