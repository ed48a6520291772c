//! Declaration of parameters: each is declared once, with its unit, default, bounds and meaning.
//!
//! `section!` declares a section of a configuration, `choices!` a type with a fixed list of texts. Sections are declared in the
//! crate that uses them: `[workload]` and `[replay]` in flashmesh-workload, all others in flashmesh, which also parses
//! configurations.

pub mod error;
pub mod instance;
pub mod reference;
pub mod suggest;

// Public only because code expanded from the macros uses these modules.
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
