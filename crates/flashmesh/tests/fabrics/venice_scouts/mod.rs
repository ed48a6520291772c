//! Scouts of Venice compared with an oracle: they end, find a path if there is one, visit no router too often, and leave no reservation behind.

mod exhaustive;
mod grid;
mod racing;
