//! Sizes of mapping units, pages and programs relative to each other.

use crate::units::Bytes;

use super::{Config, FirmwarePolicy, Geometry, PageTypes, ParityShare, ProgramUnit};

impl Config {
    /// Returns the size of a mapping unit: `ftl.mapping-unit`, or a page if unset.
    pub fn mapping_unit(&self) -> Bytes {
        self.ftl.mapping_unit.unwrap_or(self.geometry.page_size)
    }

    /// Returns the number of mapping units in a page; 1 if the unit does not divide the page: it is larger, or the configuration is invalid.
    pub fn units_per_page(&self) -> u32 {
        let (page, unit) = (self.geometry.page_size.as_u64(), self.mapping_unit().as_u64().max(1));
        if page.is_multiple_of(unit) { (page / unit) as u32 } else { 1 }
    }

    /// Returns the number of pages in a mapping unit; 1 if the page does not divide the unit, or the unit is smaller.
    pub fn pages_per_unit(&self) -> u32 {
        let (page, unit) = (self.geometry.page_size.as_u64().max(1), self.mapping_unit().as_u64());
        if unit.is_multiple_of(page) { (unit / page).max(1) as u32 } else { 1 }
    }

    /// Returns the number of mapping units that one program writes in a plane, outside the SLC cache. A unit larger than a program counts as one.
    pub fn units_per_program(&self) -> u32 {
        (self.units_per_page() * self.pages_per_program() / self.pages_per_unit()).max(1)
    }

    /// Returns the number of pages in a word line, one per bit of a cell.
    pub fn pages_per_word_line(&self) -> u32 {
        match self.flash.page_types {
            PageTypes::One => 1,
            PageTypes::Mlc => 2,
            PageTypes::Tlc => 3,
            PageTypes::Qlc => 4,
        }
    }

    /// Returns the number of pages that one program writes in a plane, outside the SLC cache.
    pub fn pages_per_program(&self) -> u32 {
        if self.flash.program_unit == ProgramUnit::WordLine { self.pages_per_word_line() } else { 1 }
    }

    /// Returns the number of programs in a parity stripe, one of which is parity; `None` without parity.
    pub fn parity_stripe(&self) -> Option<u32> {
        let ParityShare(programs) = self.ftl.parity.filter(|_| self.ftl.policy == FirmwarePolicy::Superblock)?;
        Some(programs)
    }

    /// Returns the geometry that the mapping table uses: its pages are mapping units, and units used for parity are left out. If the unit is larger
    /// than a block, which is a configuration error, a block has one unit.
    pub fn unit_geometry(&self) -> Geometry {
        let (units, pages) = (self.units_per_page(), self.pages_per_unit());
        let in_block = (self.geometry.pages_per_block.saturating_mul(units) / pages).max(1);
        Geometry {
            page_size: Bytes::new(self.geometry.page_size.as_u64() / u64::from(units)) * u64::from(pages),
            pages_per_block: self.data_of(in_block, self.units_per_program()),
            ..self.geometry.clone()
        }
    }

    /// Returns the number of mapping units of data in a block of the SLC cache, which has one page per word line.
    pub(crate) fn slc_units_per_block(&self) -> u32 {
        let word_lines = self.geometry.pages_per_block / self.pages_per_word_line();
        self.data_of(word_lines.saturating_mul(self.units_per_page()) / self.pages_per_unit(), self.units_per_page())
    }

    /// Returns the number of units that hold data, not parity, among the `in_block` units of a block. A program writes `of_program` units.
    fn data_of(&self, in_block: u32, of_program: u32) -> u32 {
        let programs_of_parity = self.parity_stripe().map_or(0, |programs| (in_block / of_program).div_ceil(programs));
        // With parity, a block of a single program is a configuration error.
        in_block - (programs_of_parity * of_program).min(in_block.saturating_sub(of_program))
    }
}
