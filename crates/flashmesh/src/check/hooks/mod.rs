//! Hooks that the probe of the oracles calls for each notice, grouped by the part of the drive that sends the notice.

mod array;
mod cache;
mod host;
mod map;
mod paths;
