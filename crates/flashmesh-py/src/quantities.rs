//! Names of the values of a result.

use pyo3::prelude::*;

use flashmesh::report::Document;
use flashmesh::report::{Group, GroupSpec, Shape};

/// Returns the scalar values of a result. Each has its dotted key, its unit (empty for texts), and its meaning.
#[pyfunction]
pub fn quantities() -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    collect(&Document::spec(), "", &mut found);
    found
}

fn collect(group: &GroupSpec, prefix: &str, found: &mut Vec<(String, String, String)>) {
    for quantity in group.keys() {
        let key = format!("{prefix}{}", quantity.name);
        match &quantity.shape {
            Shape::Object(inner) => collect(inner, &format!("{key}."), found),
            Shape::List(_) | Shape::Tagged { .. } | Shape::Configuration => {}
            _ => found.push((key, quantity.unit.unwrap_or_default().to_owned(), quantity.doc.clone())),
        }
    }
}
