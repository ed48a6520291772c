//! Streams and namespaces: precedence of their settings, their results, and every error.

use std::path::{Path, PathBuf};

use flashmesh::config::{
    Caching, Config, ConfigError, ConfigErrorKind, Pattern, Priority, ReplayMode, StreamConfig, WorkloadKind,
};
use flashmesh::flash::geometry::Geometry;
use flashmesh::flash::namespace::ResolvedNamespace;
use flashmesh::units::Bytes;

fn load(text: &str, overrides: &[&str]) -> Result<Config, ConfigError> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    Config::from_str(text, "drive.toml", &overrides)
}

#[track_caller]
fn read(text: &str, overrides: &[&str]) -> Config {
    load(text, overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn streams(text: &str, overrides: &[&str]) -> Vec<StreamConfig> {
    read(text, overrides).streams()
}

fn namespaces(text: &str) -> Vec<ResolvedNamespace> {
    let config = read(text, &[]);
    let geometry = Geometry::new(&config.geometry).expect("the geometry is valid");
    config.namespaces(&geometry).expect("the parser has checked the namespaces")
}

/// Asserts that loading fails with exactly one problem: of `kind`, at the line and column `place`, with `says[0]` in its message and `says[1]` in its
/// help.
#[track_caller]
fn assert_problem(text: &str, overrides: &[&str], kind: ConfigErrorKind, place: (usize, usize), says: [&str; 2]) {
    let error = match load(text, overrides) {
        Err(error) => error,
        Ok(_) => panic!("accepted: {text} {overrides:?}"),
    };
    let [problem] = error.problems() else { panic!("the number of problems is not 1:\n{error}") };
    assert_eq!(problem.kind, kind, "{error}");
    assert_eq!(problem.position.as_ref().map(|at| (at.line, at.column)), Some(place), "{error}");
    assert!(problem.message.contains(says[0]), "{error}");
    assert!(problem.help.as_deref().unwrap_or_default().contains(says[1]), "{error}");
}

/// Arguments of [`assert_problem`].
type Misspelt = (&'static str, &'static [&'static str], ConfigErrorKind, (usize, usize), [&'static str; 2]);

const TWO: &str = "\
[replay]
outstanding = 16
[workload]
request-size = \"8KiB\"
[stream.oltp.workload]
pattern = \"zipf\"
[stream.backup.workload]
pattern = \"sequential\"
request-size = \"64KiB\"
[stream.backup.replay]
mode = \"closed\"
threads = 2
[stream.oltp.queue]
priority = \"high\"
caching = \"writes\"
[schedule]
priorities = \"strict\"
[cache]
capacity = \"1MiB\"
";

#[test]
fn a_configuration_without_streams_has_one_that_is_named_host() {
    let config = read("replay.outstanding = 7", &[]);
    let [host] = &config.streams()[..] else { panic!("the number of streams is not 1") };
    assert_eq!((host.name.as_str(), &host.replay, &host.workload), ("host", &config.replay, &config.workload));
    assert!(!config.to_toml().contains("[stream"));
}

#[test]
fn a_stream_starts_from_what_stands_above_all_streams() {
    let [oltp, backup] = &streams(TWO, &[])[..] else { panic!("the number of streams is not 2") };
    assert_eq!((oltp.name.as_str(), backup.name.as_str()), ("oltp", "backup"), "in the order of the text");
    assert_eq!((oltp.workload.pattern, backup.workload.pattern), (Pattern::Zipf, Pattern::Sequential));
    assert_eq!(oltp.workload.request_size.0, [(Bytes::from_kib(8), 1.0)]);
    assert_eq!(backup.workload.request_size.0, [(Bytes::from_kib(64), 1.0)]);
    assert_eq!((oltp.replay.mode, oltp.replay.outstanding), (ReplayMode::Stress, 16));
    assert_eq!((backup.replay.mode, backup.replay.threads), (ReplayMode::Closed, 2));
    assert_eq!((oltp.queue.priority, backup.queue.priority), (Priority::High, Priority::Medium));
    assert_eq!((oltp.queue.caching, backup.queue.caching), (Caching::Writes, Caching::All));
    assert_eq!(streams("stream.a = {}", &[])[0].workload, Config::default().workload, "an empty table is a stream");
}

#[test]
fn overrides_reach_one_stream_or_all_that_say_nothing_themselves() {
    let overrides = ["stream.backup.replay.threads=5", "replay.outstanding=3", "workload.request-size=4KiB"];
    let [oltp, backup] = &streams(TWO, &overrides)[..] else { panic!("the number of streams is not 2") };
    assert_eq!((oltp.replay.outstanding, backup.replay.threads), (3, 5));
    assert_eq!(oltp.workload.request_size.0, [(Bytes::from_kib(4), 1.0)]);
    assert_eq!(backup.workload.request_size.0, [(Bytes::from_kib(64), 1.0)], "the stream sets its own value");

    let made_up = ["stream.a.workload.requests=5", "stream.b.replay.outstanding = 2"];
    let names: Vec<String> = streams("", &made_up).into_iter().map(|stream| stream.name).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn a_source_of_a_stream_replaces_the_one_above() {
    let text = "workload.profile = \"hm_0\"\n[stream.a.workload]\ntrace = \"a.csv\"\n[stream.b.workload]\nkind = \"synthetic\"\n[stream.c]";
    let [a, b, c] = &streams(text, &[])[..] else { panic!("the number of streams is not 3") };
    assert_eq!((a.workload.kind, &a.workload.profile), (WorkloadKind::Trace, &None));
    assert_eq!((b.workload.kind, &b.workload.profile), (WorkloadKind::Synthetic, &None));
    assert_eq!((c.workload.kind, c.workload.profile.as_deref()), (WorkloadKind::Profile, Some("hm_0")));

    let [a, ..] = &streams(text, &["stream.a.workload.profile=mix1"])[..] else { panic!("no stream") };
    assert_eq!((a.workload.kind, &a.workload.trace), (WorkloadKind::Profile, &None));
}

#[test]
fn a_trace_of_a_stream_is_relative_to_the_file_that_names_it() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("config_streams");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("drive.toml");
    let text = "workload.trace = \"top.csv\"\n[stream.a.workload]\ntrace = \"a.csv\"\n[stream.b]\n[stream.c]\n";
    std::fs::write(&file, text).unwrap();
    let config = Config::from_file(&file, &["stream.c.workload.trace=c.csv".to_owned()]).unwrap();
    let traces: Vec<PathBuf> = config.streams().into_iter().filter_map(|stream| stream.workload.trace).collect();
    assert_eq!(traces, [folder.join("a.csv"), folder.join("top.csv"), Path::new("c.csv").to_owned()]);

    let here = read(text, &["stream.c.workload.trace=far/away/c.csv"]);
    assert_eq!(config.hash(), here.hash(), "the hash counts names of files, not folders");
}

#[test]
fn equal_streams_have_one_canonical_form_wherever_their_values_stand() {
    let above = read("replay.outstanding = 4\n[stream.a]", &[]);
    let own = read("[stream.a.replay]\noutstanding = 4", &[]);
    assert_eq!(above, own);
    assert_eq!(above.hash(), own.hash());
    assert_ne!(above.hash(), read("[stream.b.replay]\noutstanding = 4", &[]).hash());

    let config = read(TWO, &[]);
    let text = config.to_toml();
    assert!(text.contains("\n[stream.oltp.workload]\n") && !text.contains("\n[workload]\n"), "{text}");
    let again = read(&text, &[]);
    assert_eq!(again, config);
    assert_eq!(again.to_toml(), text);
}

#[test]
fn a_stream_made_in_code_that_leaves_a_key_unset_reads_back_alike() {
    let mut config = Config::default();
    config.workload.footprint = Some(Bytes::from_kib(64));
    let stream = StreamConfig { name: "a".to_owned(), ..Config::default().streams().remove(0) };
    config.stream.push(stream);
    assert!(config.validate().is_ok());
    let again = read(&config.to_toml(), &[]);
    assert_eq!(again.stream, config.stream);
    assert_eq!(again.hash(), config.hash());
}

#[test]
fn misspelt_names_are_told_the_likely_one() {
    use ConfigErrorKind::*;
    let cases: [Misspelt; 13] = [
        ("[stream.a.worklod]\nrequests = 1", &[], UnknownSection, (1, 11), ["`worklod`", "[stream.a.workload]?"]),
        ("[stream.a.replay]\nthread = 1", &[], UnknownKey, (2, 1), ["in [stream.a.replay]", "`threads`?"]),
        ("[stream.a.replay]\nrequests = 1", &[], UnknownKey, (2, 1), ["`requests`", "belongs in [workload]"]),
        ("[stream.a]\nthreads = 1", &[], UnknownKey, (2, 1), ["in [stream.a]", "belongs in [stream.a.replay]"]),
        ("[stream.a.flash]\nread-time = \"3us\"", &[], UnknownSection, (1, 11), ["`flash`", "about the whole drive"]),
        ("[streams.a.replay]\nthreads = 1", &[], UnknownSection, (1, 2), ["[streams]", "[stream]?"]),
        ("[namespaces.a]\n", &[], UnknownSection, (1, 2), ["[namespaces]", "[namespace]?"]),
        ("[namespace.a]\ncapcity = \"1GiB\"", &[], UnknownKey, (2, 1), ["in [namespace.a]", "`capacity`?"]),
        (TWO, &["stream.olpt.replay.outstanding=4"], UnknownName, (1, 8), ["no stream `olpt`", "`oltp`?"]),
        (TWO, &["stream.other.replay.outstanding=4"], UnknownName, (1, 8), ["`other`", "are `oltp`, `backup`"]),
        (TWO, &["stream.oltp.replay.outstandin=4"], UnknownKey, (1, 20), ["`outstandin`", "`outstanding`?"]),
        ("[namespace.fast]\n", &["namespace.fats.dies=0"], UnknownName, (1, 11), ["no namespace", "`fast`?"]),
        (
            "[namespace.fast]\n[queue]\nnamespace = \"fats\"",
            &[],
            UnknownName,
            (3, 13),
            ["queue.namespace: there is no namespace `fats`", "`fast`?"],
        ),
    ];
    for (text, overrides, kind, place, says) in cases {
        assert_problem(text, overrides, kind, place, says);
    }
}

#[test]
fn names_and_tables_of_the_wrong_form_are_refused() {
    use ConfigErrorKind::*;
    let long = format!("[stream.{}]", "a".repeat(65));
    assert_problem(
        "[stream.\"a b\".replay]\n",
        &[],
        BadName,
        (1, 9),
        ["`a b` cannot be the name of a stream", "letters"],
    );
    assert_problem("[stream.\"\"]\n", &[], BadName, (1, 9), ["cannot be the name", "1 to 64"]);
    assert_problem("[namespace.\"\u{e9}\"]\n", &[], BadName, (1, 12), ["the name of a namespace", "digits"]);
    assert_problem(&long, &[], BadName, (1, 9), ["cannot be the name", "1 to 64"]);
    assert_problem("stream = 3", &[], WrongType, (1, 1), ["[stream] holds tables", "[stream.NAME.workload]"]);
    assert_problem("[[namespace]]\ndies = 0", &[], WrongType, (1, 3), ["holds tables", "[namespace.NAME]"]);
    assert_problem("stream.a = 3", &[], WrongType, (1, 8), ["[stream.a] is a section, not a whole number", ""]);
    assert_problem("stream.a.replay = 3", &[], WrongType, (1, 10), ["[stream.a.replay] is a section", ""]);
    assert_problem("", &["stream.a.replay.mode=opn"], UnknownChoice, (1, 22), ["stream.a.replay.mode", "`open`?"]);

    let named = |count| -> String { (0..count).map(|number| format!("[stream.s{number}]\n")).collect() };
    let writers = format!("[ftl]\nwrite-streams = \"per-stream\"\n{}", named(65));
    let says = ["there are 65 streams; at most 64 can write to open blocks of their own", "`shared`"];
    assert_problem(&writers, &[], Conflict, (2, 17), says);
    assert_problem(&named(257), &[], OutOfBounds, (257, 9), ["`s256` is one stream too many: there can be 256", ""]);
}

#[test]
fn sets_are_read_in_both_forms_and_refused_with_the_numbers_there_are() {
    use ConfigErrorKind::*;
    let [a] = &namespaces("[namespace.a]\ncapacity = \"1GiB\"\nchannels = \"0-3,6\"\nways = [5, 1]\nplanes = 1")[..]
    else {
        panic!()
    };
    assert_eq!((a.channels.as_slice(), a.ways.as_slice()), (&[0, 1, 2, 3, 6][..], &[1, 5][..]));
    assert_eq!((a.dies.as_slice(), a.planes.as_slice()), (&[0][..], &[1][..]), "all planes of one die");

    let set = |line: &str| format!("[namespace.a]\n{line}");
    let says = ["namespace.a.channels has 8, and geometry.channels is 8", "the numbers are 0 to 7"];
    assert_problem(&set("channels = \"0-8\""), &[], Conflict, (2, 12), says);
    let says = ["namespace.a.planes has 2, and geometry.planes-per-die is 2", "0 to 1"];
    assert_problem(&set("planes = [2]"), &[], Conflict, (2, 10), says);
    assert_problem(&set("planes = 8"), &[], OutOfBounds, (2, 10), ["it must be 0 to 7", ""]);
    assert_problem(&set("dies = \"\""), &[], OutOfBounds, (2, 8), ["a set that is not empty", ""]);
    assert_problem(&set("dies = []"), &[], OutOfBounds, (2, 8), ["a set that is not empty", ""]);
    assert_problem(&set("ways = \"1,1\""), &[], OutOfBounds, (2, 8), ["a number is there twice", ""]);
    assert_problem(&set("ways = true"), &[], WrongType, (2, 8), ["expected a set of numbers", ""]);
    assert_problem(&set("ways = \"all\""), &[], WrongType, (2, 8), ["`all` is not a number", ""]);
}

#[test]
fn namespaces_follow_one_another_and_share_what_is_left() {
    let whole = namespaces("geometry.capacity = \"1GiB\"");
    assert_eq!((whole.len(), whole[0].name.as_str(), whole[0].capacity), (1, "drive", Bytes::from_kib(1 << 20)));

    let text = "geometry.capacity = \"1GiB\"\n[namespace.a]\n[namespace.b]\ncapacity = \"256MiB\"\n[namespace.c]\n";
    let found: Vec<_> = namespaces(text).into_iter().map(|space| (space.name, space.start, space.capacity)).collect();
    let mib = |count: u64| Bytes::from_kib(count << 10);
    let expected = [("a", 0, 384), ("b", 384, 256), ("c", 640, 384)];
    assert_eq!(found, expected.map(|(name, start, size)| (name.to_owned(), mib(start), mib(size))));

    let odd = namespaces("[namespace.a]\ncapacity = \"10001B\"\n[namespace.b]\n");
    assert_eq!((odd[0].capacity, odd[1].start), (Bytes::from_kib(8), Bytes::from_kib(8)), "whole pages");
}

#[test]
fn namespaces_that_do_not_fit_the_drive_are_refused() {
    use ConfigErrorKind::Conflict;
    let drive = |rest: &str| format!("geometry.capacity = \"1GiB\"\n{rest}");
    let text = drive("[namespace.a]\ncapacity = \"768MiB\"\n[namespace.b]\ncapacity = \"512MiB\"");
    let says = ["namespace.b.capacity (512MiB) does not fit the drive: of its 1GiB there are 256MiB left", "lower it"];
    assert_problem(&text, &[], Conflict, (5, 12), says);
    let text = drive("[namespace.a]\ncapacity = \"1GiB\"\n[namespace.b]");
    let says = ["the other namespaces leave nothing of the 1GiB of the drive to b", "lower the capacity of another"];
    assert_problem(&text, &[], Conflict, (3, 12), says);
    let says = ["namespace.a.capacity (1KiB) is less than a page of 4KiB", "a page"];
    assert_problem("[namespace.a]\ncapacity = \"1KiB\"", &[], Conflict, (2, 12), says);
    let says = ["queue.namespace: there is no namespace `a`", "no [namespace.NAME] is given"];
    assert_problem("queue.namespace = \"a\"", &[], ConfigErrorKind::UnknownName, (1, 19), says);
}

#[test]
fn what_cannot_go_together_in_a_stream_is_told_with_its_name() {
    use ConfigErrorKind::{Conflict, Unused};
    let cases: [(&str, (usize, usize), &str); 9] = [
        ("[stream.a.workload]\nkind = \"trace\"", (2, 8), "stream.a.workload.kind is `trace`, but no trace"),
        ("[stream.a.workload]\nkind = \"fitted\"", (2, 8), "stream.a.workload.kind is `fitted`, but no fitted profile"),
        (
            "[stream.a.workload]\ntrace = \"a\"\nprofile = \"b\"",
            (3, 1),
            "stream.a.workload.trace and stream.a.workload.profile are both given",
        ),
        ("[stream.a.workload]\nalignment = \"1000B\"", (2, 13), "stream.a.workload.alignment (1kB) is not a multiple"),
        (
            "[stream.a.workload]\nread-share = 0.8\ndeallocate-share = 0.3",
            (3, 20),
            "stream.a.workload.read-share (0.8)",
        ),
        ("[stream.a.workload]\nfootprint = \"1TiB\"", (2, 13), "beyond the drive"),
        (
            "[stream.a.workload]\nfootprint = \"2GiB\"\n[namespace.n]\ncapacity = \"1GiB\"",
            (2, 13),
            "stream.a.workload.footprint (2GiB from 0B) reaches beyond namespace `n`, which has 1GiB",
        ),
        (
            "workload.request-size = \"64KiB\"\nworkload.footprint = \"4KiB\"\n[stream.a]\n[stream.b.workload]\nfootprint = \"1GiB\"",
            (1, 25),
            "stream.a.workload.request-size: a request of 64KiB does not fit the footprint of 4KiB",
        ),
        (
            "[namespace.n]\ncapacity = \"1GiB\"\n[workload]\nfootprint-start = \"1GiB\"",
            (4, 19),
            "is beyond namespace `n`",
        ),
    ];
    for (text, place, message) in cases {
        assert_problem(text, &[], Conflict, place, [message, ""]);
    }
    let text = "[stream.a.replay]\nthreads = 2\n[stream.b]";
    let says =
        ["stream.a.replay.threads has no effect: stream.a.replay.mode is \"stress\"", "set stream.a.replay.mode to"];
    assert_problem(text, &[], Unused, (2, 1), says);
}

#[test]
fn a_value_above_all_streams_is_unused_when_no_stream_reads_it() {
    use ConfigErrorKind::Unused;
    let text = "[replay]\nthreads = 4\n[stream.a]\n[stream.b.replay]\nmode = \"closed\"";
    assert_eq!(streams(text, &[])[1].replay.threads, 4);
    assert_problem(
        "[replay]\nthreads = 4\n[stream.a]\n[stream.b]",
        &[],
        Unused,
        (2, 1),
        ["replay.threads has no effect", ""],
    );

    let text = "[stream.a.replay]\noutstanding = 4\n[stream.b.replay]\noutstanding = 5";
    let says = ["replay.outstanding has no effect: every stream says it itself", "stream.a.replay.outstanding"];
    assert_problem(text, &["replay.outstanding=3"], Unused, (1, 8), says);
    let text = "[stream.a.workload]\nprofile = \"hm_0\"";
    let says = ["workload.trace has no effect: every stream says it itself", "stream.a.workload.trace"];
    assert_problem(text, &["workload.trace=a.csv"], Unused, (1, 10), says);
    // Accepted without effect: a default that every stream overrides, because streams may be added later; and a key of a stream, if an override
    // selects another replay mode for all streams.
    streams("replay.outstanding = 3\n[stream.a.replay]\noutstanding = 4", &[]);
    streams("[stream.a.replay]\noutstanding = 4", &["replay.mode=open"]);
}

#[test]
fn a_source_above_all_streams_is_unused_when_every_stream_has_one() {
    let pairs = [("fitted", "trace"), ("fitted", "profile"), ("trace", "fitted"), ("profile", "fitted")];
    for (own, above) in pairs {
        let text = format!("[stream.a.workload]\n{own} = \"x\"\n[stream.b.workload]\n{own} = \"y\"");
        let message = format!("workload.{above} has no effect: every stream says it itself");
        let help = format!("stream.a.workload.{above}");
        let place = (1, 10);
        let set = format!("workload.{above}=z");
        assert_problem(&text, &[&set], ConfigErrorKind::Unused, place, [&message, &help]);
    }
}

#[test]
fn a_value_above_all_streams_is_unused_when_each_stream_says_what_does_not_read_it() {
    use ConfigErrorKind::Unused;
    let closed = "[stream.a.replay]\nmode = \"closed\"\n[stream.b.replay]\nmode = \"closed\"";
    let says = [
        "replay.outstanding has no effect in any stream: stream.a.replay.mode is \"closed\"",
        "set stream.a.replay.mode to \"stress\", or leave outstanding away",
    ];
    assert_problem(closed, &["replay.outstanding=3"], Unused, (1, 8), says);
    // A default in the same text as the streams is accepted, because a stream with another replay mode may be added later.
    streams(&format!("replay.outstanding = 3\n{closed}"), &[]);
    streams(&format!("replay.outstanding = 3\n{closed}\n[stream.c]"), &[]);

    let traces = "[stream.a.workload]\ntrace = \"a.csv\"\n[stream.b.workload]\ntrace = \"b.csv\"";
    let says = ["workload.read-share has no effect in any stream:", "set stream.a.workload.kind to \"synthetic\""];
    assert_problem(&format!("workload.read-share = 0.5\n{traces}"), &[], Unused, (1, 10), says);
    streams(&format!("workload.read-share = 0.5\n{traces}\n[stream.c]"), &[]);
}

#[test]
fn overrides_name_streams_and_namespaces_only_where_the_file_is_no_more_than_a_preset() {
    use ConfigErrorKind::UnknownName;
    let set = ["stream.a.workload.requests=5", "stream.b.replay.outstanding=2", "namespace.n.capacity=1GiB"];
    let config = read("preset = \"venice-pm9a3\"", &set);
    assert_eq!((config.stream.len(), config.namespace.len()), (2, 1));

    let file = "[workload]\nrequests = 5";
    let says = ["there is no stream `a`", "leave `stream.a.` away for the only stream there is"];
    assert_problem(file, &["stream.a.replay.outstanding=2"], UnknownName, (1, 8), says);
    let says = ["there is no namespace `n`", "namespaces have to be named in the file"];
    assert_problem(file, &["namespace.n.capacity=1GiB"], UnknownName, (1, 11), says);
    let says = ["there is no namespace `n`", ""];
    assert_problem("[stream.a]", &["namespace.n.capacity=1GiB"], UnknownName, (1, 11), says);
}

#[test]
fn jobs_lie_between_the_file_and_the_overrides_and_name_streams_like_a_file() {
    use ConfigErrorKind::{UnknownName, Unused};
    let with_jobs = |jobs: &[&str], overrides: &[&str]| {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Config::from_str_with_jobs("replay.outstanding = 9", "drive.toml", &texts(jobs), &texts(overrides))
            .map(|loaded| loaded.config)
    };
    let jobs = ["stream.a.replay.outstanding=4", "stream.b.workload.requests=7"];
    let config = with_jobs(&jobs, &["stream.b.replay.outstanding=2", "stream.b.workload.requests=8"]).unwrap();
    let [a, b] = &config.stream[..] else { panic!("the number of streams is not 2") };
    assert_eq!((a.replay.outstanding, b.replay.outstanding, b.workload.requests), (4, 2, Some(8)));

    let problem = |jobs: &[&str], overrides: &[&str]| {
        let error = with_jobs(jobs, overrides).expect_err("the configuration is refused");
        let [problem] = error.problems() else { panic!("the number of problems is not 1:\n{error}") };
        let source = problem.position.as_ref().map(|at| at.source.clone());
        (problem.kind, source, problem.message.clone() + ": " + problem.help.as_deref().unwrap_or_default())
    };
    let (kind, source, text) = problem(&jobs, &["stream.c.replay.outstanding=2"]);
    assert_eq!((kind, source.as_deref()), (UnknownName, Some("--set #1")));
    assert!(text.contains("no stream `c`: the streams are `a`, `b`"), "{text}");
    let (kind, _, text) = problem(&["replay.outstanding=4"], &["stream.c.replay.outstanding=2"]);
    assert_eq!(kind, UnknownName);
    assert!(text.contains("leave `stream.c.` away"), "{text}");
    // Closed replay does not use `replay.outstanding`, so the override has no effect and is refused.
    let (kind, _, text) = problem(&["replay.mode=closed", "replay.threads=1"], &["replay.outstanding=3"]);
    assert_eq!(kind, Unused);
    assert!(text.contains("replay.outstanding has no effect: replay.mode is \"closed\""), "{text}");
    let (kind, source, _) = problem(&["workload.request-size=1000B"], &[]);
    assert_eq!((kind, source.as_deref()), (ConfigErrorKind::Conflict, Some("--fio")));
}

#[test]
fn streams_and_namespaces_built_in_code_are_checked_alike() {
    let messages = |config: &Config| -> Vec<String> {
        let error = config.validate().expect_err("the configuration is refused");
        error.problems().iter().map(|problem| problem.message.clone()).collect()
    };
    let mut config = read("[stream.a]\n[stream.b]\n[namespace.n]", &[]);
    assert!(config.validate().is_ok());
    config.stream[1].replay.outstanding = 0;
    assert_eq!(messages(&config), ["stream.b.replay.outstanding: 0 is out of bounds: it must be 1 to 65535"]);
    config.stream[1].replay.outstanding = 1;
    config.stream[1].name = "a".to_owned();
    config.namespace[0].0 = "not a name".to_owned();
    let found = messages(&config);
    assert!(found[0].contains("two streams `a`") && found[1].contains("`not a name` cannot be"), "{found:?}");
}

#[test]
fn namespaces_that_fill_their_planes_are_refused() {
    use ConfigErrorKind::Conflict;
    // Four planes of 32 blocks, 256 pages each, of 4 KiB; the capacity is half of that.
    let drive = |rest: &str| {
        format!(
            "[geometry]\nchannels = 2\nchips-per-channel = 1\nblocks-per-plane = 32\npages-per-block = 256\ncapacity = \"64MiB\"\n{rest}"
        )
    };
    // 14336 pages on two planes leave exactly the four spare blocks that a plane needs.
    read(&drive("[namespace.a]\ncapacity = \"56MiB\"\nchannels = 0"), &[]);
    let says = [
        "namespace `a` puts 7169 pages on a plane of 8192, which leaves 3 blocks to spare where 4 are needed; so it is with 2 of 4 planes",
        "lower namespace.a.capacity (57348KiB), or bind it to more planes",
    ];
    let text = drive("[namespace.a]\ncapacity = \"57348KiB\"\nchannels = 0");
    assert_problem(&text, &[], Conflict, (8, 12), says);

    // Each namespace fits alone, but both do not fit on the planes that they share.
    let text =
        drive("[namespace.a]\ncapacity = \"32MiB\"\nchannels = 0\n[namespace.b]\ncapacity = \"26MiB\"\nchannels = 0");
    let says = ["namespaces `a` and `b` put 7424 pages on a plane", "lower namespace.a.capacity (32MiB)"];
    assert_problem(&text, &[], Conflict, (8, 12), says);

    // The error names the namespace with most pages on the full planes, even if its capacity is a default.
    let text = drive("[namespace.a]\ncapacity = \"8MiB\"\n[namespace.b]\nchannels = 0");
    let says = ["namespaces `b` and `a` put 7680 pages", "lower namespace.b.capacity (56MiB)"];
    assert_problem(&text, &[], Conflict, (10, 12), says);

    let text = drive("[gc]\nthreshold = \"15%\"\n[namespace.a]\ncapacity = \"56MiB\"\nchannels = 0");
    let says = ["12.5 % of it stay spare, and gc.threshold (15 %) is not below that", "lower gc.threshold"];
    assert_problem(&text, &[], Conflict, (8, 13), says);
}

#[test]
fn streams_that_write_apart_need_a_block_each_on_the_planes_they_use() {
    use ConfigErrorKind::Conflict;
    let drive = |rest: &str| {
        format!(
            "ftl.write-streams = \"per-stream\"\n[geometry]\nchannels = 2\nchips-per-channel = 1\nblocks-per-plane = 32\npages-per-block = 256\ncapacity = \"104MiB\"\n{rest}"
        )
    };
    // Data fills 26 of 32 blocks. The six spare blocks suffice for three streams: four for the first, one for each further stream.
    let streams = "[stream.a]\n[stream.b]\n[stream.c]\n";
    read(&drive(streams), &[]);
    let says = [
        "the drive puts 6656 pages on a plane of 8192, which leaves 6 blocks to spare where 7 are needed, one of them for each stream that writes there",
        "set ftl.write-streams to \"shared\"",
    ];
    assert_problem(&drive(&format!("{streams}[stream.d]")), &[], Conflict, (1, 21), says);
    // A stream of another namespace needs its blocks on other planes.
    let apart = "[namespace.x]\nchannels = 0\n[namespace.y]\nchannels = 1\n[stream.d.queue]\nnamespace = \"y\"";
    read(&drive(&format!("{streams}{apart}")), &[]);
}
