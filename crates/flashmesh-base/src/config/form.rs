//! The text form of each type of parameter: how values are parsed, and how the canonical configuration writes them.

use std::convert::Infallible;
use std::fmt::Display;
use std::path::PathBuf;

use super::error::ConfigErrorKind;
use super::node::{Node, Value};
use super::reference::{Choice, ParameterType};
use crate::units::{Bytes, Count, Current, Rate, Share, Time, UnitError, UnitErrorKind, Voltage, Wattage};

/// An error in a value of a parameter. The loader adds the key and the location.
#[derive(Clone, Debug)]
pub struct Misfit {
    pub kind: ConfigErrorKind,
    /// The error message, such as "`4` has no unit: ...".
    pub message: String,
    /// A remedy, shown on a line of its own; `None` if none is known.
    pub help: Option<String>,
}

impl Misfit {
    pub fn new(kind: ConfigErrorKind, message: impl Into<String>) -> Misfit {
        Misfit { kind, message: message.into(), help: None }
    }

    fn wrong_type(node: &Node, expected: &str) -> Misfit {
        Misfit::new(
            ConfigErrorKind::WrongType,
            format!("expected {expected}, found {found}", found = node.value.type_name()),
        )
    }
}

/// The text form of a type of parameter.
///
/// # Contract
/// `read` returns the value that `write` wrote.
pub trait Form {
    type Value: Clone + PartialEq;

    fn parameter_type() -> ParameterType;

    /// Returns the choices, for types with a fixed list of values; empty for other types.
    fn choices() -> Vec<Choice> {
        Vec::new()
    }

    fn read(node: &Node) -> Result<Self::Value, Misfit>;

    /// Returns the value as TOML, or `None` to omit the key.
    fn write(value: &Self::Value) -> Option<String>;

    /// Returns the values that the bounds apply to: a single value, no value if unset or without bounds, or all values of a distribution.
    fn bounded(_value: &Self::Value) -> Vec<Self::Bounded> {
        Vec::new()
    }

    /// Type of the values that the bounds apply to; [`Infallible`] if there are none.
    type Bounded: PartialOrd + Display;
}

/// Implements the bounds of a type that holds a single value: the bounds apply to that value.
#[doc(hidden)]
#[macro_export]
macro_rules! __plain_form {
    () => {
        type Bounded = Self::Value;

        fn bounded(value: &Self::Value) -> Vec<Self::Bounded> {
            vec![value.clone()]
        }
    };
}
pub use __plain_form as plain_form;

pub fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn read_integer(node: &Node, max: u64) -> Result<u64, Misfit> {
    let number = match &node.value {
        Value::Integer(number) => *number,
        Value::Float(number) if number.fract() == 0.0 => Some(*number as i128),
        Value::Text(text) => Some(count(text).ok_or_else(|| no_whole_number(node))?.into()),
        _ => return Err(no_whole_number(node)),
    };
    let fitting = number.and_then(|number| u64::try_from(number).ok()).filter(|&number| number <= max);
    fitting.ok_or_else(|| match number {
        Some(number) => Misfit::new(ConfigErrorKind::OutOfBounds, format!("{number} is out of bounds")),
        None => Misfit::new(ConfigErrorKind::OutOfBounds, "the number is out of bounds"),
    })
}

/// Parses a whole number with a suffix, such as "1M". Returns `None` for any other text.
fn count(text: &str) -> Option<u64> {
    Count::parse(text).ok()
}

fn no_whole_number(node: &Node) -> Misfit {
    let help = "write it as 1000000, 1_000_000, 1e6 or \"1M\"".to_owned();
    Misfit { help: Some(help), ..Misfit::wrong_type(node, "a whole number") }
}

fn unit_misfit(error: &UnitError) -> Misfit {
    let kind = match error.kind {
        UnitErrorKind::MissingUnit => ConfigErrorKind::MissingUnit,
        UnitErrorKind::UnknownUnit => ConfigErrorKind::UnknownUnit,
        UnitErrorKind::NotANumber => ConfigErrorKind::WrongType,
        UnitErrorKind::Negative | UnitErrorKind::TooFine | UnitErrorKind::TooLarge | UnitErrorKind::ZeroRate => {
            ConfigErrorKind::OutOfBounds
        }
    };
    Misfit::new(kind, error.to_string())
}

/// Parses a text with a unit. A bare number is an error that lists the units.
fn read_quantity<T: std::str::FromStr<Err = UnitError>>(node: &Node, expected: &str) -> Result<T, Misfit> {
    let text = match &node.value {
        Value::Text(text) => text.clone(),
        Value::Integer(Some(number)) => number.to_string(),
        Value::Float(number) => number.to_string(),
        _ => return Err(Misfit::wrong_type(node, expected)),
    };
    text.parse().map_err(|error| unit_misfit(&error))
}

impl Form for u32 {
    type Value = u32;
    plain_form!();

    fn parameter_type() -> ParameterType {
        ParameterType::Integer
    }

    fn read(node: &Node) -> Result<u32, Misfit> {
        read_integer(node, u64::from(u32::MAX)).map(|number| number as u32)
    }

