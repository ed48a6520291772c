//! Configuration errors of every kind: the kind and the position, for some the whole message.

use std::path::PathBuf;

use flashmesh::config::{Config, ConfigError, ConfigErrorKind, FabricKind};

fn refused(text: &str, overrides: &[&str]) -> ConfigError {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    match Config::from_str(text, "drive.toml", &overrides) {
        Err(error) => error,
        Ok(_) => panic!("accepted: {text} {overrides:?}"),
    }
}

/// Returns the defaults with the override `setting`, which must be valid.
#[track_caller]
fn accepted(setting: &str) -> Config {
    match Config::from_str("", "drive.toml", &[setting.to_owned()]) {
        Ok(config) => config,
        Err(error) => panic!("refused: {setting}: {error}"),
    }
}

/// Asserts that `text` has exactly one problem: of `kind`, at the line and column `place`, and with `message` in its text.
#[track_caller]
fn assert_problem(text: &str, kind: ConfigErrorKind, place: (usize, usize), message: &str) {
    let error = refused(text, &[]);
    let [problem] = error.problems() else { panic!("the number of problems is not 1:\n{error}") };
    assert_eq!(problem.kind, kind, "{error}");
    assert_eq!(problem.position.as_ref().map(|at| (at.line, at.column)), Some(place), "{error}");
    assert!(problem.message.contains(message), "{error}");
}

#[test]
fn a_misspelt_key_is_shown_with_its_line_and_the_likely_name() {
    let text = "preset = \"venice-z-nand\"\n\n[geometry]\nchanels = 8\n";
    let expected = "\
error: unknown key `chanels` in [geometry]
 --> drive.toml:4:1
  |
4 | chanels = 8
  | ^^^^^^^
  |
  = help: did you mean `channels`?";
    assert_eq!(refused(text, &[]).to_string(), expected);
}

#[test]
fn a_number_without_its_unit_is_told_the_units() {
    let expected = "\
error: geometry.page-size: `4096` has no unit: a size needs one of TiB, GiB, MiB, KiB, TB, GB, MB, kB or B
 --> drive.toml:2:13
  |
2 | page-size = 4096
  |             ^^^^";
    assert_eq!(refused("[geometry]\npage-size = 4096", &[]).to_string(), expected);
}

#[test]
fn a_cache_that_cannot_be_is_refused() {
    use ConfigErrorKind::Conflict;
    let marks = "[cache]\ncapacity = \"1MiB\"\nlow-mark = 0.9";
    assert_problem(marks, Conflict, (3, 12), "cache.low-mark (90 %) is above cache.high-mark (80 %)");
    let small = "[cache]\ncapacity = \"1KiB\"";
    assert_problem(small, Conflict, (2, 12), "cache.capacity (1KiB) is less than a page of 4KiB");
    let parts = "cache.capacity = \"8KiB\"\ncache.sharing = \"per-stream\"\n[stream.a]\n[stream.b]\n[stream.c]";
    assert_problem(parts, Conflict, (1, 18), "cache.capacity (8KiB) is less than a page of 4KiB for each of 3 streams");
    let sectors = "cache.capacity = \"1MiB\"\n[geometry]\npage-size = \"64KiB\"";
    assert_problem(sectors, Conflict, (3, 13), "a page of 64KiB has 128 sectors of 512B, but the cache tells 64 apart");
}

#[test]
fn a_timeout_of_units_that_do_not_gather_is_refused() {
    let large = "[ftl]\ngather-timeout = \"1ms\"\nmapping-unit = \"16KiB\"\n[geometry]\npage-size = \"4KiB\"";
    let expected =
        "ftl.gather-timeout is 1ms, and with ftl.mapping-unit 16KiB a program writes one unit: nothing gathers";
    assert_problem(large, ConfigErrorKind::Conflict, (2, 18), expected);
}

#[test]
fn a_journal_that_cannot_be_is_refused() {
    use ConfigErrorKind::Conflict;
    let journal = "[persistence]\npolicy = \"journal\"\n";
    let large = format!("{journal}entry-size = \"4KiB\"\ngeometry.page-size = \"2KiB\"");
    let large = large.replace("geometry.page-size", "[geometry]\npage-size");
    assert_problem(&large, Conflict, (3, 14), "a page of the journal holds no entry");
    let held = format!("{journal}[mapping]\ncache-capacity = \"1MiB\"\nwrite-back-buffer = \"16KiB\"");
    assert_problem(&held, Conflict, (5, 21), "a checkpoint would wait for them for ever");
}

