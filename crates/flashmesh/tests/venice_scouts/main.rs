//! Scouts of Venice against an oracle: they end, find a path when there is one, see no router too often, and leave nothing
//! behind.
#![allow(missing_docs)]

mod exhaustive;
mod grid;
mod racing;
