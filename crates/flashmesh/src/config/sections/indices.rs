//! Sets of numbers.

use crate::config::error::ConfigErrorKind;
use crate::config::form::{Form, Misfit, toml_string};
use crate::config::node::{Node, Value};
use crate::config::reference::ParameterType;
use crate::units::quoted;

/// A set of numbers, counted from 0. Text form: "0-3,6" or [0, 1, 2, 3, 6].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indices(Vec<u32>);

/// The largest number. Bounded, because ranges are expanded.
const INDEX_MAX: u32 = 65_535;

const EXPECTED: &str = "expected a set of numbers, such as \"0-3,6\" or [0, 1, 2, 3, 6]";

impl Indices {
    /// Creates a set of `numbers`, in any order and with any repetitions.
    pub fn new(numbers: impl IntoIterator<Item = u32>) -> Indices {
        let mut numbers: Vec<u32> = numbers.into_iter().collect();
        numbers.sort_unstable();
        numbers.dedup();
        Indices(numbers)
    }

    /// Returns the numbers in ascending order.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }
}

impl std::fmt::Display for Indices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, run) in self.0.chunk_by(|left, right| left + 1 == *right).enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match run {
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                _ => write!(f, "{comma}{}", run[0])?,
            }
        }
        Ok(())
    }
}

fn out_of_bounds(message: String) -> Misfit {
    Misfit::new(ConfigErrorKind::OutOfBounds, message)
}

/// Returns the sorted numbers, or an error if there are no numbers or a number is repeated.
fn distinct(numbers: Vec<u32>) -> Result<Indices, Misfit> {
    let count = numbers.len();
    let set = Indices::new(numbers);
    if set.0.is_empty() {
        return Err(out_of_bounds("expected a set that is not empty".to_owned()));
    }
    if set.0.len() < count {
        return Err(out_of_bounds("a number is there twice".to_owned()));
    }
    Ok(set)
}

fn read_text(text: &str) -> Result<Indices, Misfit> {
    let number = |part: &str| match part.trim().parse::<u32>() {
        Ok(number) if number <= INDEX_MAX => Ok(number),
        Err(error) if *error.kind() != std::num::IntErrorKind::PosOverflow => {
            Err(Misfit::new(ConfigErrorKind::WrongType, format!("{} is not a number: {EXPECTED}", quoted(part))))
        }
        _ => Err(out_of_bounds(format!("{} is out of bounds", quoted(part)))),
    };
    let mut numbers = Vec::new();
    for part in text.split(',').filter(|_| !text.trim().is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(out_of_bounds(format!("the range {} runs backwards", quoted(part))));
        }
        // Ranges repeated many times would exhaust memory.
        if numbers.len() > INDEX_MAX as usize {
            return Err(out_of_bounds("a number is there twice".to_owned()));
        }
        numbers.extend(first..=last);
    }
    distinct(numbers)
}

impl Form for Indices {
    type Value = Indices;
    type Bounded = u32;

    fn bounded(value: &Indices) -> Vec<u32> {
        value.0.clone()
    }

    fn parameter_type() -> ParameterType {
        ParameterType::Indices
    }

    fn read(node: &Node) -> Result<Indices, Misfit> {
        match &node.value {
            Value::Text(text) => read_text(text),
            Value::Integer(_) => u32::read(node).map(|number| Indices(vec![number])),
            Value::Array(numbers) => distinct(numbers.iter().map(u32::read).collect::<Result<_, _>>()?),
            other => Err(Misfit::new(ConfigErrorKind::WrongType, format!("{EXPECTED}, found {}", other.type_name()))),
        }
    }

    fn write(value: &Indices) -> Option<String> {
        Some(toml_string(&value.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_written_as_it_is_read() {
        for text in ["0", "0-1", "0-3,6", "1,3,5", "7-9,11-12"] {
            assert_eq!(read_text(text).expect("the text is a set").to_string(), text);
        }
        assert_eq!(read_text(" 6 , 0 - 3 ").expect("the text is a set").to_string(), "0-3,6");
        assert_eq!(Indices::new([3, 1, 2, 3]).to_string(), "1-3");
    }

    #[test]
    fn what_is_no_set_is_refused() {
        let message = |text: &str| read_text(text).expect_err(text).message;
        assert_eq!(message(" "), "expected a set that is not empty");
        assert_eq!(message("0-3,2"), "a number is there twice");
        assert_eq!(message("3-1"), "the range `3-1` runs backwards");
        assert_eq!(message("0-4000000000"), "`4000000000` is out of bounds");
        assert!(message("1,,2").contains("is not a number: expected a set of numbers"));
        assert!(message("0-").contains("is not a number"));
        assert_eq!(message(&"0-65535,".repeat(50_000)), "a number is there twice");
    }
}
