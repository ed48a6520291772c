//! Result classes of the Python package.

use flashmesh::report::{ColumnSpec, ColumnType, RequestColumns};
use flashmesh::report::{GroupSpec, Name, QuantitySpec, Shape};

use super::classes;
use crate::files::text::{WIDTH, docstring, wrapped};

const HEAD: &str = r#""""Typed results of a run: the keys of its JSON as attributes.

Generated from the declared quantities in crates/flashmesh/src by `cargo run -p flashmesh --example generate`.
"""

from __future__ import annotations

from typing import Any, Literal

from flashmesh.record import record

"#;

const COLUMN: &str = r#"

@record
class RequestColumn:
    """A column of the log of requests."""

    name: str
    """Its name."""
    type: Literal["uint64", "uint32", "bool", "name", "stream"]
    """What its values are: numbers, truth values, the place of a name in `names`, or that of a stream."""
    names: tuple[str, ...] = ()
    """The names, by their place."""
"#;

/// Returns the text of the Python module `flashmesh._results`: the classes of `root` and of all groups below it.
pub fn module(root: &GroupSpec) -> String {
    let groups = classes(root);
    let mut text = HEAD.to_owned();
    let mut names: Vec<&str> = groups.iter().filter_map(|group| group.class).collect();
    names.push("RequestColumn");
    names.sort_unstable();
    text.push_str("__all__ = [\n    \"REQUEST_COLUMNS\",\n");
    for name in names {
        text.push_str(&format!("    \"{name}\",\n"));
    }
    text.push_str("]\n");
    for group in &groups {
        class(&mut text, group);
    }
    text.push_str(COLUMN);
    text.push_str("\n\nREQUEST_COLUMNS: tuple[RequestColumn, ...] = (\n");
    RequestColumns::specs().iter().for_each(|spec| column(&mut text, spec));
    text.push_str(")\n\"\"\"The log of requests: a row for each completed request.\"\"\"\n");
    text
}

/// Appends a column of the request log.
fn column(text: &mut String, spec: &ColumnSpec) {
    let (column_type, names) = match &spec.column_type {
        ColumnType::UInt64 => ("uint64", None),
        ColumnType::UInt32 => ("uint32", None),
        ColumnType::Boolean => ("bool", None),
        ColumnType::Stream => ("stream", None),
        ColumnType::Name(names) => ("name", Some(names)),
    };
    let names = names.map_or(String::new(), |names| {
        let names: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.name)).collect();
        format!(", ({})", names.join(", "))
    });
    let arguments = format!("\"{}\", \"{column_type}\"{names}", spec.name);
    let line = format!("    RequestColumn({arguments}),\n");
    if line.len() <= WIDTH {
        text.push_str(&line);
    } else {
        text.push_str(&format!("    RequestColumn(\n        {arguments}\n    ),\n"));
    }
}

/// Returns the base class of `group`: the class of its first quantity, if that is a flattened group.
fn base(group: &GroupSpec) -> Option<&'static str> {
    match group.quantities.first() {
        Some(QuantitySpec { shape: Shape::Object(base), is_flattened: true, .. }) => base.class,
        _ => None,
    }
}

fn class(text: &mut String, group: &GroupSpec) {
    let name = group.class.unwrap_or_default();
    let base = base(group);
    let bases = base.map_or(String::new(), |base| format!("({base})"));
    text.push_str(&format!("\n\n@record\nclass {name}{bases}:\n"));
    class_docstring(text, &group.doc);
    let own = if base.is_some() { &group.quantities[1..] } else { &group.quantities };
    own.iter().for_each(|quantity| attributes(text, quantity));
}

/// Appends a class docstring, with the first sentence of `doc` on a line of its own.
fn class_docstring(text: &mut String, doc: &str) {
    match doc.split_once(". ") {
        None => docstring(text, "    ", doc),
        Some((summary, rest)) => {
            text.push_str(&format!("    \"\"\"{summary}.\n\n"));
            text.push_str(&wrapped("    ", rest));
            text.push_str("\n    \"\"\"\n");
        }
    }
    text.push('\n');
}

fn attributes(text: &mut String, quantity: &QuantitySpec) {
    if let (Shape::Object(group), true) = (&quantity.shape, quantity.is_flattened) {
        return group.quantities.iter().for_each(|quantity| attributes(text, quantity));
    }
    let optional = if quantity.null.is_some() { " | None" } else { "" };
    let line = format!("    {}: {}{optional}\n", quantity.name, python_type(&quantity.shape));
    match &quantity.shape {
        Shape::Name(names) if line.len() > WIDTH => {
            let names = lines_of(names, "        ");
            text.push_str(&format!("    {}: Literal[\n{names}    ]{optional}\n", quantity.name));
        }
        Shape::List(item) if line.len() > WIDTH => {
            let Shape::Name(names) = &**item else { return text.push_str(&line) };
            let names = lines_of(names, "            ");
            let literal = format!("        Literal[\n{names}        ],\n        ...,\n");
            text.push_str(&format!("    {}: tuple[\n{literal}    ]{optional}\n", quantity.name));
        }
        _ => text.push_str(&line),
    }
    let mut doc = quantity.doc.clone();
    if let Some(unit) = quantity.unit {
        doc.push_str(&format!(" Unit: {unit}."));
    }
    if let Some(null) = quantity.null {
        doc.push_str(&format!(" None {null}."));
    }
    docstring(text, "    ", &doc);
}

/// Returns a line of Python for each name: the name as a quoted string with a comma.
fn lines_of(names: &[Name], indent: &str) -> String {
    names.iter().map(|name| format!("{indent}\"{}\",\n", name.name)).collect()
}

fn python_type(shape: &Shape) -> String {
    match shape {
        Shape::Integer => "int".to_owned(),
        Shape::Number => "float".to_owned(),
        Shape::Boolean => "bool".to_owned(),
        Shape::Text => "str".to_owned(),
        Shape::Name(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.name)).collect();
            format!("Literal[{}]", names.join(", "))
        }
        Shape::Object(group) => group.class.unwrap_or("dict[str, Any]").to_owned(),
        Shape::List(item) => format!("tuple[{}, ...]", python_type(item)),
        Shape::Configuration | Shape::Tagged { .. } => "dict[str, Any]".to_owned(),
    }
}
