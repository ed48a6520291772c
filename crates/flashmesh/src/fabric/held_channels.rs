//! The bus and pSSD with channels that are held through the operation of the array, from its command to the last byte of its data, or to
//! its end (`fabric.hold-path`).
//!
//! No paper says that a channel is kept so, and Venice, ISCA 2023, Figure 3 shows it released while the array works. It is here since the
//! published gains over the bus come out where it is assumed of the prior designs: a reader may compare.
//!
//! A die that holds a channel has it for whatever it wants next, a command beside its data as well. Nobody waits for a channel while
//! holding another one, and every operation ends, so every channel is given back.

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ids::{AcknowledgementId, DieId, LinkId, PathId};
use crate::units::Time;

use super::arbiter::{Arbiter, Waiting};
use super::framing::Durations;
use super::holding::Holding;
use super::layout::{Layout, Passage};
use super::shared_channels::SharedChannels;
use super::{
    Cause, DataOf, Fabric, FabricEvent, Grant, Granted, Held, LinkUsage, Outbox, Payload, Sent, TransferPhase,
};

#[derive(Debug)]
struct Channel {
    held: Option<Holding>,
    /// Since when, while it is held.
    since: Time,
    /// How long it was held before.
    held_for: Time,
    waiting: Arbiter,
}

impl Channel {
    /// `die` gets the channel.
    fn give(&mut self, die: DieId, now: Time) {
        (self.held, self.since) = (Some(Holding::new(die)), now);
    }
}

/// A channel for each row, held by one die at a time through its operation.
#[derive(Debug)]
pub struct HeldChannels {
    channels: Vec<Channel>,
    usage: Vec<LinkUsage>,
    dies_per_channel: u32,
    durations: Durations,
    order: u64,
    transfers: u64,
    /// The same channels where they are not held, for what they are made of.
    parts: SharedChannels,
}

impl HeldChannels {
    /// `parts`, which are those of rows.
    pub fn new(parts: SharedChannels, config: &Config, geometry: &Geometry) -> HeldChannels {
        let durations = parts.durations().clone();
        let dies_per_channel = geometry.chips_per_channel * geometry.dies_per_chip;
        let channel = || Channel {
            held: None,
            since: Time::ZERO,
            held_for: Time::ZERO,
            waiting: Arbiter::new(config.fabric.arbitration, dies_per_channel, geometry.dies_per_chip),
        };
        HeldChannels {
            channels: (0..geometry.channels).map(|_| channel()).collect(),
            usage: vec![LinkUsage::default(); geometry.channels as usize],
            dies_per_channel,
            durations,
            order: 0,
            transfers: 0,
            parts,
        }
    }

    fn path(&self, die: DieId) -> PathId {
        PathId(die.0 / self.dies_per_channel)
    }

    /// The die that holds the channel may move something for `phase`.
    fn grant(&mut self, path: PathId, phase: TransferPhase, cause: Cause, now: Time, outbox: &mut Outbox) {
        if let Some(held) = &mut self.channels[path.index()].held {
            held.moves(phase, now);
            outbox.grants.push(Granted { grant: Grant { die: held.die, phase, path }, since: now, cause });
        }
    }

    fn ask(&mut self, die: DieId, phase: TransferPhase, data: DataOf, now: Time, outbox: &mut Outbox) {
        let path = self.path(die);
        let position = die.0 - path.0 * self.dies_per_channel;
        let channel = &mut self.channels[path.index()];
        match &mut channel.held {
            Some(held) if held.die == die => {
                if held.asks(phase) {
                    self.grant(path, phase, Cause::Channel, now, outbox);
                }
            }
            Some(_) => {
                let (order, goes_on, cause) = (self.order, false, Cause::Channel);
                channel.waiting.wait(Waiting { die, phase, data, goes_on, cause, position, order });
                self.order += 1;
            }
            None => {
                channel.waiting.served(position, phase);
                channel.give(die, now);
                self.grant(path, phase, Cause::Channel, now, outbox);
            }
        }
    }

