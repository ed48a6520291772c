//! Programs under way that the policy sent, in mapping units: several of a plane make one program where programs write several.

use crate::flash::geometry::Geometry;
use crate::ids::{ChannelId, DieId, PlaneId};

/// How many units there are on each plane and die, and how many programs on each channel.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    units_per_program: u32,
    of_plane: Vec<u32>,
    of_die: Vec<u32>,
    of_channel: Vec<u32>,
}

/// A plane, with its die and channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub plane: PlaneId,
    pub die: DieId,
    pub channel: ChannelId,
}

impl Programs {
    /// None anywhere.
    pub(super) fn none(geometry: &Geometry) -> Programs {
        Programs {
            units_per_program: geometry.units_per_program,
            of_plane: vec![0; geometry.planes() as usize],
            of_die: vec![0; geometry.dies() as usize],
            of_channel: vec![0; geometry.channels as usize],
        }
    }

    /// A unit goes to a plane.
    pub(super) fn begin(&mut self, Place { plane, die, channel }: Place) {
        let units = &mut self.of_plane[plane.index()];
        self.of_channel[channel.index()] += u32::from(units.is_multiple_of(self.units_per_program));
        *units += 1;
        self.of_die[die.index()] += 1;
    }

    /// The program of a unit has ended, which the policy need not have sent.
    pub(super) fn end(&mut self, Place { plane, die, channel }: Place) {
        let units = &mut self.of_plane[plane.index()];
        if *units > 0 {
            *units -= 1;
            self.of_channel[channel.index()] -= u32::from(units.is_multiple_of(self.units_per_program));
        }
        let units = &mut self.of_die[die.index()];
        *units = units.saturating_sub(1);
    }

    /// Whether there is none on `die`.
    pub(super) fn is_without(&self, die: DieId) -> bool {
        self.of_die[die.index()] == 0
    }

    /// Whether there is none anywhere.
    pub(super) fn is_none(&self) -> bool {
        self.of_channel.iter().all(|&count| count == 0)
    }

    /// How many there are on each channel.
    pub(super) fn by_channel(&self) -> &[u32] {
        &self.of_channel
    }
}
