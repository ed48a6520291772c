//! Parsed TOML values with their locations in the source.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The source text of a value: an index into the texts that the loader has read.
pub type SourceId = usize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub source: SourceId,
    pub span: Range<usize>,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    pub location: Location,
}

#[derive(Clone, Debug)]
pub enum Value {
    Text(String),
    /// A whole number; `None` if it exceeds 128 bits.
    Integer(Option<i128>),
    Float(f64),
    Boolean(bool),
    /// A date or a time. No parameter accepts one.
    Datetime,
    Array(Vec<Node>),
    /// A table, `{...}` or `[section]`, with its entries in source order.
    Table(Vec<KeyValue>),
}

#[derive(Clone, Debug)]
pub struct KeyValue {
    pub key: String,
    pub key_location: Location,
    pub node: Node,
}

impl Value {
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number with decimals",
            Value::Boolean(_) => "true or false",
            Value::Datetime => "a date",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

impl Node {
    pub fn text(text: &str, place: Location) -> Node {
        Node { value: Value::Text(text.to_owned()), location: place }
    }

    /// Converts a value of the TOML parser. The parsed text begins at byte `offset` of `source`.
    pub fn from_toml(value: &Spanned<DeValue<'_>>, source: SourceId, offset: usize) -> Node {
        let place = Location { source, span: shifted(value.span(), offset) };
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(digits) => Value::Integer(i128::from_str_radix(digits.as_str(), digits.radix()).ok()),
            DeValue::Float(digits) => Value::Float(digits.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Datetime(_) => Value::Datetime,
            DeValue::Array(items) => {
                Value::Array(items.iter().map(|item| Node::from_toml(item, source, offset)).collect())
            }
            DeValue::Table(table) => Value::Table(entries(table, source, offset)),
        };
        Node { value, location: place }
    }
}

/// Returns the entries of a table of the TOML parser in source order. The parsed text begins at byte `offset` of `source`.
pub fn entries(table: &DeTable<'_>, source: SourceId, offset: usize) -> Vec<KeyValue> {
    let mut entries: Vec<KeyValue> = table
        .iter()
        .map(|(key, value)| KeyValue {
            key: key.get_ref().to_string(),
            key_location: Location { source, span: shifted(key.span(), offset) },
            node: Node::from_toml(value, source, offset),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_location.span.start);
    entries
}

fn shifted(span: Range<usize>, offset: usize) -> Range<usize> {
    span.start + offset..span.end + offset
}
