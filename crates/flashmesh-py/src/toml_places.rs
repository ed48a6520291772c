//! Positions of keys and values in a TOML text, for error messages about files that Python reads.

use std::ops::Range;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Position of a key or a list item: the path of keys to it (list items by index), its own byte range, and the byte range of its value.
type Found = (Vec<String>, (usize, usize), (usize, usize));

/// Returns the positions of all keys and list items in a TOML text, in no particular order. Each has the path of keys (list items by
/// index), the byte range of the key or item, and the byte range of its value. Raises ValueError if the text is not TOML.
#[pyfunction]
pub fn toml_places(text: &str) -> PyResult<Vec<Found>> {
    let parsed = DeTable::parse(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut found = Vec::new();
    of_table(parsed.get_ref(), &[], &mut found);
    Ok(found)
}

fn of_table(table: &DeTable<'_>, above: &[String], found: &mut Vec<Found>) {
    for (key, value) in table {
        of_value(key.get_ref(), key.span(), value, above, found);
    }
}

fn of_value(name: &str, place: Range<usize>, value: &Spanned<DeValue<'_>>, above: &[String], found: &mut Vec<Found>) {
    let path = [above, &[name.to_owned()]].concat();
    match value.get_ref() {
        DeValue::Table(table) => of_table(table, &path, found),
        DeValue::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                of_value(&number.to_string(), item.span(), item, &path, found);
            }
        }
        _ => {}
    }
    found.push((path, (place.start, place.end), (value.span().start, value.span().end)));
}
