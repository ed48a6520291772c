//! Interconnects in which a chip has one path, shared or its own: the bus, pSSD, and the path-conflict-free ideal.
//!
//! - *Bus* (Venice, ISCA 2023, section 2): one half-duplex channel for each row of chips.
//! - *pSSD* (Venice, section 3.2): the same with twice the rate, since the control pins carry packets as well; every
//!   packet is decoded or framed by a controller on the die, which takes its time beside the array's.
//! - *Ideal* (Venice, section 3.3): a private channel for every chip and no limit on controllers. A chip still has one set of
//!   pins: its dies share them, and with a cache register a die may want them for a command while its data leaves. Such a wait
//!   counts as a wait for a path; with one die a chip and no cache register there is none.

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, LinkId};
use crate::units::{Rate, Time};

use super::channels::Channels;
use super::framing::Durations;
use super::layout::{Addition, Layout, Link, LinkKind, Part, Passage};
use super::{DataOf, Fabric, Grant, LinkUsage, Outbox, Payload, Sent, TransferPhase};

/// Wires that carry data in a channel of the bus: 8 bit.
pub(super) const CHANNEL_WIRES: u32 = 8;

/// A channel for each run of consecutive dies.
#[derive(Debug)]
pub struct SharedChannels {
    channels: Channels,
    layout: Layout,
    addition: Addition,
}

/// `count` links of `kind`, numbered.
fn links(kind: LinkKind, name: &str, count: u32) -> Vec<Link> {
    (0..count).map(|number| Link { kind, name: format!("{name} {number}") }).collect()
}

impl SharedChannels {
    fn shared(
        config: &Config,
        geometry: &Geometry,
        durations: Durations,
        wires: u32,
        addition: Addition,
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
            addition,
        }
    }

    /// The shared bus: a channel per row.
    pub fn bus(config: &Config, geometry: &Geometry) -> SharedChannels {
        let durations = Durations::signals(config.fabric.channel_rate);
        SharedChannels::shared(config, geometry, durations, CHANNEL_WIRES, Addition::Nothing)
    }

    /// The rate of a channel of pSSD.
    pub(super) fn wide_rate(config: &Config) -> Rate {
        let rate = config.fabric.channel_rate.as_bytes_per_second();
        rate.checked_mul(2).map_or(Rate::UNLIMITED, Rate::from_bytes_per_second)
    }

    /// pSSD: a channel of packets per row, at twice the rate.
    pub fn packetized(config: &Config, geometry: &Geometry) -> SharedChannels {
        let durations = Durations::packets(&config.packets, SharedChannels::wide_rate(config));
        SharedChannels::shared(config, geometry, durations, 2 * CHANNEL_WIRES, Addition::DieControllers)
    }

    /// The path-conflict-free ideal: a channel per chip.
    pub fn private(config: &Config, geometry: &Geometry) -> SharedChannels {
        let (chips, durations) = (geometry.chips(), Durations::signals(config.fabric.channel_rate));
        SharedChannels {
            channels: Channels::new(config.fabric.arbitration, durations, chips, 1, geometry.dies_per_chip),
            layout: Layout {
                links: links(LinkKind::Controller, "chip", chips),
                wires: chips * CHANNEL_WIRES,
                controllers: chips,
                routers: 0,
            },
            addition: Addition::Nothing,
        }
    }
}

impl Fabric for SharedChannels {
    #[inline(always)]
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        self.channels.acquire(die, phase, DataOf::Request, now, outbox);
    }

    #[inline(always)]
    fn acquire_for(&mut self, die: DieId, data: DataOf, now: Time, outbox: &mut Outbox) {
        self.channels.acquire(die, TransferPhase::DataOut, data, now, outbox);
    }

    #[inline(always)]
    fn send(&mut self, grant: Grant, payload: Payload, now: Time, _outbox: &mut Outbox) -> Sent {
        let least = self.channels.send(grant, payload, now);
        Sent { delivered: Some(now + least), least }
    }

    #[inline(always)]
    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        self.channels.release(grant, now, outbox);
    }

    #[inline(always)]
    fn is_behind(&self, die: DieId, _phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        self.channels.is_behind(die, is_another)
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn passages(&self) -> Vec<Passage> {
        let shared: Vec<LinkId> = self.layout.of_kind(LinkKind::Channel).collect();
        let rows = shared.iter().map(|&link| (Part::Row, link));
        let chips = self.layout.of_kind(LinkKind::Controller).map(|link| (Part::Chip, link));
        let alone = |(part, link)| Passage { part, links: vec![link], at_once: 1 };
        let mut passages: Vec<Passage> = rows.chain(chips).map(alone).collect();
        if !shared.is_empty() {
            passages.push(Passage { part: Part::Controllers, at_once: shared.len() as u32, links: shared });
        }
        passages
    }

    fn addition(&self) -> Addition {
        self.addition
    }

    fn usage(&self) -> &[LinkUsage] {
        self.channels.usage()
    }

    fn controllers_busy(&self, now: Time) -> Vec<Time> {
        self.channels.usage().iter().map(|channel| channel.busy_by(now)).collect()
    }

    fn hops(&self) -> u64 {
        self.channels.transfers()
    }

    fn held(&self) -> Vec<(LinkId, DieId)> {
        self.channels.held()
    }
}
