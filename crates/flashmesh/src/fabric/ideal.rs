//! The path-conflict-free interconnect (paper 000, section 3.3): a private channel for every chip and no limit on
//! controllers.
//!
//! Dies of one chip still share the chip's pins; a die that waits for them waits for its chip, not for a path of the
//! array, and its request is not counted as a path conflict when the array has one die a chip.

use crate::config;
use crate::flash::geometry::Geometry;

use super::channels::Channels;
use super::{Fabric, Grant, Leg, LinkUsage, Outbox, Payload};
use crate::ids::DieId;
use crate::units::Time;

/// A channel per chip.
#[derive(Debug)]
pub struct Ideal {
    channels: Channels,
}

impl Ideal {
    /// Builds the channels of all chips.
    pub fn new(config: &config::Fabric, geometry: &Geometry) -> Ideal {
        Ideal { channels: Channels::new(config, geometry.chips(), geometry.dies_per_chip) }
    }
}

impl Fabric for Ideal {
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
