//! What the simulation tells the oracles, by the part of the drive it happens in.

mod array;
mod cache;
mod host;
mod map;
mod paths;
