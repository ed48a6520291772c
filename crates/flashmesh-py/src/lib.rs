//! Bindings only: everything that decides lives in the `flashmesh` crate.
