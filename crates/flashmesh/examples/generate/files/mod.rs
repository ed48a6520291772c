//! Contents of the generated files, separate from the program that writes them, so that a test can compare them.

pub mod parameters;
pub mod results;
mod text;

use std::path::{Path, PathBuf};

use flashmesh::report::Document;
use flashmesh::report::Group;

/// File generated from the declarations.
pub struct Generated {
    /// Path relative to the root of the repository.
    pub path: &'static str,
    /// Content of the file.
    pub text: String,
}

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all generated files with their new contents.
pub fn all() -> Vec<Generated> {
    let results = Document::spec();
    vec![
        Generated { path: "docs/parameters.md", text: parameters::markdown::page() },
        // The Python package includes the schema for users without the repository.
        Generated { path: "python/flashmesh/config.schema.json", text: parameters::schema::schema() },
        Generated { path: "python/flashmesh/_parameters.py", text: parameters::python::module() },
        Generated { path: results::markdown::PATH, text: results::markdown::page(&results) },
        Generated { path: "docs/results.schema.json", text: results::schema::schema(&results) },
        Generated { path: "python/flashmesh/_results.py", text: results::python::module(&results) },
    ]
}
