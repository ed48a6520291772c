//! The error types of the parts of a drive and of a run. Each error names its place: a key, a time or a request.

pub use flashmesh_base::error::system_message;
pub use flashmesh_workload::error::WorkloadError;

use crate::units::{Bytes, Time};

/// An invalid geometry. The message names the keys to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GeometryError {
    /// More pages than a 32-bit id can number.
    #[error(
        "the array has {pages} pages; at most {max} can be simulated: use fewer blocks-per-plane or a larger page-size"
    )]
    TooManyPages {
        /// The number of pages of the array.
        pages: u64,
        /// The largest number of pages that can be simulated.
        max: u64,
    },
    /// More dies than an event can number.
    #[error(
        "the array has {dies} dies; at most {max} can be simulated: use fewer channels, chips-per-channel or dies-per-chip"
    )]
    TooManyDies {
        /// The number of dies of the array.
        dies: u64,
        /// The largest number of dies that can be simulated.
        max: u64,
    },
    /// A value of a single key that is out of range.
    #[error("{key} = {value}: {reason}")]
    Key {
        /// The key in `[geometry]` whose value is out of range.
        key: &'static str,
        /// The value given for the key.
        value: String,
        /// The requirement that the value does not meet.
        reason: String,
    },
    /// A host capacity of less than a page, or of more than the array.
    #[error(
        "capacity = {capacity}: must lie between one page and the {array:#} of the array{}",
        parity_stripe.map(|stripe| format!(" that ftl.parity = \"1/{stripe}\" leaves")).unwrap_or_default()
    )]
    Capacity {
        /// The capacity that the host sees.
        capacity: Bytes,
        /// The size of all data pages of the array, without parity pages.
        array: Bytes,
        /// The number of pages in a stripe of parity; `None` without parity.
        parity_stripe: Option<u32>,
    },
    /// Too few spare blocks: the host capacity leaves the planes less free space than garbage collection needs.
    #[error(
        "a plane must keep {needed} blocks free for garbage collection and has {spare} to spare: raise over-provisioning or \
         blocks-per-plane, or lower capacity where it is given"
    )]
    TooLittleSpare {
        /// The number of blocks that must stay free in each plane.
        needed: u64,
        /// The number of spare blocks of each plane.
        spare: u64,
    },
}

/// A conflict between the interconnect and the rest of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}: {help}")]
pub struct FabricError {
    /// The keys in conflict, as `section.key`, the likeliest cause first.
    pub keys: Vec<&'static str>,
    /// The description of the conflict.
    pub message: String,
    /// The suggested remedy.
    pub help: String,
}

/// Namespaces that the drive cannot have, or a reference to a namespace that it does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}: {help}")]
pub struct NamespaceError {
    /// The keys in conflict, the likeliest cause first.
    pub keys: Vec<String>,
    /// The description of the conflict.
    pub message: String,
    /// The suggested remedy.
    pub help: String,
}

/// A violated invariant of the simulator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {at}: {oracle}: {message}")]
pub struct Violation {
    /// The simulated time of the violation.
    pub at: Time,
    /// The oracle that found the violation.
    pub oracle: &'static str,
    /// The observed and the expected state.
    pub message: String,
}

