//! An interconnect that is set by hand takes the place of the configured one whole: nothing of its contract is left out on the way.

use flashmesh::config::{Config, FabricKind, Move};
use flashmesh::fabric::AnyFabric;
use flashmesh::flash::geometry::Geometry;
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};

use crate::support::drives::{drive_with_held_paths, steady_drive};

/// The report of a run, over the configured interconnect or over the same one set by hand.
fn report(config: &Config, by_hand: bool) -> Report {
    let mut simulation = Simulation::new(config).expect("the drive can be built");
    if by_hand {
        let geometry = Geometry::new(&config.geometry).expect("the geometry is possible");
        simulation.set_fabric(Box::new(AnyFabric::new(config, &geometry).expect("the interconnect fits")));
    }
    simulation.enable_checks();
    simulation.run(&Control::default()).expect("the run ends and no oracle speaks")
}

fn assert_same(config: &Config, name: &str) {
    let [configured, by_hand] = [false, true].map(|by_hand| {
        let mut report = serde_json::to_value(report(config, by_hand)).expect("a report can be written");
        // Bounds are known of known interconnects only, and the last three are of the process.
        for other in ["lower_bound", "bound", "peak_rss_bytes", "wall_s", "requests_per_wall_s"] {
            report.as_object_mut().expect("a report is an object").remove(other);
        }
        report
    });
    for (key, value) in configured.as_object().expect("a report is an object") {
        assert_eq!(value, &by_hand[key], "{name}: {key}");
    }
}

#[test]
fn every_interconnect_set_by_hand_gives_the_report_of_the_same_one_configured() {
    use FabricKind::{Bus, Ideal, Nossd, Pnssd, Pssd, Venice};
    for (kind, r#move) in [
        (Bus, Move::ThroughController),
        (Pssd, Move::ThroughController),
        (Pnssd, Move::ChipToChip),
        (Nossd, Move::ChipToChip),
        (Nossd, Move::Clean),
        (Venice, Move::ThroughController),
        (Ideal, Move::ThroughController),
    ] {
        let mut config = steady_drive(kind, 0.3);
        config.gc.r#move = r#move;
        config.workload.requests = Some(1_500);
        config.workload.read_share = 0.4;
        assert_same(&config, &format!("{kind:?}, {move:?}"));
    }
    for kind in [Bus, Pnssd, Nossd] {
        let mut config = drive_with_held_paths(1, kind);
        config.workload.requests = Some(1_500);
        assert_same(&config, &format!("{kind:?} that holds paths"));
    }
}
