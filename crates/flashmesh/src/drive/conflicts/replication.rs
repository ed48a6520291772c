//! Check that a drive has other dies and enough spare space for replicas of pages.

use super::percent;
use crate::config::{Config, ConfigConflict};
use crate::flash::geometry::Geometry;
use crate::ftl::Partition;
use crate::ids::PlaneId;

pub(super) fn add_conflicts(config: &Config, geometry: &Geometry, clashes: &mut Vec<ConfigConflict>) {
    let own = &config.replication;
    if !own.enabled {
        return;
    }
    if geometry.dies() == 1 {
        let message = "replication.enabled is true, but the drive has one die: a copy of a page belongs on another one";
        let keys = ["replication.enabled", "geometry.channels", "geometry.chips-per-channel", "geometry.dies-per-chip"];
        let clash = ConfigConflict::new(&keys, message.to_owned());
        clashes.push(clash.with_help("set replication.enabled to false, or raise geometry.channels"));
        return;
    }
    let copies = own.replicas_max(geometry.logical_pages);
    if copies == 0 {
        let message = format!(
            "replication.l-m ({}) of {} logical pages is less than one page: nothing can be replicated",
            percent(own.l_m),
            geometry.logical_pages
        );
        let clash = ConfigConflict::new(&["replication.l-m"], message);
        clashes.push(clash.with_help("raise replication.l-m, or set replication.enabled to false"));
        return;
    }
    // `streams::add_conflicts` reports errors in namespaces.
    let Ok(partition) = Partition::new(geometry, config) else { return };
    let room: u64 = (0..geometry.planes()).map(|plane| u64::from(partition.guests_max(PlaneId(plane)))).sum();
    if u64::from(copies) > room {
        let most = room as f64 / f64::from(geometry.logical_pages);
        let message = format!(
            "replication.l-m ({}) is {copies} copies of pages, but the spare space of the drive takes {room}",
            percent(own.l_m)
        );
        let keys = ["replication.l-m", "geometry.over-provisioning", "geometry.capacity", "geometry.blocks-per-plane"];
        // Round down, so that the suggested value is accepted.
        let help = match percent((most * 1e5).floor() / 1e5) {
            none if room == 0 || none == "0 %" => {
                "raise geometry.over-provisioning or geometry.blocks-per-plane".to_owned()
            }
            most => format!("lower replication.l-m to {most} or less, or raise geometry.over-provisioning"),
        };
        clashes.push(ConfigConflict::new(&keys, message).with_help(&help));
    }
}
