//! What can be configured, as a table: the source of the reference page, the schema and the Python types.

use super::bounds::{self, Bounds};
use super::form::Form;
use super::instance::Instance;
use crate::results::{Name, joined};

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// The section as [`SectionSpec::name`] has it, empty for keys above all sections.
    pub section: &'static str,
    /// The key inside its section.
    pub key: &'static str,
    /// The field of the Rust and Python structures.
    pub field: &'static str,
    /// What the value is.
    pub parameter_type: ParameterType,
    /// The default as TOML; `None` when unset.
    pub default_text: Option<String>,
    /// What it means when the parameter is unset, for those that may be.
    pub unset_means: Option<&'static str>,
    /// The bounds in words, empty when the type is the only bound.
    pub bounds_text: String,
    /// The least value, when there is one.
    pub min_text: Option<String>,
    /// The most value, when there is one.
    pub max_text: Option<String>,
    /// The values to choose from, when they are a fixed list.
    pub choices: Vec<Choice>,
    /// By how much whoever looks for a better drive changes it: `x2` and half of it, `+5%` and 5 % less, or `a | b | c`, the values to
    /// try; `None` for what is no choice of a drive.
    pub step: Option<&'static str>,
    /// The settings without which this parameter is not read: it takes each of them. The first is that of the section, if it has
    /// one that holds for this parameter.
    pub used_with: Vec<UsedWith>,
    /// Which instance of the simulation acts on it when it is not its default.
    pub needs: Needs,
    /// What it means.
    pub doc: String,
}

impl ParameterSpec {
    /// The name of the type in the reference.
    pub fn type_name(&self) -> &'static str {
        self.parameter_type.name()
    }

    /// The key as overrides and messages name it: `fabric.kind`; `NAME` stands for the name of a table that has one.
    pub fn path(&self) -> String {
        dotted(self.section, self.key)
    }
}

/// `section.key`, or the key alone above all sections.
pub fn dotted(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

/// A value of a parameter that has a fixed list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// How it is written.
    pub name: &'static str,
    /// What it means.
    pub doc: String,
}

#[doc(hidden)]
pub fn choices_of(names: Vec<Name>) -> Vec<Choice> {
    names.into_iter().map(|Name { name, doc }| Choice { name, doc }).collect()
}

/// The setting without which a parameter is not read: `hot-traffic` is used with `pattern = "hot-cold"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedWith {
    /// One of these is enough; there is at least one.
    pub any_of: Vec<Condition>,
}

impl UsedWith {
    fn of(any_of: &[Condition]) -> UsedWith {
        UsedWith { any_of: any_of.to_vec() }
    }

    /// Whether the key itself is one of those that decide.
    pub fn is_about(&self, section: &str, key: &str) -> bool {
        self.any_of.iter().any(|condition| condition.section == section && condition.key == key)
    }
}

/// Which instance of the simulation a parameter needs when it is not its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The smallest that acts on it.
    pub instance: Instance,
    /// Only where this holds, which may be about the parameter itself.
    pub only_where: Option<UsedWith>,
}

/// What another key has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The section of the other key.
    pub section: &'static str,
    /// The other key.
    pub key: &'static str,
    /// Whether its value is to be one of `values`, or none of them.
    pub is: bool,
    /// Values of it as TOML; an empty text stands for unset.
    pub values: &'static [&'static str],
}

impl Condition {
    /// The condition on `key`, in `section` unless it names another one before a dot.
    pub const fn new(section: &'static str, key: &'static str, is: bool, values: &'static [&'static str]) -> Condition {
        let mut at = 0;
        while at < key.len() {
            if key.as_bytes()[at] == b'.' {
                let (section, rest) = key.split_at(at);
                return Condition { section, key: rest.split_at(1).1, is, values };
            }
            at += 1;
        }
        Condition { section, key, is, values }
    }

    /// Whether `value`, as TOML, meets it.
    pub fn holds(&self, value: &str) -> bool {
        self.values.contains(&value) == self.is
    }

    /// The other key as overrides and messages name it.
    pub fn path(&self) -> String {
        dotted(self.section, self.key)
    }
}

