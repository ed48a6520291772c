//! The shared multi-channel bus (paper 000, section 2): one half-duplex channel for each row of chips.

use crate::config;
use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::units::Time;

use super::channels::Channels;
use super::{Fabric, Grant, Leg, LinkUsage, Outbox, Payload};

/// A channel per row.
#[derive(Debug)]
pub struct Bus {
    channels: Channels,
}

impl Bus {
    /// Builds the channels of all rows.
    pub fn new(config: &config::Fabric, geometry: &Geometry) -> Bus {
        let dies_per_channel = geometry.chips_per_channel * geometry.dies_per_chip;
        Bus { channels: Channels::new(config, geometry.channels, dies_per_channel) }
    }
}

impl Fabric for Bus {
    #[inline]
    fn acquire(&mut self, die: DieId, leg: Leg, now: Time, outbox: &mut Outbox) {
        self.channels.acquire(die, leg, now, outbox);
    }

    #[inline]
    fn send(&mut self, grant: Grant, payload: Payload, now: Time) -> Time {
        self.channels.send(grant, payload, now)
    }

    #[inline]
    fn release(&mut self, grant: Grant, _now: Time, outbox: &mut Outbox) {
        self.channels.release(grant, outbox);
    }

    fn usage(&self) -> &[LinkUsage] {
        self.channels.usage()
    }
}
