//! Half-duplex channels, their arbitration and their transfer times. Each channel has its own arbiter, and is shared by dies with consecutive ids.

pub(super) mod arbiter;
pub(super) mod arbitration_policy;
pub(super) mod channel_timing;
pub(super) mod shared_channels;

use crate::config::Arbitration;
use crate::engine::id_table::IdTable;
use crate::flash::divisor::Divisor;
use crate::ids::{DieId, LinkId, PathId};
use crate::units::Time;

use super::{Cause, DataOwner, Grant, GrantRecord, LinkUsage, Outbox, Payload, TransferPhase};
use arbiter::{Arbiter, QueuedRequest};
use arbitration_policy::SharedPolicy;
use channel_timing::ChannelTiming;

#[derive(Clone, Debug)]
struct Channel {
    /// Die that holds the channel, phase of its transfer, and time of the grant; `None` if the channel is free.
    held: Option<(DieId, TransferPhase, Time)>,
    /// Batch (path requests made together; see [`Outbox::batch`]) of the last request that found the channel free; 0 if there is none.
    batch: u32,
    arbiter: Arbiter,
}

/// The half-duplex channels of an interconnect, with their usage. A path or link has the number of its channel.
#[derive(Clone, Debug)]
pub struct Channels {
    channels: IdTable<PathId, Channel>,
    usage: IdTable<PathId, LinkUsage>,
    dies_per_channel: u32,
    divisor: Divisor,
    durations: ChannelTiming,
    order: u64,
    transfers: u64,
}

impl Channels {
    /// Creates `count` free channels, each shared by `chips` consecutive chips of `dies_per_chip` dies. `durations` calculates the transfer times.
    pub fn new(
        arbitration: Arbitration,
        durations: ChannelTiming,
        count: u32,
        chips: u32,
        dies_per_chip: u32,
    ) -> Channels {
        let dies_per_channel = chips * dies_per_chip;
        let channel =
            || Channel { held: None, batch: 0, arbiter: Arbiter::new(arbitration, dies_per_channel, dies_per_chip) };
        Channels {
            channels: IdTable::filled(channel(), count as usize),
            usage: IdTable::filled(LinkUsage::default(), count as usize),
            dies_per_channel,
            divisor: Divisor::new(dies_per_channel),
            durations,
            order: 0,
            transfers: 0,
        }
    }

    /// Replaces the arbitration rule of every channel with the custom `policy`.
    pub(super) fn set_arbiter(&mut self, policy: &SharedPolicy) {
        for (number, channel) in (0..).zip(self.channels.values_mut()) {
            channel.arbiter.set_policy(number, policy.clone());
        }
    }

    /// Requests the channel of `die`; see [`Fabric::acquire`](super::Fabric::acquire). `data` is the owner class of outgoing data (mapping cache,
    /// host request or GC); ignored for commands.
    #[inline(always)]
    pub fn acquire(&mut self, die: DieId, phase: TransferPhase, data: DataOwner, now: Time, outbox: &mut Outbox) {
        let path = PathId(self.divisor.divide(die.0));
        let position = die.0 - path.0 * self.dies_per_channel;
        let channel = &mut self.channels[path];
        let cause = Cause::Channel;
        if let Some((holder, held_for, _)) = channel.held {
            if phase == TransferPhase::Command
                && outbox.batch != 0
                && channel.batch == outbox.batch
                && held_for == phase
                && channel.arbiter.precedes_grant(position)
                && let Some(granted) = outbox.grants.iter_mut().find(|granted| granted.grant.path == path)
            {
                // Requests of one batch are arbitrated together, and this chip precedes the granted one, whose grant is still in the outbox. So this
                // request takes over the grant, and the other one is queued.
                granted.grant.die = die;
                channel.held = Some((die, phase, now));
                let replaced = channel.arbiter.replace_grant(position);
                let waiting = QueuedRequest {
                    die: holder,
                    phase,
                    data_owner: data,
                    continues_operation: false,
                    cause,
                    position: replaced,
                    order: self.order,
                };
                channel.arbiter.enqueue(waiting);
                self.order += 1;
                return;
            }
            let goes_on = (holder, held_for) == (die, phase);
            channel.arbiter.enqueue(QueuedRequest {
                die,
                phase,
                data_owner: data,
                continues_operation: goes_on,
                cause,
                position,
                order: self.order,
            });
            self.order += 1;
        } else {
            channel.held = Some((die, phase, now));
            channel.batch = outbox.batch;
            channel.arbiter.record_grant(position, phase);
            outbox.grants.push(GrantRecord { grant: Grant { die, phase, path }, since: now, cause });
        }
    }

    /// Starts a transfer over the channel of `grant` and returns its duration; see [`Fabric::send`](super::Fabric::send).
    #[inline(always)]
    pub fn send(&mut self, grant: Grant, payload: Payload, now: Time) -> Time {
        let duration = self.durations.duration(payload);
        self.transfers += 1;
        self.usage[grant.path].count(grant.phase, payload, now, duration);
        duration
    }

