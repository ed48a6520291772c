//! Checks of a complete configuration that involve several keys.

mod mapping;
mod mapping_units;
mod planes;
mod replication;
mod slc;
mod streams;
mod stripe;

use crate::cache::Sectors;
use crate::config::{
    CacheSharing, Config, ConfigConflict, HoldPath, PageMove, PreconditionKind, ProgramOrder, WriteBinding,
};
use crate::error::GeometryError;
use crate::fabric;
use crate::flash::geometry::Geometry;
use crate::ftl::{blocks_for_gathering, spare_blocks_min};
use crate::policies;
use crate::units::{Bytes, Share};

/// Advice for messages: how to give every plane more spare blocks.
const MORE_SPARE: &str =
    "raise geometry.over-provisioning or geometry.blocks-per-plane, or lower geometry.capacity where it is given";

/// Returns all conflicts between keys of `config`. Each key must be within its own bounds.
pub(super) fn conflicts(config: &Config) -> Vec<ConfigConflict> {
    let mut clashes = Vec::new();
    mapping_units::add_conflicts(config, &mut clashes);
    slc::add_conflicts(config, &mut clashes);
    let geometry = match Geometry::from_config(config) {
        Ok(geometry) => Some(geometry),
        Err(error) => {
            clashes.push(geometry_clash(&error));
            None
        }
    };
    if let Err(error) = fabric::check(fabric::info_of(config.fabric.kind), config) {
        clashes.push(ConfigConflict::new(&error.keys, error.message).with_help(&error.help));
    }
    commands(config, &mut clashes);
    let translation_pages =
        geometry.as_ref().map_or(0, |geometry| mapping::add_conflicts(config, geometry, &mut clashes));
    collection(config, geometry.as_ref(), translation_pages, &mut clashes);
    independent_planes(config, &mut clashes);
    if let Some(geometry) = &geometry {
        cache(config, geometry, &mut clashes);
    }
    precondition(config, &mut clashes);
    clashes.extend(policies::conflicts(config, geometry.as_ref()));
    streams::add_conflicts(config, geometry.as_ref(), &mut clashes);
    if let Some(geometry) = &geometry {
        // If the drive has no space for its logical pages, skip checks that number all pages, because their number may overflow. `clashes`
        // then contains the error about the space already.
        let tells_of_room = ["geometry.over-provisioning", "mapping.stored-entry-size"];
        let fits = !clashes.iter().flat_map(|clash| &clash.keys).any(|key| tells_of_room.contains(&key.as_str()));
        if fits {
            planes::add_conflicts(config, geometry, &mut clashes);
            replication::add_conflicts(config, geometry, &mut clashes);
        }
    }
    clashes
}

fn precondition(config: &Config, clashes: &mut Vec<ConfigConflict>) {
    if config.precondition.kind == PreconditionKind::Random && config.precondition.fill == 0.0 {
        let message = "precondition.kind is `random`, but precondition.fill is 0: there is nothing to write".to_owned();
        let clash = ConfigConflict::new(&["precondition.fill", "precondition.kind"], message);
        clashes.push(clash.with_help("raise precondition.fill, or set precondition.kind to \"none\""));
    }
}