/// What the value of a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A share of a whole: 0.07 or "7%".
    Share,
    /// `true` or `false`.
    Boolean,
    /// A time with its unit.
    Time,
    /// A size with its unit.
    Bytes,
    /// A rate with its unit.
    Rate,
    /// A power with its unit.
    Power,
    /// A current with its unit.
    Current,
    /// A voltage with its unit.
    Voltage,
    /// A size, or sizes with their weights.
    Sizes,
    /// A set of numbers.
    Indices,
    /// A time, or times for one plane, for two, and so on.
    Times,
    /// A text.
    Text,
    /// The path of a file.
    Path,
    /// One of a fixed list.
    Choice,
    /// `true`, `false`, or one of a few texts between the two.
    Switch,
}

impl ParameterType {
    /// The name in the reference.
    pub fn name(self) -> &'static str {
        match self {
            ParameterType::Integer => "integer",
            ParameterType::Number => "number",
            ParameterType::Share => "share",
            ParameterType::Boolean => "boolean",
            ParameterType::Time => "time",
            ParameterType::Bytes => "size",
            ParameterType::Rate => "rate",
            ParameterType::Power => "power",
            ParameterType::Current => "current",
            ParameterType::Voltage => "voltage",
            ParameterType::Sizes => "sizes",
            ParameterType::Indices => "set",
            ParameterType::Times => "times",
            ParameterType::Text => "text",
            ParameterType::Path => "path",
            ParameterType::Choice => "choice",
            ParameterType::Switch => "boolean or choice",
        }
    }
}

/// What a declaration says of a parameter in constants.
#[doc(hidden)]
pub struct Declared {
    pub key: &'static str,
    pub field: &'static str,
    pub unset_means: Option<&'static str>,
    pub step: Option<&'static str>,
    pub used_with: &'static [&'static [Condition]],
    pub needs: (Instance, Option<&'static [Condition]>),
    pub doc: &'static [&'static str],
}

/// A section of the configuration and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionSpec {
    /// The name in brackets; empty for the keys above all sections. In `namespace.NAME`, `NAME` stands for any name.
    pub name: &'static str,
    /// The structure of the Rust and Python trees.
    pub struct_name: &'static str,
    /// What it is about.
    pub doc: String,
    /// The setting without which its parameters are not read, save `used_apart`.
    pub used_with: Option<UsedWith>,
    /// The keys for which that is not said: they have other settings, or are refused without it.
    pub used_apart: &'static [&'static str],
    /// Its parameters, in the order of declaration.
    pub parameters: Vec<ParameterSpec>,
}

impl SectionSpec {
    #[doc(hidden)]
    pub fn new(
        name: &'static str,
        struct_name: &'static str,
        doc: &[&str],
        used_with: Option<&[Condition]>,
        used_apart: &'static [&'static str],
    ) -> SectionSpec {
        let used_with = used_with.map(UsedWith::of);
        SectionSpec { name, struct_name, doc: joined(doc), used_with, used_apart, parameters: Vec::new() }
    }

    /// Adds a parameter: what depends on its type is little, as it is compiled once for each.
    #[doc(hidden)]
    #[inline(never)]
    pub fn add<F: Form>(&mut self, declared: &'static Declared, limits: &Bounds<F::Bounded>, default: &F::Value) {
        let (limits, default_text) = (bounds::shown::<F>(limits), F::write(default));
        self.add_described(declared, F::parameter_type(), F::choices(), limits, default_text);
    }

    fn add_described(
        &mut self,
        declared: &'static Declared,
        parameter_type: ParameterType,
        choices: Vec<Choice>,
        limits: Bounds<String>,
        default_text: Option<String>,
    ) {
        let &Declared { key, field, unset_means, step, .. } = declared;
        let (bounds_text, min_text, max_text) = bounds::described(limits);
        let of_section = self.used_with.iter().filter(|with| !with.is_about(self.name, key));
        let of_section = of_section.filter(|_| !self.used_apart.contains(&key)).cloned();
        let used_with = of_section.chain(declared.used_with.iter().map(|any_of| UsedWith::of(any_of))).collect();
        let (instance, only_where) = declared.needs;
        self.parameters.push(ParameterSpec {
            section: self.name,
            key,
            field,
            parameter_type,
            default_text,
            unset_means,
            bounds_text,
            min_text,
            max_text,
            choices,
            step,
            used_with,
            needs: Needs { instance, only_where: only_where.map(UsedWith::of) },
            doc: joined(declared.doc),
        });
    }

    /// Of a section that exists once for each name, what stands before the name: `namespace`.
    pub fn table(&self) -> Option<&'static str> {
        self.name.strip_suffix(".NAME")
    }
}
