//! Overrides: `section.key=value`, as passed to `--set`.

use toml::de::DeValue;

use crate::config::error::{ConfigErrorKind, UnrenderedProblem};
use crate::config::node::{KeyValue, Location, Node, SourceId, Value};

/// Parses one override into an entry with its section, like an entry of a file. The error points to the invalid part of the override.
///
/// A value that is not valid TOML is a text, so that quotes may be omitted: `fabric.kind=ideal`, `flash.read-time=3us`,
/// `replay.outstanding=16`.
pub(super) fn parse(text: &str, source: SourceId) -> Result<KeyValue, UnrenderedProblem> {
    let finding = |kind, message: &str, span| UnrenderedProblem {
        kind,
        message: message.to_owned(),
        help: Some("write section.key=value, such as fabric.kind=ideal".to_owned()),
        location: Some(Location { source, span }),
    };
    let malformed = |message| finding(ConfigErrorKind::MalformedOverride, message, 0..text.len());
    let Some((path, value)) = text.split_once('=') else {
        return Err(malformed("the override has no `=`"));
    };
    if path.split('.').any(|part| part.trim().is_empty()) {
        return Err(malformed("the override has no key before its `=`"));
    }
    let value_start = path.len() + 1 + (value.len() - value.trim_start().len());
    let value = value.trim();
    let value_span = value_start..value_start + value.len();
    if value.is_empty() {
        return Err(malformed("the override has no value after its `=`"));
    }
    let node = match DeValue::parse(value) {
        Ok(value) => Node::from_toml(&value, source, value_start),
        Err(error) if value.starts_with(['"', '\'', '[', '{']) => {
            let message = format!("the value is not TOML: {}", error.message());
            return Err(finding(ConfigErrorKind::InvalidToml, &message, value_span));
        }
        Err(_) => Node::text(value, Location { source, span: value_span }),
    };
    let key_at = |start: usize, part: &str| {
        let start = start + (part.len() - part.trim_start().len());
        (part.trim().to_owned(), Location { source, span: start..start + part.trim().len() })
    };
    // In named tables (`namespace.NAME.KEY`, `stream.NAME.SECTION.KEY`), the key is one or two levels deeper than in a section (`SECTION.KEY`).
    let steps = path.split('.').next().map_or(1, |first| super::named::depth(first.trim()));
    let mut parts = Vec::new();
    let mut start = 0;
    for part in path.splitn(steps + 1, '.') {
        parts.push(key_at(start, part));
        start += part.len() + 1;
    }
    let mut parts = parts.into_iter().rev();
    let Some((key, key_place)) = parts.next() else { return Err(malformed("the override has no key before its `=`")) };
    Ok(parts.fold(KeyValue { key, key_location: key_place, node }, |entry, (key, key_place)| {
        let place = entry.node.location.clone();
        KeyValue { key, key_location: key_place, node: Node { value: Value::Table(vec![entry]), location: place } }
    }))
}
