//! The generated files, apart from the program that writes them, so that a test can compare.

mod markdown;
mod python;
mod schema;

/// A file that follows from the declarations.
pub struct Generated {
    /// Where it goes, from the root of the repository.
    pub path: &'static str,
    /// What is in it.
    pub text: String,
}

/// Every generated file.
pub fn all() -> Vec<Generated> {
    vec![
        Generated { path: "docs/parameters.md", text: markdown::page() },
        Generated { path: "docs/config.schema.json", text: schema::schema() },
        Generated { path: "python/flashmesh/_parameters.py", text: python::module() },
    ]
}
