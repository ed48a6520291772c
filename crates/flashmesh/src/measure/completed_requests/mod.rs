//! Records of completed requests, and their destinations.

pub mod columns;
pub mod completions;
pub mod request_log;
