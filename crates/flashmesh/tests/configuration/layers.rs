//! Precedence of layers: defaults, preset, file, overrides; and the settings that a trace or a profile implies.

use std::path::{Path, PathBuf};

use flashmesh::config::{
    Allocation, ArrayLevel, Config, ConfigError, ConfigErrorKind, FabricKind, Pattern, ReplayMode, Sizes, WorkloadKind,
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
    let file = "preset = \"venice-pm9a3\"\n[flash]\nprogram-time = \"1ms\"\nerase-time = \"2ms\"";
    let config = read(file, &["flash.erase-time=5ms", "flash.erase-time=6ms"]);
    assert_eq!(config.flash.command_time, Time::from_ns(10), "default");
    assert_eq!(config.flash.read_time, Time::from_us(45), "preset");
    assert_eq!(config.flash.program_time, Time::from_ms(1), "file");
    assert_eq!(config.flash.erase_time, Time::from_ms(6), "the last override wins");
}

#[test]
fn a_later_share_of_spare_space_replaces_an_earlier_capacity() {
    let capacity = |text: &str, overrides: &[&str]| read(text, overrides).geometry.capacity;
    let preset = "preset = \"samsung-pm9a3\"\n";
    let with_share = "preset = \"samsung-pm9a3\"\ngeometry.over-provisioning = 0.4\n";
    let [own, half] = [937_692_504, 500_000_000].map(Bytes::from_kib);
    let stated = "geometry.capacity=500000000KiB";
    assert_eq!(capacity(preset, &[]), Some(own));
    assert_eq!(capacity(with_share, &[]), None);
    assert_eq!(capacity(preset, &["geometry.over-provisioning=0.4"]), None);
    assert_eq!(capacity(with_share, &[stated]), Some(half), "the later capacity replaces the share");
    assert_eq!(capacity(preset, &[stated, "geometry.over-provisioning=0.4"]), Some(half), "both are overrides");
}

#[test]
fn a_capacity_of_a_preset_beyond_the_array_is_reported_at_the_key_that_made_the_array_small() {
    let error = load("preset = \"samsung-pm9a3\"\ngeometry.blocks-per-plane = 34\n", &[]).expect_err("too small");
    let text = error.to_string();
    assert!(
        text.contains("drive.toml:2:") && text.contains("set geometry.capacity, or geometry.over-provisioning"),
        "{text}"
    );
}

