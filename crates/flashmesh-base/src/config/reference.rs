//! The table of all parameters, from which the reference page, the schema and the Python types are generated.

use super::bounds::{self, Bounds};
use super::form::Form;
use super::instance::Instance;
use crate::results::{Name, joined};

/// The description of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// The name of the section, as in [`SectionSpec::name`]; empty for top-level keys.
    pub section: &'static str,
    /// The key, without its section.
    pub key: &'static str,
    /// The name of the field in the Rust and Python structures.
    pub field: &'static str,
    /// The type of the value.
    pub parameter_type: ParameterType,
    /// The default as TOML; `None` if the default is unset.
    pub default_text: Option<String>,
    /// The meaning of an unset value; `None` if the parameter cannot be unset.
    pub unset_means: Option<&'static str>,
    /// The bounds in words; empty if every value of the type is allowed.
    pub bounds_text: String,
    /// The least allowed value, as text; `None` if the bounds have no least value.
    pub min_text: Option<String>,
    /// The greatest allowed value, as text; `None` if the bounds have no greatest value.
    pub max_text: Option<String>,
    /// The allowed values of a type with a fixed list of values; empty for other types.
    pub choices: Vec<Choice>,
    /// The step by which `flashmesh ask` varies the parameter: `x2` doubles or halves it, `+5%` adds or subtracts 5 percentage points,
    /// and `a | b | c` lists the values to try. `None` if `flashmesh ask` does not vary the parameter.
    pub step: Option<&'static str>,
    /// The conditions under which the parameter has an effect: all must hold. A condition of the whole section comes first.
    pub used_with: Vec<UsedWith>,
    /// The compiled variant of the simulation (its [`Instance`]) that a value other than the default requires.
    pub needs: Needs,
    /// The meaning of the parameter, from its doc comment.
    pub doc: String,
}

impl ParameterSpec {
    /// Returns the name of the type in the reference, such as "integer" or "time".
    pub fn type_name(&self) -> &'static str {
        self.parameter_type.name()
    }

    /// Returns the key as overrides and messages write it, such as `fabric.kind`. In a named table, `NAME` stands for any name.
    pub fn path(&self) -> String {
        dotted(self.section, self.key)
    }
}

/// Returns `section.key`, or `key` alone at top level.
pub fn dotted(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

/// One value of a fixed list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The text of the value.
    pub name: &'static str,
    /// The meaning of the value, from its doc comment.
    pub doc: String,
}

#[doc(hidden)]
pub fn choices_of(names: Vec<Name>) -> Vec<Choice> {
    names.into_iter().map(|Name { name, doc }| Choice { name, doc }).collect()
}

/// A condition under which a parameter has an effect: `hot-traffic` is used with `pattern = "hot-cold"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedWith {
    /// The alternatives: one of them must hold. Never empty.
    pub any_of: Vec<Condition>,
}

impl UsedWith {
    fn of(any_of: &[Condition]) -> UsedWith {
        UsedWith { any_of: any_of.to_vec() }
    }

    /// Returns whether an alternative of the condition tests the value of `key` in `section`.
    pub fn is_about(&self, section: &str, key: &str) -> bool {
        self.any_of.iter().any(|condition| condition.section == section && condition.key == key)
    }
}

/// The compiled variant of the simulation (its [`Instance`]) that a value other than the default requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The smallest instance (compiled variant of the simulation) that can simulate a drive with the value.
    pub instance: Instance,
    /// A condition under which the value needs `instance`; otherwise the smallest instance (compiled variant) is enough. The condition may
    /// refer to the parameter itself. `None` if every value other than the default needs `instance`.
    pub only_where: Option<UsedWith>,
}

/// A condition on the value of another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The section of the key whose value the condition tests.
    pub section: &'static str,
    /// The key whose value the condition tests, without its section.
    pub key: &'static str,
    /// Whether the condition holds for the listed `values` (true) or for all other values (false).
    pub is: bool,
    /// The values as TOML; an empty text stands for unset.
    pub values: &'static [&'static str],
}

impl Condition {
    /// Creates a condition on `key` of `section`. A key with a dot, `other.key`, names its own section.
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

    /// Returns whether `value`, as TOML, meets the condition.
    pub fn holds(&self, value: &str) -> bool {
        self.values.contains(&value) == self.is
    }

    /// Returns the key whose value the condition tests, as overrides and messages write it.
    pub fn path(&self) -> String {
        dotted(self.section, self.key)
    }
}

/// The type of the value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// A whole number.
    Integer,
    /// A number, with or without decimals.
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
    /// A set of whole numbers.
    Indices,
    /// A time, or a list of times: for one plane, two planes, and so on.
    Times,
    /// A text that is not empty.
    Text,
    /// The path of a file.
    Path,
    /// One of a fixed list of texts.
    Choice,
    /// `true`, `false`, or one of a few texts.
    Switch,
}

impl ParameterType {
    /// Returns the name of the type in the reference, such as "integer" or "time".
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

/// The part of a declared parameter that does not depend on the type of its value.
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
    /// The name in brackets; empty for the top-level keys. In `namespace.NAME`, `NAME` stands for any name.
    pub name: &'static str,
    /// The name of the structure in Rust and Python.
    pub struct_name: &'static str,
    /// The subject of the section, from its doc comment.
    pub doc: String,
    /// The condition under which the parameters of the section have an effect, except those in `used_apart`. `None` if the section has no such
    /// condition.
    pub used_with: Option<UsedWith>,
    /// The keys exempt from `used_with`: they have conditions of their own, or setting them is an error if `used_with` does not hold.
    pub used_apart: &'static [&'static str],
    /// The parameters, in the order of declaration.
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

    /// Adds a parameter. Compiled once per parameter type. Code that does not depend on the type is in `add_described`, compiled once.
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

    /// Returns the part of the name before `.NAME`, such as `namespace`, or `None` if the section exists only once.
    pub fn table(&self) -> Option<&'static str> {
        self.name.strip_suffix(".NAME")
    }
}
