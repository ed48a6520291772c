//! Checks of mapping units and of programs: that they divide pages, word lines and blocks evenly, and do not conflict with other keys.

use crate::config::{Config, ConfigConflict, FirmwarePolicy, Ftl, PageTypes, ProgramUnit};
use crate::units::Bytes;

/// Maximum number of mapping units in a block that can be simulated.
const UNITS_PER_BLOCK_MAX: u64 = u16::MAX as u64;

/// Adds a conflict if mapping units or programs do not fit the array. [`Geometry::from_config`](crate::flash::geometry::Geometry::from_config) relies on this check.
pub(super) fn add_conflicts(config: &Config, clashes: &mut Vec<ConfigConflict>) {
    let (page, unit) = (config.geometry.page_size, config.mapping_unit());
    let divides = |one: Bytes, other: Bytes| other.as_u64().is_multiple_of(one.as_u64().max(1));
    if !divides(unit, page) && !divides(page, unit) {
        let message = if unit > page {
            format!("ftl.mapping-unit ({unit}) is no multiple of geometry.page-size ({page})")
        } else {
            format!("ftl.mapping-unit ({unit}) does not divide geometry.page-size ({page})")
        };
        let help = "set ftl.mapping-unit to the page size divided or multiplied by a power of two, such as \"4KiB\" or \"64KiB\" on pages of 16 KiB";
        clashes.push(ConfigConflict::new(&["ftl.mapping-unit", "geometry.page-size"], message).with_help(help));
        return;
    }
    if unit > page {
        large_units(config, clashes);
    }
    let sector = config.geometry.sector_size;
    if config.ftl.mapping_unit.is_some() && unit < sector {
        let message = format!("ftl.mapping-unit ({unit}) is smaller than geometry.sector-size ({sector})");
        let clash = ConfigConflict::new(&["ftl.mapping-unit", "geometry.sector-size"], message);
        clashes.push(
            clash.with_help("a unit holds one sector at least: raise ftl.mapping-unit, or lower geometry.sector-size"),
        );
    }
    let pages = u64::from(config.geometry.pages_per_block);
    let units = pages * u64::from(config.units_per_page()) / u64::from(config.pages_per_unit());
    if units > UNITS_PER_BLOCK_MAX {
        let message =
            format!("a block holds {units} mapping units of {unit}; at most {UNITS_PER_BLOCK_MAX} can be simulated");
        let keys = ["ftl.mapping-unit", "geometry.pages-per-block", "geometry.page-size"];
        clashes.push(
            ConfigConflict::new(&keys, message).with_help("raise ftl.mapping-unit, or lower geometry.pages-per-block"),
        );
    }
    programs(config, clashes);
}

/// Checks mapping units of several pages: a block must hold whole units, and a program must write whole units or a unit consist of whole programs.
fn large_units(config: &Config, clashes: &mut Vec<ConfigConflict>) {
    let (unit, pages) = (config.mapping_unit(), config.pages_per_unit());
    // A block of the SLC cache has one page for each word line.
    let (blocks, needed) = if config.slc.is_on() {
        ("a block and one of the SLC cache hold", pages * config.pages_per_word_line())
    } else {
        ("a block holds", pages)
    };
    let in_block = config.geometry.pages_per_block;
    if !in_block.is_multiple_of(needed) {
        let message = format!(
            "ftl.mapping-unit ({unit}) is {pages} pages, {blocks} whole units, and geometry.pages-per-block ({in_block}) is no multiple of \
             {needed}"
        );
        let clash = ConfigConflict::new(&["geometry.pages-per-block", "ftl.mapping-unit"], message);
        clashes.push(clash.with_help(&format!("set geometry.pages-per-block to a multiple of {needed}")));
    }
    let program = config.pages_per_program();
    if !pages.is_multiple_of(program) && !program.is_multiple_of(pages) {
        let message = format!(
            "ftl.mapping-unit ({unit}) is {pages} pages, and with flash.program-unit `word-line` a program writes {program}: neither is a multiple of \
             the other"
        );
        let clash = ConfigConflict::new(&["ftl.mapping-unit", "flash.program-unit", "flash.page-types"], message);
        clashes.push(clash.with_help(&format!("set ftl.mapping-unit to a multiple of {program} pages")));
    }
}

fn programs(config: &Config, clashes: &mut Vec<ConfigConflict>) {
    let pages = config.pages_per_program();
    if config.flash.program_unit == ProgramUnit::WordLine {
        if config.flash.page_types == PageTypes::One {
            let message = "flash.program-unit is `word-line`, and with flash.page-types `one` a word line has one page"
                .to_owned();
            let clash = ConfigConflict::new(&["flash.program-unit", "flash.page-types"], message);
            clashes.push(
                clash.with_help(
                    "set flash.page-types to \"mlc\", \"tlc\" or \"qlc\", or flash.program-unit to \"page\"",
                ),
            );
        }
        let times = [
            ("flash.middle-page-program-time", config.flash.middle_page_program_time),
            ("flash.upper-page-program-time", config.flash.upper_page_program_time),
            ("flash.top-page-program-time", config.flash.top_page_program_time),
        ];
        for (key, _) in times.into_iter().filter(|(_, time)| time.is_some()) {
            let message = format!(
                "{key} is set, and with flash.program-unit `word-line` all pages of a word line are programmed at once"
            );
            let clash = ConfigConflict::new(&[key, "flash.program-unit"], message);
            clashes.push(clash.with_help("leave it away: flash.program-time is the time of a word line"));
        }
    }
    let in_block = config.geometry.pages_per_block;
    if !in_block.is_multiple_of(pages) {
        let message =
            format!("a word line has {pages} pages, and geometry.pages-per-block ({in_block}) is no multiple of that");
        let clash = ConfigConflict::new(&["geometry.pages-per-block", "flash.program-unit"], message);
        clashes.push(clash.with_help(&format!("set geometry.pages-per-block to a multiple of {pages}")));
    }
    if config.units_per_program() > 1 {
        cache(config, clashes);
    } else if config.pages_per_unit() > 1 && config.ftl.gather_timeout != Ftl::default().gather_timeout {
        let unit = config.mapping_unit();
        let message = format!(
            "ftl.gather-timeout is {}, and with ftl.mapping-unit {unit} a program writes one unit: nothing gathers",
            config.ftl.gather_timeout
        );
        let clash = ConfigConflict::new(&["ftl.gather-timeout", "ftl.mapping-unit"], message);
        clashes.push(clash.with_help("leave ftl.gather-timeout away"));
    }
}

/// Checks that the device cache, if there is one, can hold the data of one program: in all planes of a die with the firmware policy `tbm` or
/// `superblock`, otherwise in one plane.
fn cache(config: &Config, clashes: &mut Vec<ConfigConflict>) {
    let capacity = config.cache.capacity;
    let works_together = matches!(config.ftl.policy, FirmwarePolicy::Tbm | FirmwarePolicy::Superblock);
    let planes = if works_together { u64::from(config.geometry.planes_per_die) } else { 1 };
    let program = config.geometry.page_size * (u64::from(config.pages_per_program()) * planes);
    if capacity > Bytes::ZERO && capacity < program {
        let message = format!("cache.capacity ({capacity}) is less than the {program} that one program takes");
        let clash = ConfigConflict::new(&["cache.capacity", "flash.program-unit", "geometry.page-size"], message);
        clashes.push(clash.with_help("writes gather in the cache: raise cache.capacity, or set it to 0"));
    }
}