fn geometry_clash(error: &GeometryError) -> ConfigConflict {
    let clash = |keys: &[&'static str]| ConfigConflict::new(keys, format!("[geometry] {error}"));
    match error {
        GeometryError::TooManyPages { .. } => clash(&[
            "geometry.blocks-per-plane",
            "geometry.pages-per-block",
            "geometry.page-size",
            "geometry.chips-per-channel",
            "geometry.channels",
            "geometry.dies-per-chip",
            "geometry.planes-per-die",
        ]),
        GeometryError::TooManyDies { .. } => {
            clash(&["geometry.channels", "geometry.chips-per-channel", "geometry.dies-per-chip"])
        }
        GeometryError::Capacity { parity_stripe, .. } => {
            let keys = [
                "geometry.capacity",
                "geometry.blocks-per-plane",
                "geometry.pages-per-block",
                "geometry.page-size",
                "geometry.channels",
                "geometry.chips-per-channel",
                "geometry.dies-per-chip",
                "geometry.planes-per-die",
                "ftl.parity",
            ];
            let with_parity = if parity_stripe.is_some() { keys.len() } else { keys.len() - 1 };
            clash(&keys[..with_parity])
                .with_help("set geometry.capacity, or geometry.over-provisioning in its place, to what fits the array")
        }
        GeometryError::TooLittleSpare { .. } => clash(&[
            "geometry.capacity",
            "geometry.over-provisioning",
            "geometry.blocks-per-plane",
            "geometry.pages-per-block",
            "geometry.channels",
            "geometry.chips-per-channel",
            "geometry.dies-per-chip",
            "geometry.planes-per-die",
        ]),
        GeometryError::Key { key, .. } => match *key {
            "page-size" => clash(&["geometry.page-size"]),
            "sector-size" => clash(&["geometry.sector-size", "geometry.page-size"]),
            "planes-per-die" => clash(&["geometry.planes-per-die"]),
            _ => clash(&[]),
        },
    }
}

/// Returns `share` as a percentage with up to three decimals and no trailing zeros.
fn percent(share: f64) -> String {
    let rounded = format!("{:.3}", share * 100.0);
    format!("{} %", rounded.trim_end_matches('0').trim_end_matches('.'))
}

fn independent_planes(config: &Config, clashes: &mut Vec<ConfigConflict>) {
    if !config.planes_read_alone() {
        return;
    }
    if config.dies_start_together() {
        let message = "flash.multi-plane is `independent`, so that planes begin reads beside each other, and with flash.die-start = \"together\" a \
                       chip begins nothing while one of its dies works"
            .to_owned();
        let clash = ConfigConflict::new(&["flash.multi-plane", "flash.die-start"], message);
        clashes.push(clash.with_help("set flash.die-start to \"independent\""));
    }
    if config.fabric.hold_path != HoldPath::Never {
        let message = format!(
            "flash.multi-plane is `independent`, and fabric.hold-path = \"{}\" keeps the path of a die for one operation",
            config.fabric.hold_path
        );
        let clash = ConfigConflict::new(&["flash.multi-plane", "fabric.hold-path"], message);
        clashes.push(clash.with_help("set fabric.hold-path to \"never\""));
    }
}

fn collection(config: &Config, geometry: Option<&Geometry>, translation_pages: u32, clashes: &mut Vec<ConfigConflict>) {
    let gc = &config.gc;
    if gc.hard_threshold > gc.threshold {
        let message = format!(
            "gc.hard-threshold ({}) is above gc.threshold ({}): collection would be urgent before it begins",
            Share(gc.hard_threshold),
            Share(gc.threshold)
        );
        clashes.push(ConfigConflict::new(&["gc.hard-threshold", "gc.threshold"], message));
    }
    if gc.background_threshold > 0.0 && gc.background_threshold < gc.threshold {
        let message = format!(
            "gc.background-threshold ({}) is below gc.threshold ({}): idle time would never be used",
            Share(gc.background_threshold),
            Share(gc.threshold)
        );
        let clash = ConfigConflict::new(&["gc.background-threshold", "gc.threshold"], message);
        clashes.push(clash.with_help("raise it above gc.threshold, or set it to 0 to turn background collection off"));
    }
    if gc.copyback && gc.r#move.crosses_chips() {
        let message = format!("gc.copyback keeps pages in their plane, and gc.move is `{}`", gc.r#move);
        clashes.push(ConfigConflict::new(&["gc.move", "gc.copyback"], message).with_help("choose one of them"));
    }
    if gc.r#move == PageMove::Clean && !config.flash.die_interleaving {
        let message = "gc.move is `clean`, for which a die goes on by itself, and with flash.die-interleaving = false the dies of a chip \
                       take turns"
            .to_owned();
        let clash = ConfigConflict::new(&["gc.move", "flash.die-interleaving"], message);
        clashes.push(clash.with_help("set flash.die-interleaving to true, or gc.move to \"chip-to-chip\""));
    }
    let Some(geometry) = geometry else { return };
    let spare_blocks = geometry.spare_blocks_per_plane();
    let needed = spare_blocks_min(config);
    let is_map_in_dram = config.mapping.cache_capacity.is_none() && !config.persistence.has_journal();
    if is_map_in_dram && spare_blocks < needed {
        let mut keys = Vec::new();
        let mut reasons = Vec::new();
        if gc.r#move.crosses_chips() {
            keys.push("gc.move");
            reasons.push(match gc.r#move {
                PageMove::Clean => "gc.move is `clean`, which needs one for pages from other chips",
                _ => "gc.move is `chip-to-chip`, which needs one for pages from other chips",
            });
        }
        if config.ftl.write_binding == WriteBinding::Early {
            keys.push("ftl.write-binding");
            reasons.push("ftl.write-binding is `early`, which needs one for pages that wait for their programs");
        }
        if config.replication.enabled {
            keys.push("replication.enabled");
            reasons.push("replication.enabled needs one for copies");
        }
        let of_slc = slc::reason(config);
        if config.slc.is_on() {
            keys.push("slc.blocks-per-plane");
            reasons.push(&of_slc);
        }
        let gathering = blocks_for_gathering(config);
        let gathers = format!(
            "programs write several mapping units (ftl.mapping-unit, flash.program-unit), which needs {gathering} for what they leave empty"
        );
        if gathering > 0 {
            keys.push("ftl.mapping-unit");
            reasons.push(&gathers);
        }
        if gathering > 0 && config.parity_stripe().is_some() {
            keys.push("ftl.parity");
        }
        keys.extend(["geometry.over-provisioning", "geometry.capacity", "geometry.blocks-per-plane"]);
        let message = format!(
            "a plane has {spare_blocks} blocks to spare, and needs {needed} of them: {}",
            reasons.join(", and ")
        );
        // A block of one program cannot be collected, so more spare blocks would not help.
        let is_hopeless = gathering > config.geometry.blocks_per_plane;
        let help =
            if is_hopeless { "raise geometry.pages-per-block: a block is one program of data" } else { MORE_SPARE };
        clashes.push(ConfigConflict::new(&keys, message).with_help(help));
        if config.slc.is_on() {
            return;
        }
    }
    let occupied = f64::from(geometry.logical_pages) + f64::from(translation_pages);
    let pages = f64::from(geometry.native_pages_per_plane()) * f64::from(geometry.planes());
    let spare = (1.0 - occupied / pages.max(1.0)).max(0.0);
    if gc.threshold >= spare {
        let message = format!(
            "gc.threshold ({}) is not below the spare space ({}): a full drive would be collected for ever",
            percent(gc.threshold),
            percent(spare)
        );
        let keys = ["gc.threshold", "geometry.over-provisioning", "geometry.capacity", "slc.blocks-per-plane"];
        let (keys, help) = if config.slc.is_on() {
            (&keys[..], "lower gc.threshold or slc.blocks-per-plane, or raise geometry.over-provisioning")
        } else {
            (&keys[..3], "lower gc.threshold or raise geometry.over-provisioning")
        };
        clashes.push(ConfigConflict::new(keys, message).with_help(help));
    }
}

