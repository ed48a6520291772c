//! The share of parity in a superblock, such as `"1/8"`.

use std::fmt;

use crate::config::error::ConfigErrorKind;
use crate::config::form::{Form, Misfit, plain_form, toml_string};
use crate::config::node::{Node, Value};
use crate::config::reference::ParameterType;

/// The number of programs of which one is parity: 8 for the text `"1/8"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParityShare(pub u32);

impl fmt::Display for ParityShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1/{}", self.0)
    }
}

impl Form for ParityShare {
    type Value = ParityShare;
    plain_form!();

    fn parameter_type() -> ParameterType {
        ParameterType::Text
    }

    fn read(node: &Node) -> Result<ParityShare, Misfit> {
        let misfit = |found: &str| {
            let message = format!("expected one program of parity in so many, such as \"1/8\", found {found}");
            Misfit::new(ConfigErrorKind::WrongType, message)
        };
        let Value::Text(text) = &node.value else { return Err(misfit(node.value.type_name())) };
        let programs = text.strip_prefix("1/").and_then(|programs| programs.parse().ok());
        programs.map(ParityShare).ok_or_else(|| misfit(&format!("`{text}`")))
    }

    fn write(value: &ParityShare) -> Option<String> {
        Some(toml_string(&value.to_string()))
    }
}
