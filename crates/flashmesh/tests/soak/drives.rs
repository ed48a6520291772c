//! Random drives, with all features at once or with none, and their runs with all oracles enabled.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use flashmesh::config::{Config, WarmUp};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as Runner, RngAlgorithm, TestRng, TestRunner};

/// Interconnects of the drives drawn by [`plain`].
pub const INTERCONNECTS: [&str; 6] = ["bus", "pssd", "pnssd", "nossd", "venice", "ideal"];

/// Draws a drive from the strategy `drive`. The result depends only on `drive`, `number` and `seed`.
///
/// # Panics
/// If the drawn configuration is invalid.
pub fn draw(drive: &BoxedStrategy<Drawn>, seed: u64, number: u64) -> Config {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Runner::default(), random);
    let (text, overrides) = drive.new_tree(&mut runner).expect("a drive can be drawn").current();
    let text = format!("seed = {number}\n{text}");
    let mut config = Config::from_str(&text, "soak.toml", &overrides).unwrap_or_else(|error| panic!("{error}\n{text}"));
    config.measure.warm_up = Some(WarmUp::None);
    config
}

/// Text of a configuration file, and overrides of the form `KEY=VALUE`.
pub type Drawn = (String, Vec<String>);

/// Runs a drive with all oracles enabled. Returns an error if an oracle reports a violation or a request does not complete.
pub fn run(config: &Config, requests: u64) -> Result<Report, String> {
    let run = || {
        let mut simulation = Simulation::new(config).map_err(|error| error.to_string())?;
        simulation.enable_checks();
        simulation.run(&Control::default()).map_err(|error| error.to_string())
    };
    let report = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("it panicked".to_owned()))?;
    if report.requests != requests {
        return Err(format!("{} of {requests} requests completed", report.requests));
    }
    Ok(report)
}

/// Returns a strategy that draws drives with all features at once, and little free space, so that GC always runs.
pub fn busy(requests: u64) -> BoxedStrategy<Drawn> {
    (array(), firmware(), host(), streams(requests), together())
        .prop_map(|(array, firmware, host, streams, together)| {
            let precondition = "[precondition]\nkind = \"random\"\n";
            (format!("{array}{firmware}{host}{precondition}{streams}"), together)
        })
        .boxed()
}

/// Returns a strategy that draws drives with one stream and no optional feature.
pub fn plain(interconnect: &'static str, requests: u64) -> BoxedStrategy<Drawn> {
    let geometry = section(
        "geometry",
        vec![
            ("channels", vec!["2", "4", "8"]),
            ("chips-per-channel", vec!["2", "4", "8"]),
            ("dies-per-chip", vec!["1", "2"]),
            ("planes-per-die", vec!["1", "2"]),
            ("blocks-per-plane", vec!["32", "64"]),
            ("pages-per-block", vec!["16", "64"]),
            ("page-size", vec!["\"4KiB\"", "\"16KiB\""]),
            ("over-provisioning", vec!["\"30%\"", "\"45%\""]),
        ],
    );
    let workload = section(
        "workload",
        vec![
            ("pattern", vec!["\"random\"", "\"zipf\"", "\"sequential\"", "\"hot-cold\""]),
            ("read-share", vec!["0", "0.3", "0.7", "1"]),
            ("request-size", vec!["\"4KiB\"", "\"4KiB\"", "\"16KiB\"", "[[\"512B\", 1], [\"32KiB\", 1]]"]),
        ],
    );
    let replay = section("replay", vec![("mode", vec!["\"closed\"", "\"stress\"\noutstanding = 32"])]);
    let precondition = section("precondition", vec![("kind", vec!["\"random\"", "\"sequential\""])]);
    (geometry, workload, replay, precondition)
        .prop_map(move |(geometry, workload, replay, precondition)| {
            let fabric = format!("[fabric]\nkind = \"{interconnect}\"\n");
            // pnSSD needs a square array.
            let square = ["geometry.channels=4", "geometry.chips-per-channel=4"].map(str::to_owned).to_vec();
            let overrides = if interconnect == "pnssd" { square } else { Vec::new() };
            (format!("{geometry}{fabric}{precondition}{workload}requests = {requests}\n{replay}"), overrides)
        })
        .boxed()
}

/// Returns a strategy that draws the line `key = value` of a configuration.
fn line(key: &'static str, values: Vec<&'static str>) -> BoxedStrategy<String> {
    select(values).prop_map(move |value| format!("{key} = {value}\n")).boxed()
}

