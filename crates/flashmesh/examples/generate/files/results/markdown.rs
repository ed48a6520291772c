//! Tables of the reference page of results. The text around them is written by hand.

use flashmesh::report::{ColumnType, RequestColumns};
use flashmesh::report::{GroupSpec, Name, QuantitySpec, Shape};

use crate::files::root;

/// Path of the page, relative to the root of the repository.
pub const PATH: &str = "docs/results.md";

const BEGIN: &str = "<!-- Generated from the declarations by `cargo run -p flashmesh --example generate`: change these, not the tables. -->\n";
const END: &str = "<!-- End of what is generated. -->\n";

/// Returns docs/results.md with new tables between its markers: the quantities of `root_group`, and the columns of the request log.
///
/// # Panics
/// If the page cannot be read or lacks a marker.
pub fn page(root_group: &GroupSpec) -> String {
    let page = std::fs::read_to_string(root().join(PATH)).unwrap_or_else(|error| panic!("{PATH}: {error}"));
    let mut parts = page.split(BEGIN);
    let mut text = parts.next().unwrap_or_default().to_owned();
    let generated = [tables(root_group), columns()];
    assert_eq!(parts.clone().count(), generated.len(), "{PATH}: lines {BEGIN:?}");
    for (generated, part) in generated.iter().zip(parts) {
        let (_, tail) = part.split_once(END).unwrap_or_else(|| panic!("{PATH}: no line {END:?}"));
        text.push_str(&format!("{BEGIN}{generated}{END}{tail}"));
    }
    text
}

/// Returns the table of the columns of the request log in Markdown, with the lists of the names that some columns contain.
pub fn columns() -> String {
    let mut text = "\n| column | type | meaning |\n|---|---|---|\n".to_owned();
    let specs = RequestColumns::specs();
    for spec in &specs {
        let column_type = match spec.column_type {
            ColumnType::UInt64 => "uint64",
            ColumnType::UInt32 => "uint32",
            ColumnType::Boolean => "bool",
            ColumnType::Name(_) | ColumnType::Stream => "dictionary of strings",
        };
        text.push_str(&format!("| `{}` | {column_type} | {} |\n", spec.name, spec.doc));
    }
    for spec in &specs {
        if let ColumnType::Name(names) = &spec.column_type {
            list(&mut text, &format!("`{}`", spec.name), names);
        }
    }
    text.push('\n');
    text
}

/// Appends the list of possible values of `what`.
fn list(text: &mut String, what: &str, names: &[Name]) {
    text.push_str(&format!("\n{what} is one of\n\n"));
    for name in names {
        text.push_str(&format!("- `{}`: {}\n", name.name, name.doc));
    }
}

/// Returns a table of the quantities of `root` in Markdown, and a section for each of their groups.
pub fn tables(root: &GroupSpec) -> String {
    let keys = root.keys();
    let tagged = keys.iter().filter(|quantity| matches!(quantity.shape, Shape::Tagged { .. }));
    let tagged = tagged.map(|quantity| (quantity.shape.clone(), quantity.name)).collect();
    let mut page = Page { text: "\n".to_owned(), shown: Vec::new(), tagged };
    page.table(|page| {
        for quantity in &keys {
            page.row("", quantity);
        }
    });
    for quantity in &keys {
        page.section(quantity);
    }
    page.text.push('\n');
    page.text
}

