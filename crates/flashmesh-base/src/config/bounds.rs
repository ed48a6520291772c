//! The bounds of a parameter, and the check of a value against them.

use std::ops::{RangeFrom, RangeFull, RangeInclusive};

use super::error::ConfigErrorKind;
use super::form::{Form, Misfit};
use super::node::{Node, Value};
use super::reference::ParameterType;

/// The allowed values of a parameter. `T` is the type of the compared values.
pub enum Bounds<T> {
    Any,
    AtLeast(T),
    /// An interval that includes both ends.
    Between(T, T),
    OneOf(Vec<T>),
}

impl<T> From<RangeFull> for Bounds<T> {
    fn from(_: RangeFull) -> Bounds<T> {
        Bounds::Any
    }
}

impl<T> From<RangeFrom<T>> for Bounds<T> {
    fn from(range: RangeFrom<T>) -> Bounds<T> {
        Bounds::AtLeast(range.start)
    }
}

impl<T> From<RangeInclusive<T>> for Bounds<T> {
    fn from(range: RangeInclusive<T>) -> Bounds<T> {
        let (min, max) = range.into_inner();
        Bounds::Between(min, max)
    }
}

impl<T, const N: usize> From<[T; N]> for Bounds<T> {
    fn from(values: [T; N]) -> Bounds<T> {
        Bounds::OneOf(values.into())
    }
}

impl<T: PartialOrd> Bounds<T> {
    fn contain(&self, value: &T) -> bool {
        match self {
            Bounds::Any => true,
            Bounds::AtLeast(min) => value >= min,
            Bounds::Between(min, max) => value >= min && value <= max,
            Bounds::OneOf(values) => values.contains(value),
        }
    }
}

/// Returns `bounds` with each value in its text form.
pub(super) fn shown<F: Form>(bounds: &Bounds<F::Bounded>) -> Bounds<String> {
    match bounds {
        Bounds::Any => Bounds::Any,
        Bounds::AtLeast(min) => Bounds::AtLeast(min.to_string()),
        Bounds::Between(min, max) => Bounds::Between(min.to_string(), max.to_string()),
        Bounds::OneOf(values) => {
            let mut shown = Vec::with_capacity(values.len());
            for value in values {
                shown.push(value.to_string());
            }
            Bounds::OneOf(shown)
        }
    }
}

/// Returns the bounds in words (empty if every value is allowed), the least and the greatest value. The least or the greatest value is `None` if the
/// bounds do not limit it, or list single values.
pub(super) fn described(bounds: Bounds<String>) -> (String, Option<String>, Option<String>) {
    match bounds {
        Bounds::Any => (String::new(), None, None),
        Bounds::AtLeast(min) => (format!("at least {min}"), Some(min), None),
        Bounds::Between(min, max) => (format!("{min} to {max}"), Some(min), Some(max)),
        Bounds::OneOf(values) => (values.join(" or "), None, None),
    }
}

/// Returns an error if `value` is outside `bounds`. The error does not name the bounds: the loader, which knows the key, adds
/// them.
fn check<F: Form>(value: &F::Value, bounds: &Bounds<F::Bounded>) -> Result<(), Misfit> {
    for value in F::bounded(value) {
        if !bounds.contain(&value) {
            return Err(out_of_bounds(&value.to_string()));
        }
    }
    Ok(())
}

fn out_of_bounds(shown: &str) -> Misfit {
    Misfit::new(ConfigErrorKind::OutOfBounds, format!("{shown} is out of bounds"))
}

/// Parses the value of `node` into `field` and checks it against `bounds`. On an error, `field` keeps its old value.
pub fn read<F: Form>(node: &Node, bounds: &Bounds<F::Bounded>, field: &mut F::Value) -> Result<(), Misfit> {
    let value = F::read(node)?;
    check::<F>(&value, bounds)
        .map_err(|misfit| Misfit { help: misfit.help.or_else(|| percentage::<F>(node)), ..misfit })?;
    *field = value;
    Ok(())
}

/// Suggests a percentage for a number that is too large for a share: `"70%"` for 70. `None` for other types, and for numbers above 100.
fn percentage<F: Form>(node: &Node) -> Option<String> {
    let number = match node.value {
        Value::Integer(Some(number)) => number as f64,
        Value::Float(number) => number,
        _ => return None,
    };
    let is_percentage = F::parameter_type() == ParameterType::Share && number > 1.0 && number <= 100.0;
    is_percentage.then(|| format!("a share is a part of 1: did you mean \"{number}%\" or {}?", number / 100.0))
}

/// Appends an error for `key` to `misfits` if `value` is out of bounds.
pub fn note<F: Form>(
    key: &'static str,
    value: &F::Value,
    bounds: &Bounds<F::Bounded>,
    misfits: &mut Vec<(&'static str, Misfit)>,
) {
    if let Err(misfit) = check::<F>(value, bounds) {
        misfits.push((key, misfit));
    }
}
