//! Interconnects of half-duplex channels, one for each row of chips or for each chip: the bus, pSSD, and the path-conflict-free ideal.

use crate::config::Config;
use crate::fabric::layout::{Layout, Link, LinkKind, SharedResource, TransferDestination};
use crate::fabric::{DataOwner, Fabric, Grant, LinkUsage, Outbox, Payload, SendOutcome, TransferPhase};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, LinkId};
use crate::units::Time;

use super::Channels;
use super::arbitration_policy::{ArbitrationPolicy, SharedPolicy};
use super::channel_timing::ChannelTiming;

/// Number of data wires of a bus channel (8 bit).
pub(in super::super) const CHANNEL_WIRES: u32 = 8;

/// An interconnect of half-duplex channels, each for the dies of one row of chips or of one chip.
#[derive(Clone, Debug)]
pub struct SharedChannels {
    channels: Channels,
    layout: Layout,
}

/// Creates `count` links of `kind`, named `name` and a number from 0, such as "channel 3".
fn links(kind: LinkKind, name: &str, count: u32) -> Vec<Link> {
    (0..count).map(|number| Link { kind, name: format!("{name} {number}") }).collect()
}

impl SharedChannels {
    /// Creates an interconnect with one channel (of `wires` data wires) and one controller for each row of chips. `durations` calculates the transfer
    /// times.
    pub(in super::super) fn one_per_row(
        config: &Config,
        geometry: &Geometry,
        durations: ChannelTiming,
        wires: u32,
    ) -> SharedChannels {
        let (chips, dies) = (geometry.chips_per_channel, geometry.dies_per_chip);
        SharedChannels {
            channels: Channels::new(config.fabric.arbitration, durations, geometry.channels, chips, dies),
            layout: Layout {
                links: links(LinkKind::Channel, "channel", geometry.channels),
                wires: geometry.channels * wires,
                controllers: geometry.channels,
                routers: 0,
            },
        }
    }

    /// Creates an interconnect with one private channel and one controller for each chip, with bare bus signals at the configured channel rate.
    pub(in super::super) fn one_per_chip(config: &Config, geometry: &Geometry) -> SharedChannels {
        let (chips, durations) = (geometry.chips(), ChannelTiming::signals(config.fabric.channel_rate));
        SharedChannels {
            channels: Channels::new(config.fabric.arbitration, durations, chips, 1, geometry.dies_per_chip),
            layout: Layout {
                links: links(LinkKind::Controller, "chip", chips),
                wires: chips * CHANNEL_WIRES,
                controllers: chips,
                routers: 0,
            },
        }
    }
}

impl Fabric for SharedChannels {
    fn set_arbitration_policy(&mut self, policy: Box<dyn ArbitrationPolicy + Send>) -> bool {
        self.channels.set_arbiter(&SharedPolicy::new(policy));
        true
    }

    #[inline(always)]
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        self.channels.acquire(die, phase, DataOwner::Request, now, outbox);
    }

    #[inline(always)]
    fn acquire_for(&mut self, die: DieId, data: DataOwner, now: Time, outbox: &mut Outbox) {
        self.channels.acquire(die, TransferPhase::DataOut, data, now, outbox);
    }

    #[inline(always)]
    fn send(&mut self, grant: Grant, payload: Payload, now: Time, _outbox: &mut Outbox) -> SendOutcome {
        let least = self.channels.send(grant, payload, now);
        SendOutcome { arrival: Some(now + least), min_duration: least }
    }

    #[inline(always)]
    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        self.channels.release(grant, now, outbox);
    }

    #[inline(always)]
    fn has_exclusive_paths(&self) -> bool {
        true
    }

    fn links_of(&self, grant: Grant) -> Vec<LinkId> {
        vec![LinkId(grant.path.0)]
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn shared_resources(&self) -> Vec<SharedResource> {
        let shared: Vec<LinkId> = self.layout.links_of_kind(LinkKind::Channel).collect();
        let rows = shared.iter().map(|&link| (TransferDestination::Row, link));
        let chips = self.layout.links_of_kind(LinkKind::Controller).map(|link| (TransferDestination::Chip, link));
        let alone = |(part, link)| SharedResource { part, links: vec![link], at_once: 1 };
        let mut shared_resources: Vec<SharedResource> = rows.chain(chips).map(alone).collect();
        if !shared.is_empty() {
            shared_resources.push(SharedResource {
                part: TransferDestination::Controllers,
                at_once: shared.len() as u32,
                links: shared,
            });
        }
        shared_resources
    }

    fn usage(&self) -> &[LinkUsage] {
        self.channels.usage()
    }

    fn controller_busy_times(&self, now: Time) -> Vec<Time> {
        self.channels.usage().iter().map(|channel| channel.busy_until(now)).collect()
    }

    fn hops(&self) -> u64 {
        self.channels.transfers()
    }

    fn held_links(&self) -> Vec<(LinkId, DieId)> {
        self.channels.held_links()
    }
}
