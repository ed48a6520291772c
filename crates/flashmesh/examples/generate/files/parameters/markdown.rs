//! Reference page of the parameters.

use flashmesh::config::{Condition, Config, Instance, ParameterSpec, ParameterType, SectionSpec, StreamConfig};
use flashmesh::units::{Bytes, Current, Quantity, Rate, Time, Voltage, Wattage};

const HEAD: &str = "\
<!-- Generated from the declarations in crates/flashmesh/src/config by `cargo run -p flashmesh --example generate`. -->

# Parameters

A configuration is a TOML file. It starts from a preset, and changes what it names:

```toml
preset = \"venice-z-nand\"

[fabric]
kind = \"ideal\"
```

A value comes from the last of these that sets it: the defaults below (those of the `venice-z-nand` preset, but for `venice.revisits`), the preset, the
file, jobs of fio, and the overrides on the command line, `--set fabric.kind=ideal`. Unknown keys are errors.

Setting a key that the current mode ignores is an error, unless the same file or a later override sets that mode explicitly: a file may
keep values for several modes, and overrides may switch between them.
`flashmesh run` notes such keys of a file on stderr.
Overrides of one run that leave each other without effect are an error.

Several streams of requests run at once when `[workload]`, `[replay]` or `[queue]` are given once more for each of them:

```toml
[replay]
outstanding = 16

[stream.oltp.workload]
pattern = \"zipf\"

[stream.backup.workload]
pattern = \"sequential\"

[stream.backup.replay]
outstanding = 1
```

A stream starts from the sections above all streams, whatever layer sets them, and changes what it names; streams run in the order
in which they are named. A name has 1 to 64 letters, digits, `_` and `-`; there can be 256 streams and 256 namespaces. An override
names the stream, `--set stream.oltp.replay.outstanding=4`. [streams.md](streams.md) says more.

";

/// Returns the text of docs/parameters.md.
pub fn page() -> String {
    let mut text = HEAD.to_owned();
    types(&mut text);
    presets(&mut text);
    instances(&mut text);
    for section in Config::sections() {
        section_text(&mut text, section);
    }
    text
}

