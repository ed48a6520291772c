//! Programs in flight that the policy dispatched, counted in mapping units because several units can share a program.

use crate::flash::geometry::Geometry;
use crate::ids::{ChannelId, DieId, PlaneId};

/// Number of mapping units in flight on each plane and die, and of programs in flight on each channel.
#[derive(Clone, Debug)]
pub(super) struct ProgramsInFlight {
    units_per_program: u32,
    of_plane: Vec<u32>,
    of_die: Vec<u32>,
    of_channel: Vec<u32>,
}

/// A plane, with the die and the channel to which it belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaneLocation {
    pub plane: PlaneId,
    pub die: DieId,
    pub channel: ChannelId,
}

impl ProgramsInFlight {
    /// Creates the counts of a drive without programs in flight.
    pub(super) fn new(geometry: &Geometry) -> ProgramsInFlight {
        ProgramsInFlight {
            units_per_program: geometry.units_per_program,
            of_plane: vec![0; geometry.planes() as usize],
            of_die: vec![0; geometry.dies() as usize],
            of_channel: vec![0; geometry.channels as usize],
        }
    }

    /// Counts one mapping unit dispatched to a plane as in flight.
    pub(super) fn begin(&mut self, PlaneLocation { plane, die, channel }: PlaneLocation) {
        let units = &mut self.of_plane[plane.index()];
        self.of_channel[channel.index()] += u32::from(units.is_multiple_of(self.units_per_program));
        *units += 1;
        self.of_die[die.index()] += 1;
    }

    /// Removes one mapping unit, whose program ended or whose write was cancelled, from the counts. A count of 0 stays 0.
    pub(super) fn end(&mut self, PlaneLocation { plane, die, channel }: PlaneLocation) {
        let units = &mut self.of_plane[plane.index()];
        if *units > 0 {
            *units -= 1;
            self.of_channel[channel.index()] -= u32::from(units.is_multiple_of(self.units_per_program));
        }
        let units = &mut self.of_die[die.index()];
        *units = units.saturating_sub(1);
    }

    /// Returns whether the policy has no mapping unit in flight to `die`.
    pub(super) fn has_none_on(&self, die: DieId) -> bool {
        self.of_die[die.index()] == 0
    }

    /// Returns whether the policy has no program in flight to any die.
    pub(super) fn is_empty(&self) -> bool {
        self.of_channel.iter().all(|&count| count == 0)
    }

    /// Returns the number of programs in flight, indexed by channel.
    pub(super) fn by_channel(&self) -> &[u32] {
        &self.of_channel
    }
}