#[test]
fn an_override_may_name_another_preset() {
    let config = read("preset = \"venice-z-nand\"\n[flash]\nerase-time = \"2ms\"", &["preset=mbm"]);
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
    assert_eq!(
        config.ftl.allocation,
        Allocation::Static([ArrayLevel::Plane, ArrayLevel::Die, ArrayLevel::Way, ArrayLevel::Channel])
    );
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
fn a_key_of_a_part_that_is_not_there_is_refused() {
    let cases = [
        ("workload.trace = \"a.csv\"\nworkload.read-share = 0.5", "workload.kind is \"trace\""),
        ("workload.profile = \"mix1\"\nworkload.pattern = \"zipf\"", "workload.kind is \"profile\""),
        ("workload.fitted = \"a.toml\"\nworkload.request-size = \"8KiB\"", "workload.kind is \"fitted\""),
        ("workload.fitted = \"a.toml\"\nworkload.footprint = \"8GiB\"", "workload.kind is \"fitted\""),
        ("workload.profile = \"hm_0\"\nworkload.flushes = true", "workload.kind is \"profile\""),
        ("workload.format = \"msr\"", "workload.kind is \"synthetic\""),
        ("workload.beyond = \"wrap\"", "workload.kind is \"synthetic\""),
        ("cache.writes = \"through\"", "cache.capacity is \"0B\""),
        ("power.capacitors = false", "power.cut is not set and persistence.policy is \"ideal\""),
        ("persistence.checkpoint-interval = 8", "persistence.policy is \"ideal\""),
        ("mapping.fill = \"page\"", "mapping.cache-capacity is not set"),
        ("sata.ncq-depth = 4", "host.interface is \"direct\""),
        ("nvme.fetch-size = 4", "host.interface is \"direct\""),
        ("nvme.doorbell-size = \"8B\"", "host.interface is \"direct\" and sata.transport is \"frames\""),
        ("measure.epochs-max = 4", "measure.epoch is not set"),
        ("queue.caching = \"reads\"", "cache.capacity is \"0B\""),
        ("queue.priority = \"high\"", "schedule.priorities is \"off\" and nvme.arbitration is \"round-robin\""),
        ("[stream.a.queue]\npriority = \"high\"", "stream.a.queue.priority has no effect: schedule.priorities"),
    ];
    for (text, message) in cases {
        let error = load(text, &[]).expect_err(text);
        let [problem] = error.problems() else { panic!("the number of problems is not 1:\n{error}") };
        assert_eq!(problem.kind, ConfigErrorKind::Unused, "{error}");
        assert!(problem.message.contains(message), "{message}\n{error}");
        assert!(problem.help.is_some() && problem.position.is_some(), "{error}");
    }
    let text =
        load("measure.epochs-max = 4\n[workload]\ntrace = \"a\"", &["queue.priority=low"]).unwrap_err().to_string();
    assert!(text.contains("= help: set measure.epoch, or leave epochs-max away"), "{text}");
    let help =
        "set schedule.priorities to \"strict\" or \"weighted\", or set nvme.arbitration to \"weighted\", or leave";
    assert!(text.contains(help), "{text}");
}

#[test]
fn a_key_of_a_part_that_is_there_is_taken() {
    read("host.interface = \"sata\"\nsata.transport = \"doorbells\"\nnvme.doorbell-size = \"8B\"", &[]);
    read("host.interface = \"nvme\"\nnvme.arbitration = \"weighted\"\nqueue.priority = \"high\"", &[]);
    read("schedule.priorities = \"strict\"\nqueue.priority = \"high\"", &[]);
    read("measure.epoch = \"1ms\"\nmeasure.epochs-max = 4", &[]);
    read("mapping.cache-capacity = \"1MiB\"\nmapping.fill = \"page\"", &[]);
    read("cache.capacity = \"1MiB\"\nqueue.caching = \"reads\"\npower.cut = \"1ms\"\npower.capacitors = false", &[]);
    read("workload.fitted = \"a.toml\"\nworkload.beyond = \"wrap\"", &[]);
}

#[test]
fn a_part_may_be_taken_away_beside_its_keys() {
    // Keys without an effect are accepted if the same text or a later layer disables their section, or selects a request source (such as a trace)
    // that replaces theirs.
    read("[cache]\ncapacity = \"0B\"\nwrites = \"through\"", &[]);
    read("[cache]\ncapacity = \"1MiB\"\nwrites = \"through\"", &["cache.capacity=0B"]);
    read("", &["cache.writes=through", "cache.capacity=0B"]);
    read("[workload]\npattern = \"zipf\"\nzipf-theta = 0.5", &["workload.trace=a.csv"]);
    read("[workload]\nkind = \"trace\"\ntrace = \"a.csv\"\npattern = \"zipf\"", &[]);
    // A key is refused if it has no effect with the source that an earlier layer sets.
    let error = load("[workload]\ntrace = \"a.csv\"", &["workload.read-share=0.5"]).unwrap_err();
    assert_eq!(error.kind(), ConfigErrorKind::Unused, "{error}");
    let error = load("", &["workload.trace=a.csv", "workload.read-share=0.5"]).unwrap_err();
    assert_eq!(error.kind(), ConfigErrorKind::Unused, "{error}");
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
    let mut same = read("preset = \"venice-z-nand\"", &[]);
    same.venice.revisits = Config::default().venice.revisits;
    assert_eq!(base.hash(), same.hash());
    assert_ne!(base.hash(), other.hash());
    assert_eq!(base.hash().len(), 64);

    let (near, far) = (read("", &["workload.trace=a.csv"]), read("", &["workload.trace=far/away/a.csv"]));
    assert_eq!(near.hash(), far.hash());
    assert_ne!(near.hash(), read("", &["workload.trace=b.csv"]).hash());
}

#[test]
fn whether_a_key_is_read_follows_from_the_values_in_effect() {
    let bus = read("", &["fabric.kind=bus", "venice.routing=xy"]);
    assert_eq!(bus.why_ineffective("venice.routing").as_deref(), Some("fabric.kind is \"bus\""));
    assert_eq!(bus.why_ineffective("packets.data-crc").as_deref(), Some("fabric.kind is \"bus\""));
    assert_eq!(bus.why_ineffective("seed"), None);
    assert_eq!(bus.why_ineffective("fabric.kind"), None);
    assert_eq!(bus.why_ineffective("no.such-key"), None);
    let venice = read("", &["fabric.kind=venice"]);
    assert_eq!(venice.why_ineffective("venice.routing"), None);
    assert_eq!(venice.why_ineffective("nossd.topology").as_deref(), Some("fabric.kind is \"venice\""));
    let streams = read("[stream.a.replay]\nmode = \"closed\"\n[stream.b.queue]", &[]);
    assert_eq!(streams.why_ineffective("replay.threads"), None);
    assert_eq!(streams.why_ineffective("stream.a.replay.threads"), None);
    assert!(
        streams
            .why_ineffective("stream.b.replay.threads")
            .is_some_and(|reason| reason.contains("stream.b.replay.mode"))
    );
}

#[test]
fn keys_of_another_interconnect_are_refused_unless_the_text_names_one() {
    let refused = |text: &str, overrides: &[&str]| load(text, overrides).unwrap_err().to_string();
    assert!(
        refused("[venice]\nrouting = \"xy\"", &[]).contains("venice.routing has no effect: fabric.kind is \"bus\"")
    );
    assert!(refused("", &["nossd.topology=torus"]).contains("set fabric.kind to \"nossd\""));
    read("[fabric]\nkind = \"bus\"\n[venice]\nrouting = \"xy\"", &[]);
    read("", &["fabric.kind=venice", "venice.routing=xy"]);
}

#[test]
fn json_has_the_tables_of_the_canonical_form() {
    let config = read("[stream.a.queue]\n[flash]\nread-command-time = [\"3us\", \"4us\"]", &["seed=7"]);
    let json: serde_json::Value = serde_json::from_str(&config.to_json()).unwrap();
    let toml: serde_json::Value = toml::from_str(&config.to_toml()).unwrap();
    assert_eq!(json, toml);
    assert_eq!(json["seed"], 7);
    assert_eq!(json["flash"]["read-command-time"][1], "4us");
}

#[test]
fn keys_that_a_policy_in_python_replaces_are_refused_in_the_same_file() {
    let errors = |text: &str, overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        Config::from_str(text, "drive.toml", &overrides).map(|_| ()).map_err(|error| error.to_string())
    };
    let policy = "[policy]\nscheduler = \"my.py:Mine\"\n";
    let both = format!("{policy}[schedule]\norder = \"arrival\"\n");
    let error = errors(&both, &[]).expect_err("the key has no effect");
    assert!(error.contains("schedule.order has no effect: policy.scheduler is \"my.py:Mine\""), "{error}");
    assert!(error.contains("help: leave policy.scheduler away, or leave order away"), "{error}");
    // A scheduling policy replaces `schedule.order`. Setting the key by an override is refused too; an override that names a policy replaces the key
    // of the file; an override back to `built-in` restores it.
    assert!(errors(policy, &["schedule.order=arrival"]).is_err());
    assert_eq!(errors("[schedule]\norder = \"arrival\"\n", &["policy.scheduler=my.py:Mine"]), Ok(()));
    assert_eq!(errors(&both, &["policy.scheduler=built-in"]), Ok(()));
    // Random preconditioning chooses victims by `gc.victim` even if the run uses a policy, so the key has an effect and is accepted.
    let victims = "[policy]\nvictim = \"my.py:Mine\"\n[gc]\nvictim = \"fifo\"\n";
    assert!(errors(victims, &[]).is_err());
    assert_eq!(errors(&format!("{victims}[precondition]\nkind = \"random\"\n"), &[]), Ok(()));
}