fn units<Q: Quantity>() -> String {
    Q::UNITS.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn types(text: &mut String) {
    text.push_str("## Values\n\n| type | written as |\n|---|---|\n");
    let rows = [
        ("integer", "A whole number: `1_000_000`, `1e6` or `\"1M\"` (`k`, `M`, `G`, `T` are powers of 1000).".to_owned()),
        ("number", "A number: `0.99`.".to_owned()),
        ("share", "A share of a whole: `0.07` or `\"7%\"`.".to_owned()),
        ("boolean", "`true` or `false`.".to_owned()),
        ("time", format!("A text with a unit ({}): `\"3us\"`, `\"12.5ns\"`.", units::<Time>())),
        ("size", format!("A text with a unit ({}; KiB is 1024 B, kB is 1000 B): `\"4KiB\"`; `K`, `M`, `G` and `T` are powers of 1024, as in fio.", units::<Bytes>())),
        ("rate", format!("A text with a unit ({}): `\"1.2GB/s\"`; or `\"unlimited\"`.", units::<Rate>())),
        ("power", format!("A text with a unit ({}): `\"1.08mW\"`.", units::<Wattage>())),
        ("current", format!("A text with a unit ({}): `\"25mA\"`.", units::<Current>())),
        ("voltage", format!("A text with a unit ({}): `\"3.3V\"`.", units::<Voltage>())),
        ("sizes", "A size, or sizes with their weights: `[[\"4KiB\", 0.7], [\"64KiB\", 0.3]]`.".to_owned()),
        ("set", "A set of numbers, counted from 0: `\"0-3,6\"` or `[0, 1, 2, 3, 6]`.".to_owned()),
        ("times", "A time, or times for one plane, for two, and so on: `[\"290ns\", \"940ns\"]`; each further plane adds the last difference, or the only time.".to_owned()),
        ("text, path", "A text.".to_owned()),
        ("choice", "One of the texts listed with the parameter.".to_owned()),
    ];
    for (name, form) in rows {
        text.push_str(&format!("| {name} | {form} |\n"));
    }
}

fn presets(text: &mut String) {
    text.push_str("\n## `preset`\n\nThe drive that the file starts from.\n\n| preset | drive |\n|---|---|\n");
    for preset in Config::presets() {
        text.push_str(&format!("| `{}` | {} |\n", preset.name, preset.summary));
    }
    let former = Config::presets().iter().filter_map(|preset| Some((preset.former_name?, preset.name)));
    let former: Vec<String> = former.map(|(former, name)| format!("`{former}` for `{name}`")).collect();
    text.push_str(&format!("\nOlder names are accepted, with a note: {}.\n", former.join(", ")));
}

/// Appends the lists of keys that the plain instance, the fastest compiled variant of the simulator, does not support.
fn instances(text: &mut String) {
    let needing = |instance| {
        let specs = Config::parameters().filter(move |spec| spec.needs.instance == instance);
        specs.map(named_need).collect::<Vec<_>>().join(", ")
    };
    text.push_str(&format!(
        "\n## Keys that cost speed\n\n\
        A drive runs in the smallest instance of the simulation that its keys need ([performance.md](performance.md)); results do not depend on it. A key \
        that has its default, or that nothing reads, needs none.\n\n\
        - The instance with every feature is needed by {}.\n\
        - The one with probes is needed by {}; the recording only until it ends.\n\
        - All others run in the plain one.\n",
        needing(Instance::Any),
        needing(Instance::Probed)
    ));
}

/// Returns the name of a key that needs more than the plain instance, with the conditions under which it does, in Markdown.
fn named_need(spec: &ParameterSpec) -> String {
    let conditions = spec.needs.only_where.iter().flat_map(|with| &with.any_of);
    let shown: Vec<String> = conditions.map(|condition| shown_as(&condition.path(), condition)).collect();
    match shown.as_slice() {
        [] => format!("`{}`", spec.path()),
        shown => format!("`{}` (with {})", spec.path(), shown.join(" or ")),
    }
}

fn section_text(text: &mut String, section: &SectionSpec) {
    let title = if section.name.is_empty() { "Above all sections".to_owned() } else { format!("`[{}]`", section.name) };
    text.push_str(&format!("\n## {title}\n\n{}\n\n", section.doc));
    let used_with = super::section_used_with(section, |condition| shown(section, condition));
    if !used_with.is_empty() {
        text.push_str(&format!("{used_with}\n\n"));
    }
    if StreamConfig::has_section(section.name) {
        text.push_str(&format!("A stream has it as `[stream.NAME.{}]`.\n\n", section.name));
    }
    text.push_str("| key | type | default | values | meaning |\n|---|---|---|---|---|\n");
    for spec in &section.parameters {
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            spec.key,
            spec.type_name(),
            default(spec),
            values(spec),
            spec.doc.clone() + &super::used_with(section, spec, |condition| shown(section, condition))
        ));
    }
    for spec in section.parameters.iter().filter(|spec| !spec.choices.is_empty()) {
        text.push_str(&format!("\n`{}` is one of\n\n", spec.key));
        for choice in &spec.choices {
            let is_switch = spec.parameter_type == ParameterType::Switch && choice.name.parse::<bool>().is_ok();
            let quote = if is_switch { "" } else { "\"" };
            text.push_str(&format!("- `{quote}{}{quote}`: {}\n", choice.name, choice.doc));
        }
    }
}

fn default(spec: &ParameterSpec) -> String {
    match (&spec.default_text, spec.unset_means) {
        (Some(default), _) => format!("`{default}`"),
        (None, Some(means)) => means.to_owned(),
        (None, None) => String::new(),
    }
}

fn values(spec: &ParameterSpec) -> String {
    if spec.choices.is_empty() { spec.bounds_text.clone() } else { "see below".to_owned() }
}

/// Returns a condition on a key in Markdown, such as `kind = "bus"`. A key outside `section` has its section as a prefix.
fn shown(section: &SectionSpec, condition: &Condition) -> String {
    let key = if condition.section == section.name { condition.key.to_owned() } else { condition.path() };
    shown_as(&key, condition)
}

/// Returns a condition on a key in Markdown, with `key` as the name of the key.
fn shown_as(key: &str, condition: &Condition) -> String {
    let each = condition.values.iter().map(|value| match (*value, condition.is) {
        ("", true) => format!("`{key}` unset"),
        ("", false) => format!("`{key}` set"),
        (_, true) => format!("`{key} = {value}`"),
        (_, false) => format!("`{key}` other than `{value}`"),
    });
    each.collect::<Vec<_>>().join(" or ")
}