    /// Releases the channel of `grant`, and grants it to the next queued request, if any; see [`Fabric::release`](super::Fabric::release).
    #[inline(always)]
    pub fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        let channel = &mut self.channels[grant.path];
        if outbox.link_uses.is_some()
            && let Some((die, _, since)) = channel.held
        {
            outbox.record_use(LinkId(grant.path.0), die, since, now);
        }
        let Some((die, phase)) = channel.arbiter.dequeue_any() else {
            channel.held = None;
            return;
        };
        channel.held = Some((die, phase, now));
        let grant = Grant { die, phase, path: grant.path };
        outbox.grants.push(GrantRecord { grant, since: now, cause: Cause::Channel });
    }

    /// Returns the number of transfers started on all channels.
    pub fn transfers(&self) -> u64 {
        self.transfers
    }

    /// Returns the link of each held channel, with the die that holds it.
    pub fn held_links(&self) -> Vec<(LinkId, DieId)> {
        let links = (0..).map(LinkId);
        links.zip(self.channels.values()).filter_map(|(link, channel)| Some((link, channel.held?.0))).collect()
    }

    /// Returns the usage of each channel, indexed by channel.
    pub fn usage(&self) -> &[LinkUsage] {
        self.usage.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::TransferKind;
    use crate::units::{Bytes, Rate};

    fn channels(arbitration: Arbitration, count: u32, dies: u32) -> Channels {
        Channels::new(arbitration, ChannelTiming::signals(Rate::from_bytes_per_second(1_000_000_000)), count, dies, 1)
    }

    #[test]
    fn a_channel_that_is_held_goes_to_a_die_that_waits_for_it_when_it_is_released() {
        let mut channels = channels(Arbitration::DataFirst, 2, 2);
        let mut outbox = Outbox::default();
        channels.acquire(DieId(2), TransferPhase::Command, DataOwner::Request, Time::ZERO, &mut outbox);
        channels.acquire(DieId(3), TransferPhase::Command, DataOwner::Request, Time::ZERO, &mut outbox);
        channels.acquire(DieId(2), TransferPhase::DataOut, DataOwner::Request, Time::from_ns(1), &mut outbox);
        assert_eq!(channels.held_links(), [(LinkId(1), DieId(2))]);
        let first = outbox.grants.pop().expect("the channel was free").grant;
        assert!(outbox.grants.is_empty());
        channels.release(first, Time::from_ns(5), &mut outbox);
        let data = Grant { die: DieId(2), phase: TransferPhase::DataOut, path: PathId(1) };
        assert_eq!(outbox.grants, [GrantRecord { grant: data, since: Time::from_ns(5), cause: Cause::Channel }]);
    }

    #[test]
    fn a_transfer_takes_its_command_time_and_its_bytes_at_the_rate_of_the_channel() {
        let mut channels = channels(Arbitration::CommandFirst, 2, 1);
        let mut outbox = Outbox::default();
        channels.acquire(DieId(1), TransferPhase::Command, DataOwner::Request, Time::ZERO, &mut outbox);
        let grant = outbox.grants[0].grant;
        let payload = Payload {
            kind: TransferKind::Program,
            planes: 1,
            command_time: Time::from_ns(10),
            bytes: Bytes::new(4000),
        };
        let duration = Time::from_ns(4010);
        assert_eq!(channels.send(grant, payload, Time::ZERO), duration);
        assert_eq!(
            channels.usage()[1],
            LinkUsage { busy: duration, last_end: duration, bytes_in: Bytes::new(4000), ..LinkUsage::default() }
        );
        assert_eq!(channels.usage()[0], LinkUsage::default());
    }

    #[test]
    fn commands_of_one_batch_are_put_in_the_order_of_the_chips() {
        let granted = |arbitration, asked: [(u32, u32); 3]| {
            let mut channels = channels(arbitration, 1, 4);
            let mut outbox = Outbox::default();
            for (die, batch) in asked {
                outbox.batch = batch;
                channels.acquire(DieId(die), TransferPhase::Command, DataOwner::Request, Time::ZERO, &mut outbox);
            }
            let mut order = vec![outbox.grants[0].grant.die.0];
            while outbox.grants.len() == 1 && order.len() < asked.len() {
                let grant = outbox.grants.pop().expect("one die has the channel").grant;
                channels.release(grant, Time::from_ns(9), &mut outbox);
                order.push(outbox.grants[0].grant.die.0);
            }
            order
        };
        let at_once = [(3, 7), (1, 7), (2, 7)];
        assert_eq!(granted(Arbitration::DataFirstTogether, at_once), [1, 2, 3]);
        assert_eq!(granted(Arbitration::DataFirstRoundRobin, at_once), [3, 1, 2]);
        assert_eq!(
            granted(Arbitration::DataFirstTogether, [(3, 7), (1, 8), (2, 8)]),
            [3, 1, 2],
            "requests of a later batch"
        );
        assert_eq!(
            granted(Arbitration::DataFirstTogether, [(3, 0), (1, 0), (2, 0)]),
            [3, 1, 2],
            "requests of no batch"
        );
    }
}
