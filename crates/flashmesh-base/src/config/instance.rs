//! Instances of the simulation, as declarations of parameters name them.

/// An instance of the simulation: the same code, compiled for a part of what a drive may have, or for all of it.
///
/// Results are the same in each that is sufficient. The smaller one is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Instance {
    /// For most drives, over a known interconnect.
    Plain,
    /// For every feature and every interconnect.
    Any,
    /// The same, with probes.
    Probed,
}

impl Instance {
    /// Every instance, the smallest first.
    pub const ALL: [Instance; 3] = [Instance::Plain, Instance::Any, Instance::Probed];
}