#[test]
fn a_key_that_has_another_name_now_is_told_it() {
    let names = [
        ("cache.power-cut=1ms", "power.cut"),
        ("cache.capacitors=false", "power.capacitors"),
        ("nossd.local-channels=4", "nossd.chip-channels, and nossd.controller-channels for the controllers"),
    ];
    for (old, new) in names {
        let error = refused("", &[old]).to_string();
        assert!(error.contains(&format!("= help: it is called {new}")), "{error}");
    }
}

#[test]
fn a_bad_override_is_shown_with_its_number() {
    let choices: Vec<String> = FabricKind::ALL.iter().map(|kind| format!("`{kind}`")).collect();
    let expected = format!(
        "\
error: fabric.kind: `idael` is none of the choices: {}
 --> --set #2:1:13
  |
1 | fabric.kind=idael
  |             ^^^^^
  |
  = help: did you mean `ideal`?",
        choices.join(", ")
    );
    assert_eq!(refused("", &["replay.outstanding=4", "fabric.kind=idael"]).to_string(), expected);
}

#[test]
fn settings_that_clash_are_shown_where_the_later_one_stands() {
    let expected = "\
error: gc.hard-threshold (0.3) is above gc.threshold (0.05): collection would be urgent before it begins
 --> drive.toml:2:18
  |
2 | hard-threshold = \"30%\"
  |                  ^^^^^";
    assert_eq!(refused("gc.threshold = 0.05\ngc.hard-threshold = \"30%\"", &[]).problems().len(), 1);
    assert_eq!(refused("[gc]\nhard-threshold = \"30%\"\nthreshold = 0.05", &[]).to_string(), expected);
    let error = refused("[gc]\nhard-threshold = 0.01", &["gc.threshold=0.001"]);
    assert_eq!(error.problems()[0].position.as_ref().map(|at| at.source.as_str()), Some("--set #1"), "{error}");
}

#[test]
fn unknown_names_are_errors_of_their_own_kinds() {
    use ConfigErrorKind::*;
    assert_problem("[fabrik]\nkind = 1", UnknownSection, (1, 2), "no section [fabrik]");
    assert_problem("chanels = 8", UnknownKey, (1, 1), "`chanels` above all sections");
    assert_problem("preset = \"znand\"", UnknownPreset, (1, 10), "no preset `znand`");
    assert_problem("[gc]\nvictim = \"greed\"", UnknownChoice, (2, 10), "`greedy`, `d-choices`");
    assert_problem("[ftl]\nallocation = \"CCDP\"", UnknownChoice, (2, 14), "`CWDP`");
    assert_problem("[geometry.deep]\nchannels = 1", UnknownKey, (1, 11), "`deep` in [geometry]");
}

#[test]
fn a_key_of_another_section_is_told_where_it_belongs() {
    let error = refused("[geometry]\nread-time = \"3us\"", &[]);
    assert_eq!(error.problems()[0].help.as_deref(), Some("`read-time` belongs in [flash]"));
    let error = refused("channels = 8", &[]);
    assert_eq!(error.problems()[0].help.as_deref(), Some("`channels` belongs in [geometry]"));
    let error = refused("[geometry]\npage_size = \"4KiB\"", &[]);
    assert_eq!(error.problems()[0].help.as_deref(), Some("did you mean `page-size`?"));
}

#[test]
fn whole_numbers_and_sizes_are_taken_as_users_of_fio_type_them() {
    let workload = |key: &str, value: &str| accepted(&format!("workload.{key}={value}")).workload;
    for value in ["1e6", "1M", "1_000_000", "1000k"] {
        assert_eq!(workload("requests", value).requests, Some(1_000_000), "{value}");
    }
    for (short, long) in [("16K", "16KiB"), ("1m", "1MiB")] {
        assert_eq!(workload("request-size", short).request_size, workload("request-size", long).request_size);
    }
}

