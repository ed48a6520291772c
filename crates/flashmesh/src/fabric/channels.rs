//! Half-duplex channels, each shared by a run of consecutive dies, with an arbiter each.

use std::collections::VecDeque;

use crate::config::Arbitration;
use crate::ids::{DieId, LinkId, PathId};
use crate::units::Time;

use super::framing::Durations;
use super::{Cause, Grant, Granted, Leg, LinkUsage, Outbox, Payload};

/// A die in the queue of a channel.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    die: DieId,
    since: Time,
    /// The order of asking, to break ties of `since`.
    order: u64,
}

#[derive(Debug, Default)]
struct Channel {
    held: bool,
    /// Since when it is held.
    since: Time,
    commands: VecDeque<Waiting>,
    data: VecDeque<Waiting>,
    /// The die served last, for round-robin.
    last: u32,
}

/// A set of half-duplex channels.
#[derive(Debug)]
pub struct Channels {
    channels: Vec<Channel>,
    usage: Vec<LinkUsage>,
    dies_per_channel: u32,
    durations: Durations,
    arbitration: Arbitration,
    order: u64,
    transfers: u64,
}

impl Channels {
    /// `count` channels with `dies_per_channel` consecutive dies each.
    pub fn new(arbitration: Arbitration, durations: Durations, count: u32, dies_per_channel: u32) -> Channels {
        Channels {
            channels: (0..count).map(|_| Channel::default()).collect(),
            usage: vec![LinkUsage::default(); count as usize],
            dies_per_channel,
            durations,
            arbitration,
            order: 0,
            transfers: 0,
        }
    }

    /// See [`Fabric::acquire`](super::Fabric::acquire).
    #[inline]
    pub fn acquire(&mut self, die: DieId, leg: Leg, now: Time, outbox: &mut Outbox) {
        let path = PathId(die.0 / self.dies_per_channel);
        let channel = &mut self.channels[path.index()];
        if channel.held {
            let waiting = Waiting { die, since: now, order: self.order };
            self.order += 1;
            match leg {
                Leg::Command => channel.commands.push_back(waiting),
                Leg::DataOut => channel.data.push_back(waiting),
            }
        } else {
            channel.held = true;
            channel.since = now;
            channel.last = die.0;
            outbox.grants.push(Granted { grant: Grant { die, leg, path }, since: now, cause: Cause::Channel });
        }
    }

    /// Gives how long `payload` takes; see [`Fabric::send`](super::Fabric::send).
    #[inline]
    pub fn send(&mut self, grant: Grant, payload: Payload, now: Time) -> Time {
        let duration = self.durations.of(payload);
        self.transfers += 1;
        self.usage[grant.path.index()].count(grant.leg, payload, now, duration);
        duration
    }

    /// See [`Fabric::release`](super::Fabric::release).
    #[inline]
    pub fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        let channel = &mut self.channels[grant.path.index()];
        outbox.used(LinkId(grant.path.0), grant.die, channel.since, now);
        match channel.next(self.arbitration, grant.path.0 * self.dies_per_channel, self.dies_per_channel) {
            Some((die, leg)) => {
                channel.since = now;
                channel.last = die.0;
                let grant = Grant { die, leg, path: grant.path };
                outbox.grants.push(Granted { grant, since: now, cause: Cause::Channel });
            }
            None => channel.held = false,
        }
    }

    /// Transfers over all channels.
    pub fn transfers(&self) -> u64 {
        self.transfers
    }

    /// The channels that are held, each with the die that holds it.
    pub fn held(&self) -> Vec<(LinkId, DieId)> {
        let held = self.channels.iter().zip(0..).filter(|(channel, _)| channel.held);
        held.map(|(channel, number)| (LinkId(number), DieId(channel.last))).collect()
    }

    /// What each channel carried.
    pub fn usage(&self) -> &[LinkUsage] {
        &self.usage
    }
}

