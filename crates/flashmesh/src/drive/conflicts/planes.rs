//! Check that every plane has enough spare blocks, for drives with namespaces bound to planes or with open blocks for each stream.

use super::percent;
use crate::config::{Config, ConfigConflict};
use crate::flash::geometry::Geometry;
use crate::flash::namespace::ResolvedNamespace;
use crate::ftl::Partition;
use crate::ids::PlaneId;

/// Returns the namespaces as subject and verb of a message ("namespace `a` puts"), and the keys that determine their size and planes.
fn names(config: &Config, namespaces: &[&ResolvedNamespace]) -> (String, Vec<String>) {
    if config.namespace.is_empty() {
        return ("the drive puts".to_owned(), Vec::new());
    }
    let quoted: Vec<String> = namespaces.iter().map(|namespace| format!("`{}`", namespace.name)).collect();
    let keys = ["capacity", "channels", "ways", "dies", "planes"];
    let keys = namespaces.iter().flat_map(|space| keys.map(|key| format!("namespace.{}.{key}", space.name)));
    let who = match quoted.as_slice() {
        [only] => format!("namespace {only} puts"),
        [first @ .., last] => format!("namespaces {} and {last} put", first.join(", ")),
        [] => "no namespace puts".to_owned(),
    };
    (who, keys.collect())
}

/// Adds a conflict if a plane has too few spare blocks, or, on a drive with namespaces, too little spare space for `gc.threshold`. Checks only drives
/// with namespaces or with open blocks of each stream.
pub(super) fn add_conflicts(config: &Config, geometry: &Geometry, clashes: &mut Vec<ConfigConflict>) {
    // `streams::add_conflicts` reports errors in namespaces and queues.
    let (Ok(partition), Ok(namespaces)) = (Partition::new(geometry, config), config.namespaces(geometry)) else {
        return;
    };
    let writes_apart = config.ftl.write_streams.separates_streams();
    if config.namespace.is_empty() && !writes_apart {
        return;
    }
    let planes = || (0..geometry.planes()).map(PlaneId);
    // Returns the namespaces on a plane, the one with the most pages on the plane first.
    let of = |plane| -> Vec<&ResolvedNamespace> {
        let density = |space: &ResolvedNamespace| {
            space.capacity.as_u64() / planes().filter(|&plane| space.has_plane(geometry, plane)).count() as u64
        };
        let mut found: Vec<_> = namespaces.iter().filter(|namespace| namespace.has_plane(geometry, plane)).collect();
        found.sort_by_cached_key(|space| std::cmp::Reverse(density(space)));
        found
    };
    let lacking = |plane: PlaneId| partition.spare_blocks_needed(plane).saturating_sub(partition.spare_blocks(plane));
    let Some(worst) = planes().min_by_key(|&plane| std::cmp::Reverse(lacking(plane))) else { return };
    if lacking(worst) > 0 {
        let too_full = planes().filter(|&plane| lacking(plane) > 0).count();
        let (who, mut keys) = names(config, &of(worst));
        let (load, spare, needed) =
            (partition.pages_when_full(worst), partition.spare_blocks(worst), partition.spare_blocks_needed(worst));
        let apart = if writes_apart { ", one of them for each stream that writes there" } else { "" };
        let message = format!(
            "{who} {load} pages on a plane of {}, which leaves {spare} blocks to spare where {needed} are needed{apart}; so it is with \
             {too_full} of {} planes",
            geometry.native_pages_per_plane(),
            geometry.planes()
        );
        let help = match (of(worst).first().filter(|_| !config.namespace.is_empty()), writes_apart) {
            (Some(most), true) => format!(
                "lower namespace.{}.capacity ({}), bind it to more planes, or set ftl.write-streams to \"shared\"",
                most.name, most.capacity
            ),
            (Some(most), false) => {
                format!("lower namespace.{}.capacity ({}), or bind it to more planes", most.name, most.capacity)
            }
            (None, _) => {
                "set ftl.write-streams to \"shared\", raise geometry.over-provisioning or lower geometry.capacity"
                    .to_owned()
            }
        };
        if writes_apart {
            keys.push("ftl.write-streams".to_owned());
        }
        keys.extend(["geometry.capacity", "geometry.over-provisioning"].map(str::to_owned));
        clashes.push(ConfigConflict { keys, ..ConfigConflict::new(&[], message).with_help(&help) });
        return;
    }
    let Some(fullest) = planes().min_by_key(|&plane| std::cmp::Reverse(partition.pages_when_full(plane))) else {
        return;
    };
    let spare = 1.0 - f64::from(partition.pages_when_full(fullest)) / f64::from(geometry.native_pages_per_plane());
    if config.gc.threshold >= spare && !config.namespace.is_empty() {
        let (who, keys) = names(config, &of(fullest));
        let message = format!(
            "{who} so many pages on a plane that {} of it stay spare, and gc.threshold ({}) is not below that: it would be collected for ever",
            percent(spare),
            percent(config.gc.threshold)
        );
        let keys = ["gc.threshold".to_owned()].into_iter().chain(keys).collect();
        clashes.push(ConfigConflict {
            keys,
            ..ConfigConflict::new(&[], message).with_help("lower gc.threshold, or bind it to more planes")
        });
    }
}
