//! Hooks that the probe of the oracles calls for each notice, by part of the drive.

mod array;
mod cache;
mod host;
mod map;
mod paths;
