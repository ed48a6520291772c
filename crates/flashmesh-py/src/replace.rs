//! Files that appear whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Files that this process has begun.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Puts `text` in the place of the file at `path` in one step; until then it is in a hidden file beside it, whose name ends
/// with `suffix`. The error of the system is raised as OSError.
#[pyfunction]
pub fn replace_file(py: Python<'_>, path: PathBuf, text: &str, suffix: &str) -> PyResult<()> {
    py.detach(|| replace(&path, text.as_bytes(), suffix)).map_err(|error| as_python(py, error))
}

/// The error of the system with its number, as Python itself raises it.
fn as_python(py: Python<'_>, error: Error) -> PyErr {
    let Some(number) = error.raw_os_error() else { return error.into() };
    let raised = || {
        let told = py.import("os")?.call_method1("strerror", (number,))?;
        py.get_type::<PyOSError>().call1((number, told))
    };
    raised().map_or_else(|failed| failed, PyErr::from_value)
}

fn replace(path: &Path, content: &[u8], suffix: &str) -> Result<()> {
    let (temporary, mut file) = loop {
        let temporary = path.with_file_name(name(suffix));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            // Another machine may write into the same folder.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => break (temporary, file),
        }
    };
    let written = file.write_all(content).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // What went wrong first is what is told.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A name that no other file has.
fn name(suffix: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!(".{:x}-{:x}-{now:x}{suffix}", process::id(), BEGUN.fetch_add(1, Ordering::Relaxed))
}
