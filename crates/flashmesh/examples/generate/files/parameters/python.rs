//! Typed parameters of the Python package.

use flashmesh::config::{Condition, Config, ParameterSpec, ParameterType, SectionSpec, StreamConfig};

use crate::files::text::{WIDTH, docstring};

const HEAD: &str = r#""""The parameters of a configuration, typed.

Generated from the declarations in crates/flashmesh/src/config by `cargo run -p flashmesh --example generate`.

    >>> from flashmesh._parameters import Config, Fabric
    >>> Config(preset="venice-z-nand", fabric=Fabric(kind="ideal")).to_toml_tables()
    {'preset': 'venice-z-nand', 'fabric': {'kind': 'ideal'}}
"""

from __future__ import annotations

import os
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from flashmesh.suggesting import suggesting

"#;

const CHECK: &str = r#"

def _check(parameters: Any, section: str) -> None:
    """Refuses values that no configuration takes.

    Raises:
        ConfigError: When there is one.
    """
    given = {own.name: value for own in fields(parameters) if (value := getattr(parameters, own.name)) is not None}
    if given:
        from flashmesh.keys import refuse_misfits

        refuse_misfits(type(parameters).__name__, section, given)
"#;

const ALIASES: &str = r#"Time: TypeAlias = str | float | timedelta
"""A time with its unit, "3us" or "12.5ns"; a number is in seconds, 3e-6."""

Bytes: TypeAlias = str
"""A size with its unit: "4KiB" (1024 B each), "4kB" (1000 B each)."""

Rate: TypeAlias = str
"""A rate with its unit: "1.2GB/s"; or "unlimited"."""

Wattage: TypeAlias = str
"""A power with its unit: "1.08mW"."""

Current: TypeAlias = str
"""A current with its unit: "25mA"."""

Voltage: TypeAlias = str
"""A voltage with its unit: "3.3V"."""

Share: TypeAlias = float | str
"""A share of a whole: 0.07 or "7%"."""

Sizes: TypeAlias = Bytes | Sequence[tuple[Bytes, float]]
"""A size, or sizes with their weights: [("4KiB", 0.7), ("64KiB", 0.3)]."""

Indices: TypeAlias = str | int | Sequence[int]
"""A set of numbers, counted from 0: "0-3,6" or [0, 1, 2, 3, 6]."""

Times: TypeAlias = Time | Sequence[Time]
"""A time, or times for one plane, for two, and so on: ["290ns", "940ns"]."""

"#;

const TAIL: &str = r#"
    def to_toml_tables(self) -> dict[str, Any]:
        """The tables of a configuration file, with the keys spelt as there; parameters that are None are left out."""
        return _table(self)


def _table(parameters: Any) -> dict[str, Any]:
    """The parameters that are set, by their key in a configuration file; sections without any are left out."""
    values = {own.name.replace("_", "-"): _plain(getattr(parameters, own.name)) for own in fields(parameters)}
    return {key: value for key, value in values.items() if value is not None and value != {}}


def _plain(value: Any) -> Any:
    """A value in the types that TOML has."""
    if is_dataclass(value):
        return _table(value)
    if isinstance(value, AnyMapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value
"#;

/// Returns the text of the Python module `flashmesh._parameters`.
pub fn module() -> String {
    let (roots, sections): (Vec<_>, Vec<_>) =
        Config::sections().iter().partition(|section: &&SectionSpec| section.name.is_empty());
    let mut text = HEAD.to_owned();
    let mut names = vec![
        "Bytes", "Config", "Current", "Indices", "Preset", "Rate", "Share", "Sizes", "Stream", "Time", "Times",
        "Voltage", "Wattage",
    ];
    names.extend(sections.iter().map(|section| section.struct_name));
    let choice_names: Vec<String> =
        choices(&sections).iter().map(|(section, spec)| choice_name(section, spec)).collect();
    names.extend(choice_names.iter().map(String::as_str));
    names.sort_unstable();
    text.push_str("__all__ = [\n");
    for name in names {
        text.push_str(&format!("    \"{name}\",\n"));
    }
    text.push_str("]\n\n");
    text.push_str(ALIASES);
    let presets = Config::presets().iter().map(|preset| preset.name);
    let former = Config::presets().iter().filter_map(|preset| preset.former_name);
    let about = "The drives that come with the simulator; at the end names that some had before.";
    alias(&mut text, "Preset", presets.chain(former), about);
    for (section, spec) in choices(&sections) {
        text.push('\n');
        alias(&mut text, &choice_name(section, spec), spec.choices.iter().map(|choice| choice.name), &spec.doc);
    }
    text.push_str(CHECK);
    for section in &sections {
        let used_with = super::section_used_with(section, |condition| shown(section, condition));
        let doc = match used_with.as_str() {
            "" => section.doc.clone(),
            _ => format!("{}\n\n    {}\n    ", section.doc, used_with.replace('-', "_")),
        };
        class(&mut text, section.struct_name, &doc);
        for spec in &section.parameters {
            field(&mut text, section, spec);
        }
        text.push_str(&format!(
            "\n    def __post_init__(self) -> None:\n        \"\"\"Refuses values that no configuration takes.\"\"\"\n        _check(self, \"{}\")\n",
            section.name
        ));
    }
    class(
        &mut text,
        "Stream",
        "One of several workloads that run at once; what is None has the value above all streams.",
    );
    for section in sections.iter().filter(|section| StreamConfig::has_section(section.name)) {
        let default = format!("{}()", section.struct_name);
        attribute(&mut text, section.name, section.struct_name, &default, &section.doc);
    }
    class(&mut text, "Config", "Everything that decides a run; what is None has the value of the preset.");
    attribute(&mut text, "preset", "Preset | None", "None", "The drive that the configuration starts from.");
    for section in &roots {
        for spec in &section.parameters {
            field(&mut text, section, spec);
        }
    }
    for section in sections.iter().filter(|section| section.table().is_none()) {
        let default = format!("{}()", section.struct_name);
        attribute(&mut text, section.name, section.struct_name, &default, &section.doc);
    }
    let about = "Several workloads at once by their names; they start from `workload`, `replay` and `queue`.";
    attribute(&mut text, "stream", "AnyMapping[str, Stream] | None", "None", about);
    for (section, name) in sections.iter().filter_map(|section| section.table().map(|name| (section, name))) {
        let python_type = format!("AnyMapping[str, {}] | None", section.struct_name);
        attribute(&mut text, name, &python_type, "None", &format!("By their names. {}", section.doc));
    }
    text.push_str(TAIL);
    text
}

fn class(text: &mut String, name: &str, doc: &str) {
    text.push_str(&format!(
        "\n\n@suggesting\n@dataclass(frozen=True, kw_only=True, slots=True)\nclass {name}:\n    \"\"\"{doc}\"\"\"\n"
    ));
}

/// Returns the parameters with a fixed list of values, and their sections.
fn choices<'a>(sections: &[&'a SectionSpec]) -> Vec<(&'a SectionSpec, &'a ParameterSpec)> {
    let parameters = |section: &'a SectionSpec| section.parameters.iter().map(move |spec| (section, spec));
    sections.iter().flat_map(|section| parameters(section)).filter(|(_, spec)| !spec.choices.is_empty()).collect()
}

/// Returns the type name of a parameter with a fixed list of values, such as `FabricKind` for `fabric.kind`.
fn choice_name(section: &SectionSpec, spec: &ParameterSpec) -> String {
    let words = spec.field.split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
    section.struct_name.to_owned() + &words.collect::<String>()
}

/// Appends a type alias of string literals, on one line if that is short enough.
fn alias<'a>(text: &mut String, name: &str, values: impl Iterator<Item = &'a str>, doc: &str) {
    let values: Vec<String> = values.map(|value| format!("\"{value}\"")).collect();
    let line = format!("{name}: TypeAlias = Literal[{}]", values.join(", "));
    if line.len() <= WIDTH {
        text.push_str(&line);
    } else {
        let lines: String = values.iter().map(|value| format!("    {value},\n")).collect();
        text.push_str(&format!("{name}: TypeAlias = Literal[\n{lines}]"));
    }
    text.push('\n');
    docstring(text, "", doc);
}

fn field(text: &mut String, section: &SectionSpec, spec: &ParameterSpec) {
    let python_type = match spec.parameter_type {
        ParameterType::Integer => "int".to_owned(),
        ParameterType::Number => "float".to_owned(),
        ParameterType::Share => "Share".to_owned(),
        ParameterType::Boolean => "bool".to_owned(),
        ParameterType::Time => "Time".to_owned(),
        ParameterType::Bytes => "Bytes".to_owned(),
        ParameterType::Rate => "Rate".to_owned(),
        ParameterType::Power => "Wattage".to_owned(),
        ParameterType::Current => "Current".to_owned(),
        ParameterType::Voltage => "Voltage".to_owned(),
        ParameterType::Sizes => "Sizes".to_owned(),
        ParameterType::Indices => "Indices".to_owned(),
        ParameterType::Times => "Times".to_owned(),
        ParameterType::Text => "str".to_owned(),
        ParameterType::Path => "str | os.PathLike[str]".to_owned(),
        ParameterType::Choice => choice_name(section, spec),
        ParameterType::Switch => format!("bool | {}", choice_name(section, spec)),
    };
    let mut doc = spec.doc.clone();
    doc.push_str(&super::used_with(section, spec, |condition| shown(section, condition)));
    if !spec.bounds_text.is_empty() {
        doc.push_str(&format!(" Values: {}.", spec.bounds_text));
    }
    match (&spec.default_text, spec.unset_means) {
        (Some(default), _) => doc.push_str(&format!(" Default: {}.", python_value(default))),
        (None, Some(means)) => doc.push_str(&format!(" Default: {means}.")),
        (None, None) => {}
    }
    attribute(text, spec.field, &format!("{python_type} | None"), "None", &doc);
}

/// Returns a condition on a key in Python, such as `kind = "bus"`. A key outside `section` has its section as a prefix.
fn shown(section: &SectionSpec, condition: &Condition) -> String {
    let path = if condition.section == section.name { condition.key.to_owned() } else { condition.path() };
    let key = path.replace('-', "_");
    let values: Vec<String> = condition.values.iter().map(|value| python_value(value)).collect();
    match (condition.values, condition.is) {
        ([""], true) => format!("{key} unset"),
        ([""], false) => format!("{key} set"),
        (_, true) => format!("{key} = {}", values.join(" or ")),
        (_, false) => format!("{key} other than {}", values.join(" and ")),
    }
}

/// Returns a TOML scalar as a Python literal.
fn python_value(toml: &str) -> String {
    match toml {
        "true" => "True".to_owned(),
        "false" => "False".to_owned(),
        _ => toml.to_owned(),
    }
}

fn attribute(text: &mut String, name: &str, python_type: &str, default: &str, doc: &str) {
    text.push_str(&format!("\n    {name}: {python_type} = {default}\n"));
    docstring(text, "    ", doc);
}
