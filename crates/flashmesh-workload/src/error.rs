//! Why a workload cannot be read or replayed.

use std::io;
use std::path::PathBuf;

use flashmesh_base::error::said;
use flashmesh_base::units::printable_path;

/// A workload cannot be read or replayed.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The operating system refused: missing file, no permission, vanished while reading.
    #[error("{}: {}", printable_path(path), said(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file, and mostly a line and a column of it, that cannot be used.
    #[error("{}{}: {message}", printable_path(path), place(*line, *column))]
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

fn place(line: u64, column: u32) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (line, 0) => format!(":{line}"),
        (line, column) => format!(":{line}:{column}"),
    }
}