#[test]
fn a_share_above_one_is_refused_with_the_percentage_that_was_meant() {
    let error = refused("", &["workload.read-share=70"]);
    assert_eq!(error.problems()[0].message, "workload.read-share: 70 is out of bounds: it must be 0 to 1");
    assert_eq!(error.problems()[0].help.as_deref(), Some("a share is a part of 1: did you mean \"70%\" or 0.7?"));
    assert_eq!(refused("", &["workload.read-share=700"]).problems()[0].help, None);
}

#[test]
fn a_text_without_a_suffix_is_no_whole_number() {
    let error = refused("[workload]\nrequests = \"many\"", &[]);
    let help = error.problems()[0].help.as_deref();
    assert_eq!(help, Some("write it as 1000000, 1_000_000, 1e6 or \"1M\""));
    assert_problem("[workload]\nrequests = 1.5", ConfigErrorKind::WrongType, (2, 12), "a number with decimals");
}

#[test]
fn values_of_the_wrong_type_or_unit_are_refused() {
    use ConfigErrorKind::*;
    assert_problem("[geometry]\nchannels = \"8\"", WrongType, (2, 12), "expected a whole number, found a text");
    assert_problem("[geometry]\nchannels = 8.5", WrongType, (2, 12), "found a number with decimals");
    assert_problem("[wear]\ndynamic = 1", WrongType, (2, 11), "expected true or false");
    assert_problem("[flash]\nread-time = [3]", WrongType, (2, 13), "expected a time");
    assert_problem("[flash]\nread-time = \"soon\"", WrongType, (2, 13), "is not a time");
    assert_problem("[flash]\nread-time = 2026-01-01", WrongType, (2, 13), "found a date");
    assert_problem("fabric = \"bus\"", WrongType, (1, 1), "[fabric] is a section");
    assert_problem("[[fabric]]\nkind = \"bus\"", WrongType, (1, 3), "[fabric] is a section");
    assert_problem("seed = {}", WrongType, (1, 8), "found a table");
    assert_problem("preset = 3", WrongType, (1, 10), "expected a text");
    assert_problem("[flash]\nread-time = 3", MissingUnit, (2, 13), "s, ms, us, ns or ps");
    assert_problem("[flash]\nread-time = \"3KiB\"", UnknownUnit, (2, 13), "not a unit of time");
    assert_problem("[fabric]\nchannel-rate = \"1.2GB\"", UnknownUnit, (2, 16), "not a unit of rate");
    assert_problem("[workload]\nrequest-size = [[\"4KiB\"]]", WrongType, (2, 16), "sizes with weights");
}

#[test]
fn values_beyond_their_bounds_are_told_the_bounds() {
    use ConfigErrorKind::OutOfBounds;
    assert_problem("[geometry]\nchannels = 0", OutOfBounds, (2, 12), "must be 1 to 1024");
    assert_problem("[geometry]\nchannels = -1", OutOfBounds, (2, 12), "must be 1 to 1024");
    assert_problem("[geometry]\nchannels = 99999999999", OutOfBounds, (2, 12), "must be 1 to 1024");
    let huge = format!("[geometry]\nchannels = {}", "9".repeat(80));
    assert_problem(&huge, OutOfBounds, (2, 12), "must be 1 to 1024");
    assert_problem("[geometry]\nsector-size = \"1KiB\"", OutOfBounds, (2, 15), "must be 512B or 4KiB");
    assert_problem("[gc]\nthreshold = \"51%\"", OutOfBounds, (2, 13), "must be 0 to 0.5");
    assert_problem("[gc]\nthreshold = nan", OutOfBounds, (2, 13), "finite");
    assert_problem("[flash]\nread-time = \"0ps\"", OutOfBounds, (2, 13), "must be 1ps to 10s");
    assert_problem("[flash]\nread-time = \"-3us\"", OutOfBounds, (2, 13), "negative");
    assert_problem("[fabric]\nchannel-rate = \"0B/s\"", OutOfBounds, (2, 16), "never moves a byte");
    assert_problem("[workload]\nrequest-size = [[\"4KiB\", 0]]", OutOfBounds, (2, 16), "weight 0");
    assert_problem("[workload]\nrequest-size = []", OutOfBounds, (2, 16), "found 0");
    assert_problem("[workload]\nprofile = \"\"", OutOfBounds, (2, 11), "not empty");
    assert_problem("seed = 9223372036854775808", OutOfBounds, (1, 8), "0 to 9223372036854775807");
}

