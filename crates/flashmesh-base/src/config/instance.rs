//! The compiled variants of the simulation (instances). The declaration of a parameter names the variant that the parameter needs.

/// A compiled variant of the simulation: the same code, monomorphized for a subset of the features of a drive, or for all of them.
///
/// Every instance that supports a drive simulates it with the same results. A smaller instance runs faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Instance {
    /// The instance (compiled variant) for common drives with a built-in interconnect.
    Plain,
    /// The instance (compiled variant) for every feature, without probes, over a bus, pSSD or the ideal interconnect without held paths
    /// (`fabric.hold-path`). Drives with other interconnects or with held paths run in [`Instance::Probed`] instead.
    Any,
    /// The instance (compiled variant) for every feature and every interconnect, with probes.
    Probed,
}

impl Instance {
    /// All instances (compiled variants), from the one for the fewest features to the one for all.
    pub const ALL: [Instance; 3] = [Instance::Plain, Instance::Any, Instance::Probed];
}
