//! Fuzz targets of the configuration: texts of configuration fragments and arbitrary characters, and texts of declared
//! parameters.

use std::fmt::Write;
use std::sync::LazyLock;

use flashmesh::config::{Config, ParameterSpec, ParameterType, Preset, StreamConfig};

use crate::choices::FuzzInput;

/// Fragments of configurations.
const PIECES: &[&str] = &[
    "\n",
    "[",
    "]",
    "=",
    " = ",
    "\"",
    "'",
    ",",
    "{",
    "}",
    "#",
    ".",
    "-",
    "_",
    "0",
    "1",
    "9223372036854775808",
    "-1",
    "1e308",
    "nan",
    "true",
    "[[",
    "]]",
    "\"\"\"",
    "preset",
    "\"venice-z-nand\"",
    "\"collisions\"",
    "geometry",
    "channels",
    "page-size",
    "\"4KiB\"",
    "\"3us\"",
    "\"1.2GB/s\"",
    "\"7%\"",
    "over-provisioning",
    "capacity",
    "[flash]",
    "read-time",
    "[workload]",
    "trace",
    "profile",
    "request-size",
    "[[\"4KiB\", 0.5], [\"8KiB\", 0.5]]",
    "[replay]",
    "mode",
    "\"open\"",
    "time-scale",
    "[fabric]",
    "kind",
    "\"bus\"",
    "[gc]",
    "victim",
    "\"d-choices\"",
    "d",
    "\u{feff}",
    "\0",
    "µs",
    "\r\n",
    "\t",
];

/// Checks that any text is a configuration or an error with a position, and that writing a configuration and reading it back
/// preserves it.
pub fn any_text(bytes: &[u8]) {
    // A byte below the number of `PIECES` selects one of them. Any other byte is a character.
    let text: String = bytes
        .iter()
        .map(|&byte| match PIECES.get(usize::from(byte) % 128) {
            Some(&piece) if byte < 128 => piece.to_owned(),
            _ => char::from(byte).to_string(),
        })
        .collect();
    check(&text, &[]);
}

/// Like [`any_text`], but checks texts of a few declared parameters, with mostly valid values, some overrides and injected faults.
pub fn declared_parameters(bytes: &[u8]) {
    static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| Config::parameters().map(Parameter::new).collect());
    let mut choices = FuzzInput::new(bytes);
    let mut text = String::new();
    if choices.one_in(4) {
        let _ = writeln!(text, "preset = \"{}\"", Config::presets()[choices.below(Config::presets().len())].name);
    }
    let mut overrides = Vec::new();
    let mut place = 0;
    while !choices.is_used_up() && text.len() < LENGTH_MAX {
        // Mostly choose nearby parameters, which often depend on each other.
        place = match choices.below(3) {
            0 => choices.below(256) << 8 | choices.below(256),
            _ => place + 1 + choices.below(6),
        } % PARAMETERS.len();
        let parameter = &PARAMETERS[place];
        let name = choices.pick(&["a", "b"]);
        let section = match choices.below(4) {
            0 if parameter.is_per_stream => format!("stream.{name}.{}", parameter.section),
            _ => parameter.section.replace("NAME", name),
        };
        let key = if section.is_empty() { parameter.key.to_owned() } else { format!("{section}.{}", parameter.key) };
        let value = &parameter.values[choices.below(parameter.values.len())];
        match choices.below(12) {
            0 => overrides.push(format!("{key}={}", value.trim_matches('"'))),
            // Insert a fault into some lines only, so that the rest of the text is parsed too.
            1 => {
                let mut line = format!("{key} = {value}");
                let at = choices.below(line.len() + 1);
                line.insert_str(at, choices.pick(PIECES));
                text.push_str(&line);
            }
            2 => _ = write!(text, "{key} = {}", choices.pick(PIECES)),
            _ => _ = write!(text, "{key} = {value}"),
        }
        text.push('\n');
    }
    check(&text, &overrides);
}

const LENGTH_MAX: usize = 4096;

