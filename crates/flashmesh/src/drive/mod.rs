//! Loading of configurations, and the checks that involve the geometry, the policies and the interconnect.
//!
//! [`crate::config`] declares the keys.

mod conflicts;
mod load;
mod memory;

pub use memory::MemoryEstimate;
