//! Which layer wins: defaults, preset, file, overrides; and what a trace or a profile implies.

use std::path::{Path, PathBuf};

use flashmesh::config::{
    Allocation, Config, ConfigError, ConfigErrorKind, FabricKind, Level, Pattern, ReplayMode, Sizes, WorkloadKind,
};
use flashmesh::units::{Bytes, Rate, Time};

fn load(text: &str, overrides: &[&str]) -> Result<Config, ConfigError> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    Config::from_str(text, "drive.toml", &overrides)
}

#[track_caller]
fn read(text: &str, overrides: &[&str]) -> Config {
    load(text, overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_empty_file_is_the_default() {
    assert_eq!(read("", &[]), Config::default());
}

#[test]
fn each_layer_wins_over_the_one_below() {
    let file = "preset = \"pm9a3\"\n[flash]\nprogram-time = \"1ms\"\nerase-time = \"2ms\"";
    let config = read(file, &["flash.erase-time=5ms", "flash.erase-time=6ms"]);
    assert_eq!(config.flash.command_time, Time::from_ns(10), "default");
    assert_eq!(config.flash.read_time, Time::from_us(45), "preset");
    assert_eq!(config.flash.program_time, Time::from_ms(1), "file");
    assert_eq!(config.flash.erase_time, Time::from_ms(6), "the last override");
}

#[test]
fn an_override_may_name_another_preset() {
    let config = read("preset = \"z-nand\"\n[flash]\nerase-time = \"2ms\"", &["preset=mbm"]);
    assert_eq!(config.flash.read_time, Time::from_us(78));
    assert_eq!(config.flash.erase_time, Time::from_ms(2));
}

#[test]
fn every_text_form_is_read() {
    let text = r#"
        seed = 1_000
        [geometry]
        page-spare = "0.5KiB"
        over-provisioning = "12.5%"
        capacity = "100GB"
        [fabric]
        kind = "ideal"
        channel-rate = "unlimited"
        [ftl]
        allocation = "PDWC"
        [workload]
        requests = 1_000_000
        pattern = "hot-cold"
        hot-traffic = 1
        request-size = [["4KiB", 0.7], ["64KiB", 3]]
    "#;
    let config = read(text, &[]);
    assert_eq!(config.seed, 1000);
    assert_eq!(config.geometry.page_spare, Bytes::new(512));
    assert_eq!(config.geometry.over_provisioning, 0.125);
    assert_eq!(config.geometry.capacity, Some(Bytes::new(100_000_000_000)));
    assert_eq!(config.fabric.kind, FabricKind::Ideal);
    assert_eq!(config.fabric.channel_rate, Rate::UNLIMITED);
    assert_eq!(config.ftl.allocation, Allocation::Static([Level::Plane, Level::Die, Level::Way, Level::Channel]));
    assert_eq!(config.workload.requests, Some(1_000_000));
    assert_eq!(config.workload.pattern, Pattern::HotCold);
    assert_eq!(config.workload.hot_traffic, 1.0);
    assert_eq!(config.workload.request_size, Sizes(vec![(Bytes::from_kib(4), 0.7), (Bytes::from_kib(64), 3.0)]));
}

#[test]
fn overrides_are_toml_or_bare_texts() {
    let overrides = [
        "fabric.kind=ideal",
        "ftl.allocation = \"dynamic\"",
        " flash.read-time = 5 us ",
        "geometry.over-provisioning=10%",
        "workload.request-size=[[\"8KiB\", 1], [\"4KiB\", 1]]",
        "replay={mode = \"open\", time-scale = 2}",
        "wear.dynamic=false",
    ];
    let config = read("", &overrides);
    assert_eq!(config.fabric.kind, FabricKind::Ideal);
    assert_eq!(config.ftl.allocation, Allocation::Dynamic);
    assert_eq!(config.flash.read_time, Time::from_us(5));
    assert_eq!(config.geometry.over_provisioning, 0.1);
    assert_eq!(config.workload.request_size.0.len(), 2);
    assert_eq!((config.replay.mode, config.replay.time_scale), (ReplayMode::Open, 2.0));
    assert!(!config.wear.dynamic);
}

#[test]
fn a_trace_or_a_profile_implies_its_kind() {
    let config = read("[workload]\ntrace = \"a.csv\"", &[]);
    assert_eq!(config.workload.kind, WorkloadKind::Trace);
    let config = read("[workload]\nprofile = \"hm_0\"", &[]);
    assert_eq!(config.workload.kind, WorkloadKind::Profile);
}

#[test]
fn an_override_replaces_the_source_that_the_file_names() {
    let trace = "[workload]\ntrace = \"a.csv\"";
    let config = read(trace, &["workload.profile=hm_0"]);
    assert_eq!((config.workload.kind, config.workload.trace), (WorkloadKind::Profile, None));

    let config = read("[workload]\nprofile = \"hm_0\"", &["workload.trace=a.csv"]);
    assert_eq!((config.workload.kind, config.workload.profile), (WorkloadKind::Trace, None));

    let config = read(trace, &["workload.kind=synthetic"]);
    assert_eq!((config.workload.kind, config.workload.trace), (WorkloadKind::Synthetic, None));

    let config = read("[workload]\nkind = \"synthetic\"", &["workload.trace=a.csv"]);
    assert_eq!(config.workload.kind, WorkloadKind::Trace);
}

#[test]
fn one_layer_cannot_name_two_sources() {
    let cases: [(&str, &[&str]); 4] = [
        ("[workload]\ntrace = \"a.csv\"\nprofile = \"hm_0\"", &[]),
        ("[workload]\nkind = \"synthetic\"\ntrace = \"a.csv\"", &[]),
        ("[workload]\nkind = \"trace\"\nprofile = \"hm_0\"", &[]),
        ("", &["workload.trace=a.csv", "workload.profile=hm_0"]),
    ];
    for (text, overrides) in cases {
        let error = load(text, overrides).unwrap_err();
        assert_eq!(error.kind(), ConfigErrorKind::Conflict, "{error}");
    }
}

#[test]
fn a_trace_is_relative_to_the_file_that_names_it() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("config_layers");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("drive.toml");
    std::fs::write(&file, "[workload]\ntrace = \"traces/a.csv\"\n").unwrap();

    let config = Config::from_file(&file, &[]).unwrap();
    assert_eq!(config.workload.trace, Some(folder.join("traces/a.csv")));
    let config = Config::from_file(&file, &["workload.trace=b.csv".to_owned()]).unwrap();
    assert_eq!(config.workload.trace.as_deref(), Some(Path::new("b.csv")));
    let config = Config::from_file(&file, &["seed=1".to_owned()]).unwrap();
    assert_eq!(config.workload.trace, Some(folder.join("traces/a.csv")));

    std::fs::write(&file, "[workload]\ntrace = \"/absolute/a.csv\"\n").unwrap();
    let config = Config::from_file(&file, &[]).unwrap();
    assert_eq!(config.workload.trace.as_deref(), Some(Path::new("/absolute/a.csv")));
}

#[test]
fn a_key_that_nothing_reads_is_refused() {
    let cases: [(&str, &[&str]); 5] = [
        ("[replay]\ntime-scale = 2.0", &[]),
        ("[workload]\nzipf-theta = 0.5", &[]),
        ("[gc]\nd = 4", &[]),
        ("[wear]\nstatic-threshold = 4", &[]),
        ("[replay]\nmode = \"open\"", &["replay.outstanding=4"]),
    ];
    for (text, overrides) in cases {
        let error = load(text, overrides).unwrap_err();
        assert_eq!(error.kind(), ConfigErrorKind::Unused, "{error}");
    }
    let text = load("[replay]\ntime-scale = 2.0", &[]).unwrap_err().to_string();
    let expected = "\
error: replay.time-scale has no effect: replay.mode is \"stress\"
 --> drive.toml:2:1
  |
2 | time-scale = 2.0
  | ^^^^^^^^^^
  |
  = help: set replay.mode to \"open\", or leave time-scale away";
    assert_eq!(text, expected);
}

#[test]
fn a_key_kept_beside_the_stated_mode_is_allowed() {
    read("[replay]\nmode = \"open\"\noutstanding = 16", &[]);
    read("[replay]\noutstanding = 16", &["replay.mode=open"]);
    read("[gc]\nvictim = \"d-choices\"\nd = 4", &["gc.victim=greedy"]);
}

#[test]
fn the_hash_tells_configurations_apart_and_not_folders() {
    let (base, other) = (read("", &[]), read("", &["seed=1"]));
    assert_eq!(base.hash(), read("preset = \"z-nand\"", &[]).hash());
    assert_ne!(base.hash(), other.hash());
    assert_eq!(base.hash().len(), 64);

    let (near, far) = (read("", &["workload.trace=a.csv"]), read("", &["workload.trace=far/away/a.csv"]));
    assert_eq!(near.hash(), far.hash());
    assert_ne!(near.hash(), read("", &["workload.trace=b.csv"]).hash());
}
