//! Probes that analyse a run and add their results to its report.

mod chip_states;
mod collisions;

pub use chip_states::ChipStatesProbe;
pub use collisions::CollisionProbe;
