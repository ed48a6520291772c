//! Analyses that watch a run, and add what they found to its report.

mod chip_states;
mod collisions;

pub use chip_states::ChipStatesProbe;
pub use collisions::CollisionProbe;