#[test]
fn broken_toml_is_shown_where_it_breaks() {
    use ConfigErrorKind::*;
    assert_problem("[geometry\nchannels = 8", InvalidToml, (1, 10), "unclosed table");
    assert_problem("[geometry]\nchannels = 8\nchannels = 9", DuplicateKey, (3, 1), "`channels` is given twice");
    assert_problem("[geometry]\n[geometry]", DuplicateKey, (2, 2), "`geometry` is given twice");
}

#[test]
fn keys_that_cannot_go_together_are_found() {
    use ConfigErrorKind::Conflict;
    let cases = [
        ("[geometry]\npage-size = \"3KiB\"", "must be a power of two"),
        ("[geometry]\npage-size = \"512B\"\nsector-size = \"4KiB\"", "no larger than page-size"),
        ("[geometry]\nchannels = 1024\nblocks-per-plane = 1048576\npages-per-block = 65535", "at most 4294967294"),
        ("[geometry]\nblocks-per-plane = 8", "raise over-provisioning"),
        ("[geometry]\ncapacity = \"1TiB\"", "384GiB of the array"),
        (
            "fabric.kind = \"pnssd\"\ngeometry.chips-per-channel = 4",
            "as many chips a channel as channels, found 4 and 8",
        ),
        ("gc.move = \"chip-to-chip\"", "needs fabric.kind = pnssd or nossd, found bus"),
        ("fabric.kind = \"pnssd\"\n[gc]\nmove = \"chip-to-chip\"\ncopyback = true", "keeps pages in their plane"),
        (
            "fabric.kind = \"pnssd\"\ngc.move = \"chip-to-chip\"\ngeometry.blocks-per-plane = 65",
            "4 blocks to spare, and needs 5 of them: gc.move is `chip-to-chip`, which needs one for pages from other chips",
        ),
        (
            "flash.multi-plane = \"independent\"\nflash.die-start = \"together\"\ngeometry.dies-per-chip = 2",
            "a chip begins nothing while one of its dies works",
        ),
        (
            "flash.multi-plane = \"independent\"\nfabric.hold-path = \"reads\"",
            "keeps the path of a die for one operation",
        ),
        ("ftl.write-binding = \"early\"", "and flash.program-order is `in-order`"),
        (
            "[mapping]\ncache-capacity = \"1MiB\"\nwrite-back-read-size = \"8KiB\"",
            "mapping.write-back-read-size (8KiB) is larger",
        ),
        (
            "[mapping]\ncache-capacity = \"1MiB\"\nwrite-back-buffer = \"1KiB\"",
            "mapping.write-back-buffer (1KiB) holds no page",
        ),
        (
            "ftl.write-binding = \"early\"\nflash.program-order = \"any\"\ngeometry.blocks-per-plane = 65",
            "4 blocks to spare, and needs 5 of them: ftl.write-binding is `early`, which needs one for pages that wait",
        ),
        ("mapping.cache-capacity = \"7B\"", "mapping.cache-capacity (7B) holds no entry of 8B"),
        (
            "ftl.mapping-unit = \"12KiB\"\ngeometry.page-size = \"8KiB\"",
            "ftl.mapping-unit (12KiB) is no multiple of geometry.page-size (8KiB)",
        ),
        (
            "ftl.mapping-unit = \"16KiB\"\ngeometry.pages-per-block = 255",
            "ftl.mapping-unit (16KiB) is 4 pages, a block holds whole units, and geometry.pages-per-block (255) is no multiple of 4",
        ),
        (
            "ftl.mapping-unit = \"32KiB\"\ngeometry.pages-per-block = 4",
            "ftl.mapping-unit (32KiB) is 8 pages, a block holds whole units, and geometry.pages-per-block (4) is no multiple of 8",
        ),
        // Each block has three word lines, two of which are parity.
        (
            "ftl.policy = \"superblock\"\nftl.parity = \"1/2\"\nsuperblock.dies = 2\ngeometry.pages-per-block = 6\n\
             geometry.over-provisioning = 0.54\nflash.page-types = \"mlc\"\nflash.program-unit = \"word-line\"",
            "which needs 1025 for what they leave empty",
        ),
        (
            "ftl.mapping-unit = \"16KiB\"\ngeometry.pages-per-block = 258\nflash.page-types = \"tlc\"\nslc.blocks-per-plane = 4",
            "a block and one of the SLC cache hold whole units, and geometry.pages-per-block (258) is no multiple of 12",
        ),
        (
            "ftl.mapping-unit = \"16KiB\"\ngeometry.pages-per-block = 240\nflash.page-types = \"tlc\"\nflash.program-unit = \"word-line\"",
            "a program writes 3: neither is a multiple of the other",
        ),
        (
            "[mapping]\ncache-capacity = \"1MiB\"\nstored-entry-size = \"4KiB\"\n[geometry]\npage-size = \"2KiB\"",
            "mapping.stored-entry-size (4KiB) is larger than geometry.page-size (2KiB)",
        ),
        // The number of translation pages exceeds 32 bits.
        (
            "[mapping]\ncache-capacity = \"1MiB\"\nstored-entry-size = \"1KiB\"\n[geometry]\ndies-per-chip = 37",
            "the map lies in 865956004 translation pages",
        ),
        (
            "[mapping]\ncache-capacity = \"1MiB\"\nread-size = \"8KiB\"",
            "mapping.read-size (8KiB) is larger than geometry.page-size (4KiB)",
        ),
        (
            "[mapping]\ncache-capacity = \"1MiB\"\nread-size = \"512B\"\nfill = \"page\"",
            "mapping.fill is `page`, but only 512B of a translation page are read",
        ),
        (
            "mapping.cache-capacity = \"1MiB\"\ngeometry.blocks-per-plane = 65",
            "with them a plane has 4 blocks to spare, and needs 6 of them",
        ),
        ("[gc]\nthreshold = 0.07\n[geometry]\nover-provisioning = 0.05", "collected for ever"),
        ("[gc]\nbackground-threshold = 0.01", "idle time would never be used"),
        ("[flash]\nread-cache = true\ndie-interleaving = false", "takes nothing until all its data has left"),
        ("flash.read-command-time = [\"2ns\", \"1ns\"]", "none shorter than the one before"),
        ("workload.kind = \"trace\"", "no trace is given"),
        ("workload.kind = \"profile\"", "no profile is given"),
        ("[workload]\nread-share = 0.8\ndeallocate-share = 0.3", "more than 1"),
        (
            "[workload]\nread-share = 0.5\nflush-share = 0.4\nwrite-zeroes-share = 0.2",
            "workload.read-share (0.5) and workload.flush-share (0.4) and workload.write-zeroes-share (0.2) add up to more than 1",
        ),
        (
            "host.interface = \"sata\"\n[workload]\nread-share = 0.5\nwrite-zeroes-share = 0.2",
            "host.interface is `sata`, which knows no such command",
        ),
        ("[workload]\nrequest-size = \"1000B\"", "not a multiple of geometry.sector-size"),
        ("[workload]\nalignment = \"1000B\"", "not a multiple"),
        ("[workload]\nfootprint = \"1TiB\"", "reaches beyond the drive"),
        ("[workload]\nfootprint-start = \"1TiB\"", "beyond the drive"),
        ("[workload]\nfootprint = \"4KiB\"\nrequest-size = \"64KiB\"", "does not fit the footprint"),
        ("namespace.few.capacity = \"4KiB\"\nworkload.request-size = \"8KiB\"", "does not fit the footprint"),
        ("ftl.mapping-unit = \"1KiB\"\nnamespace.few.capacity = \"1KiB\"", "does not fit the footprint of 1KiB"),
        ("[precondition]\nkind = \"random\"\nfill = 0", "nothing to write"),
    ];
    for (text, message) in cases {
        let error = refused(text, &[]);
        let [problem] = error.problems() else { panic!("the number of problems is not 1:\n{error}") };
        assert_eq!(problem.kind, Conflict, "{error}");
        assert!(problem.message.contains(message), "{message}\n{error}");
        assert!(problem.position.is_some(), "no position: {error}");
    }
}

