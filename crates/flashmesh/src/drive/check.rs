//! Checks that take more than one key, on the finished configuration.

mod firmware;
mod planes;
mod replication;
mod streams;

use crate::cache::Sectors;
use crate::config::{
    CacheSharing, Clash, Config, MapFill, MapSharing, Move, PreconditionKind, ProgramOrder, WriteBinding,
};
use crate::error::GeometryError;
use crate::fabric;
use crate::flash::geometry::Geometry;
use crate::ftl::mapping_cache::entries_per_part;
use crate::ftl::{TranslationPages, spare_blocks_min};
use crate::units::{Bytes, Share};

/// What leaves more blocks to spare in every plane.
const MORE_SPARE: &str =
    "raise geometry.over-provisioning or geometry.blocks-per-plane, or lower geometry.capacity where it is given";

/// Everything in `config` that cannot go together; the bounds of single keys hold already.
pub(super) fn clashes(config: &Config) -> Vec<Clash> {
    let mut clashes = Vec::new();
    let geometry = match Geometry::new(&config.geometry) {
        Ok(geometry) => Some(geometry),
        Err(error) => {
            clashes.push(geometry_clash(&error));
            None
        }
    };
    if let Err(error) = fabric::check(config) {
        clashes.push(Clash::new(&error.keys, error.message).help(&error.help));
    }
    commands(config, &mut clashes);
    let translation_pages = geometry.as_ref().map_or(0, |geometry| mapping(config, geometry, &mut clashes));
    collection(config, geometry.as_ref(), translation_pages, &mut clashes);
    if let Some(geometry) = &geometry {
        cache(config, geometry, &mut clashes);
    }
    precondition(config, &mut clashes);
    firmware::clashes(config, geometry.as_ref(), &mut clashes);
    streams::clashes(config, geometry.as_ref(), &mut clashes);
    if let Some(geometry) = &geometry {
        // Pages that do not fit the drive as a whole may be more than can be numbered, and are told.
        let tells_of_room = ["geometry.over-provisioning", "mapping.stored-entry-size"];
        let fits = !clashes.iter().flat_map(|clash| &clash.keys).any(|key| tells_of_room.contains(&key.as_str()));
        if fits {
            planes::clashes(config, geometry, &mut clashes);
            replication::clashes(config, geometry, &mut clashes);
        }
    }
    clashes
}

fn precondition(config: &Config, clashes: &mut Vec<Clash>) {
    if config.precondition.kind == PreconditionKind::Random && config.precondition.fill == 0.0 {
        let message = "precondition.kind is `random`, but precondition.fill is 0: there is nothing to write".to_owned();
        let clash = Clash::new(&["precondition.fill", "precondition.kind"], message);
        clashes.push(clash.help("raise precondition.fill, or set precondition.kind to \"none\""));
    }
}

fn geometry_clash(error: &GeometryError) -> Clash {
    let keys: &[&'static str] = match error {
        GeometryError::TooManyPages { .. } => &[
            "geometry.blocks-per-plane",
            "geometry.pages-per-block",
            "geometry.page-size",
            "geometry.chips-per-channel",
            "geometry.channels",
            "geometry.dies-per-chip",
            "geometry.planes-per-die",
        ],
        GeometryError::TooLittleSpare { .. } => &[
            "geometry.capacity",
            "geometry.over-provisioning",
            "geometry.blocks-per-plane",
            "geometry.pages-per-block",
            "geometry.channels",
            "geometry.chips-per-channel",
            "geometry.dies-per-chip",
            "geometry.planes-per-die",
        ],
        GeometryError::Key { key, .. } => match *key {
            "page-size" => &["geometry.page-size"],
            "sector-size" => &["geometry.sector-size", "geometry.page-size"],
            "planes-per-die" => &["geometry.planes-per-die"],
            "capacity" => &["geometry.capacity"],
            _ => &[],
        },
    };
    Clash::new(keys, format!("[geometry] {error}"))
}

/// `share` as a percentage with the digits that tell.
fn percent(share: f64) -> String {
    let rounded = format!("{:.3}", share * 100.0);
    format!("{} %", rounded.trim_end_matches('0').trim_end_matches('.'))
}

