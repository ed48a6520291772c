//! flashmesh: an SSD simulator for the people who design drives.
//!
//! A [`Config`](config::Config) describes a drive and its workloads, a [`Simulation`](simulation::Simulation) runs them, and a
//! [`Report`](report::Report) contains the results:
//!
//! ```
//! use flashmesh::config::Config;
//! use flashmesh::simulation::{Control, Simulation};
//!
//! let mut config = Config::default();
//! config.workload.requests = Some(1_000);
//! let report = Simulation::new(&config)?.run(&Control::default())?;
//! assert_eq!(report.requests, 1_000);
//! # Ok::<(), flashmesh::error::RunError>(())
//! ```
//!
//! The parts of a drive that can be replaced are traits: [`Fabric`](interconnect::Fabric), [`Scheduler`](scheduler::Scheduler),
//! [`Allocator`](placement::Allocator), [`VictimSelector`](placement::VictimSelector), [`FirmwarePolicy`](policy::FirmwarePolicy),
//! [`ReplicaSelector`](policy::ReplicaSelector), [`WorkloadSource`](requests::WorkloadSource). A [`Probe`](probe::Probe) watches a run.

pub mod config;
pub mod error;
pub mod ids;
pub mod simulation;

/// The modules of the core, which are private. This file re-exports the public interface.
#[cfg_attr(feature = "internals", doc(hidden))]
#[path = ""]
mod rooms {
    pub mod cache;
    pub mod check;
    pub mod collisions;
    pub mod controller;
    pub mod datapath;
    pub mod drive;
    pub mod engine;
    pub mod fabric;
    pub mod flash;
    pub mod frontend;
    pub mod ftl;
    pub mod host;
    pub mod kernel;
    pub mod measure;
    pub mod persistence;
    pub mod policies;
    pub mod power;
    pub mod probes;
    pub mod recording;
    pub mod reporting;
    pub mod results;
    pub mod schedule;
    pub mod states;
    pub use flashmesh_workload as workload;
}

#[cfg(test)]
#[path = "../../flashmesh-workload/tests/support/cases.rs"]
mod random_cases;

// Public for the tests, benchmarks and fuzz targets of the core.
#[cfg(feature = "internals")]
pub use rooms::*;
#[cfg(not(feature = "internals"))]
use rooms::*;

/// Interconnects: paths of commands and data from the controllers to the chips.
pub mod interconnect {
    pub use crate::check::expected_fabrics::{ExpectedFabric, LinksToDie, TransferTiming};
    pub use crate::fabric::layout::{Layout, Link, LinkKind, SharedResource, TransferDestination};
    pub use crate::fabric::nossd::{PacketRouting, PacketRoutingError};
    pub use crate::fabric::venice::routing::RoutingAlgorithm;
    pub use crate::fabric::venice::{Port, PortSet};
    pub use crate::fabric::wormhole::{GridDirection, NamedLink, RouterCoord, RoutesError};
    pub use crate::fabric::{
        AnyFabric, ArbitrationPolicy, Cause, Causes, Contender, DataOwner, Fabric, FabricEvent, FabricInfo, Grant,
        GrantRecord, HoldTimes, LinkUsage, LinkUse, Outbox, Payload, RouterPlacement, ScoutMove, ScoutSearch,
        ScoutStep, SearchPrediction, SendOutcome, TransferKind, TransferPhase, info_of,
    };
}

/// Schedulers, which choose the transaction that a die runs next.
pub mod scheduler {
    pub use crate::schedule::fifo::Fifo;
    pub use crate::schedule::latency_account::{LatencyAccount, LatencyBreakdown, PathWait, Stall};
    pub use crate::schedule::load::LoadView;
    pub use crate::schedule::out_of_order::OutOfOrder;
    pub use crate::schedule::purpose::{CacheReservation, MoveRoute, Purpose, ReadPurpose};
    pub use crate::schedule::queues::{DieQueues, PlaneMasks};
    pub use crate::schedule::transaction::{Owner, Priority, Transaction, TransactionClass};
    pub use crate::schedule::{
        ChosenJoiners, Decision, DieSet, DieStates, DispatchView, Joiners, QueueId, Scheduler, SchedulerView,
    };
}

/// Placement of pages: the choice of the plane for a written page, and of the block to collect.
pub mod placement {
    pub use crate::engine::random::SimRng;
    pub use crate::flash::geometry::Geometry;
    pub use crate::ftl::PlaneOccupancy;
    pub use crate::ftl::allocation::{Allocator, DriveView, IdleDies, PageRead, PageWrite, RequestPart};
    pub use crate::ftl::collection::{Candidates, VictimSelector};
    pub use crate::ftl::{BlockState, Ftl, OpenBlockKind};
}

/// Decisions of the firmware: which writes are held back, where written and moved pages are placed, which copy of a page serves a read.
pub mod policy {
    pub use crate::controller::replica::replica_selector::{ReadLocation, ReplicaChoice, ReplicaSelector};
    pub use crate::policies::{
        DispatchedWrites, FirmwarePolicy, PlacementStage, PlacementView, PolicyEvent, PolicyView, WritePlacer,
    };
}

