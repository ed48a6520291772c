//! The per-request log: completed requests leave in batches, as the bytes of columns, over a thread of their own.

use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::OutputError;
use flashmesh::error::said;
use flashmesh::report::RequestColumns;
use flashmesh::report::{RequestRecord, RequestSink};

/// Rows of a batch: large enough to make a good row group, small enough to keep memory flat.
const BATCH_ROWS: usize = 64 * 1024;
/// Records that go to the thread at once.
const RECORDS_AT_ONCE: usize = 4096;
/// How many such wait for the thread: a batch, which it is writing meanwhile.
const WAITING: usize = BATCH_ROWS / RECORDS_AT_ONCE;

/// What the callback raised.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// The end of the log that stays with the caller of the run.
pub struct RequestLog {
    thread: JoinHandle<()>,
    raised: Raised,
}

/// The end of the log that the simulation writes to.
pub struct Sink {
    records: Vec<RequestRecord>,
    /// To the thread; `None` once no more comes.
    sender: Option<SyncSender<Vec<RequestRecord>>>,
    raised: Raised,
}

impl RequestLog {
    /// The two ends of a log whose batches go to `callback`, which a thread calls.
    ///
    /// # Errors
    /// When the system has no thread to spare.
    pub fn new(callback: Py<PyAny>) -> PyResult<(Self, Sink)> {
        let (sender, receiver) = sync_channel(WAITING);
        let raised = Raised::default();
        let told = Arc::clone(&raised);
        let thread = Builder::new().name("flashmesh-log".to_owned()).spawn(move || {
            if let Err(error) = deliver_all(&receiver, &callback) {
                told.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
            }
        });
        let thread =
            thread.map_err(|error| OutputError::new_err(format!("the log has no thread: {}", said(&error))))?;
        let records = Vec::with_capacity(RECORDS_AT_ONCE);
        let sink = Sink { records, sender: Some(sender), raised: Arc::clone(&raised) };
        Ok((RequestLog { thread, raised }, sink))
    }

    /// Waits until all is delivered, after the end of the run.
    ///
    /// # Errors
    /// What the callback raised.
    pub fn finish(self, py: Python<'_>) -> PyResult<()> {
        let RequestLog { thread, raised } = self;
        // A panic of the thread has been told where it was; what the callback raises is no panic.
        py.detach(|| thread.join()).map_err(|_| OutputError::new_err("the thread of the log has panicked"))?;
        let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(Ok(()), Err)
    }
}

/// Makes batches of what comes, and gives them to `callback`, until no more comes.
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
        // The thread ends before its time only where the callback raises.
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        Err(raised.as_ref().map_or_else(|| "the log takes no more".to_owned(), ToString::to_string))
    }
}

impl RequestSink for Sink {
    #[inline]
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
