//! The sections of a configuration, one per file: each parameter with its unit, default, bounds and meaning.

mod area;
mod cache;
mod fabric;
mod firmware;
mod flash;
mod ftl;
mod gc;
mod geometry;
mod home_order;
mod host;
mod indices;
mod mapping;
mod mbm;
mod measure;
mod namespace;
mod nossd;
mod nvme;
mod packets;
mod parity;
mod persistence;
mod pnssd;
mod policy;
mod power;
mod precondition;
mod queue;
mod replication;
mod sata;
mod schedule;
mod slc;
mod superblock;
mod times_by_planes;
mod venice;
mod wear;

pub use area::Area;
pub use cache::{AccessTime, AccessUnit, Cache, CacheSharing, CacheStall, CacheWrites, Destage, RowPolicy};
pub use fabric::{Arbitration, ChannelLoad, Fabric, FabricKind, HoldPath};
pub use firmware::{CoreChoice, Firmware};
pub use flash::{
    DieStart, Flash, MultiPlane, PageTypes, PlaneOrder, ProgramOrder, ProgramUnit, Suspension, SuspensionScope,
};
pub use flashmesh_workload::config::{
    ArrivalKind, Beyond, BlkparseEvent, BurstKinds, LatencyStart, MixPlacement, Pattern, Replay, ReplayMode, Sizes,
    TraceAddressUnit, TraceFormat, TracePolarity, TraceTimeUnit, Workload, WorkloadKind,
};
pub use ftl::{Allocation, ArrayLevel, FirmwarePolicy, FirstTouch, Ftl, WriteBinding, WriteStreams};
pub use gc::{Gc, MovedPages, PageMove, VictimPolicy};
pub use geometry::{Geometry, PLANES_PER_DIE_MAX};
pub use home_order::HomeOrder;
pub use host::{Host, InterfaceKind, ReadData};
pub use indices::Indices;
pub use mapping::{MapFill, MapSharing, Mapping, WriteBackRead};
pub use mbm::{AreaRule, AreaWrites, Mbm, McsBegins, ReallocationTrigger};
pub use measure::{Measure, PrecisionOf, WarmUp};
pub use namespace::Namespace;
pub use nossd::{
    ControllerPlacement, ControllerQueues, InjectionPolicy, Interleave, LeastLoadedTies, Nossd, NossdTopology,
    PacketArbitration, PagePackets, ReplyPolicy, SlotReuse,
};
pub use nvme::{Nvme, QueueArbitration};
pub use packets::Packets;
pub use parity::ParityShare;
pub use persistence::{Persistence, PersistencePolicy};
pub use pnssd::{Controllers, Pnssd};
pub use policy::Policy;
pub use power::Power;
pub use precondition::{Precondition, PreconditionKind};
pub use queue::{Caching, Priority, Queue};
pub use replication::{CountedReads, Replication};
pub use sata::{Sata, SataTransport};
pub use schedule::{EraseOrder, KindOrder, Priorities, Schedule, SchedulePolicy};
pub use slc::{Slc, SlcRegion, SlcWhenFull};
pub use superblock::Superblock;
pub use times_by_planes::TimesByPlanes;
pub use venice::{Retry, Revisits, Routing, Service, TieBreak, Venice};
pub use wear::Wear;
