//! Hooks that notices call, by part of the drive.

mod array;
mod cache;
mod host;
mod map;
mod paths;
