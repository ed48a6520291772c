//! Configuration tests: precedence of layers, presets, streams, every kind of error, and the files generated from the declarations.
#![allow(missing_docs)]

#[path = "../support/mod.rs"]
mod support;

#[path = "../../examples/generate/files/mod.rs"]
mod files;

mod errors;
mod generated_files;
mod layers;
mod presets;
mod properties;
mod streams;
