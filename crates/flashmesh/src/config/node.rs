//! A parsed value that knows where it stands.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Which of the texts a configuration is made of: an index into the loader's sources.
pub(super) type SourceId = usize;

/// A stretch of a source, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The text.
    pub source: SourceId,
    /// The bytes of it that are meant.
    pub span: Range<usize>,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// What was written.
    pub value: Value,
    /// Where.
    pub place: Place,
}

/// What was written.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A text, without its quotes.
    Text(String),
    /// A whole number; `None` when it is beyond 128 bits.
    Integer(Option<i128>),
    /// A number with a point or an exponent.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date or a time of day, which no parameter takes.
    Datetime,
    /// `[...]`
    Array(Vec<Node>),
    /// `{...}` or `[section]`, in the order of the text.
    Table(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The key, without its quotes.
    pub key: String,
    /// Where the key stands.
    pub key_place: Place,
    /// Its value.
    pub node: Node,
}

impl Value {
    /// What the value is called in messages.
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
    /// A text that stands at `place`.
    pub fn text(text: &str, place: Place) -> Node {
        Node { value: Value::Text(text.to_owned()), place }
    }

    /// Takes over a value of the TOML parser that was read from `source`, `offset` bytes from its start.
    pub fn from_toml(value: &Spanned<DeValue<'_>>, source: SourceId, offset: usize) -> Node {
        let place = Place { source, span: shifted(value.span(), offset) };
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
        Node { value, place }
    }
}

/// The entries of a table of the TOML parser, in the order of the text.
pub(super) fn entries(table: &DeTable<'_>, source: SourceId, offset: usize) -> Vec<Entry> {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_place: Place { source, span: shifted(key.span(), offset) },
            node: Node::from_toml(value, source, offset),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_place.span.start);
    entries
}

fn shifted(span: Range<usize>, offset: usize) -> Range<usize> {
    span.start + offset..span.end + offset
}
