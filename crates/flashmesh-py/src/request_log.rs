//! The per-request log: completed requests leave in batches, as the bytes of columns.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use flashmesh::report::RequestColumns;
use flashmesh::report::{RequestRecord, RequestSink};

/// Rows of a batch: large enough to make a good row group, small enough to keep memory flat.
const BATCH_ROWS: usize = 64 * 1024;

struct Batches {
    columns: RequestColumns,
    callback: Py<PyAny>,
    /// What the callback raised; nothing is delivered after it.
    raised: Option<PyErr>,
}

impl Batches {
    fn deliver(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.columns.rows() > 0 && self.raised.is_none() {
            let columns = PyDict::new(py);
            for (name, bytes) in self.columns.bytes() {
                columns.set_item(name, PyBytes::new(py, bytes))?;
            }
            self.callback.call1(py, (self.columns.rows(), columns))?;
            self.columns.clear();
        }
        Ok(())
    }
}

/// The end of the log that stays with the caller of the run.
pub struct RequestLog(Arc<Mutex<Batches>>);

/// The end of the log that the simulation writes to.
pub struct Sink(Arc<Mutex<Batches>>);

impl RequestLog {
    /// The two ends of a log whose batches go to `callback`.
    pub fn new(callback: Py<PyAny>) -> (Self, Sink) {
        let batches = Arc::new(Mutex::new(Batches { columns: RequestColumns::default(), callback, raised: None }));
        (RequestLog(Arc::clone(&batches)), Sink(batches))
    }

    /// Delivers what is left.
    ///
    /// # Errors
    /// What the callback raised, now or during the run.
    pub fn finish(self, py: Python<'_>) -> PyResult<()> {
        let mut batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match batches.raised.take() {
            Some(error) => Err(error),
            None => batches.deliver(py),
        }
    }
}

impl RequestSink for Sink {
    fn record(&mut self, record: &RequestRecord) -> Result<(), String> {
        let mut batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        batches.columns.push(record);
        if batches.columns.rows() < BATCH_ROWS {
            return Ok(());
        }
        Python::attach(|py| batches.deliver(py)).map_err(|error| {
            let text = error.to_string();
            batches.raised = Some(error);
            text
        })
    }
}
