//! Serialization of the block tables of a sample (simulated planes) for preconditioning. Erase counts are not included.

use super::{BlockState, BlockTable};
use crate::states::{BitReader, BitWriter};

impl BlockTable {
    pub(in super::super) fn write_image(&self, to: &mut BitWriter) {
        self.valid.iter().for_each(|&word| to.put(word, u64::BITS));
        for (at, &[valid, programmed, state, translation]) in self.rows.iter().enumerate() {
            for pages in [valid, programmed, self.invalid_pages[at]] {
                to.put(pages.into(), u16::BITS);
            }
            to.put(self.filled[at].into(), u32::BITS);
            to.put(state.into(), u8::BITS);
            to.put(translation.into(), u8::BITS);
        }
    }

    /// Reads an image written for a drive of the same geometry. Returns `None` if the image is invalid; the tables are then partly overwritten.
    pub(in super::super) fn read_image(&mut self, from: &mut BitReader) -> Option<()> {
        let pages_per_block = u64::from(self.geometry.pages_per_block);
        for word in &mut self.valid {
            *word = from.read(u64::BITS)?;
        }
        for at in 0..self.rows.len() {
            let [valid, programmed, state, translation] = &mut self.rows[at];
            for pages in [valid, programmed, &mut self.invalid_pages[at]] {
                *pages = from.read(u16::BITS).filter(|&pages| pages <= pages_per_block)? as u16;
            }
            self.filled[at] = from.read(u32::BITS)? as u32;
            *state = from.read(u8::BITS).filter(|&state| state <= BlockState::Collecting as u64)? as u16;
            *translation = from.read(u8::BITS).filter(|&is_translation| is_translation <= 1)? as u16;
        }
        Some(())
    }

    /// Returns the size in bits of the image that [`BlockTable::write_image`] writes.
    pub(in super::super) fn image_bits(&self) -> u64 {
        let of_block = 3 * u16::BITS + u32::BITS + 2 * u8::BITS;
        self.valid.len() as u64 * u64::from(u64::BITS) + self.rows.len() as u64 * u64::from(of_block)
    }
}
