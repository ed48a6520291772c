//! Scouts of Venice against an oracle: they end, find a path when there is one, see no router too often, and leave nothing
//! behind.

mod exhaustive;
mod grid;
mod racing;