    /// The holder moves nothing: it goes on, waits for its array, or gives the channel to the next one.
    fn pass_on(&mut self, path: PathId, now: Time, outbox: &mut Outbox) {
        let channel = &mut self.channels[path.index()];
        let Some(held) = &mut channel.held else { return };
        if let Some(phase) = held.take_next() {
            return self.grant(path, phase, Cause::Channel, now, outbox);
        }
        if !held.is_over() {
            return;
        }
        channel.held = None;
        channel.held_for += now - channel.since;
        if let Some(Waiting { die, phase, cause, .. }) = channel.waiting.next(|_| true) {
            channel.give(die, now);
            self.grant(path, phase, cause, now, outbox);
        }
    }
}

impl Fabric for HeldChannels {
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        self.ask(die, phase, DataOf::Request, now, outbox);
    }

    fn acquire_for(&mut self, die: DieId, data: DataOf, now: Time, outbox: &mut Outbox) {
        self.ask(die, TransferPhase::DataOut, data, now, outbox);
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, _outbox: &mut Outbox) -> Sent {
        if let Some(held) = &mut self.channels[grant.path.index()].held {
            held.sends(payload);
        }
        let least = self.durations.of(payload);
        self.transfers += 1;
        self.usage[grant.path.index()].count(grant.phase, payload, now, least);
        Sent { delivered: Some(now + least), least }
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        if let Some(held) = &mut self.channels[grant.path.index()].held
            && let Some(since) = held.arrives()
        {
            outbox.used(LinkId(grant.path.0), held.die, since, now);
        }
        self.pass_on(grant.path, now, outbox);
    }

    fn acknowledges(&self) -> bool {
        true
    }

    /// The controller has waited for the end of the operation: it knows at once.
    fn acknowledge(&mut self, die: DieId, id: AcknowledgementId, now: Time, outbox: &mut Outbox) {
        outbox.events.push((now, FabricEvent::Acknowledged(id)));
        let path = self.path(die);
        let Some(held) = &mut self.channels[path.index()].held else { return };
        if held.works_no_more() {
            self.pass_on(path, now, outbox);
        }
    }

    fn is_behind(&self, die: DieId, _phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        let channel = &self.channels[self.path(die).index()];
        let holder = channel.held.map(|held| held.die);
        holder.into_iter().chain(channel.waiting.waiting()).any(|other| other != die && is_another(other))
    }

    /// Brings the times for which channels were held up to the end.
    fn finish(&mut self, now: Time, _outbox: &mut Outbox) {
        for channel in self.channels.iter_mut().filter(|channel| channel.held.is_some()) {
            channel.held_for += now - channel.since;
            channel.since = now;
        }
    }

    fn links_held(&self) -> Held<Time> {
        Held::ByOperations(self.channels.iter().map(|channel| channel.held_for).collect())
    }

    fn layout(&self) -> &Layout {
        self.parts.layout()
    }

    fn passages(&self) -> Vec<Passage> {
        self.parts.passages()
    }

    fn usage(&self) -> &[LinkUsage] {
        &self.usage
    }

    fn controllers_busy(&self, now: Time) -> Vec<Time> {
        self.usage.iter().map(|channel| channel.busy_by(now)).collect()
    }

    fn hops(&self) -> u64 {
        self.transfers
    }

    fn held(&self) -> Vec<(LinkId, DieId)> {
        let links = (0..).map(LinkId);
        links.zip(&self.channels).filter_map(|(link, channel)| Some((link, channel.held?.die))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_die_that_asks_for_a_command_and_for_data_while_it_moves_something_gets_both() {
        let config = Config::default();
        let geometry = Geometry::new(&config.geometry).expect("the geometry is possible");
        let durations = Durations::signals(config.fabric.channel_rate);
        let parts = SharedChannels::of_rows(&config, &geometry, durations, 8);
        let (mut channels, mut outbox) = (HeldChannels::new(parts, &config, &geometry), Outbox::default());
        let (die, now) = (DieId(0), Time::ZERO);
        for phase in [TransferPhase::Command, TransferPhase::Command, TransferPhase::DataOut] {
            channels.acquire(die, phase, now, &mut outbox);
        }
        for phase in [TransferPhase::Command, TransferPhase::Command, TransferPhase::DataOut] {
            let granted = outbox.grants.pop().expect("it is granted").grant;
            assert_eq!((granted.die, granted.phase, outbox.grants.len()), (die, phase, 0));
            channels.release(granted, now, &mut outbox);
        }
    }
}
