//! Checks of the mapping cache, of the journal, and of the spare blocks that translation pages leave.

use super::MORE_SPARE;
use crate::config::{Config, ConfigConflict, MapFill, MapSharing};
use crate::flash::geometry::Geometry;
use crate::ftl::mapping_cache::entries_per_part;
use crate::ftl::{TranslationPages, spare_blocks_min};
use crate::units::Bytes;

/// Adds the conflicts of the keys of the mapping cache and of persistence. Returns the number of translation pages; 0 if the drive needs none or they
/// do not fit.
pub(super) fn add_conflicts(config: &Config, geometry: &Geometry, clashes: &mut Vec<ConfigConflict>) -> u32 {
    let (mapping, page_size) = (&config.mapping, geometry.page_size);
    if let Some(capacity) = mapping.cache_capacity {
        cache(config, capacity, clashes);
    }
    if config.persistence.has_journal() {
        journal(config, page_size, clashes);
    } else if mapping.cache_capacity.is_none() {
        return 0;
    }
    if mapping.stored_entry_size > page_size {
        let message = format!(
            "mapping.stored-entry-size ({}) is larger than geometry.page-size ({page_size}): a translation page holds no entry",
            mapping.stored_entry_size
        );
        let clash = ConfigConflict::new(&["mapping.stored-entry-size", "geometry.page-size"], message);
        clashes.push(clash.with_help("lower mapping.stored-entry-size, or raise geometry.page-size"));
        return 0;
    }
    if mapping.cache_capacity.is_some() {
        parts_of_pages(config, page_size, clashes);
    }
    translation_space(config, geometry, clashes)
}

fn cache(config: &Config, capacity: Bytes, clashes: &mut Vec<ConfigConflict>) {
    let mapping = &config.mapping;
    if entries_per_part(mapping, config.streams().len()) == Some(0) {
        let part = if mapping.sharing == MapSharing::PerStream { " for each stream" } else { "" };
        let message = format!("mapping.cache-capacity ({capacity}) holds no entry of {}{part}", mapping.entry_size);
        let clash = ConfigConflict::new(&["mapping.cache-capacity", "mapping.entry-size"], message);
        clashes.push(
            clash.with_help("raise mapping.cache-capacity, or leave it away for a map that is in DRAM altogether"),
        );
    }
}

/// Checks `mapping.read-size`, `mapping.write-back-read-size` and `mapping.write-back-buffer` against the page size, and `mapping.fill` against
/// `mapping.read-size`.
fn parts_of_pages(config: &Config, page_size: Bytes, clashes: &mut Vec<ConfigConflict>) {
    let mapping = &config.mapping;
    if let Some(read_size) = mapping.read_size {
        if read_size > page_size {
            let message = format!("mapping.read-size ({read_size}) is larger than geometry.page-size ({page_size})");
            let clash = ConfigConflict::new(&["mapping.read-size", "geometry.page-size"], message);
            clashes.push(clash.with_help("leave mapping.read-size away for whole pages, or lower it"));
        }
        if mapping.fill == MapFill::Page && read_size < page_size {
            let message = format!("mapping.fill is `page`, but only {read_size} of a translation page are read");
            let clash = ConfigConflict::new(&["mapping.fill", "mapping.read-size"], message);
            clashes.push(clash.with_help("leave mapping.read-size away, or set mapping.fill to `entry`"));
        }
    }
    if let Some(read_size) = mapping.write_back_read_size
        && read_size > page_size
    {
        let message =
            format!("mapping.write-back-read-size ({read_size}) is larger than geometry.page-size ({page_size})");
        let clash = ConfigConflict::new(&["mapping.write-back-read-size", "geometry.page-size"], message);
        clashes.push(clash.with_help("leave mapping.write-back-read-size away for whole pages, or lower it"));
    }
    if mapping.write_back_buffer > Bytes::ZERO && mapping.write_back_buffer < page_size {
        let buffer = mapping.write_back_buffer;
        let message = format!("mapping.write-back-buffer ({buffer}) holds no page of geometry.page-size ({page_size})");
        let clash = ConfigConflict::new(&["mapping.write-back-buffer", "geometry.page-size"], message);
        clashes.push(clash.with_help("raise mapping.write-back-buffer to a page at least, or set it to 0 for none"));
    }
}

/// Checks the keys of the journal, and their conflicts with other keys.
fn journal(config: &Config, page_size: Bytes, clashes: &mut Vec<ConfigConflict>) {
    let entry_size = config.persistence.entry_size;
    if entry_size > page_size {
        let message = format!(
            "persistence.entry-size ({entry_size}) is larger than geometry.page-size ({page_size}): a page of the journal holds no entry"
        );
        let clash = ConfigConflict::new(&["persistence.entry-size", "geometry.page-size"], message);
        clashes.push(clash.with_help("lower persistence.entry-size, or raise geometry.page-size"));
    }
    let buffer = config.mapping.write_back_buffer;
    if config.mapping.cache_capacity.is_some() && buffer > Bytes::ZERO {
        let message = format!(
            "persistence.policy is `journal`, and mapping.write-back-buffer ({buffer}) keeps changed translation pages in DRAM: a checkpoint \
             would wait for them for ever"
        );
        let clash = ConfigConflict::new(&["mapping.write-back-buffer", "persistence.policy"], message);
        clashes.push(clash.with_help("set mapping.write-back-buffer to 0, or persistence.policy to \"ideal\""));
    }
}

/// Checks that translation pages leave enough spare blocks. Returns the number of translation pages of the drive; 0 if they do not fit.
fn translation_space(config: &Config, geometry: &Geometry, clashes: &mut Vec<ConfigConflict>) -> u32 {
    let Some(translation) = TranslationPages::new(geometry, config) else { return 0 };
    let needed = u64::from(spare_blocks_min(config));
    let pages = u64::from(geometry.logical_pages) + u64::from(translation.count());
    let blocks = pages.div_ceil(u64::from(geometry.planes())).div_ceil(u64::from(geometry.pages_per_block));
    let spare = u64::from(geometry.native_blocks_per_plane()).saturating_sub(blocks);
    if spare < needed {
        let message = format!(
            "the map lies in {} translation pages; with them a plane has {spare} blocks to spare, and needs {needed} of them",
            translation.count()
        );
        let keys = [
            "mapping.cache-capacity",
            "persistence.policy",
            "persistence.checkpoint-interval",
            "geometry.over-provisioning",
            "geometry.capacity",
            "geometry.blocks-per-plane",
            "mapping.stored-entry-size",
        ];
        let fewer = format!("{MORE_SPARE}; persistence.checkpoint-interval says how many pages the journal takes");
        let help = if config.persistence.has_journal() { &fewer } else { MORE_SPARE };
        clashes.push(ConfigConflict::new(&keys, message).with_help(help));
        return 0;
    }
    translation.count()
}
