//! The configuration sections of workloads: `[workload]` and `[replay]`.

mod replay;
mod sizes;
mod workload;

pub use replay::{LatencyStart, Replay, ReplayMode};
pub use sizes::Sizes;
pub use workload::{
    ArrivalKind, Beyond, BlkparseEvent, BurstKinds, FileOrder, IologWait, MixPlacement, Pattern, RunKind,
    TraceAddressUnit, TraceFormat, TracePolarity, TraceTimeUnit, Workload, WorkloadKind,
};
