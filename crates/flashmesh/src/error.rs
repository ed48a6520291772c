//! Errors as types, each with the place it speaks of: of the parts of a drive, and of a run.

pub use flashmesh_base::error::said;
pub use flashmesh_workload::error::WorkloadError;

use crate::units::Time;

/// Why a geometry cannot be built; each names the keys to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GeometryError {
    /// More pages than a 32-bit id can name.
    #[error(
        "the array has {pages} pages; at most {max} can be simulated: use fewer blocks-per-plane or a larger page-size"
    )]
    TooManyPages {
        /// Pages of the array.
        pages: u64,
        /// The limit.
        max: u64,
    },
    /// A single key is out of its range.
    #[error("{key} = {value}: {reason}")]
    Key {
        /// The key below `geometry`.
        key: &'static str,
        /// What was given.
        value: String,
        /// What it must be.
        reason: String,
    },
    /// The host sees more than the planes can hold while they are collected.
    #[error(
        "a plane must keep {needed} blocks free for garbage collection and has {spare} to spare: raise over-provisioning or \
         blocks-per-plane, or lower capacity where it is given"
    )]
    TooLittleSpare {
        /// Blocks that must stay spare in each plane.
        needed: u64,
        /// Blocks that are spare in each plane.
        spare: u64,
    },
}

/// An interconnect does not fit the rest of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}: {help}")]
pub struct FabricError {
    /// The keys to look at, `section.key`, the likeliest culprit first.
    pub keys: Vec<&'static str>,
    /// What does not fit.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// Namespaces that the drive cannot have, or one that it does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}: {help}")]
pub struct NamespaceError {
    /// The keys to look at, the likeliest culprit first.
    pub keys: Vec<String>,
    /// What does not fit.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// Something that must always hold did not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {at}: {oracle}: {message}")]
pub struct Violation {
    /// When, in simulated time.
    pub at: Time,
    /// The oracle that speaks.
    pub oracle: &'static str,
    /// What it saw and what it expected.
    pub message: String,
}

/// A run cannot start, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The drive cannot be built.
    #[error("geometry: {0}")]
    Geometry(#[from] GeometryError),
    /// The interconnect does not fit the drive.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The namespaces do not fit the drive.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The workload cannot be read or replayed.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// Something that must always hold did not: a bug of the simulator.
    #[error("check failed {0}")]
    Check(#[from] Violation),
    /// Simulated time passed [`Time::RUN_MAX`].
    #[error(
        "the run passed 106 days of simulated time, the longest that can be simulated: shorten the workload or its times"
    )]
    TooLong,
    /// Nothing more can happen, but requests are in flight: a bug of the simulator.
    #[error("at {at} the simulation deadlocked with {in_flight} requests in flight; this is a bug of flashmesh")]
    Stalled {
        /// When, in simulated time.
        at: Time,
        /// Requests that never completed.
        in_flight: usize,
    },
    /// A policy of the caller's own cannot go on, or answered what no drive can do.
    #[error("at {at}: {reason}")]
    Policy {
        /// When, in simulated time.
        at: Time,
        /// What the policy said.
        reason: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A key of `[policy]` names a policy in Python, and nobody has put it into the drive.
    #[error(
        "{key} = \"{name}\" is a policy in Python: run it with flashmesh's Python package or command, or leave the key out"
    )]
    NoPolicy {
        /// The key.
        key: &'static str,
        /// What it names.
        name: String,
    },
    /// The sink of completed requests takes no more.
    #[error("the request log cannot be written: {0}")]
    Sink(String),
}