/// An invalid call of a stepped drive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// A key of a setting that the caller of [`Drive`](crate::Drive) controls, or of a result that only a complete run has.
    #[error("{key} = {value}: {reason}")]
    Key {
        /// The key that a stepped drive does not support.
        key: String,
        /// The value of the key that a stepped drive does not support.
        value: String,
        /// The reason why a stepped drive does not support the value, and the remedy.
        reason: &'static str,
    },
    /// A stream that does not exist.
    #[error("there is no stream {stream}: the configuration has {count}, numbered from 0")]
    NoStream {
        /// The number given for the stream.
        stream: usize,
        /// The number of streams of the configuration.
        count: usize,
    },
    /// A request that arrives before the current time of the drive.
    #[error(
        "a request arrives at {time}, and the drive is at {now} already: submit it before the drive is advanced beyond its time"
    )]
    Late {
        /// The arrival of the request.
        time: Time,
        /// The current time of the drive.
        now: Time,
    },
    /// A request that arrives before the previous request of its stream.
    #[error(
        "a request of stream {stream} arrives at {time}, before the one submitted last, at {last}: submit the requests of a stream in the order of their times"
    )]
    OutOfOrder {
        /// The number of the stream.
        stream: usize,
        /// The arrival of the request.
        time: Time,
        /// The arrival of the previous request.
        last: Time,
    },
    /// An offset or a size that is no multiple of the sector size.
    #[error(
        "the {what} of a request is {bytes} bytes, and must be a multiple of the sector size, {sector} bytes (geometry.sector-size)"
    )]
    Unaligned {
        /// The name of the field: `offset` or `size`.
        what: &'static str,
        /// The value of the field, in bytes.
        bytes: u64,
        /// The sector size, in bytes.
        sector: u64,
    },
    /// A read, write or trim of no bytes, or a flush of some bytes.
    #[error("a {kind} covers {expected}, and this one has a size of {bytes} bytes")]
    Size {
        /// The kind of the request.
        kind: &'static str,
        /// The size that the kind requires, in words.
        expected: &'static str,
        /// The size of the request, in bytes.
        bytes: u64,
    },
    /// A request with an end that exceeds 64 bits.
    #[error("a request of {bytes} bytes at offset {offset} ends beyond 2^64 bytes")]
    TooLarge {
        /// The offset of the request, in bytes.
        offset: u64,
        /// The size of the request, in bytes.
        bytes: u64,
    },
    /// An attempt to advance the drive to a time in the past.
    #[error("the drive is at {now} and cannot be advanced to {time}, before that")]
    Backwards {
        /// The requested time.
        time: Time,
        /// The current time of the drive.
        now: Time,
    },
    /// A time beyond [`Time::RUN_MAX`].
    #[error("{time} is beyond the 106 days that can be simulated")]
    TooFar {
        /// The requested time.
        time: Time,
    },
    /// A request after the power was cut.
    #[error("the power was cut at {at} (power.cut): the drive takes no more requests")]
    PowerCut {
        /// The time of the power cut.
        at: Time,
    },
    /// A call after an earlier call failed in the middle of an event.
    #[error("the drive has failed before, and cannot go on: restore a snapshot, or begin anew")]
    Failed,
    /// A snapshot of a drive with another configuration.
    #[error("the snapshot is of another drive: its {key} is {theirs}, and that of this drive is {own}")]
    OtherDrive {
        /// The first difference: usually a key.
        key: String,
        /// The value in the snapshot.
        theirs: String,
        /// The value of the drive to be restored.
        own: String,
    },
}

/// A failure to start or to continue a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A drive that cannot be built.
    #[error("geometry: {0}")]
    Geometry(#[from] GeometryError),
    /// An interconnect that does not fit the drive.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Namespaces that do not fit the drive.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// A workload that cannot be read or replayed.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A violated invariant: a bug of the simulator.
    #[error("check failed {0}")]
    Check(#[from] Violation),
    /// A simulated time beyond [`Time::RUN_MAX`].
    #[error(
        "the run passed 106 days of simulated time, the longest that can be simulated: shorten the workload or its times"
    )]
    TooLong,
    /// A deadlock: requests are in flight, but no event is pending. A bug of the simulator.
    #[error("at {at} the simulation deadlocked with {in_flight} requests in flight; this is a bug of flashmesh")]
    Stalled {
        /// The simulated time of the deadlock.
        at: Time,
        /// The number of requests that never completed.
        in_flight: usize,
    },
    /// A policy of the caller that failed, or that returned a decision no drive can carry out.
    #[error("at {at}: {reason}")]
    Policy {
        /// The simulated time of the decision.
        at: Time,
        /// The error of the policy.
        reason: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A key of `[policy]` that names a Python policy which was not set on the drive.
    #[error(
        "{key} = \"{name}\" is a policy in Python: run it with flashmesh's Python package or command, or leave the key out"
    )]
    NoPolicy {
        /// The key in `[policy]`.
        key: &'static str,
        /// The name of the policy.
        name: String,
    },
    /// An invalid call of a stepped drive.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A failure of the sink that receives completed requests.
    #[error("the request log cannot be written: {0}")]
    Sink(String),
}
