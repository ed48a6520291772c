//! The ways into the network: one message at a time, and the dies that wait.

use std::collections::VecDeque;

use crate::fabric::wormhole::TerminalId;
use crate::ids::DieId;
use crate::units::Time;

use super::terminals::Terminals;

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
    /// Its local channels.
    channels: Vec<State>,
    waiting: VecDeque<DieId>,
}

impl Port {
    /// A local channel that is free at `now`.
    #[inline]
    fn free(&self, now: Time) -> Option<usize> {
        self.channels.iter().position(|state| matches!(state, State::Free(from) if *from <= now))
    }
}

/// A port for each chip and each controller, first come, first served; known by the terminal of its first local channel.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    ports: Vec<Port>,
    terminals: Terminals,
}

/// What becomes of a die that wants to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// It may send now, over the local channel with this terminal.
    Granted(TerminalId),
    /// It waits, the first one, for a port that is free from this time on.
    First(Time),
    /// It waits.
    Waiting,
}

impl Ports {
    /// The ports of chips and controllers, with a terminal for each channel.
    pub(super) fn new(terminals: Terminals) -> Ports {
        let port = |channels: u32| Port {
            channels: vec![State::Free(Time::ZERO); channels as usize],
            waiting: VecDeque::new(),
        };
        Ports { ports: terminals.ends().map(|end| port(terminals.channels(end))).collect(), terminals }
    }

    /// The number of the port of a terminal, and of its channel there.
    #[inline]
    fn place(&self, terminal: TerminalId) -> (usize, usize) {
        let end = self.terminals.at(terminal);
        (self.terminals.number(end) as usize, (terminal.0 - self.terminals.first(end).0) as usize)
    }

    #[inline]
    fn port(&self, terminal: TerminalId) -> &Port {
        &self.ports[self.place(terminal).0]
    }

    #[inline]
    fn port_mut(&mut self, terminal: TerminalId) -> &mut Port {
        let (port, _) = self.place(terminal);
        &mut self.ports[port]
    }

    #[inline]
    fn channel_mut(&mut self, terminal: TerminalId) -> &mut State {
        let (port, channel) = self.place(terminal);
        &mut self.ports[port].channels[channel]
    }

    /// A die wants to send.
    pub(super) fn enter(&mut self, terminal: TerminalId, die: DieId, now: Time) -> Entry {
        let port = self.port_mut(terminal);
        if port.waiting.is_empty()
            && let Some(channel) = port.free(now)
        {
            port.channels[channel] = State::Granted(die);
            return Entry::Granted(TerminalId(terminal.0 + channel as u32));
        }
        port.waiting.push_back(die);
        let first = port.channels.iter().filter_map(|state| match state {
            State::Free(from) => Some(*from),
            State::Granted(_) | State::Sending => None,
        });
        match first.min() {
            Some(from) if port.waiting.len() == 1 => Entry::First(from),
            _ => Entry::Waiting,
        }
    }

    /// The dies that wait to send, or do so now.
    pub(super) fn load(&self, terminal: TerminalId, now: Time) -> u32 {
        let port = self.port(terminal);
        let busy = port.channels.iter().filter(|state| !matches!(state, State::Free(from) if *from <= now));
        port.waiting.len() as u32 + busy.count() as u32
    }

    /// The dies that wait to send, in their order.
    pub(super) fn waiting(&self, terminal: TerminalId) -> impl Iterator<Item = DieId> {
        self.port(terminal).waiting.iter().copied()
    }

    /// Whether `die` may send over the local channel at `terminal` and has not sent yet.
    pub(super) fn is_granted(&self, terminal: TerminalId, die: DieId) -> bool {
        let (port, channel) = self.place(terminal);
        self.ports[port].channels[channel] == State::Granted(die)
    }

    /// The die that may send over the local channel at `terminal` does so.
    pub(super) fn send(&mut self, terminal: TerminalId) {
        *self.channel_mut(terminal) = State::Sending;
    }

