//! Ports by which chips and controllers inject messages into the network. A port has a queue of dies, and one or more local channels, which
//! are links into the network. Each local channel carries one message at a time.

use std::collections::VecDeque;

use crate::fabric::wormhole::TerminalId;
use crate::ids::DieId;
use crate::units::Time;

use super::terminals::TerminalNumbering;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChannelState {
    /// Local channel that is free from this time on, which may be in the future.
    Free(Time),
    /// Local channel that is granted to this die, which has not sent its message yet.
    Granted(DieId),
    /// Local channel over which a message is entering the network, with an unknown time of its last flit.
    Sending,
}

#[derive(Clone, Debug)]
struct InjectionPort {
    channels: Vec<ChannelState>,
    waiting: VecDeque<DieId>,
}

impl InjectionPort {
    /// Returns the index of a local channel that is free at `now`; `None` if none is free.
    #[inline]
    fn free(&self, now: Time) -> Option<usize> {
        self.channels.iter().position(|state| matches!(state, ChannelState::Free(from) if *from <= now))
    }
}

/// Ports with FIFO queues, one for each chip and each controller. A port is identified by the terminal of its first local channel.
#[derive(Clone, Debug)]
pub(in super::super) struct InjectionPorts {
    ports: Vec<InjectionPort>,
    terminals: TerminalNumbering,
}

/// Result of the request of a die for a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum PortAdmission {
    /// The local channel at this terminal is granted at once.
    Granted(TerminalId),
    /// The die is first in the queue, and a channel of the port becomes free at this time. The caller must then call
    /// [`grant_next`](InjectionPorts::grant_next).
    First(Time),
    /// The die is queued behind other dies, or behind a message whose end is not known yet. The caller does nothing:
    /// [`schedule_free`](InjectionPorts::schedule_free) later reports that a die is queued.
    Waiting,
}

impl InjectionPorts {
    /// Creates the ports of all chips and controllers, all free, with one terminal for each local channel.
    pub(in super::super) fn new(terminals: TerminalNumbering) -> InjectionPorts {
        let port = |channels: u32| InjectionPort {
            channels: vec![ChannelState::Free(Time::ZERO); channels as usize],
            waiting: VecDeque::new(),
        };
        InjectionPorts { ports: terminals.endpoints().map(|end| port(terminals.channels(end))).collect(), terminals }
    }

    /// Returns the index of the port to which `terminal` belongs, and the index of the local channel within that port.
    #[inline]
    fn indices(&self, terminal: TerminalId) -> (usize, usize) {
        let end = self.terminals.endpoint_at(terminal);
        (self.terminals.endpoint_index(end) as usize, (terminal.0 - self.terminals.first_terminal(end).0) as usize)
    }

    #[inline]
    fn port(&self, terminal: TerminalId) -> &InjectionPort {
        &self.ports[self.indices(terminal).0]
    }

    #[inline]
    fn port_mut(&mut self, terminal: TerminalId) -> &mut InjectionPort {
        let (port, _) = self.indices(terminal);
        &mut self.ports[port]
    }

    #[inline]
    fn channel_mut(&mut self, terminal: TerminalId) -> &mut ChannelState {
        let (port, channel) = self.indices(terminal);
        &mut self.ports[port].channels[channel]
    }

    /// Requests the port whose first terminal is `terminal` for a message of `die` at `now`.
    pub(in super::super) fn request(&mut self, terminal: TerminalId, die: DieId, now: Time) -> PortAdmission {
        let port = self.port_mut(terminal);
        if port.waiting.is_empty()
            && let Some(channel) = port.free(now)
        {
            port.channels[channel] = ChannelState::Granted(die);
            return PortAdmission::Granted(TerminalId(terminal.0 + channel as u32));
        }
        port.waiting.push_back(die);
        let first = port.channels.iter().filter_map(|state| match state {
            ChannelState::Free(from) => Some(*from),
            ChannelState::Granted(_) | ChannelState::Sending => None,
        });
        match first.min() {
            Some(from) if port.waiting.len() == 1 => PortAdmission::First(from),
            _ => PortAdmission::Waiting,
        }
    }

    /// Returns the load of the port of `terminal`: the number of dies in its queue, plus the number of its busy local channels at `now`.
    pub(in super::super) fn load(&self, terminal: TerminalId, now: Time) -> u32 {
        let port = self.port(terminal);
        let busy = port.channels.iter().filter(|state| !matches!(state, ChannelState::Free(from) if *from <= now));
        port.waiting.len() as u32 + busy.count() as u32
    }

    /// Returns the dies in the queue of the port of `terminal`, in the order in which the port is granted to them.
    pub(in super::super) fn waiting(&self, terminal: TerminalId) -> impl Iterator<Item = DieId> {
        self.port(terminal).waiting.iter().copied()
    }

