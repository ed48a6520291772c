//! Whether a firmware policy can work on the drive.

use crate::config::{Clash, Config, FirmwarePolicy, KindOrder, Priorities, SchedulePolicy, WriteBinding, WriteStreams};
use crate::flash::geometry::Geometry;
use crate::ids::PlaneId;

/// What does not go together with a policy that brings its own scheduling.
fn scheduling(config: &Config, clashes: &mut Vec<Clash>) {
    let schedule = &config.schedule;
    let others = [
        (
            "schedule.policy",
            schedule.policy.name(),
            [SchedulePolicy::OutOfOrder, SchedulePolicy::Sprinkler].contains(&schedule.policy),
        ),
        ("schedule.order", schedule.order.name(), schedule.order == KindOrder::ReadFirst),
        ("schedule.priorities", schedule.priorities.name(), schedule.priorities == Priorities::Off),
    ];
    for (key, value, is_default) in others {
        if !is_default {
            let message =
                format!("ftl.policy is `sprinkler`, which schedules as Sprinkler does, and {key} is `{value}`");
            clashes.push(
                Clash::new(&[key, "ftl.policy"], message)
                    .help(&format!("leave {key} away, or set ftl.policy to \"page\"")),
            );
        }
    }
}

/// What a policy cannot go together with.
pub(super) fn clashes(config: &Config, geometry: Option<&Geometry>, clashes: &mut Vec<Clash>) {
    let policy = config.ftl.policy;
    match policy {
        FirmwarePolicy::Page => return,
        FirmwarePolicy::Sprinkler => return scheduling(config, clashes),
        FirmwarePolicy::Tbm | FirmwarePolicy::Mbm => {}
    }
    let mut refuse = |condition: bool, key: &str, why: &str, help: &str| {
        if condition {
            let message = format!("ftl.policy is `{policy}`, {why}");
            clashes
                .push(Clash::new(&[key, "ftl.policy"], message).help(&format!("{help}, or choose another ftl.policy")));
        }
    };
    refuse(
        config.geometry.planes_per_die < 2,
        "geometry.planes-per-die",
        "which has the planes of a die work together, and geometry.planes-per-die is 1",
        "raise geometry.planes-per-die to 2 or more",
    );
    refuse(
        config.ftl.write_binding == WriteBinding::Early,
        "ftl.write-binding",
        "which chooses the plane of a write, and ftl.write-binding `early` gives it a page before",
        "set ftl.write-binding to \"late\"",
    );
    refuse(
        config.ftl.write_streams == WriteStreams::PerStream,
        "ftl.write-streams",
        "which has planes of a die write at one pointer, and ftl.write-streams is `per-stream`",
        "set ftl.write-streams to \"shared\"",
    );
    if policy != FirmwarePolicy::Tbm {
        return;
    }
    refuse(
        config.gc.copyback,
        "gc.copyback",
        "which spreads moved pages over the planes of a die, and gc.copyback keeps them in their plane",
        "set gc.copyback to false",
    );
    refuse(
        config.gc.r#move.leaves_the_chip(),
        "gc.move",
        &format!("which keeps moved pages in their die, and gc.move is `{}`", config.gc.r#move),
        "set gc.move to \"through-controller\"",
    );
    let Some(namespaces) = geometry.and_then(|geometry| config.namespaces(geometry).ok()) else { return };
    let Some(geometry) = geometry else { return };
    let divides = namespaces.iter().find(|space| {
        let has = |plane: u32| space.has_plane(geometry, PlaneId(plane));
        (0..geometry.planes()).any(|plane| has(plane) != has(plane / geometry.planes_per_die * geometry.planes_per_die))
    });
    if let Some(space) = divides {
        let key = format!("namespace.{}.planes", space.name);
        let why = format!("which uses all planes of a die together, and {key} divides them");
        refuse(true, &key, &why, &format!("leave {key} away"));
    }
}
