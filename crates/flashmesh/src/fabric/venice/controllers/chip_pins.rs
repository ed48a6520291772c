//! Pins of the chips, which the dies of a chip share.

use std::ops::{Index, IndexMut};

use crate::flash::geometry::Geometry;
use crate::ids::{ChipId, DieId};

use super::path_queue::PinQueue;

#[derive(Clone, Debug, Default)]
pub(in super::super) struct ChipPins {
    /// Whether a circuit ends at the pins, or a scout is searching for a path to them. No other scout is then sent to the chip.
    pub is_reserved: bool,
    /// Path requests that wait for the pins of the chip.
    pub queue: PinQueue,
}

#[derive(Clone, Debug)]
pub(in super::super) struct ChipPinTable {
    chips: Vec<ChipPins>,
    dies_per_chip: u32,
}

impl ChipPinTable {
    pub fn new(geometry: &Geometry) -> ChipPinTable {
        let chips = geometry.channels * geometry.chips_per_channel;
        ChipPinTable { chips: vec![ChipPins::default(); chips as usize], dies_per_chip: geometry.dies_per_chip }
    }

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