/// Returns a strategy that draws a section of a configuration, each key with one of its values.
fn section(name: &'static str, keys: Vec<(&'static str, Vec<&'static str>)>) -> BoxedStrategy<String> {
    let lines: Vec<_> = keys.into_iter().map(|(key, values)| line(key, values)).collect();
    lines.prop_map(move |lines| format!("[{name}]\n{}", lines.concat())).boxed()
}

/// Returns a strategy that draws one of `sets`, each a list of overrides `KEY=VALUE`.
fn one_of(sets: &[&[&str]]) -> BoxedStrategy<Vec<String>> {
    let owned = |set: &&[&str]| set.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    select(sets.iter().map(owned).collect::<Vec<_>>()).boxed()
}

/// Returns a strategy that draws overrides of keys that depend on one another: interconnect and page moves, write binding, host interface.
fn together() -> BoxedStrategy<Vec<String>> {
    let fabric = one_of(&[
        &["fabric.kind=bus"],
        &["fabric.kind=bus", "gc.copyback=true"],
        &["fabric.kind=pssd"],
        &["fabric.kind=pnssd", "geometry.chips-per-channel=2"],
        &["fabric.kind=pnssd", "geometry.chips-per-channel=2", "gc.move=chip-to-chip"],
        &["fabric.kind=nossd", "gc.copyback=true"],
        &["fabric.kind=nossd", "gc.move=chip-to-chip"],
        &["fabric.kind=venice"],
        &["fabric.kind=ideal", "gc.copyback=true"],
    ]);
    let binding = one_of(&[
        &["ftl.write-binding=late"],
        &["ftl.write-binding=early", "flash.program-order=any"],
        &["ftl.write-binding=early", "ftl.first-touch=write-block", "flash.program-order=any"],
    ]);
    let interface = one_of(&[
        &["host.interface=direct"],
        &["host.interface=nvme", "nvme.fetch-size=2"],
        &["host.interface=nvme", "nvme.arbitration=weighted", "nvme.commands-max=8"],
        &["host.interface=nvme", "nvme.arbitration=round-robin", "nvme.arbitration-burst=4", "nvme.commands-max=16"],
        &["host.interface=sata", "sata.ncq-depth=32", "sata.processing-delay=2us"],
        &["host.interface=sata", "sata.ncq-depth=8", "sata.transport=doorbells"],
    ]);
    // SATA has no command that writes zeroes.
    let interface = interface.prop_map(|mut keys| {
        if keys[0].ends_with("sata") {
            keys.extend(["a", "b", "c"].map(|stream| format!("stream.{stream}.workload.write-zeroes-share=0")));
        }
        keys
    });
    (fabric, binding, interface).prop_map(|sets| [sets.0, sets.1, sets.2].concat()).boxed()
}

/// Returns a strategy that draws an array with little free space, so that GC always runs.
fn array() -> BoxedStrategy<String> {
    let geometry = section(
        "geometry",
        vec![
            ("channels", vec!["2"]),
            ("chips-per-channel", vec!["2", "4"]),
            ("dies-per-chip", vec!["1", "2"]),
            ("planes-per-die", vec!["1", "2", "4"]),
            ("blocks-per-plane", vec!["48", "64"]),
            ("pages-per-block", vec!["16", "32"]),
            ("page-size", vec!["\"4KiB\"", "\"16KiB\""]),
            ("over-provisioning", vec!["\"45%\"", "\"55%\""]),
        ],
    );
    let flash = section(
        "flash",
        vec![
            ("die-interleaving", vec!["true", "true\ndie-start = \"together\"", "false"]),
            ("multi-plane", vec!["\"off\"", "\"same-offset\"", "\"same-block-and-offset\""]),
            ("suspension", vec!["\"off\"", "\"both\""]),
            ("page-types", vec!["\"one\"", "\"mlc\"", "\"tlc\"", "\"qlc\""]),
        ],
    );
    (geometry, flash).prop_map(|(geometry, flash)| geometry + &flash).boxed()
}

