//! Log of completed requests, sent in batches to a Python callback in a separate thread, as the bytes of columns.

use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::OutputError;
use flashmesh::error::system_message;
use flashmesh::report::RequestColumns;
use flashmesh::report::{RequestRecord, RequestSink};

/// Rows of a batch: enough for an efficient row group, and few enough to save memory.
const BATCH_ROWS: usize = 64 * 1024;
/// Number of records that are sent to the thread at once.
const RECORDS_AT_ONCE: usize = 4096;
/// Capacity of the channel to the thread, in messages. One batch can wait while the thread writes another.
const WAITING: usize = BATCH_ROWS / RECORDS_AT_ONCE;

/// Exception that the callback raised; `None` without one.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// Reader's end of a log, held by the caller of the run, who waits until all batches are delivered.
pub struct RequestLog {
    thread: JoinHandle<()>,
    raised: Raised,
}

/// Writer's end of a log, held by the simulation.
pub struct Sink {
    records: Vec<RequestRecord>,
    /// Channel to the thread; `None` once the log has ended.
    sender: Option<SyncSender<Vec<RequestRecord>>>,
    raised: Raised,
}

impl RequestLog {
    /// Creates both ends of a log. A new thread calls `callback` with each batch.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn new(callback: Py<PyAny>) -> PyResult<(Self, Sink)> {
        let (sender, receiver) = sync_channel(WAITING);
        let raised = Raised::default();
        let told = Arc::clone(&raised);
        let thread = Builder::new().name("flashmesh-log".to_owned()).spawn(move || {
            if let Err(error) = deliver_all(&receiver, &callback) {
                told.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
            }
        });
        let thread = thread
            .map_err(|error| OutputError::new_err(format!("the log has no thread: {}", system_message(&error))))?;
        let records = Vec::with_capacity(RECORDS_AT_ONCE);
        let sink = Sink { records, sender: Some(sender), raised: Arc::clone(&raised) };
        Ok((RequestLog { thread, raised }, sink))
    }

    /// Waits until all batches are delivered. Call after the end of the run.
    ///
    /// # Errors
    /// The exception of the callback.
    pub fn finish(self, py: Python<'_>) -> PyResult<()> {
        let RequestLog { thread, raised } = self;
        // The panic hook has already recorded the location of a panic in the thread. An exception of the callback is not a panic.
        py.detach(|| thread.join()).map_err(|_| OutputError::new_err("the thread of the log has panicked"))?;
        let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(Ok(()), Err)
    }
}

/// Merges the received records into batches and passes these to `callback`, until the sender is closed.
fn deliver_all(receiver: &Receiver<Vec<RequestRecord>>, callback: &Py<PyAny>) -> PyResult<()> {
    let mut columns = RequestColumns::default();
    for records in receiver {
        records.iter().for_each(|record| columns.push(record));
        if columns.rows() >= BATCH_ROWS {
            deliver(&mut columns, callback)?;
        }
    }
    if columns.rows() > 0 { deliver(&mut columns, callback) } else { Ok(()) }
}

fn deliver(columns: &mut RequestColumns, callback: &Py<PyAny>) -> PyResult<()> {
    Python::attach(|py| {
        let bytes_of = PyDict::new(py);
        for (name, bytes) in columns.bytes() {
            bytes_of.set_item(name, PyBytes::new(py, bytes))?;
        }
        callback.call1(py, (columns.rows(), bytes_of)).map(drop)
    })?;
    columns.clear();
    Ok(())
}

impl Sink {
    fn send(&mut self) -> Result<(), String> {
        let records = mem::replace(&mut self.records, Vec::with_capacity(RECORDS_AT_ONCE));
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(records).is_ok());
        if sent {
            return Ok(());
        }
        // The thread ends early only if the callback raises an exception.
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        Err(raised.as_ref().map_or_else(|| "the log takes no more".to_owned(), ToString::to_string))
    }
}

impl RequestSink for Sink {
    fn record(&mut self, record: &RequestRecord) -> Result<(), String> {
        self.records.push(*record);
        if self.records.len() < RECORDS_AT_ONCE { Ok(()) } else { self.send() }
    }

    fn end(&mut self) -> Result<(), String> {
        let sent = self.send();
        self.sender = None;
        sent
    }
}
