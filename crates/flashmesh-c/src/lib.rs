//! C interface of flashmesh, from which `include/flashmesh.h` is generated.
//!
//! Conventions: a function that can fail returns 0 on success and -1 on failure, or, if it returns a pointer, null on failure; `flashmesh_last_error`
//! returns the message for the calling thread. Only one thread at a time may use a drive. Panics do not unwind into C.
#![allow(unsafe_code, reason = "C passes pointers, and its names are not mangled")]

mod drive;
mod errors;
mod types;

pub use drive::*;
pub use errors::flashmesh_last_error;
pub use types::*;
