//! Times of scouts and of transfers over circuits.

use crate::config;
use crate::fabric::Payload;
use crate::units::Time;

use super::mesh::Mesh;

/// Width and cycle time of the links, and the time of a scout for one link.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkTiming {
    link_width: u64,
    link_cycle: Time,
    scout_hop: Time,
}

impl LinkTiming {
    pub fn new(venice: &config::Venice, mesh: &Mesh) -> LinkTiming {
        LinkTiming {
            link_width: venice.link_width.as_u64(),
            link_cycle: venice.link_cycle,
            scout_hop: venice.link_cycle * u64::from(mesh.scout_flits()),
        }
    }

    /// Returns the width of a link in bits, which is its number of data wires.
    pub fn link_bits(&self) -> u32 {
        8 * self.link_width as u32
    }

    #[inline(always)]
    pub fn scout_hop(&self) -> Time {
        self.scout_hop
    }

    /// Returns the time of a transfer of `payload` over a circuit of `links` links: the command time, plus the time by Equation 1 (Venice, ISCA 2023)
    /// for data and distance.
    #[inline]
    pub fn transfer(&self, payload: Payload, links: u64) -> Time {
        let beats = payload.bytes.as_u64().div_ceil(self.link_width);
        payload.command_time + self.link_cycle * (links + beats)
    }
}
