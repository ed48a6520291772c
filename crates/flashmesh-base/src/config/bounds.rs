//! What values a parameter may have.

use std::ops::{RangeFrom, RangeFull, RangeInclusive};

use super::error::ConfigErrorKind;
use super::form::{Form, Misfit};

/// What values a parameter may have.
pub enum Bounds<T> {
    Any,
    AtLeast(T),
    /// Both ends included.
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

/// The bounds in words, and the least and the most when they are a range.
pub fn describe<F: Form>(bounds: &Bounds<F::Bounded>) -> (String, Option<String>, Option<String>) {
    match bounds {
        Bounds::Any => (String::new(), None, None),
        Bounds::AtLeast(min) => (format!("at least {}", F::show(min)), Some(F::show(min)), None),
        Bounds::Between(min, max) => {
            (format!("{} to {}", F::show(min), F::show(max)), Some(F::show(min)), Some(F::show(max)))
        }
        Bounds::OneOf(values) => {
            let shown: Vec<String> = values.iter().map(F::show).collect();
            (shown.join(" or "), None, None)
        }
    }
}

/// Refuses a value outside `bounds`; whoever knows the key adds what they are.
pub fn check<F: Form>(value: &F::Value, bounds: &Bounds<F::Bounded>) -> Result<(), Misfit> {
    match F::bounded(value).iter().find(|value| !bounds.contain(value)) {
        None => Ok(()),
        Some(value) => Err(Misfit::new(ConfigErrorKind::OutOfBounds, format!("{} is out of bounds", F::show(value)))),
    }
}
