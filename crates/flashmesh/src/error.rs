//! Errors as types, each with the place it speaks of.

use std::path::PathBuf;

use crate::check::Violation;
use crate::config::NamespaceError;
use crate::fabric::FabricError;
use crate::flash::geometry::GeometryError;
use crate::units::Time;

/// A workload cannot be read or replayed.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The operating system refused: missing file, no permission, vanished while reading.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file, and mostly a line and a column of it, that cannot be used.
    #[error("{}{}: {message}", path.display(), place(*line, *column))]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, from 1; 0 when the whole file is meant.
        line: u64,
        /// The column, from 1; 0 when the whole line is meant.
        column: u32,
        /// What is wrong, and what to do.
        message: String,
    },
    /// The workload cannot be used on this drive.
    #[error("{0}")]
    Unusable(String),
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
    #[error("at {at} the drive came to a halt with {in_flight} requests in flight; this is a bug of flashmesh")]
    Stalled {
        /// When, in simulated time.
        at: Time,
        /// Requests that never completed.
        in_flight: usize,
    },
    /// The sink of completed requests takes no more.
    #[error("the request log cannot be written: {0}")]
    Sink(String),
}

fn place(line: u64, column: u32) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (line, 0) => format!(":{line}"),
        (line, column) => format!(":{line}:{column}"),
    }
}