    /// Returns whether the local channel at `terminal` is granted to `die`, which has not sent yet.
    pub(in super::super) fn is_granted(&self, terminal: TerminalId, die: DieId) -> bool {
        let (port, channel) = self.indices(terminal);
        self.ports[port].channels[channel] == ChannelState::Granted(die)
    }

    /// Records that the die to which the local channel at `terminal` is granted is sending its message into the network.
    pub(in super::super) fn send(&mut self, terminal: TerminalId) {
        *self.channel_mut(terminal) = ChannelState::Sending;
    }

    /// Records that the local channel at `terminal` becomes free at `from`, when its message has entered the network. Returns whether a die is queued
    /// for the port; the caller must then call [`grant_next`](Self::grant_next) at `from`.
    pub(in super::super) fn schedule_free(&mut self, terminal: TerminalId, from: Time) -> bool {
        *self.channel_mut(terminal) = ChannelState::Free(from);
        !self.port(terminal).waiting.is_empty()
    }

    /// Grants a local channel of the port of `terminal` that is free at `now` to the first queued die. Returns the die and the terminal of the
    /// channel; `None` if no channel is free or no die is queued.
    pub(in super::super) fn grant_next(&mut self, terminal: TerminalId, now: Time) -> Option<(DieId, TerminalId)> {
        let first = self.terminals.first_terminal(self.terminals.endpoint_at(terminal)).0;
        let port = self.port_mut(terminal);
        let channel = port.free(now)?;
        let next = port.waiting.pop_front()?;
        port.channels[channel] = ChannelState::Granted(next);
        Some((next, TerminalId(first + channel as u32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::flash::geometry::Geometry;

    const PORT: TerminalId = TerminalId(1);

    /// Returns the ports of one chip and one controller, with `channels` local channels each. The terminals of the chip come first.
    fn ports(channels: u32) -> InjectionPorts {
        let one = crate::config::Geometry { channels: 1, chips_per_channel: 1, ..Default::default() };
        let geometry = Geometry::new(&one).expect("the geometry is valid");
        let config = config::Nossd { chip_channels: channels, controller_channels: channels, ..Default::default() };
        InjectionPorts::new(TerminalNumbering::new(&config, &geometry))
    }

    #[test]
    fn dies_send_one_after_the_other_when_the_message_before_is_in_the_network() {
        let mut ports = ports(1);
        let time = Time::from_ns;
        assert_eq!(ports.request(PORT, DieId(5), time(1)), PortAdmission::Granted(PORT));
        assert!(ports.is_granted(PORT, DieId(5)));
        assert_eq!(ports.request(PORT, DieId(6), time(2)), PortAdmission::Waiting);
        ports.send(PORT);
        assert_eq!((ports.is_granted(PORT, DieId(5)), ports.load(PORT, time(3))), (false, 2));
        assert!(ports.schedule_free(PORT, time(10)));
        assert_eq!((ports.load(PORT, time(9)), ports.load(PORT, time(10))), (2, 1));
        assert_eq!(ports.grant_next(PORT, time(10)), Some((DieId(6), PORT)));
        ports.send(PORT);
        assert!(!ports.schedule_free(PORT, time(20)));
        assert_eq!(ports.request(PORT, DieId(7), time(15)), PortAdmission::First(time(20)));
        assert_eq!(ports.request(PORT, DieId(8), time(16)), PortAdmission::Waiting);
        assert_eq!(ports.grant_next(PORT, time(20)), Some((DieId(7), PORT)));
        assert_eq!(ports.load(TerminalId(0), time(16)), 0);
    }

    #[test]
    fn a_port_that_became_free_meanwhile_is_granted_at_once() {
        let mut ports = ports(1);
        ports.request(PORT, DieId(5), Time::ZERO);
        ports.send(PORT);
        ports.schedule_free(PORT, Time::from_ns(4));
        assert_eq!(ports.request(PORT, DieId(6), Time::from_ns(4)), PortAdmission::Granted(PORT));
    }

    #[test]
    fn a_port_of_two_local_channels_lets_two_dies_send_at_once() {
        let mut ports = ports(2);
        let (time, first, second) = (Time::from_ns, TerminalId(2), TerminalId(3));
        assert_eq!(ports.request(first, DieId(5), time(1)), PortAdmission::Granted(first));
        assert_eq!(ports.request(first, DieId(6), time(1)), PortAdmission::Granted(second));
        assert_eq!(ports.request(first, DieId(7), time(1)), PortAdmission::Waiting);
        assert!(ports.is_granted(second, DieId(6)) && !ports.is_granted(first, DieId(6)));
        ports.send(first);
        ports.send(second);
        assert_eq!(ports.load(first, time(1)), 3);
        assert!(ports.schedule_free(second, time(9)));
        assert_eq!(ports.grant_next(first, time(8)), None);
        assert_eq!(ports.grant_next(first, time(9)), Some((DieId(7), second)));
        assert_eq!(ports.request(TerminalId(0), DieId(1), time(1)), PortAdmission::Granted(TerminalId(0)));
    }
}
