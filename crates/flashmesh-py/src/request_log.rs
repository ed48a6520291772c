//! The per-request log: completed requests leave in batches, as the bytes of columns.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use flashmesh::fabric::Cause;
use flashmesh::measure::log::{RequestRecord, RequestSink};

/// Rows of a batch: large enough to make a good row group, small enough to keep memory flat.
const BATCH_ROWS: usize = 64 * 1024;

/// Declares the columns once: the name Python sees, and the value of a record.
macro_rules! columns {
    ($($name:ident: $value:expr;)+) => {
        #[derive(Default)]
        struct Columns {
            rows: usize,
            $($name: Vec<u8>,)+
        }

        impl Columns {
            fn push(&mut self, record: &RequestRecord) {
                self.rows += 1;
                $(self.$name.extend_from_slice(&($value)(record).to_ne_bytes());)+
            }

            fn clear(&mut self) {
                self.rows = 0;
                $(self.$name.clear();)+
            }

            fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let columns = PyDict::new(py);
                $(columns.set_item(stringify!($name), PyBytes::new(py, &self.$name))?;)+
                Ok(columns)
            }
        }
    };
}

columns! {
    id: |record: &RequestRecord| record.id;
    kind: |record: &RequestRecord| record.kind.index() as i8;
    stream_name: |record: &RequestRecord| record.issuer.0 as i8;
    stream: |record: &RequestRecord| record.stream;
    offset_bytes: |record: &RequestRecord| record.offset.as_u64();
    size_bytes: |record: &RequestRecord| record.size.as_u64();
    status: |record: &RequestRecord| record.status.index() as i8;
    arrival_ps: |record: &RequestRecord| record.arrival.as_ps();
    submitted_ps: |record: &RequestRecord| record.submitted.as_ps();
    completed_ps: |record: &RequestRecord| record.completed.as_ps();
    host_ps: |record: &RequestRecord| record.host().as_ps();
    cache_ps: |record: &RequestRecord| record.spent.cache.as_ps();
    map_wait_ps: |record: &RequestRecord| record.spent.map_wait.as_ps();
    die_wait_ps: |record: &RequestRecord| record.spent.die_wait.as_ps();
    path_wait_ps: |record: &RequestRecord| record.spent.path_wait.as_ps();
    array_ps: |record: &RequestRecord| record.spent.array.as_ps();
    transfer_ps: |record: &RequestRecord| record.spent.transfer.as_ps();
    behind_gc_ps: |record: &RequestRecord| record.spent.behind_gc.as_ps();
    path_conflict: |record: &RequestRecord| u8::from(!record.path_conflict.is_empty());
    channel_conflict: |record: &RequestRecord| u8::from(record.path_conflict.contains(Cause::Channel));
    controller_conflict: |record: &RequestRecord| u8::from(record.path_conflict.contains(Cause::Controller));
    link_conflict: |record: &RequestRecord| u8::from(record.path_conflict.contains(Cause::Link));
}

struct Batches {
    columns: Columns,
    callback: Py<PyAny>,
    /// What the callback raised; nothing is delivered after it.
    raised: Option<PyErr>,
}

impl Batches {
    fn deliver(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.columns.rows > 0 && self.raised.is_none() {
            self.callback.call1(py, (self.columns.rows, self.columns.to_dict(py)?))?;
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
        let batches = Arc::new(Mutex::new(Batches { columns: Columns::default(), callback, raised: None }));
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
        if batches.columns.rows < BATCH_ROWS {
            return Ok(());
        }
        Python::attach(|py| batches.deliver(py)).map_err(|error| {
            let text = error.to_string();
            batches.raised = Some(error);
            text
        })
    }
}
