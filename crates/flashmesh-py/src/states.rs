//! Inspection and cleanup of a folder with stored states of drives.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::OutputError;
use flashmesh::StateFolder;
use flashmesh::units::Bytes;

/// A stored state: key; name of the drive, its capacity in bytes and the time of creation (None if unknown); whether this build can use it; size in
/// bytes; time of last use. Times are seconds since 1970.
type KeptState = (String, Option<(String, u64, u64)>, bool, u64, u64);

/// Returns the states in a folder, the most recently used first. Each has its key; the name of the drive, its capacity in bytes and the time of
/// creation, or None if unknown; whether this build can use the state; the size in bytes; the time of the last use. Times are in seconds since 1970.
#[pyfunction]
pub fn kept_states(py: Python<'_>, folder: PathBuf) -> Vec<KeptState> {
    let kept = py.detach(|| StateFolder::new(folder, Bytes::ZERO).list());
    let row = |state: flashmesh::StoredState| {
        let about = state.about.map(|about| (about.drive, about.capacity_bytes, about.made_s));
        (state.key, about, state.is_current, state.bytes, state.used_s)
    };
    kept.into_iter().map(row).collect()
}

/// Removes the stored states and unfinished files that were not used for `unused_s` seconds. Returns the number of removed files and their
/// total size in bytes. Raises OutputError if a file cannot be removed.
#[pyfunction]
pub fn clear_states(py: Python<'_>, folder: PathBuf, unused_s: u64) -> PyResult<(u64, u64)> {
    let cleared = py.detach(|| StateFolder::new(folder, Bytes::ZERO).clear(Duration::from_secs(unused_s)));
    cleared.map_err(OutputError::new_err)
}