    /// The message is in the network at `from`; gives whether somebody waits for that.
    pub(super) fn free_from(&mut self, terminal: TerminalId, from: Time) -> bool {
        *self.channel_mut(terminal) = State::Free(from);
        !self.port(terminal).waiting.is_empty()
    }

    /// A local channel may be free at `now`: gives the die that may send next, and over which.
    pub(super) fn next(&mut self, terminal: TerminalId, now: Time) -> Option<(DieId, TerminalId)> {
        let first = self.terminals.first(self.terminals.at(terminal)).0;
        let port = self.port_mut(terminal);
        let channel = port.free(now)?;
        let next = port.waiting.pop_front()?;
        port.channels[channel] = State::Granted(next);
        Some((next, TerminalId(first + channel as u32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::flash::geometry::Geometry;

    const PORT: TerminalId = TerminalId(1);

    /// The ports of a chip and its controller, with so many local channels each.
    fn ports(channels: u32) -> Ports {
        let one = crate::config::Geometry { channels: 1, chips_per_channel: 1, ..Default::default() };
        let geometry = Geometry::new(&one).expect("a drive of one chip is possible");
        let config = config::Nossd { chip_channels: channels, controller_channels: channels, ..Default::default() };
        Ports::new(Terminals::new(&config, &geometry))
    }

    #[test]
    fn dies_send_one_after_the_other_when_the_message_before_is_in_the_network() {
        let mut ports = ports(1);
        let time = Time::from_ns;
        assert_eq!(ports.enter(PORT, DieId(5), time(1)), Entry::Granted(PORT));
        assert!(ports.is_granted(PORT, DieId(5)));
        assert_eq!(ports.enter(PORT, DieId(6), time(2)), Entry::Waiting);
        ports.send(PORT);
        assert_eq!((ports.is_granted(PORT, DieId(5)), ports.load(PORT, time(3))), (false, 2));
        assert!(ports.free_from(PORT, time(10)));
        assert_eq!((ports.load(PORT, time(9)), ports.load(PORT, time(10))), (2, 1));
        assert_eq!(ports.next(PORT, time(10)), Some((DieId(6), PORT)));
        ports.send(PORT);
        assert!(!ports.free_from(PORT, time(20)));
        assert_eq!(ports.enter(PORT, DieId(7), time(15)), Entry::First(time(20)));
        assert_eq!(ports.enter(PORT, DieId(8), time(16)), Entry::Waiting);
        assert_eq!(ports.next(PORT, time(20)), Some((DieId(7), PORT)));
        assert_eq!(ports.load(TerminalId(0), time(16)), 0);
    }

    #[test]
    fn a_port_that_became_free_meanwhile_is_granted_at_once() {
        let mut ports = ports(1);
        ports.enter(PORT, DieId(5), Time::ZERO);
        ports.send(PORT);
        ports.free_from(PORT, Time::from_ns(4));
        assert_eq!(ports.enter(PORT, DieId(6), Time::from_ns(4)), Entry::Granted(PORT));
    }

    #[test]
    fn a_port_of_two_local_channels_lets_two_dies_send_at_once() {
        let mut ports = ports(2);
        let (time, first, second) = (Time::from_ns, TerminalId(2), TerminalId(3));
        assert_eq!(ports.enter(first, DieId(5), time(1)), Entry::Granted(first));
        assert_eq!(ports.enter(first, DieId(6), time(1)), Entry::Granted(second));
        assert_eq!(ports.enter(first, DieId(7), time(1)), Entry::Waiting);
        assert!(ports.is_granted(second, DieId(6)) && !ports.is_granted(first, DieId(6)));
        ports.send(first);
        ports.send(second);
        assert_eq!(ports.load(first, time(1)), 3);
        assert!(ports.free_from(second, time(9)));
        assert_eq!(ports.next(first, time(8)), None);
        assert_eq!(ports.next(first, time(9)), Some((DieId(7), second)));
        assert_eq!(ports.enter(TerminalId(0), DieId(1), time(1)), Entry::Granted(TerminalId(0)));
    }
}
