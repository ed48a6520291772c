//! Analyses that watch a run, and add what they found to its report.

mod collisions;

pub use collisions::CollisionProbe;
