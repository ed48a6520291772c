//! How mapping units, pages and programs relate.

use crate::units::Bytes;

use super::{Config, Geometry, PageTypes, ProgramUnit};

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

    /// Pages that one program writes in a plane.
    pub fn pages_per_program(&self) -> u32 {
        match (self.flash.program_unit, self.flash.page_types) {
            (ProgramUnit::Page, _) | (_, PageTypes::One) => 1,
            (ProgramUnit::WordLine, PageTypes::Mlc) => 2,
            (ProgramUnit::WordLine, PageTypes::Tlc) => 3,
            (ProgramUnit::WordLine, PageTypes::Qlc) => 4,
        }
    }

    /// The array as the map sees it: its pages are mapping units.
    pub fn unit_geometry(&self) -> Geometry {
        let units = self.units_per_page();
        Geometry {
            page_size: Bytes::new(self.geometry.page_size.as_u64() / u64::from(units)),
            pages_per_block: self.geometry.pages_per_block.saturating_mul(units),
            ..self.geometry.clone()
        }
    }
}
