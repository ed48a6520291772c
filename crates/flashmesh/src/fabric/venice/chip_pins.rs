//! Pins of the chips. The dies of a chip share them.

use std::ops::{Index, IndexMut};

use crate::flash::geometry::Geometry;
use crate::ids::{ChipId, DieId};

use super::path_queue::PinQueue;

/// Pins of one chip.
#[derive(Clone, Debug, Default)]
pub(super) struct ChipPins {
    /// Whether the chip has a circuit, or is the destination of a scout.
    pub is_reserved: bool,
    /// Requests that wait for the chip's pins.
    pub queue: PinQueue,
}

/// Pins of all chips.
#[derive(Clone, Debug)]
pub(super) struct ChipPinTable {
    chips: Vec<ChipPins>,
    dies_per_chip: u32,
}

impl ChipPinTable {
    /// Creates the pins of all chips. All pins are free.
    pub fn new(geometry: &Geometry) -> ChipPinTable {
        let chips = geometry.channels * geometry.chips_per_channel;
        ChipPinTable { chips: vec![ChipPins::default(); chips as usize], dies_per_chip: geometry.dies_per_chip }
    }

    /// Returns the chip of `die`.
    #[inline]
    pub fn chip_of(&self, die: DieId) -> ChipId {
        ChipId(die.0 / self.dies_per_chip)
    }
}

impl Index<ChipId> for ChipPinTable {
    type Output = ChipPins;

    #[inline(always)]
    fn index(&self, chip: ChipId) -> &ChipPins {
        &self.chips[chip.index()]
    }
}

impl IndexMut<ChipId> for ChipPinTable {
    #[inline(always)]
    fn index_mut(&mut self, chip: ChipId) -> &mut ChipPins {
        &mut self.chips[chip.index()]
    }
}
