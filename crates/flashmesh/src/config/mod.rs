//! One typed tree of parameters.

mod tree;

pub use tree::*;
