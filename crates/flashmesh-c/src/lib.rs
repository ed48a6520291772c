//! The C interface: `include/flashmesh.h` is generated from this crate.
//!
//! Conventions: functions that can fail return 0 where they succeed and -1 where they fail, or a null pointer; `flashmesh_last_error` says why, for
//! the calling thread. A drive is used by one thread at a time. Nothing unwinds into C.
#![allow(unsafe_code, reason = "C passes pointers, and its names are not mangled")]

mod drive;
mod errors;
mod types;

pub use drive::*;
pub use errors::flashmesh_last_error;
pub use types::*;
