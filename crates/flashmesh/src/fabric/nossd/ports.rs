//! The ways into the network: one message at a time, and the dies that wait.

use std::collections::VecDeque;

use crate::fabric::wormhole::TerminalId;
use crate::ids::DieId;
use crate::units::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Free from this time on.
    Free(Time),
    /// A die may send its message.
    Granted(DieId),
    /// A message is on its way in, and it is not known for how long.
    Sending,
}

#[derive(Clone, Debug)]
struct Port {
    state: State,
    waiting: VecDeque<DieId>,
}

/// A port for each terminal, first come, first served.
#[derive(Debug)]
pub(super) struct Ports(Vec<Port>);

/// What becomes of a die that wants to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// It may send now.
    Granted,
    /// It waits, the first one, for a port that is free from this time on.
    First(Time),
    /// It waits.
    Waiting,
}

impl Ports {
    pub(super) fn new(terminals: u32) -> Ports {
        Ports(vec![Port { state: State::Free(Time::ZERO), waiting: VecDeque::new() }; terminals as usize])
    }

    /// A die wants to send.
    pub(super) fn enter(&mut self, terminal: TerminalId, die: DieId, now: Time) -> Entry {
        let port = &mut self.0[terminal.index()];
        match port.state {
            State::Free(from) if from <= now && port.waiting.is_empty() => {
                port.state = State::Granted(die);
                return Entry::Granted;
            }
            _ => port.waiting.push_back(die),
        }
        match port.state {
            State::Free(from) if port.waiting.len() == 1 => Entry::First(from),
            _ => Entry::Waiting,
        }
    }

    /// The dies that wait to send, or do so now.
    pub(super) fn load(&self, terminal: TerminalId, now: Time) -> u32 {
        let port = &self.0[terminal.index()];
        let is_busy = !matches!(port.state, State::Free(from) if from <= now);
        port.waiting.len() as u32 + u32::from(is_busy)
    }

    /// Whether `die` may send here and has not sent yet.
    pub(super) fn is_granted(&self, terminal: TerminalId, die: DieId) -> bool {
        self.0[terminal.index()].state == State::Granted(die)
    }

    /// The die that may send does so.
    pub(super) fn send(&mut self, terminal: TerminalId) {
        self.0[terminal.index()].state = State::Sending;
    }

    /// The message is in the network at `from`; gives whether somebody waits for that.
    pub(super) fn free_from(&mut self, terminal: TerminalId, from: Time) -> bool {
        let port = &mut self.0[terminal.index()];
        port.state = State::Free(from);
        !port.waiting.is_empty()
    }

    /// The port is free: gives the die that may send next.
    pub(super) fn next(&mut self, terminal: TerminalId) -> Option<DieId> {
        let port = &mut self.0[terminal.index()];
        let next = port.waiting.pop_front()?;
        port.state = State::Granted(next);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: TerminalId = TerminalId(1);

    #[test]
    fn dies_send_one_after_the_other_when_the_message_before_is_in_the_network() {
        let mut ports = Ports::new(2);
        let time = Time::from_ns;
        assert_eq!(ports.enter(PORT, DieId(5), time(1)), Entry::Granted);
        assert!(ports.is_granted(PORT, DieId(5)));
        assert_eq!(ports.enter(PORT, DieId(6), time(2)), Entry::Waiting);
        ports.send(PORT);
        assert_eq!((ports.is_granted(PORT, DieId(5)), ports.load(PORT, time(3))), (false, 2));
        assert!(ports.free_from(PORT, time(10)));
        assert_eq!((ports.load(PORT, time(9)), ports.load(PORT, time(10))), (2, 1));
        assert_eq!(ports.next(PORT), Some(DieId(6)));
        ports.send(PORT);
        assert!(!ports.free_from(PORT, time(20)));
        assert_eq!(ports.enter(PORT, DieId(7), time(15)), Entry::First(time(20)));
        assert_eq!(ports.enter(PORT, DieId(8), time(16)), Entry::Waiting);
        assert_eq!(ports.next(PORT), Some(DieId(7)));
        assert_eq!(ports.load(TerminalId(0), time(16)), 0);
    }

    #[test]
    fn a_port_that_became_free_meanwhile_is_granted_at_once() {
        let mut ports = Ports::new(2);
        ports.enter(PORT, DieId(5), Time::ZERO);
        ports.send(PORT);
        ports.free_from(PORT, Time::from_ns(4));
        assert_eq!(ports.enter(PORT, DieId(6), Time::from_ns(4)), Entry::Granted);
    }
}
