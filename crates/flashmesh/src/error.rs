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
    /// There are more dies than events can tell apart.
    #[error(
        "the array has {dies} dies; at most {max} can be simulated: use fewer channels, chips-per-channel or dies-per-chip"
    )]
    TooManyDies {
        /// Dies of the array.
        dies: u64,
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

/// What a drive that is stepped was asked for, and cannot do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// A key says what the caller of [`Drive`](crate::Drive) decides, or asks for what only a run gives.
    #[error("{key} = {value}: {reason}")]
    Key {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// Why a drive that is stepped does not follow it, and what to do.
        reason: &'static str,
    },
    /// There is no such stream.
    #[error("there is no stream {stream}: the configuration has {count}, numbered from 0")]
    NoStream {
        /// Its number.
        stream: usize,
        /// How many there are.
        count: usize,
    },
    /// A request arrives before the time to which the drive was advanced.
    #[error(
        "a request arrives at {time}, and the drive is at {now} already: submit it before the drive is advanced beyond its time"
    )]
    Late {
        /// When it arrives.
        time: Time,
        /// The time of the drive.
        now: Time,
    },
    /// A request arrives before one that was submitted to the same stream earlier.
    #[error(
        "a request of stream {stream} arrives at {time}, before the one submitted last, at {last}: submit the requests of a stream in the order of their times"
    )]
    OutOfOrder {
        /// The stream.
        stream: usize,
        /// When it arrives.
        time: Time,
        /// When the last one arrives.
        last: Time,
    },
    /// An offset or a size is no multiple of the sector size.
    #[error(
        "the {what} of a request is {bytes} bytes, and must be a multiple of the sector size, {sector} bytes (geometry.sector-size)"
    )]
    Unaligned {
        /// `offset` or `size`.
        what: &'static str,
        /// What it is.
        bytes: u64,
        /// The sector size.
        sector: u64,
    },
    /// A request that covers bytes has none, or a flush has some.
    #[error("a {kind} covers {expected}, and this one has a size of {bytes} bytes")]
    Size {
        /// What it asks.
        kind: &'static str,
        /// What it must cover.
        expected: &'static str,
        /// Its size.
        bytes: u64,
    },
    /// The end of a request is beyond what a number of 64 bits can say.
    #[error("a request of {bytes} bytes at offset {offset} ends beyond 2^64 bytes")]
    TooLarge {
        /// Its offset.
        offset: u64,
        /// Its size.
        bytes: u64,
    },
    /// The drive is to go back in time.
    #[error("the drive is at {now} and cannot be advanced to {time}, before that")]
    Backwards {
        /// The time asked for.
        time: Time,
        /// The time of the drive.
        now: Time,
    },
    /// A time is beyond [`Time::RUN_MAX`].
    #[error("{time} is beyond the 106 days that can be simulated")]
    TooFar {
        /// The time.
        time: Time,
    },
    /// The power was cut: the drive takes nothing more.
    #[error("the power was cut at {at} (power.cut): the drive takes no more requests")]
    PowerCut {
        /// When.
        at: Time,
    },
    /// An earlier call failed in the middle of an event.
    #[error("the drive has failed before, and cannot go on: restore a snapshot, or begin anew")]
    Failed,
    /// A snapshot of a drive with another configuration is to be restored.
    #[error("the snapshot is of another drive: its {key} is {theirs}, and that of this drive is {own}")]
    OtherDrive {
        /// The first key that differs, or what else does.
        key: String,
        /// The value of the drive whose snapshot it is.
        theirs: String,
        /// The value of the drive that is to be restored.
        own: String,
    },
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
    /// A drive cannot be stepped so.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The sink of completed requests takes no more.
    #[error("the request log cannot be written: {0}")]
    Sink(String),
}