#[test]
fn what_cannot_go_together_is_told_with_a_remedy() {
    let cases = [
        ("[workload]\nread-share = 0.8\nflush-share = 0.4", "lower one of them"),
        ("[cache]\ncapacity = \"1MiB\"\nlow-mark = 0.9", "lower cache.low-mark, or raise cache.high-mark"),
        ("mapping.cache-capacity = \"7B\"", "raise mapping.cache-capacity, or leave it away"),
        ("[mapping]\ncache-capacity = \"1MiB\"\nread-size = \"8KiB\"", "leave mapping.read-size away"),
        ("[mapping]\ncache-capacity = \"1MiB\"\nwrite-back-read-size = \"8KiB\"", "leave mapping.write-back-read-size"),
        ("[mapping]\ncache-capacity = \"1MiB\"\nwrite-back-buffer = \"1KiB\"", "raise mapping.write-back-buffer"),
        (
            "[mapping]\ncache-capacity = \"1MiB\"\nstored-entry-size = \"4KiB\"\n[geometry]\npage-size = \"2KiB\"",
            "lower mapping.stored-entry-size",
        ),
        ("[workload]\nfootprint = \"1TiB\"", "lower workload.footprint to 374467460KiB (357.1 GiB), leave it away"),
        ("[workload]\nfootprint-start = \"1TiB\"", "lower workload.footprint-start, or take a larger drive"),
        (
            "[workload]\nfootprint = \"2GiB\"\n[namespace.n]\ncapacity = \"1GiB\"",
            "lower workload.footprint to 1GiB, leave it away for all there is, or raise namespace.n.capacity",
        ),
        ("[workload]\nfootprint = \"4KiB\"\nrequest-size = \"64KiB\"", "or raise workload.footprint"),
        ("[workload]\nrequest-size = \"1000B\"", "take 512B or 1KiB"),
        ("[precondition]\nkind = \"random\"\nfill = 0", "raise precondition.fill"),
        (
            "ftl.policy = \"superblock\"\nftl.parity = \"1/2\"\nsuperblock.dies = 2\ngeometry.pages-per-block = 6\n\
             geometry.over-provisioning = 0.54\nflash.page-types = \"mlc\"\nflash.program-unit = \"word-line\"",
            "raise geometry.pages-per-block: a block is one program of data",
        ),
        (
            "ftl.write-binding = \"early\"\nflash.program-order = \"any\"\ngeometry.blocks-per-plane = 65",
            "raise geometry.over-provisioning or geometry.blocks-per-plane, or lower geometry.capacity",
        ),
    ];
    for (text, help) in cases {
        let error = refused(text, &[]);
        let [problem] = error.problems() else { panic!("the number of problems is not 1:\n{error}") };
        assert!(problem.help.as_deref().unwrap_or_default().contains(help), "{help}\n{error}");
    }
    let error = refused("[geometry]\nblocks-per-plane = 4", &[]).to_string();
    assert!(error.contains("0 to spare: raise over-provisioning or blocks-per-plane, or lower capacity"), "{error}");
}

