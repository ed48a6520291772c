//! The path-conflict-free interconnect (paper 000, section 3.3): a private channel for every chip and no limit on
//! controllers.
//!
//! A chip still has one set of pins: its dies share them, and with a cache register a die may want them for a command while
//! its data leaves. Such a wait counts as a wait for a path; with one die a chip and no cache register there is none.

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