impl Channel {
    /// Takes the die that is served next.
    #[inline]
    fn next(&mut self, arbitration: Arbitration, first_die: u32, dies: u32) -> Option<(DieId, Leg)> {
        let command = |channel: &mut Channel| channel.commands.pop_front().map(|waiting| (waiting.die, Leg::Command));
        let data = |channel: &mut Channel| channel.data.pop_front().map(|waiting| (waiting.die, Leg::DataOut));
        match arbitration {
            Arbitration::CommandFirst => command(self).or_else(|| data(self)),
            Arbitration::DataFirst => data(self).or_else(|| command(self)),
            Arbitration::OldestFirst => {
                let key = |waiting: &Waiting| (waiting.since, waiting.order);
                match (self.commands.front().map(key), self.data.front().map(key)) {
                    (Some(oldest_command), Some(oldest_data)) if oldest_data < oldest_command => data(self),
                    (None, _) => data(self),
                    _ => command(self),
                }
            }
            Arbitration::RoundRobin => {
                // Distance from the die served last; a die that waits for both sends its data first, to become free.
                let distance =
                    |waiting: &Waiting| (waiting.die.0 + dies - first_die - (self.last - first_die) - 1) % dies;
                let nearest = |queue: &VecDeque<Waiting>| {
                    queue.iter().enumerate().map(|(at, waiting)| (distance(waiting), at)).min()
                };
                match (nearest(&self.data), nearest(&self.commands)) {
                    (Some((data_distance, at)), command) if command.is_none_or(|(d, _)| data_distance <= d) => {
                        self.data.remove(at).map(|waiting| (waiting.die, Leg::DataOut))
                    }
                    (_, Some((_, at))) => self.commands.remove(at).map(|waiting| (waiting.die, Leg::Command)),
                    _ => None,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Message;
    use crate::units::{Bytes, Rate};

    fn channels(arbitration: Arbitration, count: u32, dies: u32) -> Channels {
        Channels::new(arbitration, Durations::signals(Rate::from_bytes_per_second(1_000_000_000)), count, dies)
    }

    /// Dies 0 to 3 share one channel; die 1 holds it while the others queue up. Gives the order of service.
    fn order_of_service(arbitration: Arbitration) -> Vec<(u32, Leg)> {
        let mut channels = channels(arbitration, 1, 4);
        let mut outbox = Outbox::default();
        channels.acquire(DieId(1), Leg::Command, Time::ZERO, &mut outbox);
        for (at, (die, leg)) in
            [(0, Leg::DataOut), (3, Leg::Command), (2, Leg::DataOut), (0, Leg::Command)].into_iter().enumerate()
        {
            channels.acquire(DieId(die), leg, Time::from_ps(at as u64 + 1), &mut outbox);
        }
        let mut order = Vec::new();
        while let Some(Granted { grant, .. }) = outbox.grants.pop() {
            order.push((grant.die.0, grant.leg));
            channels.release(grant, Time::from_ns(1), &mut outbox);
        }
        order.split_off(1)
    }

    #[test]
    fn command_first_serves_commands_in_their_order_and_then_data() {
        let expected = [(3, Leg::Command), (0, Leg::Command), (0, Leg::DataOut), (2, Leg::DataOut)];
        assert_eq!(order_of_service(Arbitration::CommandFirst), expected);
    }

    #[test]
    fn data_first_serves_data_in_its_order_and_then_commands() {
        let expected = [(0, Leg::DataOut), (2, Leg::DataOut), (3, Leg::Command), (0, Leg::Command)];
        assert_eq!(order_of_service(Arbitration::DataFirst), expected);
    }

    #[test]
    fn oldest_first_serves_in_the_order_of_asking() {
        let expected = [(0, Leg::DataOut), (3, Leg::Command), (2, Leg::DataOut), (0, Leg::Command)];
        assert_eq!(order_of_service(Arbitration::OldestFirst), expected);
    }

    #[test]
    fn round_robin_serves_the_next_die_after_the_last_one() {
        let expected = [(2, Leg::DataOut), (3, Leg::Command), (0, Leg::DataOut), (0, Leg::Command)];
        assert_eq!(order_of_service(Arbitration::RoundRobin), expected);
    }

    #[test]
    fn a_transfer_takes_its_command_time_and_its_bytes_at_the_rate_of_the_channel() {
        let mut channels = channels(Arbitration::CommandFirst, 2, 1);
        let mut outbox = Outbox::default();
        channels.acquire(DieId(1), Leg::Command, Time::ZERO, &mut outbox);
        let grant = outbox.grants[0].grant;
        let payload =
            Payload { message: Message::Program, planes: 1, command: Time::from_ns(10), bytes: Bytes::new(4000) };
        let duration = Time::from_ns(4010);
        assert_eq!(channels.send(grant, payload, Time::ZERO), duration);
        assert_eq!(
            channels.usage()[1],
            LinkUsage { busy: duration, until: duration, bytes_in: Bytes::new(4000), bytes_out: Bytes::ZERO }
        );
        assert_eq!(channels.usage()[0], LinkUsage::default());
    }
}