struct Page {
    text: String,
    /// Classes already described, each with its key path on the page.
    shown: Vec<(&'static str, String)>,
    /// Top-level objects whose fields depend on a tag, each with the name of its section.
    tagged: Vec<(Shape, &'static str)>,
}

impl Page {
    fn table(&mut self, rows: impl FnOnce(&mut Page)) {
        self.text.push_str("| key | value | unit | meaning |\n|---|---|---|---|\n");
        rows(self);
    }

    /// Appends the section of a quantity, if it is an object or a tagged object.
    fn section(&mut self, quantity: &QuantitySpec) {
        let name = quantity.name;
        match quantity.shape.item() {
            Shape::Object(group) => {
                let path = if matches!(quantity.shape, Shape::List(_)) { format!("{name}[]") } else { name.to_owned() };
                self.text.push_str(&format!("\n### `{name}`\n\n{}\n\n", group.doc));
                self.shown.extend(group.class.map(|class| (class, path.clone())));
                self.table(|page| page.rows(&format!("{path}."), group));
                self.names_below(&format!("{path}."), group);
            }
            Shape::Tagged { tag, variants } => {
                self.text.push_str(&format!("\n### `{name}`\n"));
                let names: Vec<Name> = variants.iter().map(|variant| variant.name.clone()).collect();
                list(&mut self.text, &format!("`{name}.{tag}`"), &names);
                for variant in variants {
                    let Some(group) = &variant.group else { continue };
                    self.text.push_str(&format!("\nWith `{name}.{tag}` `{}`:\n\n", variant.name.name));
                    self.table(|page| page.rows(&format!("{name}."), group));
                    self.names_below(&format!("{name}."), group);
                }
            }
            _ => {}
        }
    }

    /// Appends the rows of `group` and of all groups in it, recursively.
    fn rows(&mut self, prefix: &str, group: &GroupSpec) {
        let keys = group.keys();
        for (index, quantity) in keys.iter().enumerate() {
            self.row(prefix, quantity);
            let Shape::Object(inner) = quantity.shape.item() else { continue };
            let is_same = |other: &&&QuantitySpec| matches!(other.shape.item(), Shape::Object(other) if other.class == inner.class);
            let alike = keys.iter().filter(is_same).count();
            // A class is described once, after the last of the neighbouring quantities that have it.
            if keys[index + 1..].iter().any(|other| is_same(&other)) || self.place(inner).is_some() {
                continue;
            }
            let list = if matches!(quantity.shape, Shape::List(_)) { "[]" } else { "" };
            let path = if alike > 1 { format!("{prefix}*") } else { format!("{prefix}{}{list}", quantity.name) };
            self.shown.extend(inner.class.map(|class| (class, path.clone())));
            self.rows(&format!("{path}."), inner);
        }
    }

    /// Returns the key path under which the page already describes the class of `group`, if it does.
    fn place(&self, group: &GroupSpec) -> Option<&str> {
        let (_, place) = self.shown.iter().find(|(class, _)| group.class == Some(*class))?;
        Some(place)
    }

    fn row(&mut self, prefix: &str, quantity: &QuantitySpec) {
        let mut value = value(&quantity.shape);
        if let Shape::Object(group) = quantity.shape.item() {
            match self.place(group) {
                Some(place) => value.push_str(&format!(", as `{place}`")),
                // Every top-level group has a section of its own.
                None if prefix.is_empty() => value = format!("[{value}](#{})", quantity.name),
                None => {}
            }
        }
        if let Some((_, place)) = self.tagged.iter().find(|(shape, _)| *shape == quantity.shape) {
            value = if prefix.is_empty() { format!("[{value}](#{place})") } else { format!("{value}, as `{place}`") };
        }
        let null = quantity.null.map_or(String::new(), |null| format!(" `null` {null}."));
        let (name, unit, doc) = (quantity.name, quantity.unit.unwrap_or_default(), &quantity.doc);
        self.text.push_str(&format!("| `{prefix}{name}` | {value} | {unit} | {doc}{null} |\n"));
    }

    /// Appends the lists of possible names of the values in `group`, recursively.
    fn names_below(&mut self, prefix: &str, group: &GroupSpec) {
        for quantity in group.keys() {
            if let Shape::Object(inner) = quantity.shape.item() {
                let list = if matches!(quantity.shape, Shape::List(_)) { "[]" } else { "" };
                let path = format!("{prefix}{}{list}", quantity.name);
                if self.place(inner) == Some(path.as_str()) {
                    self.names_below(&format!("{path}."), inner);
                }
            }
            let Shape::Name(names) = quantity.shape.item() else { continue };
            let each = if matches!(quantity.shape, Shape::List(_)) { "Each of " } else { "" };
            list(&mut self.text, &format!("{each}`{prefix}{}`", quantity.name), names);
        }
    }
}

/// Returns the words for the type of a value, such as "list of integers".
fn value(shape: &Shape) -> String {
    match shape {
        Shape::Integer => "integer".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Boolean => "true or false".to_owned(),
        Shape::Text => "text".to_owned(),
        Shape::Name(_) => "name".to_owned(),
        Shape::Configuration | Shape::Object(_) | Shape::Tagged { .. } => "object".to_owned(),
        Shape::List(item) => format!("list of {}", plural(item)),
    }
}

fn plural(shape: &Shape) -> String {
    let one = value(shape);
    if matches!(shape, Shape::Boolean) { one } else { format!("{one}s") }
}