#[test]
fn sizes_that_are_hard_to_read_have_rounded_ones_beside_them() {
    let error = refused("[namespace.a]\ncapacity = \"900GiB\"", &[]);
    let size = "374467460KiB (357.1 GiB)";
    let expected = format!("namespace.a.capacity (900GiB) does not fit the drive: of its {size} there are {size} left");
    assert_eq!(error.problems()[0].message, expected);
}

#[test]
fn shares_that_fill_the_whole_do_not_clash() {
    let text = "[workload]\nread-share = 0.9\ndeallocate-share = 0.1";
    assert!(Config::from_str(text, "drive.toml", &[]).is_ok());
}

#[test]
fn a_configuration_built_in_code_is_checked_alike() {
    let mut config = Config::default();
    assert!(config.validate().is_ok());
    config.geometry.channels = 0;
    config.gc.threshold = f64::NAN;
    let error = config.validate().unwrap_err();
    let messages: Vec<&str> = error.problems().iter().map(|problem| problem.message.as_str()).collect();
    let expected = [
        "geometry.channels: 0 is out of bounds: it must be 1 to 1024",
        "gc.threshold: NaN is out of bounds: it must be 0 to 0.5",
    ];
    assert_eq!(messages, expected);

    let mut config = Config::default();
    config.workload.profile = Some("hm_0".to_owned());
    assert_eq!(config.validate().unwrap_err().kind(), ConfigErrorKind::Conflict);
}