/// A parameter with candidate values.
struct Parameter {
    section: &'static str,
    key: &'static str,
    is_per_stream: bool,
    /// TOML values: minimum, maximum, default, one of each choice, and others of the type.
    values: Vec<String>,
}

impl Parameter {
    fn new(spec: &ParameterSpec) -> Parameter {
        let is_per_stream = StreamConfig::has_section(spec.section);
        let others: &[&str] = match spec.parameter_type {
            ParameterType::Integer => &["0", "1", "2", "7", "64", "4294967296", "9223372036854775807"],
            ParameterType::Number => &["0", "0.5", "1.0", "1e9", "5e-324", "inf"],
            ParameterType::Share => &["0", "0.3", "\"7%\"", "1", "1.0000001", "\"100%\""],
            ParameterType::Boolean => &["true", "false"],
            ParameterType::Time => &["\"0ns\"", "\"3us\"", "\"1.5ms\"", "\"1ps\"", "\"99999999s\""],
            ParameterType::Bytes => &["\"1B\"", "\"512B\"", "\"4KiB\"", "\"16KiB\"", "\"3GB\"", "\"16EiB\""],
            ParameterType::Rate => &["\"1B/s\"", "\"1.2GB/s\"", "\"100MT/s\"", "\"8GiB/s\""],
            ParameterType::Power => &["\"0W\"", "\"1.5W\"", "\"30mW\""],
            ParameterType::Current => &["\"25mA\"", "\"0A\""],
            ParameterType::Voltage => &["\"3.3V\"", "\"1200mV\""],
            ParameterType::Sizes => &["\"4KiB\"", "[[\"4KiB\", 0.5], [\"8KiB\", 0.5]]", "[]", "[[\"1B\", 0]]"],
            ParameterType::Indices => &["0", "[0, 1]", "\"0-3\"", "[]", "[5, 5]"],
            ParameterType::Times => &["\"3us\"", "[\"3us\", \"4us\"]", "[]"],
            ParameterType::Text => &["\"\"", "\"a\"", "\"WPDC\"", "\"\\u0000\""],
            ParameterType::Path => &["\"\"", "\"a/b.csv\"", "\"/dev/null\""],
            ParameterType::Choice => &["\"\"", "\"no\""],
            ParameterType::Switch => &["true", "false", "\"no\""],
        };
        let declared = [&spec.default_text, &spec.min_text, &spec.max_text].into_iter().flatten().cloned();
        let choices = spec.choices.iter().map(|choice| format!("\"{}\"", choice.name));
        let values = declared.chain(choices).chain(others.iter().map(|&other| other.to_owned())).collect();
        Parameter { section: spec.section, key: spec.key, is_per_stream, values }
    }
}

fn preset(name: &str) -> &'static Preset {
    Config::presets().iter().find(|preset| preset.name == name).expect("the preset exists")
}

/// Checks that a configuration survives writing and reading, and that every problem of an error has a position in the text, an
/// override or a preset.
fn check(text: &str, overrides: &[String]) {
    match Config::from_str(text, "fuzzed.toml", overrides) {
        Ok(config) => {
            let written = config.to_toml();
            let again = Config::from_str(&written, "written.toml", &[]).expect("a written configuration can be read");
            assert_eq!(again, config, "written and read again:\n{written}");
        }
        Err(error) => {
            assert!(!error.problems().is_empty(), "an error without a problem");
            for problem in error.problems() {
                let position = problem.position.as_ref().expect("every problem of a text has a position");
                let source = match position.source.split_once(' ') {
                    Some(("--set", number)) => {
                        let number: usize = number.trim_start_matches('#').parse().expect("an override has a number");
                        &overrides[number - 1]
                    }
                    Some(("preset", name)) => preset(name).text,
                    _ => text,
                };
                let line = source.split('\n').nth(position.line - 1);
                let line = line.unwrap_or_else(|| panic!("{error}\n{position:?} is not in its source:\n{source}"));
                assert!(position.column <= line.chars().count() + 1, "{error}\n{position:?}");
            }
        }
    }
}
