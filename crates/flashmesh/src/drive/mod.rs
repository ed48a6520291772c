//! Whether a configuration makes a drive: checks that take the geometry, the policies and the interconnect to say so.
//!
//! [`Config`](crate::config::Config) is read and checked here; what it declares is in [`crate::config`].

mod check;
mod load;
mod memory;

pub use memory::MemoryEstimate;
