//! One record for every completed request, for whoever wants them all.

use crate::fabric::Causes;
use crate::host::status::Status;
use crate::ids::StreamId;
use crate::schedule::account::LatencyBreakdown;
use crate::units::{Bytes, Time};
use crate::workload::RequestKind;

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// Its number in the order of issue, from 0.
    pub id: u64,
    /// Kind of the request.
    pub kind: RequestKind,
    /// Where it began on the drive.
    pub offset: Bytes,
    /// Bytes of the request.
    pub size: Bytes,
    /// The stream of the configuration that issued it.
    pub issuer: StreamId,
    /// The device or thread of the workload.
    pub stream: u32,
    /// When it arrived at the host's queue.
    pub arrival: Time,
    /// When the drive took it from the queue.
    pub submitted: Time,
    /// When its completion reached the host.
    pub completed: Time,
    /// Time of the cores of the controller: waiting for one, and one at work.
    pub firmware: Time,
    /// Where the time of its critical transaction went; the rest of its latency, but for `firmware`, was spent in the host's queue and on the link.
    pub spent: LatencyBreakdown,
    /// How it ended.
    pub status: Status,
    /// Causes for which its transfers waited for a path; empty when each had its path on the first try.
    pub path_conflict: Causes,
}

impl RequestRecord {
    /// Time in the host's queue and on the link.
    pub fn host(&self) -> Time {
        self.completed - self.arrival - self.firmware - self.spent.total()
    }
}

/// Takes the records of a run, in the order of completion.
pub trait RequestSink: Send {
    /// Takes one record.
    ///
    /// # Errors
    /// Why no more can be taken; the run ends with it.
    fn record(&mut self, record: &RequestRecord) -> Result<(), String>;

    /// No more records come: the run is over, or has failed.
    ///
    /// # Errors
    /// Why what was taken could not be kept; the run fails with it.
    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }
}