    fn write(value: &u32) -> Option<String> {
        Some(value.to_string())
    }
}

/// The largest whole number that a parameter accepts: TOML integers are signed.
pub const INTEGER_MAX: u64 = i64::MAX as u64;

impl Form for u64 {
    type Value = u64;
    plain_form!();

    fn parameter_type() -> ParameterType {
        ParameterType::Integer
    }

    fn read(node: &Node) -> Result<u64, Misfit> {
        read_integer(node, INTEGER_MAX)
    }

    fn write(value: &u64) -> Option<String> {
        Some(value.to_string())
    }
}

impl Form for bool {
    type Value = bool;
    plain_form!();

    fn parameter_type() -> ParameterType {
        ParameterType::Boolean
    }

    fn read(node: &Node) -> Result<bool, Misfit> {
        match node.value {
            Value::Boolean(value) => Ok(value),
            _ => Err(Misfit::wrong_type(node, "true or false")),
        }
    }

    fn write(value: &bool) -> Option<String> {
        Some(value.to_string())
    }
}

impl Form for f64 {
    type Value = f64;
    plain_form!();

    fn parameter_type() -> ParameterType {
        ParameterType::Number
    }

    fn read(node: &Node) -> Result<f64, Misfit> {
        match node.value {
            Value::Integer(Some(number)) => Ok(number as f64),
            Value::Float(number) if number.is_finite() => Ok(number),
            Value::Float(_) => Err(Misfit::new(ConfigErrorKind::OutOfBounds, "expected a finite number")),
            _ => Err(Misfit::wrong_type(node, "a number")),
        }
    }

    fn write(value: &f64) -> Option<String> {
        Some(format!("{value:?}"))
    }
}

impl Form for Share {
    type Value = f64;
    plain_form!();

    fn parameter_type() -> ParameterType {
        ParameterType::Share
    }

    fn read(node: &Node) -> Result<f64, Misfit> {
        match &node.value {
            Value::Text(text) => text.parse().map(|Share(share)| share).map_err(|error| unit_misfit(&error)),
            Value::Integer(_) | Value::Float(_) => f64::read(node),
            _ => Err(Misfit::wrong_type(node, "a share, such as 0.07 or \"7%\"")),
        }
    }

    fn write(value: &f64) -> Option<String> {
        f64::write(value)
    }
}

/// Implements [`Form`] for a type whose text is a number and a unit.
macro_rules! quantity_form {
    ($type:ident, $parameter_type:ident, $expected:literal) => {
        impl Form for $type {
            type Value = $type;
            plain_form!();

            fn parameter_type() -> ParameterType {
                ParameterType::$parameter_type
            }

            fn read(node: &Node) -> Result<$type, Misfit> {
                read_quantity(node, $expected)
            }

            fn write(value: &$type) -> Option<String> {
                Some(toml_string(&value.to_string()))
            }
        }
    };
}

quantity_form!(Time, Time, "a time, such as \"3us\"");
quantity_form!(Bytes, Bytes, "a size, such as \"4KiB\"");
quantity_form!(Rate, Rate, "a rate, such as \"1.2GB/s\"");
quantity_form!(Wattage, Power, "a power, such as \"1.08mW\"");
quantity_form!(Current, Current, "a current, such as \"25mA\"");
quantity_form!(Voltage, Voltage, "a voltage, such as \"3.3V\"");

impl Form for String {
    type Value = String;
    plain_form!();

    fn parameter_type() -> ParameterType {
        ParameterType::Text
    }

    fn read(node: &Node) -> Result<String, Misfit> {
        match &node.value {
            Value::Text(text) if text.is_empty() => {
                Err(Misfit::new(ConfigErrorKind::OutOfBounds, "expected a text that is not empty"))
            }
            Value::Text(text) => Ok(text.clone()),
            _ => Err(Misfit::wrong_type(node, "a text")),
        }
    }

    fn write(value: &String) -> Option<String> {
        Some(toml_string(value))
    }
}

impl Form for PathBuf {
    type Value = PathBuf;
    type Bounded = Infallible;

    fn parameter_type() -> ParameterType {
        ParameterType::Path
    }

    fn read(node: &Node) -> Result<PathBuf, Misfit> {
        String::read(node).map(PathBuf::from)
    }

    fn write(value: &PathBuf) -> Option<String> {
        Some(toml_string(&value.to_string_lossy()))
    }
}

impl<F: Form> Form for Option<F> {
    type Value = Option<F::Value>;
    type Bounded = F::Bounded;

    fn parameter_type() -> ParameterType {
        F::parameter_type()
    }

    fn choices() -> Vec<Choice> {
        F::choices()
    }

    fn read(node: &Node) -> Result<Option<F::Value>, Misfit> {
        F::read(node).map(Some)
    }

    fn write(value: &Option<F::Value>) -> Option<String> {
        value.as_ref().and_then(F::write)
    }

    fn bounded(value: &Option<F::Value>) -> Vec<F::Bounded> {
        value.as_ref().map(F::bounded).unwrap_or_default()
    }
}
