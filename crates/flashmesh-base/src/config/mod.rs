//! How parameters are declared: once, each with its unit, default, bounds and meaning.
//!
//! `section!` declares a section of a configuration, `choices!` a value with a fixed list of texts. The crate that uses a section
//! declares it: flashmesh-workload `[workload]` and `[replay]`, flashmesh all others. flashmesh reads the text.

pub mod error;
pub mod instance;
pub mod reference;
pub mod suggest;

// What the macros expand to.
#[doc(hidden)]
pub mod bounds;
#[doc(hidden)]
pub mod choices;
#[doc(hidden)]
pub mod form;
#[doc(hidden)]
pub mod node;
#[doc(hidden)]
pub mod section;