fn firmware() -> BoxedStrategy<String> {
    let schedule = section(
        "schedule",
        vec![
            ("order", vec!["\"read-first\"", "\"write-first\"", "\"arrival\""]),
            ("erases", vec!["\"with-collection\"", "\"first\"", "\"last\""]),
            ("priorities", vec!["\"off\"", "\"strict\"", "\"weighted\""]),
            ("age-bound", vec!["\"1ms\"", "\"5ms\"", "\"1s\""]),
        ],
    );
    let collection = section(
        "gc",
        vec![
            ("victim", vec!["\"greedy\"", "\"d-choices\"", "\"random\"", "\"fifo\""]),
            ("threshold", vec!["\"8%\"", "\"12%\""]),
            ("preemptible", vec!["true", "false"]),
        ],
    );
    let wear = section(
        "wear",
        vec![
            ("dynamic", vec!["true", "false"]),
            ("static-levelling", vec!["true"]),
            ("static-threshold", vec!["4", "16"]),
        ],
    );
    let mapping = section(
        "mapping",
        vec![
            ("cache-capacity", vec!["\"512B\"", "\"4KiB\"", "\"32KiB\""]),
            ("sharing", vec!["\"shared\"", "\"per-stream\""]),
            ("fill", vec!["\"entry\"", "\"page\""]),
        ],
    );
    let allocation = section(
        "ftl",
        vec![
            ("allocation", vec!["\"CWDP\"", "\"PDWC\"", "\"dynamic\""]),
            ("write-streams", vec!["\"shared\"", "\"per-stream\""]),
        ],
    );
    (schedule, collection, wear, mapping, allocation)
        .prop_map(|(schedule, collection, wear, mapping, allocation)| {
            [schedule, collection, wear, mapping, allocation].concat()
        })
        .boxed()
}

fn host() -> BoxedStrategy<String> {
    let host = section("host", vec![("queue-depth", vec!["8", "64"]), ("lanes", vec!["1", "4"])]);
    let cache = section(
        "cache",
        vec![
            ("capacity", vec!["\"256KiB\"", "\"1MiB\""]),
            ("sharing", vec!["\"shared\"", "\"per-stream\""]),
            ("writes", vec!["\"back\"", "\"back\"", "\"through\""]),
            ("destage", vec!["\"watermark\"", "\"eviction\"", "\"first-write\""]),
            ("dirty-limit", vec!["0.2", "0.9"]),
            ("keep-destaged", vec!["true", "false"]),
            ("keep-unwritten", vec!["true", "false"]),
            ("flush-at-end", vec!["true", "false"]),
        ],
    );
    (host, cache).prop_map(|(host, cache)| host + &cache).boxed()
}

/// Returns a strategy that draws three streams: two share the planes of the first channel, the third has those of the second.
fn streams(requests: u64) -> BoxedStrategy<String> {
    let workload = |name| {
        section(
            name,
            vec![
                ("pattern", vec!["\"random\"", "\"zipf\"", "\"sequential\"", "\"hot-cold\""]),
                ("read-share", vec!["0.2", "0.5"]),
                ("deallocate-share", vec!["0.01", "0.05"]),
                ("flush-share", vec!["0", "0.002"]),
                ("write-zeroes-share", vec!["0", "0.01"]),
                ("request-size", vec!["\"4KiB\"", "[[\"512B\", 1], [\"24KiB\", 2]]"]),
                ("alignment", vec!["\"512B\"", "\"4KiB\""]),
            ],
        )
    };
    let names = ("stream.a.workload", "stream.b.workload", "stream.c.workload");
    let workloads = (workload(names.0), workload(names.1), workload(names.2), select(vec!["\"closed\"", "\"stress\""]));
    workloads
        .prop_map(move |(a, b, c, mode)| {
            let mut text = String::new();
            for (name, workload, priority, namespace) in
                [("a", a, "urgent", "left"), ("b", b, "high", "left"), ("c", c, "low", "right")]
            {
                let share = requests / 3 + u64::from(name == "a") * (requests % 3);
                let replay = if name == "c" { "mode = \"stress\"\noutstanding = 24" } else { "threads = 6\nmode = " };
                let mode = if name == "c" { "" } else { mode };
                let _ = write!(
                    text,
                    "{workload}requests = {share}\n[stream.{name}.replay]\n{replay}{mode}\n[stream.{name}.queue]\npriority = \
                     \"{priority}\"\nnamespace = \"{namespace}\"\n"
                );
            }
            text + "[namespace.left]\nchannels = 0\n[namespace.right]\nchannels = 1\n"
        })
        .boxed()
}
