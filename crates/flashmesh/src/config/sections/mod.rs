//! The sections of a configuration, one a file: every parameter with its unit, default, bounds and meaning.

mod fabric;
mod flash;
mod ftl;
mod gc;
mod geometry;
mod host;
mod packets;
mod precondition;
mod replay;
mod schedule;
mod sizes;
mod wear;
mod workload;

pub use fabric::{Arbitration, Fabric, FabricKind, Retry, Routing, Service, TieBreak};
pub use flash::{Flash, MultiPlane, Suspension};
pub use ftl::{Allocation, Ftl, Level};
pub use gc::{Gc, VictimPolicy};
pub use geometry::Geometry;
pub use host::Host;
pub use packets::Packets;
pub use precondition::{Precondition, PreconditionKind};
pub use replay::{Replay, ReplayMode};
pub use schedule::{Schedule, SchedulePolicy};
pub use sizes::Sizes;
pub use wear::Wear;
pub use workload::{ArrivalKind, Pattern, TraceFormat, TracePolarity, TraceTimeUnit, Workload, WorkloadKind};
