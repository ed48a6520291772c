//! An interconnect of the caller's own takes the place of the configured one whole: nothing of its contract is left out on the way.

use flashmesh::config::{Config, FabricKind, Move};
use flashmesh::fabric::{AnyFabric, Facts, facts};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};

use crate::support::drives::{drive_with_held_paths, steady_drive};

/// The kind that `config` names, each of whose interconnects is behind a trait object.
fn by_hand(config: &Config) -> &'static Facts {
    let known = facts(config.fabric.kind);
    Box::leak(Box::new(Facts {
        build: |config, geometry| Ok(AnyFabric::Custom(Box::new((facts(config.fabric.kind).build)(config, geometry)?))),
        held: Some(|config, geometry| {
            let build = facts(config.fabric.kind).held.expect("its paths can be held");
            Ok(AnyFabric::Custom(Box::new(build(config, geometry)?)))
        }),
        ..known.clone()
    }))
}

fn report(mut simulation: Simulation) -> Report {
    simulation.enable_checks();
    simulation.run(&Control::default()).expect("the run ends and no oracle speaks")
}

fn assert_same(config: &Config, name: &str) {
    let configured = Simulation::new(config).expect("the drive can be built");
    let by_hand = Simulation::over(config, by_hand(config)).expect("the drive can be built");
    let [configured, by_hand] = [configured, by_hand].map(|simulation| {
        let mut report = serde_json::to_value(report(simulation)).expect("a report can be written");
        for of_the_process in ["peak_rss_bytes", "wall_s", "requests_per_wall_s"] {
            report.as_object_mut().expect("a report is an object").remove(of_the_process);
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
