//! The folder of kept states, to look at and to clear.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::OutputError;
use flashmesh::StateFolder;
use flashmesh::units::Bytes;

/// A state: its key, the drive and its capacity in bytes, when it was made (None when it does not say), whether this build can use it,
/// bytes, when it was used last. Times are seconds since 1970.
type KeptState = (String, Option<(String, u64, u64)>, bool, u64, u64);

/// The states in a folder, that used last first.
#[pyfunction]
pub fn kept_states(py: Python<'_>, folder: PathBuf) -> Vec<KeptState> {
    let kept = py.detach(|| StateFolder::new(folder, Bytes::ZERO).list());
    let row = |state: flashmesh::Kept| {
        let about = state.about.map(|about| (about.drive, about.capacity_bytes, about.made_s));
        (state.key, about, state.is_current, state.bytes, state.used_s)
    };
    kept.into_iter().map(row).collect()
}

/// Removes the states of a folder that were not used for so many seconds; gives how many, and their bytes.
#[pyfunction]
pub fn clear_states(py: Python<'_>, folder: PathBuf, unused_s: u64) -> PyResult<(u64, u64)> {
    let cleared = py.detach(|| StateFolder::new(folder, Bytes::ZERO).clear(Duration::from_secs(unused_s)));
    cleared.map_err(OutputError::new_err)
}
