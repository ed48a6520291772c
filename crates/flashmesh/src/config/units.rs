//! How mapping units, pages and programs relate.

use crate::units::Bytes;

use super::{Config, FirmwarePolicy, Geometry, PageTypes, ParityShare, ProgramUnit};

impl Config {
    /// What an entry of the map is for: `ftl.mapping-unit`, or a page.
    pub fn mapping_unit(&self) -> Bytes {
        self.ftl.mapping_unit.unwrap_or(self.geometry.page_size)
    }

    /// Mapping units in a page; 1 where the unit does not divide the page, which is an error of the configuration.
    pub fn units_per_page(&self) -> u32 {
        let (page, unit) = (self.geometry.page_size.as_u64(), self.mapping_unit().as_u64().max(1));
        if page.is_multiple_of(unit) { (page / unit) as u32 } else { 1 }
    }

    /// Pages in a mapping unit; 1 where the page does not divide the unit, or the unit is smaller.
    pub fn pages_per_unit(&self) -> u32 {
        let (page, unit) = (self.geometry.page_size.as_u64().max(1), self.mapping_unit().as_u64());
        if unit.is_multiple_of(page) { (unit / page).max(1) as u32 } else { 1 }
    }

    /// Mapping units that one program writes in a plane, outside the SLC cache. A unit of several programs counts as one of them.
    pub fn units_per_program(&self) -> u32 {
        (self.units_per_page() * self.pages_per_program() / self.pages_per_unit()).max(1)
    }

    /// Pages of a word line: bits of a cell.
    pub fn pages_per_word_line(&self) -> u32 {
        match self.flash.page_types {
            PageTypes::One => 1,
            PageTypes::Mlc => 2,
            PageTypes::Tlc => 3,
            PageTypes::Qlc => 4,
        }
    }

    /// Pages that one program writes in a plane, outside the SLC cache.
    pub fn pages_per_program(&self) -> u32 {
        if self.flash.program_unit == ProgramUnit::WordLine { self.pages_per_word_line() } else { 1 }
    }

    /// Programs of a parity stripe, of which one is parity; `None` without parity.
    pub fn parity_stripe(&self) -> Option<u32> {
        let ParityShare(programs) = self.ftl.parity.filter(|_| self.ftl.policy == FirmwarePolicy::Superblock)?;
        Some(programs)
    }

    /// The array as the map sees it: its pages are mapping units, and those that parity takes are not there. A block has one unit where the unit is
    /// larger than the block, which is an error of the configuration.
    pub fn unit_geometry(&self) -> Geometry {
        let (units, pages) = (self.units_per_page(), self.pages_per_unit());
        let in_block = (self.geometry.pages_per_block.saturating_mul(units) / pages).max(1);
        Geometry {
            page_size: Bytes::new(self.geometry.page_size.as_u64() / u64::from(units)) * u64::from(pages),
            pages_per_block: self.data_of(in_block, self.units_per_program()),
            ..self.geometry.clone()
        }
    }

    /// Mapping units of data in a block of the SLC cache, which has a page for each word line.
    pub(crate) fn slc_units_per_block(&self) -> u32 {
        let word_lines = self.geometry.pages_per_block / self.pages_per_word_line();
        self.data_of(word_lines.saturating_mul(self.units_per_page()) / self.pages_per_unit(), self.units_per_page())
    }

    /// What parity leaves of so many units in a block, of which a program writes `of_program`.
    fn data_of(&self, in_block: u32, of_program: u32) -> u32 {
        let programs_of_parity = self.parity_stripe().map_or(0, |programs| (in_block / of_program).div_ceil(programs));
        // A block of one program is refused with parity.
        in_block - (programs_of_parity * of_program).min(in_block.saturating_sub(of_program))
    }
}
