//! Request sizes as a weighted distribution.

use crate::units::Bytes;
use flashmesh_base::config::error::ConfigErrorKind;
use flashmesh_base::config::form::{Form, Misfit, toml_string};
use flashmesh_base::config::node::{Node, Value};
use flashmesh_base::config::reference::ParameterType;

/// A distribution of sizes, each with a weight. Text form: "4KiB" or [["4KiB", 0.7], ["64KiB", 0.3]].
///
/// Weights are positive and need not add up to one.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes(pub Vec<(Bytes, f64)>);

const SIZES_MAX: usize = 1024;

const EXPECTED: &str =
    "expected a size, such as \"4KiB\", or sizes with weights, such as [[\"4KiB\", 0.7], [\"64KiB\", 0.3]]";

fn read_pair(node: &Node) -> Result<(Bytes, f64), Misfit> {
    let wrong = || Misfit::new(ConfigErrorKind::WrongType, EXPECTED);
    let Value::Array(pair) = &node.value else { return Err(wrong()) };
    let [size, weight] = pair.as_slice() else { return Err(wrong()) };
    let (size, weight) = (Bytes::read(size)?, f64::read(weight)?);
    if weight > 0.0 && weight <= 1e9 {
        Ok((size, weight))
    } else {
        Err(Misfit::new(
            ConfigErrorKind::OutOfBounds,
            format!("the weight {weight} of {size} is not above 0 and at most 1e9"),
        ))
    }
}

impl Form for Sizes {
    type Value = Sizes;
    type Bounded = Bytes;

    fn bounded(value: &Sizes) -> Vec<Bytes> {
        value.0.iter().map(|(size, _)| *size).collect()
    }

    fn parameter_type() -> ParameterType {
        ParameterType::Sizes
    }

    fn read(node: &Node) -> Result<Sizes, Misfit> {
        match &node.value {
            Value::Array(pairs) if pairs.is_empty() || pairs.len() > SIZES_MAX => {
                let message = format!("expected 1 to {SIZES_MAX} sizes, found {}", pairs.len());
                Err(Misfit::new(ConfigErrorKind::OutOfBounds, message))
            }
            Value::Array(pairs) => pairs.iter().map(read_pair).collect::<Result<_, _>>().map(Sizes),
            Value::Text(_) | Value::Integer(_) => Bytes::read(node).map(|size| Sizes(vec![(size, 1.0)])),
            _ => Err(Misfit::new(ConfigErrorKind::WrongType, format!("{EXPECTED}, found {}", node.value.type_name()))),
        }
    }

    fn write(value: &Sizes) -> Option<String> {
        if let [(size, 1.0)] = value.0.as_slice() {
            return Bytes::write(size);
        }
        let pairs: Vec<String> =
            value.0.iter().map(|(size, weight)| format!("[{}, {weight:?}]", toml_string(&size.to_string()))).collect();
        Some(format!("[{}]", pairs.join(", ")))
    }
}
