//! What is kept of messages on their way, and of dies.

use crate::fabric::wormhole::TerminalId;
use crate::fabric::{Grant, TransferPhase};
use crate::ids::{AcknowledgementId, ChipId, DieId, id};
use crate::units::{Bytes, Time};

use super::packets::Packets;

id!(
    /// A message on its way.
    MessageId
);

/// What a message tells when it has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Transfer(Grant),
    Acknowledgement(AcknowledgementId),
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub purpose: Purpose,
    pub die: DieId,
    pub packets: Packets,
    pub bytes: Bytes,
    pub source: TerminalId,
    pub destination: TerminalId,
    pub created: u64,
    /// Packets that have yet to enter, and to leave, the network.
    pub to_inject: u32,
    pub to_deliver: u32,
}

/// A read whose data has yet to be sent: who hears it, and how many planes are left.
#[derive(Clone, Copy, Debug, Default)]
struct Hearing {
    controller: u32,
    planes: u32,
}

/// What the fabric keeps for each die.
#[derive(Clone, Copy, Debug)]
pub(super) struct DieState {
    /// The controller whose queue it is in, or that sends its command.
    pub commanding: u32,
    /// The controller that hears the end of its program or erase.
    pub acknowledged: u32,
    /// The terminal of the local channel that the message of each phase enters the network by.
    pub channel: [TerminalId; TransferPhase::ALL.len()],
    /// The reads whose data leaves: of the one in the register, and of the one the array works on.
    hearing: [Hearing; 2],
    /// The chip that its data goes to in place of a controller.
    pub copies_to: Option<ChipId>,
    /// Time its last transfer of each phase was blocked in the network.
    pub stalled: [Time; TransferPhase::ALL.len()],
    /// The transfer of each phase whose arrival is known.
    pub arriving: [Option<MessageId>; TransferPhase::ALL.len()],
}

impl DieState {
    /// The data of so many planes, which are about to be read, goes to `controller`.
    pub fn will_send(&mut self, controller: u32, planes: u32) {
        let next = usize::from(self.hearing[0].planes > 0);
        self.hearing[next] = Hearing { controller, planes };
    }

    /// The controller that hears the data of the next plane.
    pub fn hearer(&self) -> u32 {
        self.hearing[0].controller
    }

    /// The data of a plane leaves; gives the controller that hears it.
    pub fn sends(&mut self) -> u32 {
        let [first, second] = self.hearing;
        let planes = first.planes.saturating_sub(1);
        self.hearing = if planes == 0 { [second, Hearing::default()] } else { [Hearing { planes, ..first }, second] };
        first.controller
    }
}

impl Default for DieState {
    fn default() -> DieState {
        DieState {
            commanding: 0,
            acknowledged: 0,
            channel: [TerminalId(0); TransferPhase::ALL.len()],
            hearing: Default::default(),
            copies_to: None,
            stalled: Default::default(),
            arriving: Default::default(),
        }
    }
}
