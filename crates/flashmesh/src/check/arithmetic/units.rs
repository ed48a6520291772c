//! Mapping units: how many lie in a page, and how many one program writes.

use crate::config::{self, Config, PageTypes, ProgramUnit};

/// Mapping units that fit into a page.
pub(in super::super) fn units_per_page(config: &Config) -> u32 {
    let page = config.geometry.page_size.as_u64();
    let unit = config.ftl.mapping_unit.map_or(page, |unit| unit.as_u64());
    (1..).take_while(|units| u64::from(*units) * unit <= page).last().unwrap_or(1)
}

/// Pages that a mapping unit is made of.
pub(in super::super) fn pages_per_unit(config: &Config) -> u32 {
    let page = config.geometry.page_size.as_u64();
    let unit = config.ftl.mapping_unit.map_or(page, |unit| unit.as_u64());
    (1..).take_while(|pages| u64::from(*pages) * page <= unit).last().unwrap_or(1)
}

/// Mapping units that one program writes in a plane; one where a unit takes several programs.
pub(in super::super) fn units_per_program(config: &Config) -> u32 {
    let (program, unit) = (pages_per_program(config), pages_per_unit(config));
    if unit > 1 { program.div_ceil(unit) } else { program * units_per_page(config) }
}

/// Bits of a cell.
pub(super) fn bits(config: &Config) -> u32 {
    match config.flash.page_types {
        PageTypes::One => 1,
        PageTypes::Mlc => 2,
        PageTypes::Tlc => 3,
        PageTypes::Qlc => 4,
    }
}

/// Pages that one program writes in a plane: those of a word line, one for each bit of its cells.
fn pages_per_program(config: &Config) -> u32 {
    if config.flash.program_unit == ProgramUnit::WordLine { bits(config) } else { 1 }
}

/// Programs of a parity stripe, of which one is parity; none without parity. The key has no effect beside another policy.
pub(in super::super) fn parity_stripe(config: &Config) -> Option<u32> {
    let has_superblocks = config.ftl.policy == config::FirmwarePolicy::Superblock;
    config.ftl.parity.filter(|_| has_superblocks).map(|share| share.0)
}

/// Programs of data in a block of so many, each with its share of parity.
pub(super) fn data_programs(config: &Config, in_block: u32) -> u32 {
    let Some(programs) = parity_stripe(config) else { return in_block };
    (1..=in_block).filter(|of_data| of_data + of_data.div_ceil(programs - 1) <= in_block).max().unwrap_or(0)
}

/// The array with its mapping units in place of its pages, and the numbers that the blocks of a dynamic SLC cache have behind those of a plane.
pub(in super::super) fn in_units(config: &Config) -> config::Geometry {
    let mut shape = array_in_units(config);
    if config.slc.region == config::SlcRegion::Dynamic {
        shape.blocks_per_plane += config.slc.blocks_per_plane;
    }
    shape
}

/// The array alone, with its mapping units in place of its pages.
pub(super) fn array_in_units(config: &Config) -> config::Geometry {
    let units = units_per_page(config);
    let mut shape = config.geometry.clone();
    shape.page_size = crate::units::Bytes::new(shape.page_size.as_u64() / u64::from(units));
    shape.page_size = shape.page_size * u64::from(pages_per_unit(config));
    shape.pages_per_block = shape.pages_per_block * units / pages_per_unit(config);
    if parity_stripe(config).is_some() {
        let of_program = (units * pages_per_program(config) / pages_per_unit(config)).max(1);
        shape.pages_per_block = data_programs(config, shape.pages_per_block / of_program) * of_program;
    }
    shape
}
