//! Loading of configurations, and the checks that involve the geometry, the policies and the interconnect.
//!
//! The keys themselves are declared in [`crate::config`].

mod check;
mod load;
mod memory;

pub use memory::MemoryEstimate;