fn collection(config: &Config, geometry: Option<&Geometry>, translation_pages: u32, clashes: &mut Vec<Clash>) {
    let gc = &config.gc;
    if gc.hard_threshold > gc.threshold {
        let message = format!(
            "gc.hard-threshold ({}) is above gc.threshold ({}): collection would be urgent before it begins",
            Share(gc.hard_threshold),
            Share(gc.threshold)
        );
        clashes.push(Clash::new(&["gc.hard-threshold", "gc.threshold"], message));
    }
    if gc.background_threshold > 0.0 && gc.background_threshold < gc.threshold {
        let message = format!(
            "gc.background-threshold ({}) is below gc.threshold ({}): idle time would never be used",
            Share(gc.background_threshold),
            Share(gc.threshold)
        );
        let clash = Clash::new(&["gc.background-threshold", "gc.threshold"], message);
        clashes.push(clash.help("raise it above gc.threshold, or set it to 0 to turn background collection off"));
    }
    if gc.copyback && gc.r#move == Move::ChipToChip {
        let message = "gc.copyback keeps pages in their plane, and gc.move is `chip-to-chip`".to_owned();
        clashes.push(Clash::new(&["gc.move", "gc.copyback"], message).help("choose one of them"));
    }
    let Some(geometry) = geometry else { return };
    let spare_blocks = geometry.spare_blocks_per_plane();
    let needed = spare_blocks_min(config);
    if config.mapping.cache_capacity.is_none() && spare_blocks < needed {
        let mut keys = Vec::new();
        let mut reasons = Vec::new();
        if gc.r#move == Move::ChipToChip {
            keys.push("gc.move");
            reasons.push("gc.move is `chip-to-chip`, which needs one for pages from other chips");
        }
        if config.ftl.write_binding == WriteBinding::Early {
            keys.push("ftl.write-binding");
            reasons.push("ftl.write-binding is `early`, which needs one for pages that wait for their programs");
        }
        if config.replication.enabled {
            keys.push("replication.enabled");
            reasons.push("replication.enabled needs one for copies");
        }
        keys.extend(["geometry.over-provisioning", "geometry.capacity", "geometry.blocks-per-plane"]);
        let message = format!(
            "a plane has {spare_blocks} blocks to spare, and needs {needed} of them: {}",
            reasons.join(", and ")
        );
        clashes.push(Clash::new(&keys, message).help(MORE_SPARE));
    }
    let occupied = f64::from(geometry.logical_pages) + f64::from(translation_pages);
    let spare = 1.0 - occupied / f64::from(geometry.pages());
    if gc.threshold >= spare {
        let message = format!(
            "gc.threshold ({}) is not below the spare space ({}): a full drive would be collected for ever",
            percent(gc.threshold),
            percent(spare)
        );
        let keys = ["gc.threshold", "geometry.over-provisioning", "geometry.capacity"];
        clashes.push(Clash::new(&keys, message).help("lower gc.threshold or raise geometry.over-provisioning"));
    }
}

fn cache(config: &Config, geometry: &Geometry, clashes: &mut Vec<Clash>) {
    let cache = &config.cache;
    if cache.low_mark > cache.high_mark {
        let message = format!(
            "cache.low-mark ({}) is above cache.high-mark ({}): what begins at one never ends at the other",
            percent(cache.low_mark),
            percent(cache.high_mark)
        );
        let clash = Clash::new(&["cache.low-mark", "cache.high-mark"], message);
        clashes.push(clash.help("lower cache.low-mark, or raise cache.high-mark"));
    }
    if cache.capacity == Bytes::ZERO {
        if cache.power_cut.is_some() {
            let message = "cache.power-cut is given, but there is no cache that could lose anything".to_owned();
            let clash = Clash::new(&["cache.power-cut", "cache.capacity"], message);
            clashes.push(clash.help("set cache.capacity"));
        }
        return;
    }
    if cache.capacity < geometry.page_size {
        let message = format!("cache.capacity ({}) is less than a page of {}", cache.capacity, geometry.page_size);
        clashes.push(Clash::new(&["cache.capacity", "geometry.page-size"], message).help("0 turns the cache off"));
    } else if cache.sharing == CacheSharing::PerStream
        && cache.capacity < geometry.page_size * config.streams().len() as u64
    {
        let (capacity, streams) = (cache.capacity, config.streams().len());
        let message = format!(
            "cache.capacity ({capacity}) is less than a page of {} for each of {streams} streams",
            geometry.page_size
        );
        let clash = Clash::new(&["cache.capacity", "cache.sharing", "geometry.page-size"], message);
        clashes.push(clash.help("raise cache.capacity, or set cache.sharing to \"shared\""));
    }
    let sectors = geometry.page_size.as_u64() / geometry.sector_size.as_u64();
    if sectors > u64::from(Sectors::MAX) {
        let message = format!(
            "a page of {} has {sectors} sectors of {}, but the cache tells {} apart",
            geometry.page_size,
            geometry.sector_size,
            Sectors::MAX
        );
        let keys = ["geometry.sector-size", "geometry.page-size", "cache.capacity"];
        clashes.push(Clash::new(&keys, message).help("set geometry.sector-size to \"4KiB\", or turn the cache off"));
    }
}

