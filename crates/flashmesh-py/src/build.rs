//! Facts about the build of the module.

use pyo3::prelude::*;

/// Returns facts about the build as (name, value). The names are commit (`unknown` outside a repository), profile, target and compiler.
#[pyfunction]
pub fn build_facts() -> Vec<(&'static str, &'static str)> {
    vec![
        ("commit", env!("BUILD_COMMIT")),
        ("profile", env!("BUILD_PROFILE")),
        ("target", env!("BUILD_TARGET")),
        ("compiler", env!("BUILD_RUSTC")),
    ]
}
