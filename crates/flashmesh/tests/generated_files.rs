//! The generated files follow from the declarations: a test that fails when one is stale.

use std::path::Path;

#[path = "../examples/generate/files/mod.rs"]
mod files;

#[test]
fn no_generated_file_is_stale() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(!files::all().is_empty());
    for file in files::all() {
        let text = std::fs::read_to_string(root.join(file.path)).unwrap_or_default();
        assert!(text == file.text, "{} is stale: run `cargo run -p flashmesh --example generate`", file.path);
    }
}

#[test]
fn every_parameter_is_in_every_generated_file() {
    for file in files::all() {
        for spec in flashmesh::config::Config::parameters() {
            let name = if file.path.ends_with(".py") { format!("{}: ", spec.field) } else { spec.key.to_owned() };
            assert!(file.text.contains(&name), "{}: {}", file.path, spec.path());
            let missing = spec.choices.iter().find(|choice| !file.text.contains(choice.name));
            assert!(missing.is_none(), "{}: {missing:?}", file.path);
        }
    }
}
