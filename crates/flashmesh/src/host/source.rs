//! The sources of the requests of a stream.

use std::collections::VecDeque;

use crate::error::WorkloadError;
use crate::workload::IoRequest;
use crate::workload::source::WorkloadSource;

/// The source of the requests of a stream: a workload, or a caller that submits them.
pub enum RequestSource {
    /// A workload, from which requests are pulled until it ends.
    Workload(Box<dyn WorkloadSource>),
    /// A caller that submits requests while the drive runs, without a known end.
    Submitted(Submitted),
}

/// Requests that were submitted and are not yet in a batch.
#[derive(Clone, Debug, Default)]
pub struct Submitted {
    requests: VecDeque<IoRequest>,
    /// The low 32 bits of the ids of all requests not yet issued: first of the requests already pulled into a batch, then of `requests`.
    ids: VecDeque<u32>,
    /// Whether the replay found no next request and waits for a submission.
    is_awaited: bool,
}

impl Submitted {
    /// Appends a request and the low 32 bits of its id.
    pub fn push(&mut self, io: IoRequest, id: u32) {
        self.requests.push_back(io);
        self.ids.push_back(id);
    }
}

impl Clone for RequestSource {
    /// Clones the source. Drives that pull their requests from a workload are never cloned.
    fn clone(&self) -> RequestSource {
        match self {
            RequestSource::Submitted(submitted) => RequestSource::Submitted(submitted.clone()),
            RequestSource::Workload(_) => unreachable!("a drive that pulls its requests from a workload is not copied"),
        }
    }
}

impl RequestSource {
    /// Records that the replay has no next request and waits for a submission.
    pub(super) fn begins_waiting(&mut self) {
        if let RequestSource::Submitted(submitted) = self {
            submitted.is_awaited = true;
        }
    }

    /// Ends the wait for a submission. Returns whether the replay was waiting; always false for a workload.
    pub(super) fn ends_waiting(&mut self) -> bool {
        match self {
            RequestSource::Workload(_) => false,
            RequestSource::Submitted(submitted) => std::mem::take(&mut submitted.is_awaited),
        }
    }

    /// Removes and returns the low 32 bits of the id of the request that is issued next; 0 if the source is a workload.
    #[inline]
    pub(super) fn next_id(&mut self) -> u32 {
        match self {
            RequestSource::Workload(_) => 0,
            RequestSource::Submitted(submitted) => {
                submitted.ids.pop_front().expect("each submitted request has its id")
            }
        }
    }
}

impl WorkloadSource for RequestSource {
    fn next_request(&mut self, thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        match self {
            RequestSource::Workload(workload) => workload.next_request(thread),
            RequestSource::Submitted(submitted) => Ok(submitted.requests.pop_front()),
        }
    }

    fn fill(&mut self, batch: &mut Vec<IoRequest>, count: usize) -> Result<(), WorkloadError> {
        match self {
            RequestSource::Workload(workload) => workload.fill(batch, count),
            RequestSource::Submitted(submitted) => {
                let take = submitted.requests.len().min(count.saturating_sub(batch.len()));
                batch.extend(submitted.requests.drain(..take));
                Ok(())
            }
        }
    }

    fn request_count(&self) -> Option<u64> {
        match self {
            RequestSource::Workload(workload) => workload.request_count(),
            RequestSource::Submitted(_) => None,
        }
    }
}