/// Probes, which observe a run.
pub mod probe {
    pub use crate::cache::Sectors;
    pub use crate::flash::die::OperationKind;
    pub use crate::ftl::mapping_cache::EntryEvent;
    pub use crate::host::interface::InterfaceNotice;
    pub use crate::kernel::probe::{FabricEndState, Notice, Origin, Probe, ReadNotice, RunEndState, Scope};
    pub use crate::persistence::Recovered;
    pub use crate::recording::timeline::TimelineOutcome;
}

/// Requests: their sources, traces, named and fitted profiles, statistics.
pub mod requests {
    pub use crate::workload::source::WorkloadSource;
    pub use crate::workload::{IoRequest, RequestKind, WorkloadSummary, profiles};

    /// Reading and writing traces.
    pub mod traces {
        pub use crate::workload::readers::{
            ADDRESSES_MAX, Compression, DISORDER_MAX, FORMATS, Fields, FileIdentity, Format, FormatMatch, Framing,
            LEAP_MAX, Line, LineCounts, LineError, LineErrorKind, RawRequest, Sample, Tally, TraceReader, TraceSource,
            TraceStream, TraceSummary, WINDOW_REQUESTS, scan, scan_stream,
        };
        pub use crate::workload::writers::{
            CompressedWriter, Conversion, ConvertError, LeftOut, OUTPUT_FORMATS, OutputFormat, WriteSummary, convert,
            write_source,
        };
    }

    /// Profiles that are fitted to a trace, and the generation of requests from them.
    pub mod fitted {
        pub use crate::workload::fitted::{FittedProfile, FittedSource, PROFILE_BYTES_MAX, fit, fit_requests};
    }

    /// Statistics of a sequence of requests, and the comparison of two sequences.
    pub mod statistics {
        pub use crate::workload::statistics::{DifferenceMeasure, Figure, REPLAY_BOUNDS, Statistics, compare};
    }
}

/// Report of a run, and the declaration of its quantities ([`quantities!`](crate::quantities)).
pub mod report {
    pub use crate::collisions::{
        CollisionPair, CollisionsReport, RepetitionBin, ReplicationCounts, ReplicationGain, ReplicationReport,
    };
    pub use crate::host::status::Status;
    pub use crate::measure::bound::{Bound, Resource};
    pub use crate::measure::breakdown::BreakdownSummary;
    pub use crate::measure::cache::{CacheReport, PowerCutReport};
    pub use crate::measure::columns::{ColumnSpec, ColumnType, RequestColumns};
    pub use crate::measure::confidence::{
        BreakdownConfidence, ConfidenceInterval, ConfidenceReport, LatencyConfidence, LatencyConfidenceReport,
        PrecisionReport,
    };
    pub use crate::measure::document::{Configuration, Document, Provenance, WorkloadFile};
    pub use crate::measure::fairness::{Fairness, StreamFairness, StreamLatency};
    pub use crate::measure::host::{HostReport, QueueReport, StatusesReport};
    pub use crate::measure::interval::{IntervalReport, IntervalUtilisation};
    pub use crate::measure::latency::{LatencyDistribution, LatencySummary};
    pub use crate::measure::lower_bound::{Limit, LowerBound};
    pub use crate::measure::network::{
        NetworkReport, Obstacle, Phase, RecordedHold, RecordedRequest, RecordedScoutStep, RecordedTransfer, Sending,
    };
    pub use crate::measure::path_conflicts::{CauseReport, CausesReport};
    pub use crate::measure::report::{
        BreakdownParts, BreakdownReport, ChipStatesReport, DistributionReport, FlashReport, GcReport, LatencyReport,
        LinksReport, MappingCacheReport, PathConflictReport, PerRequestReport, Report, StreamReport, Utilisation,
    };
    pub use crate::measure::request_log::{RequestRecord, RequestSink};
    pub use crate::measure::steadiness::{SteadinessReport, Unsteady};
    pub use crate::measure::timeline::{
        MeasuredBreakdownReport, MeasuredReport, MeasuredStreamReport, RoundsReport, WarmUpReport,
    };
    pub use crate::measure::user_quantities::UserQuantities;
    pub use crate::power::area::AreaReport;
    pub use crate::power::energy::{Energy, PowerReport};
    pub use crate::results::counters::{PersistenceReport, RecoveryReads, RecoveryReport, RecoverySteps};
    pub use crate::results::{Group, GroupSpec, Name, Named, QuantitySpec, Reported, Shape, Variant};
}

/// Stepped drives: the caller submits requests, and advances the simulated time.
pub mod stepping {
    pub use crate::error::StepError;
    pub use crate::simulation::stepping::{Completion, Drive, Snapshot, Submission};
}

pub use drive::MemoryEstimate;
pub use flashmesh_base::{counts, names, quantities, tagged, units};
pub use ftl::PreparedDrives;
pub use states::{StateFolder, StateSummary, StoredState};
pub use stepping::Drive;
