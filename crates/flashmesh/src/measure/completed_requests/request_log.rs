//! Log of completed requests, with one record for each.

use crate::fabric::Causes;
use crate::host::status::Status;
use crate::ids::StreamId;
use crate::schedule::latency_account::LatencyBreakdown;
use crate::units::{Bytes, Time};
use crate::workload::RequestKind;

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// Sequence number of the request, in the order of issue from 0.
    pub id: u64,
    /// Kind of the request.
    pub kind: RequestKind,
    /// Offset of the request in its namespace.
    pub offset: Bytes,
    /// Size of the request.
    pub size: Bytes,
    /// Stream of the configuration that issued the request.
    pub issuer: StreamId,
    /// Source within the stream: the device or thread of the workload.
    pub stream: u32,
    /// Time of the arrival at the queue of the host.
    pub arrival: Time,
    /// Time at which the drive fetched the request from the queue.
    pub submitted: Time,
    /// Time at which the completion reached the host.
    pub completed: Time,
    /// Time of the controller's cores: waiting for a core, and its work.
    pub firmware: Time,
    /// Breakdown of the critical transaction. The rest of the latency, except for `firmware`, was spent in the host's queue and on the link.
    pub breakdown: LatencyBreakdown,
    /// Status with which the request completed.
    pub status: Status,
    /// Causes for which transfers of the request waited for a path; empty if every path was free at the first attempt.
    pub path_conflict: Causes,
}

impl RequestRecord {
    /// Returns the time in the host's queue and on the link.
    pub fn host(&self) -> Time {
        self.completed - self.arrival - self.firmware - self.breakdown.total()
    }
}

/// A receiver of the records of a run, in the order of completion.
pub trait RequestSink: Send {
    /// Stores one record.
    ///
    /// # Errors
    /// The reason if no more records can be stored. The run then ends with this error.
    fn record(&mut self, record: &RequestRecord) -> Result<(), String>;

    /// Closes the sink. Called when the run has ended or failed.
    ///
    /// # Errors
    /// The reason if the stored records could not be kept. The run then fails with this error.
    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }
}
