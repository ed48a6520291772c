//! User-defined interconnects: every method of the trait `Fabric` has the same effect as for a built-in interconnect.

use flashmesh::config::{Config, FabricKind, PageMove, ParameterSpec};
use flashmesh::fabric::{AnyFabric, FabricInfo, info_of};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};

use crate::support::drives::{drive_with_held_paths, steady_drive};

/// Returns the built-in interconnect of `config`, wrapped as a user-defined one.
fn by_hand(config: &Config) -> &'static FabricInfo {
    let known = info_of(config.fabric.kind);
    Box::leak(Box::new(FabricInfo {
        build: |config, geometry| {
            Ok(AnyFabric::Custom(Box::new((info_of(config.fabric.kind).build)(config, geometry)?)))
        },
        build_held: Some(|config, geometry| {
            let build = info_of(config.fabric.kind).build_held.expect("the kind supports held paths");
            Ok(AnyFabric::Custom(Box::new(build(config, geometry)?)))
        }),
        ..known.clone()
    }))
}

fn report(mut simulation: Simulation) -> Report {
    simulation.enable_checks();
    simulation.run(&Control::default()).expect("the run ends without a violation")
}

fn assert_same(config: &Config, name: &str) {
    let configured = Simulation::new(config).expect("the drive can be built");
    let by_hand = Simulation::with_interconnect(config, by_hand(config)).expect("the drive can be built");
    let [configured, by_hand] = [configured, by_hand].map(|simulation| {
        let mut report = serde_json::to_value(report(simulation)).expect("the report can be serialised");
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
        (Bus, PageMove::ThroughController),
        (Pssd, PageMove::ThroughController),
        (Pnssd, PageMove::ChipToChip),
        (Nossd, PageMove::ChipToChip),
        (Nossd, PageMove::Clean),
        (Venice, PageMove::ThroughController),
        (Ideal, PageMove::ThroughController),
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
        assert_same(&config, &format!("{kind:?} with held paths"));
    }
}

/// Returns a copy of the bus under another name. With `can`, the copy also supports the optional keys and held paths of the bus.
fn seventh(can: bool) -> &'static FabricInfo {
    let bus = info_of(FabricKind::Bus);
    let held = bus.build_held.filter(|_| can);
    let obeys = if can { bus.used_keys } else { &[] };
    Box::leak(Box::new(FabricInfo { name: "seventh", used_keys: obeys, build_held: held, ..bus.clone() }))
}

/// Runs interconnect `kind` with `key = value` (unless `key` is empty). Returns the report, or the error of the configuration or of the run.
fn over(kind: &'static FabricInfo, key: &str, value: &str) -> Result<serde_json::Value, String> {
    let text = "geometry = { channels = 2, chips-per-channel = 4, dies-per-chip = 2, page-size = \"16KiB\", blocks-per-plane = 16, pages-per-block = 16, over-provisioning = 0.5 }\n\
                workload = { requests = 600, read-share = 0.5 }\nprecondition.kind = \"random\"\nreplay.outstanding = 256\n";
    // `kind` replaces the configured interconnect, which only has to accept the value of `gc.move`.
    let moves = key == "gc.move" || kind.moves.len() > 1;
    let mut settings = vec![format!("fabric.kind={}", if moves { "nossd" } else { "bus" })];
    settings.extend((!key.is_empty()).then(|| format!("{key}={value}")));
    let config = Config::from_str(text, "drive.toml", &settings);
    let config = config.map_err(|error| format!("{error}"))?;
    let mut json = Simulation::with_interconnect(&config, kind)
        .map_err(|error| error.to_string())?
        .run(&Control::default())
        .map_err(|error| error.to_string())?
        .to_json();
    let report = json.as_object_mut().expect("a report is an object");
    report.retain(|key, _| {
        !["peak_rss_bytes", "wall_s", "requests_per_wall_s", "config", "config_hash"].contains(&key.as_str())
    });
    Ok(json)
}

/// Returns the values to test: all choices of the parameter but the default, or another rate for `fabric.channel-rate`.
fn values(spec: &ParameterSpec) -> Vec<String> {
    let choices: Vec<String> = spec.choices.iter().map(|choice| choice.name.to_owned()).collect();
    let values = match spec.path().as_str() {
        "fabric.channel-rate" => vec!["100MB/s".to_owned()],
        _ => choices,
    };
    let default = spec.default_text.clone().unwrap_or_default();
    values.into_iter().filter(|value| default.trim_matches('"') != value).collect()
}

#[test]
fn every_option_acts_on_a_seventh_kind_that_has_it_and_is_refused_by_name_on_one_that_lacks_it() {
    let plain = over(seventh(true), "", "").expect("the run succeeds");
    let (mut of_kinds, mut of_all) = (0, 0);
    for spec in Config::sections().iter().flat_map(|section| &section.parameters) {
        let key = spec.path();
        if key == "fabric.kind" || !["fabric", "schedule", "ftl", "gc"].contains(&spec.section) {
            continue;
        }
        for value in values(spec) {
            let [able, unable] = [true, false].map(|can| over(seventh(can), &key, &value));
            let name = format!("{key} = {value}");
            if spec.section == "fabric" {
                let refused = unable.expect_err(&name);
                assert!(refused.contains(&key) && refused.contains("seventh"), "{name}: {refused}");
                assert_ne!(able.expect(&name), plain, "{name}");
                of_kinds += 1;
            } else if key == "gc.move" {
                let refused = able.expect_err(&name);
                assert!(refused.contains(&key) && refused.contains("seventh"), "{name}: {refused}");
                let mover: &'static FabricInfo =
                    Box::leak(Box::new(FabricInfo { name: "seventh", ..info_of(FabricKind::Nossd).clone() }));
                assert_ne!(over(mover, &key, &value).expect(&name), over(mover, "", "").expect(&name), "{name}");
            } else {
                // The result must equal that of the built-in bus: the report, or the error if the configuration excludes the value.
                assert_eq!(able, over(info_of(FabricKind::Bus), &key, &value), "{name}");
                assert_eq!(able, unable, "{name}");
                of_all += 1;
            }
        }
    }
    assert!(of_kinds >= 9 && of_all > 20, "{of_kinds} and {of_all}");
}
