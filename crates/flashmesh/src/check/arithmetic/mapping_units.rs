//! Mapping units in a page and in a program, and the geometry in mapping units.

use crate::config::{self, Config, PageTypes, ProgramUnit};

/// Returns the number of mapping units in an array page; 1 if a unit is at least a page.
pub(in super::super) fn units_per_page(config: &Config) -> u32 {
    let page = config.geometry.page_size.as_u64();
    let unit = config.ftl.mapping_unit.map_or(page, |unit| unit.as_u64());
    (1..).take_while(|units| u64::from(*units) * unit <= page).last().unwrap_or(1)
}

/// Returns the number of array pages in a mapping unit; 1 if a unit is at most a page.
pub(in super::super) fn pages_per_unit(config: &Config) -> u32 {
    let page = config.geometry.page_size.as_u64();
    let unit = config.ftl.mapping_unit.map_or(page, |unit| unit.as_u64());
    (1..).take_while(|pages| u64::from(*pages) * page <= unit).last().unwrap_or(1)
}

/// Returns the number of mapping units that one program writes in a plane; 1 if a unit takes several programs.
pub(in super::super) fn units_per_program(config: &Config) -> u32 {
    let (program, unit) = (pages_per_program(config), pages_per_unit(config));
    if unit > 1 { program.div_ceil(unit) } else { program * units_per_page(config) }
}

/// Returns the number of bits that a cell of a native block (block outside the SLC cache) stores.
pub(super) fn bits(config: &Config) -> u32 {
    match config.flash.page_types {
        PageTypes::One => 1,
        PageTypes::Mlc => 2,
        PageTypes::Tlc => 3,
        PageTypes::Qlc => 4,
    }
}

/// Returns the number of pages that one program writes in a plane: one for each bit of a cell if it writes a word line, otherwise one.
fn pages_per_program(config: &Config) -> u32 {
    if config.flash.program_unit == ProgramUnit::WordLine { bits(config) } else { 1 }
}

/// Returns the number of programs in a parity stripe, one of which is parity; `None` without parity. Only the superblock policy has parity.
pub(in super::super) fn parity_stripe(config: &Config) -> Option<u32> {
    let has_superblocks = config.ftl.policy == config::FirmwarePolicy::Superblock;
    config.ftl.parity.filter(|_| has_superblocks).map(|share| share.0)
}

/// Returns the number of programs that hold data in a block of `in_block` programs. The other programs of the block hold parity.
pub(super) fn data_programs(config: &Config, in_block: u32) -> u32 {
    let Some(programs) = parity_stripe(config) else { return in_block };
    (1..=in_block).filter(|of_data| of_data + of_data.div_ceil(programs - 1) <= in_block).max().unwrap_or(0)
}

/// Returns the geometry of the drive with mapping units in place of pages. Blocks of a dynamic SLC cache are added after the native blocks of each
/// plane.
pub(in super::super) fn in_units(config: &Config) -> config::Geometry {
    let mut shape = array_in_units(config);
    if config.slc.region == config::SlcRegion::Dynamic {
        shape.blocks_per_plane += config.slc.blocks_per_plane;
    }
    shape
}

/// Returns the geometry of the native blocks (all blocks outside a dynamic SLC cache), with mapping units in place of pages. Units of parity programs
/// are left out.
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
