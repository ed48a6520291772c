//! State of messages and of dies.

use crate::fabric::wormhole::TerminalId;
use crate::fabric::{Grant, TransferPhase};
use crate::ids::{AcknowledgementId, ChipId, DieId, id};
use crate::units::{Bytes, Time};

use super::packets::Packets;

id!(
    /// The id of a message in the network.
    MessageId
);

/// Content of a message, which determines the effect of its arrival.
#[derive(Clone, Copy, Debug)]
pub(super) enum MessageContent {
    Transfer(Grant),
    Acknowledgement(AcknowledgementId),
}

/// A message in the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageInFlight {
    pub purpose: MessageContent,
    pub die: DieId,
    pub packets: Packets,
    pub bytes: Bytes,
    pub source: TerminalId,
    pub destination: TerminalId,
    pub created: u64,
    /// Number of packets still to be injected.
    pub to_inject: u32,
    /// Number of packets still to be delivered.
    pub to_deliver: u32,
}

/// A read whose data has not been sent completely: the controller that receives the data, and the number of planes whose data is still to be sent.
#[derive(Clone, Copy, Debug, Default)]
struct PendingRead {
    controller: u32,
    planes: u32,
}

/// Network state of a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct DieState {
    /// Controller at which the die is queued, or which sends its command.
    pub command_controller: u32,
    /// Controller that receives the acknowledgement of its program or erase.
    pub ack_controller: u32,
    /// Local channel over which the message of each phase enters the network.
    pub local_channels: [TerminalId; TransferPhase::ALL.len()],
    /// Reads whose data has not been sent, in order: one in the page register, one in the array.
    reads: [PendingRead; 2],
    /// Destination chip of the next copy.
    pub copy_destination: Option<ChipId>,
    /// Blocked time of the last transfer of each phase.
    pub stalled: [Time; TransferPhase::ALL.len()],
    /// Message of the last transfer of each phase, from when its arrival time is known until the message is counted.
    pub pending_arrivals: [Option<MessageId>; TransferPhase::ALL.len()],
}

impl DieState {
    /// Records a read of `planes` planes, whose data goes to `controller`.
    pub fn expect_data(&mut self, controller: u32, planes: u32) {
        let next = usize::from(self.reads[0].planes > 0);
        self.reads[next] = PendingRead { controller, planes };
    }

    /// Returns the controller that receives the data of the next plane.
    pub fn data_controller(&self) -> u32 {
        self.reads[0].controller
    }

    /// Removes one plane from the data to send. Returns the controller that receives the data of that plane.
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
