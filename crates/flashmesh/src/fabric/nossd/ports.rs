//! The ways into the network: one message at a time, and the dies that wait.

use std::collections::VecDeque;

use crate::fabric::wormhole::TerminalId;
use crate::ids::DieId;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Free,
    /// A die may send its message.
    Granted(DieId),
    /// A message is on its way in.
    Sending,
}

#[derive(Clone, Debug, Default)]
struct Port {
    state: State,
    waiting: VecDeque<DieId>,
}

/// A port for each terminal, first come, first served.
#[derive(Debug)]
pub(super) struct Ports(Vec<Port>);

impl Ports {
    pub(super) fn new(terminals: u32) -> Ports {
        Ports(vec![Port::default(); terminals as usize])
    }

    /// A die wants to send; gives whether it may at once.
    pub(super) fn enter(&mut self, terminal: TerminalId, die: DieId) -> bool {
        let port = &mut self.0[terminal.index()];
        let is_free = port.state == State::Free;
        if is_free {
            port.state = State::Granted(die);
        } else {
            port.waiting.push_back(die);
        }
        is_free
    }

    /// Whether `die` may send here and has not sent yet.
    pub(super) fn is_granted(&self, terminal: TerminalId, die: DieId) -> bool {
        self.0[terminal.index()].state == State::Granted(die)
    }

    /// The die that may send does so.
    pub(super) fn send(&mut self, terminal: TerminalId) {
        self.0[terminal.index()].state = State::Sending;
    }

    /// The message is in the network, or there is none: gives the die that may send next.
    pub(super) fn leave(&mut self, terminal: TerminalId) -> Option<DieId> {
        let port = &mut self.0[terminal.index()];
        let next = port.waiting.pop_front();
        port.state = next.map_or(State::Free, State::Granted);
        next
    }
}