fn cache(config: &Config, geometry: &Geometry, clashes: &mut Vec<ConfigConflict>) {
    let cache = &config.cache;
    if cache.low_mark > cache.high_mark {
        let message = format!(
            "cache.low-mark ({}) is above cache.high-mark ({}): what begins at one never ends at the other",
            percent(cache.low_mark),
            percent(cache.high_mark)
        );
        let clash = ConfigConflict::new(&["cache.low-mark", "cache.high-mark"], message);
        clashes.push(clash.with_help("lower cache.low-mark, or raise cache.high-mark"));
    }
    if cache.capacity == Bytes::ZERO {
        return;
    }
    if !cache.flush_programs && !config.power.capacitors {
        let message = "cache.flush-programs is false, and without power.capacitors a cut of the power loses what the cache holds: a flush would \
                       promise what is not kept"
            .to_owned();
        let clash = ConfigConflict::new(&["cache.flush-programs", "power.capacitors"], message);
        clashes.push(clash.with_help("set cache.flush-programs or power.capacitors to true"));
    }
    if cache.capacity < geometry.page_size {
        let message = format!("cache.capacity ({}) is less than a page of {}", cache.capacity, geometry.page_size);
        clashes.push(
            ConfigConflict::new(&["cache.capacity", "geometry.page-size"], message).with_help("0 turns the cache off"),
        );
    } else if cache.sharing == CacheSharing::PerStream
        && cache.capacity < geometry.page_size * config.streams().len() as u64
    {
        let (capacity, streams) = (cache.capacity, config.streams().len());
        let message = format!(
            "cache.capacity ({capacity}) is less than a page of {} for each of {streams} streams",
            geometry.page_size
        );
        let clash = ConfigConflict::new(&["cache.capacity", "cache.sharing", "geometry.page-size"], message);
        clashes.push(clash.with_help("raise cache.capacity, or set cache.sharing to \"shared\""));
    }
    stripe::stripe(config, geometry, clashes);
    let sectors = geometry.page_size.as_u64() / geometry.sector_size.as_u64();
    if sectors > u64::from(Sectors::MAX) {
        let message = format!(
            "a page of {} has {sectors} sectors of {}, but the cache tells {} apart",
            geometry.page_size,
            geometry.sector_size,
            Sectors::MAX
        );
        let keys = ["geometry.sector-size", "geometry.page-size", "cache.capacity"];
        clashes.push(
            ConfigConflict::new(&keys, message)
                .with_help("set geometry.sector-size to \"4KiB\", or turn the cache off"),
        );
    }
}

fn commands(config: &Config, clashes: &mut Vec<ConfigConflict>) {
    let flash = &config.flash;
    if config.ftl.write_binding == WriteBinding::Early && flash.program_order == ProgramOrder::InOrder {
        let message = "ftl.write-binding is `early`, which programs the pages of a block in any order, and flash.program-order is \
                       `in-order`"
            .to_owned();
        let clash = ConfigConflict::new(&["ftl.write-binding", "flash.program-order"], message);
        clashes.push(clash.with_help("set flash.program-order to `any`, or ftl.write-binding to `late`"));
    }
    if flash.read_cache && !flash.die_interleaving {
        let message = "flash.read-cache frees a die that holds data, and with flash.die-interleaving = false a chip takes nothing \
                       until all its data has left"
            .to_owned();
        clashes.push(
            ConfigConflict::new(&["flash.read-cache", "flash.die-interleaving"], message)
                .with_help("choose one of them"),
        );
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
            clashes.push(ConfigConflict::new(&[key], message));
        }
    }
}
