//! Checks that the generated files are up to date with the declarations.

use flashmesh::measure::document::Document;
use flashmesh::quantities;
use flashmesh::results::{Group, GroupSpec, QuantitySpec, Shape};

use crate::files;

#[test]
fn no_generated_file_is_stale() {
    let root = files::root();
    assert!(!files::all().is_empty());
    for file in files::all() {
        let text = std::fs::read_to_string(root.join(file.path)).unwrap_or_default();
        assert!(text == file.text, "{} is stale: run `cargo run -p flashmesh --example generate`", file.path);
    }
}

#[test]
fn every_parameter_is_in_every_generated_file() {
    use crate::files::parameters::{markdown, python, schema};
    for (is_python, text) in [(false, markdown::page()), (false, schema::schema()), (true, python::module())] {
        for spec in flashmesh::config::Config::parameters() {
            let name = if is_python { format!("{}: ", spec.field) } else { spec.key.to_owned() };
            assert!(text.contains(&name), "{}", spec.path());
            let missing = spec.choices.iter().find(|choice| !text.contains(choice.name));
            assert!(missing.is_none(), "{missing:?}");
        }
    }
}

quantities! {
    /// Document with an added quantity.
    Extended as "Extended" {
        /// The document.
        document: Document => flatten;
        /// Requests that came on a Sunday.
        sunday_requests: Option<u64>, in "pilgrims", null "on weekdays";
    }
}

#[test]
fn a_quantity_that_is_declared_is_in_every_generated_file() {
    use crate::files::results::{markdown, python, schema};
    let write = |spec: &GroupSpec| [markdown::tables(spec), python::module(spec), schema::schema(spec)];
    for (without, with) in write(&Document::spec()).into_iter().zip(write(&Extended::spec())) {
        for words in ["sunday_requests", "Requests that came on a Sunday.", "pilgrims", "on weekdays"] {
            assert!(!without.contains(words) && with.contains(words), "{words}");
        }
    }
}

/// Calls `see` with `group` and, recursively, with all groups nested in it.
fn each_group<'a>(group: &'a GroupSpec, see: &mut impl FnMut(&'a GroupSpec)) {
    see(group);
    for quantity in &group.quantities {
        match quantity.shape.item() {
            Shape::Object(inner) => each_group(inner, see),
            Shape::Tagged { variants, .. } => {
                variants.iter().filter_map(|variant| variant.group.as_ref()).for_each(|group| each_group(group, see));
            }
            _ => {}
        }
    }
}

#[test]
fn every_name_of_a_value_is_explained_on_the_page() {
    let document = Document::spec();
    let page = files::results::markdown::tables(&document);
    let mut names = 0;
    each_group(&document, &mut |group| {
        for quantity in &group.quantities {
            let Shape::Name(own) = quantity.shape.item() else { continue };
            names += own.len();
            let missing = own.iter().find(|name| !page.contains(&format!("- `{}`: {}\n", name.name, name.doc)));
            assert!(missing.is_none(), "{}: {missing:?}", quantity.name);
        }
    });
    assert!(names > 20, "{names}");
}

#[test]
fn numbers_have_the_units_that_their_names_end_with() {
    // These quantities have no unit, or their unit is stated by a quantity next to them.
    const PURE: [&str; 4] = ["seed", "value", "low", "high"];
    // These fields are indices or ids.
    const NUMBERED: [&str; 10] =
        ["first", "second", "number", "stream", "die", "requests", "link", "transfer", "controller", "to_chip"];
    const UNITS: [(&str, &str); 8] = [
        ("_ps", "ps"),
        ("_s", "s"),
        ("_bytes", "B"),
        ("_bytes_per_s", "B/s"),
        ("_share", "share"),
        ("_j", "J"),
        ("_w", "W"),
        ("_mm2", "mm2"),
    ];
    let wrong = |quantity: &&QuantitySpec| match quantity.shape.item() {
        Shape::Integer | Shape::Number => {
            // If several suffixes match, the longest decides. Rates in 1/s are named after the counted item, so their suffixes are not checked.
            let fits = UNITS.iter().filter(|(ending, _)| quantity.name.ends_with(ending));
            let ending = fits.max_by_key(|(ending, _)| ending.len());
            let is_rate = quantity.unit == Some("1/s");
            let is_numbered = NUMBERED.contains(&quantity.name) && quantity.unit.is_none();
            !PURE.contains(&quantity.name)
                && !is_numbered
                && (quantity.unit.is_none() || ending.is_some_and(|(_, unit)| quantity.unit != Some(*unit) && !is_rate))
        }
        _ => quantity.unit.is_some(),
    };
    let document = Document::spec();
    let mut found = Vec::new();
    each_group(&document, &mut |group| found.extend(group.quantities.iter().filter(wrong).map(|wrong| wrong.name)));
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_class_is_declared_by_one_group_only_and_meanings_are_sentences() {
    let document = Document::spec();
    let mut groups: Vec<&GroupSpec> = Vec::new();
    each_group(&document, &mut |group| groups.push(group));
    for group in &groups {
        let same = groups.iter().filter(|other| group.class.is_some() && other.class == group.class);
        assert!(same.into_iter().all(|other| other == group), "{:?}", group.class);
        let docs = group.quantities.iter().map(|quantity| quantity.doc.as_str()).chain([group.doc.as_str()]);
        for doc in docs {
            assert!(doc.ends_with('.') && !doc.starts_with(char::is_lowercase), "{doc}");
        }
    }
}