/// The cache of the map, and the room that translation pages take; gives how many there are, 0 when they do not fit.
fn mapping(config: &Config, geometry: &Geometry, clashes: &mut Vec<Clash>) -> u32 {
    let mapping = &config.mapping;
    let Some(capacity) = mapping.cache_capacity else { return 0 };
    if entries_per_part(mapping, config.streams().len()) == Some(0) {
        let part = if mapping.sharing == MapSharing::PerStream { " for each stream" } else { "" };
        let message = format!("mapping.cache-capacity ({capacity}) holds no entry of {}{part}", mapping.entry_size);
        let clash = Clash::new(&["mapping.cache-capacity", "mapping.entry-size"], message);
        clashes.push(clash.help("raise mapping.cache-capacity, or leave it away for a map that is in DRAM altogether"));
    }
    let page_size = geometry.page_size;
    if mapping.stored_entry_size > page_size {
        let message = format!(
            "mapping.stored-entry-size ({}) is larger than geometry.page-size ({page_size}): a translation page holds no entry",
            mapping.stored_entry_size
        );
        let clash = Clash::new(&["mapping.stored-entry-size", "geometry.page-size"], message);
        clashes.push(clash.help("lower mapping.stored-entry-size, or raise geometry.page-size"));
        return 0;
    }
    if let Some(read_size) = mapping.read_size {
        if read_size > page_size {
            let message = format!("mapping.read-size ({read_size}) is larger than geometry.page-size ({page_size})");
            let clash = Clash::new(&["mapping.read-size", "geometry.page-size"], message);
            clashes.push(clash.help("leave mapping.read-size away for whole pages, or lower it"));
        }
        if mapping.fill == MapFill::Page && read_size < page_size {
            let message = format!("mapping.fill is `page`, but only {read_size} of a translation page are read");
            let clash = Clash::new(&["mapping.fill", "mapping.read-size"], message);
            clashes.push(clash.help("leave mapping.read-size away, or set mapping.fill to `entry`"));
        }
    }
    if let Some(read_size) = mapping.write_back_read_size
        && read_size > page_size
    {
        let message =
            format!("mapping.write-back-read-size ({read_size}) is larger than geometry.page-size ({page_size})");
        let clash = Clash::new(&["mapping.write-back-read-size", "geometry.page-size"], message);
        clashes.push(clash.help("leave mapping.write-back-read-size away for whole pages, or lower it"));
    }
    if mapping.write_back_buffer > Bytes::ZERO && mapping.write_back_buffer < page_size {
        let buffer = mapping.write_back_buffer;
        let message = format!("mapping.write-back-buffer ({buffer}) holds no page of geometry.page-size ({page_size})");
        let clash = Clash::new(&["mapping.write-back-buffer", "geometry.page-size"], message);
        clashes.push(clash.help("raise mapping.write-back-buffer to a page at least, or set it to 0 for none"));
    }
    let Some(translation) = TranslationPages::new(geometry, mapping) else { return 0 };
    let needed = u64::from(spare_blocks_min(config));
    let pages = u64::from(geometry.logical_pages) + u64::from(translation.count());
    let blocks = pages.div_ceil(u64::from(geometry.planes())).div_ceil(u64::from(geometry.pages_per_block));
    let spare = u64::from(geometry.blocks_per_plane).saturating_sub(blocks);
    if spare < needed {
        let message = format!(
            "the map lies in {} translation pages; with them a plane has {spare} blocks to spare, and needs {needed} of them",
            translation.count()
        );
        let keys = [
            "mapping.cache-capacity",
            "geometry.over-provisioning",
            "geometry.capacity",
            "geometry.blocks-per-plane",
            "mapping.stored-entry-size",
        ];
        clashes.push(Clash::new(&keys, message).help(MORE_SPARE));
        return 0;
    }
    translation.count()
}

fn commands(config: &Config, clashes: &mut Vec<Clash>) {
    let flash = &config.flash;
    if config.ftl.write_binding == WriteBinding::Early && flash.program_order == ProgramOrder::InOrder {
        let message = "ftl.write-binding is `early`, which programs the pages of a block in any order, and flash.program-order is \
                       `in-order`"
            .to_owned();
        let clash = Clash::new(&["ftl.write-binding", "flash.program-order"], message);
        clashes.push(clash.help("set flash.program-order to `any`, or ftl.write-binding to `late`"));
    }
    if flash.read_cache && !flash.die_interleaving {
        let message = "flash.read-cache frees a die that holds data, and with flash.die-interleaving = false a chip takes nothing \
                       until all its data has left"
            .to_owned();
        clashes.push(Clash::new(&["flash.read-cache", "flash.die-interleaving"], message).help("choose one of them"));
    }
    let tables = [
        ("flash.read-command-time", &flash.read_command_time),
        ("flash.program-command-time", &flash.program_command_time),
        ("flash.erase-command-time", &flash.erase_command_time),
    ];
    for (key, times) in tables.into_iter().filter_map(|(key, times)| Some((key, times.as_ref()?))) {
        if times.0.is_empty() || !times.0.is_sorted() {
            let message =
                format!("{key} needs times for one plane, for two, and so on, none shorter than the one before");
            clashes.push(Clash::new(&[key], message));
        }
    }
}
