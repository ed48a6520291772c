//! State of messages in the network, and of dies from path request to message arrival.

use crate::fabric::wormhole::TerminalId;
use crate::fabric::{Grant, TransferPhase};
use crate::ids::{AcknowledgementId, ChipId, DieId, id};
use crate::units::{Bytes, Time};

use super::packets::Packets;

id!(
    /// The id of a message in the network, valid until the message has arrived and is counted.
    MessageId
);

/// Content of a message, which determines the event of its arrival: a transfer over a granted path, or an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum MessageContent {
    Transfer(Grant),
    Acknowledgement(AcknowledgementId),
}

/// A message in the network, with its packets.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct MessageInFlight {
    pub purpose: MessageContent,
    pub die: DieId,
    pub packets: Packets,
    pub bytes: Bytes,
    pub source: TerminalId,
    pub destination: TerminalId,
    pub created: u64,
    /// Number of packets that the network has not yet reported as injected.
    pub to_inject: u32,
    /// Number of packets that the network has not yet reported as delivered.
    pub to_deliver: u32,
}

/// A read that has still to send data to `controller`, for `planes` planes; 0 planes if there is no read.
#[derive(Clone, Copy, Debug, Default)]
struct PendingRead {
    controller: u32,
    planes: u32,
}

/// Controllers, local channels and messages of the current operations of a die.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct DieState {
    /// Controller that sends the current command of the die, or at which the die is queued for the command.
    pub command_controller: u32,
    /// Controller that receives the acknowledgement of the current program, erase or copyback of the die.
    pub ack_controller: u32,
    /// Local channel (link into the network) that was granted last for a message of each phase, indexed by phase.
    pub local_channels: [TerminalId; TransferPhase::ALL.len()],
    /// Reads that have still to send data, in order of their commands. At most two: one with data in the page register, and one that the array
    /// senses.
    reads: [PendingRead; 2],
    /// Destination chip of the next copy from chip to chip; `None` if none is requested.
    pub copy_destination: Option<ChipId>,
    /// Time for which the last transfer of each phase was blocked by other packets, indexed by phase.
    pub stalled: [Time; TransferPhase::ALL.len()],
    /// Message of the last transfer of each phase, indexed by phase, from the scheduling of its arrival to the release of the path; otherwise `None`.
    pub pending_arrivals: [Option<MessageId>; TransferPhase::ALL.len()],
}

impl DieState {
    /// Records that a read of `planes` planes was sent, and that its data goes to `controller`.
    pub fn expect_data(&mut self, controller: u32, planes: u32) {
        let next = usize::from(self.reads[0].planes > 0);
        self.reads[next] = PendingRead { controller, planes };
    }

    /// Returns the controller that receives the data that the die sends next.
    pub fn data_controller(&self) -> u32 {
        self.reads[0].controller
    }

    /// Counts the data of one plane as sent. Returns the controller that receives this data.
    pub fn dequeue_plane(&mut self) -> u32 {
        let [first, second] = self.reads;
        let planes = first.planes.saturating_sub(1);
        self.reads =
            if planes == 0 { [second, PendingRead::default()] } else { [PendingRead { planes, ..first }, second] };
        first.controller
    }
}

impl Default for DieState {
    fn default() -> DieState {
        DieState {
            command_controller: 0,
            ack_controller: 0,
            local_channels: [TerminalId(0); TransferPhase::ALL.len()],
            reads: Default::default(),
            copy_destination: None,
            stalled: Default::default(),
            pending_arrivals: Default::default(),
        }
    }
}
