//! The errors of reading or replaying a workload.

use std::io;
use std::path::PathBuf;

use flashmesh_base::error::system_message;
use flashmesh_base::units::printable_path;

/// An error in reading or replaying a workload.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// An error of the operating system, such as a missing file or missing permission.
    #[error("{}: {}", printable_path(path), system_message(source))]
    Io {
        /// The path of the workload file that could not be read.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file with invalid contents, usually at a certain line and column.
    #[error("{}{}: {message}", printable_path(path), place(*line, *column))]
    Parse {
        /// The path of the workload file.
        path: PathBuf,
        /// The line, from 1; 0 for the whole file.
        line: u64,
        /// The column, from 1; 0 for the whole line.
        column: u32,
        /// The description of the error, and the remedy.
        message: String,
    },
    /// A workload that cannot be used on this drive.
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