#[test]
fn malformed_overrides_are_refused() {
    for text in ["", "fabric.kind", "=ideal", ".kind=ideal", "fabric.=ideal", "fabric.kind=", "fabric.kind=  "] {
        let error = refused("", &[text]);
        assert_eq!(error.kind(), ConfigErrorKind::MalformedOverride, "{text}");
        assert!(error.to_string().contains("--set #1:1:1"), "{error}");
    }
    assert_eq!(refused("", &["fabric.kind=\"ideal"]).kind(), ConfigErrorKind::InvalidToml);
    assert_eq!(refused("", &["fabric.kind.deep=ideal"]).kind(), ConfigErrorKind::UnknownKey);
}

#[test]
fn all_problems_are_reported_in_the_order_of_the_text() {
    let text = "[gc]\nthreshold = 2\nd = 0\n[fabric]\nkind = \"x\"\nspeed = 1\n[geometry]\npage-size = 3";
    let error = refused(text, &["a", "b.c=1"]);
    let lines: Vec<_> = error
        .problems()
        .iter()
        .map(|problem| problem.position.as_ref().map(|at| (at.source.clone(), at.line)))
        .collect();
    let file = |line| Some(("drive.toml".to_owned(), line));
    let set = |number| Some((format!("--set #{number}"), 1));
    assert_eq!(lines, [file(2), file(3), file(5), file(6), file(8), set(1), set(2)]);
}

#[test]
fn a_flood_of_problems_is_cut_off_and_counted() {
    let text: String = (0..1000).map(|number| format!("key-{number} = 1\n")).collect();
    let error = refused(&text, &[]);
    assert_eq!(error.problems().len(), 20);
    assert!(error.to_string().ends_with("error: and 980 more problems"), "{error}");
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("config_errors");
    std::fs::create_dir_all(&folder).unwrap();
    let missing = Config::from_file(&folder.join("missing.toml"), &[]).unwrap_err();
    assert_eq!(missing.kind(), ConfigErrorKind::Unreadable);
    assert!(missing.to_string().contains("missing.toml"), "{missing}");

    assert_eq!(Config::from_file(&folder, &[]).unwrap_err().kind(), ConfigErrorKind::Unreadable);

    let binary = folder.join("binary.toml");
    std::fs::write(&binary, b"seed = 1\n\xff\xfe").unwrap();
    let error = Config::from_file(&binary, &[]).unwrap_err();
    assert_eq!(error.kind(), ConfigErrorKind::NotText);
    assert!(error.to_string().contains("binary.toml:2: not UTF-8 text"), "{error}");

    let long = folder.join("long.toml");
    std::fs::write(&long, " ".repeat((1 << 20) + 1)).unwrap();
    let error = Config::from_file(&long, &[]).unwrap_err();
    assert!(error.to_string().contains("longer than 1 MiB"), "{error}");
}

#[test]
fn a_network_of_more_chips_than_can_be_simulated_is_refused() {
    let text = "[geometry]\nchannels = 128\nchips-per-channel = 64\nblocks-per-plane = 8\n[fabric]\nkind = \"nossd\"";
    let told = refused(text, &[]).to_string();
    assert!(told.contains("a network of 8192 chips is larger than can be simulated, 4096"), "{told}");
    assert!(told.contains("use fewer chips, or another fabric"), "{told}");
}

#[test]
fn more_dies_than_events_can_tell_apart_are_refused() {
    let text = "[geometry]\nchannels = 1024\nchips-per-channel = 1024\ndies-per-chip = 32\nblocks-per-plane = 8\npages-per-block = 1";
    let told = refused(text, &[]).to_string();
    assert!(told.contains("the array has 33554432 dies; at most 16777216 can be simulated"), "{told}");
    assert!(told.contains("use fewer channels, chips-per-channel or dies-per-chip"), "{told}");
}
