//! Where the requests of a stream come from.

use std::collections::VecDeque;

use crate::error::WorkloadError;
use crate::workload::IoRequest;
use crate::workload::source::WorkloadSource;

/// Where the requests of a stream come from.
pub enum Source {
    /// A workload, from which they are pulled until it has no more.
    Workload(Box<dyn WorkloadSource>),
    /// A caller who submits them while the drive runs. There may always be more.
    Submitted(Submitted),
}

/// Requests that were submitted and have not been issued.
#[derive(Clone, Debug, Default)]
pub struct Submitted {
    requests: VecDeque<IoRequest>,
    /// The ids of these, and of those in the batch: their last 32 bits.
    ids: VecDeque<u32>,
    /// The drive has asked for the next one.
    is_awaited: bool,
}

impl Submitted {
    /// Adds a request.
    pub fn push(&mut self, io: IoRequest, id: u32) {
        self.requests.push_back(io);
        self.ids.push_back(id);
    }
}

impl Clone for Source {
    /// Drives that are copied get their requests submitted.
    fn clone(&self) -> Source {
        match self {
            Source::Submitted(submitted) => Source::Submitted(submitted.clone()),
            Source::Workload(_) => unreachable!("a drive that pulls its requests from a workload is not copied"),
        }
    }
}

impl Source {
    /// There is no next request for now.
    pub(super) fn begins_waiting(&mut self) {
        if let Source::Submitted(submitted) = self {
            submitted.is_awaited = true;
        }
    }

    /// A request has been submitted: whether its arrival was awaited, which it is no longer.
    pub(super) fn ends_waiting(&mut self) -> bool {
        match self {
            Source::Workload(_) => false,
            Source::Submitted(submitted) => std::mem::take(&mut submitted.is_awaited),
        }
    }

    /// The id of the request that is issued next; means nothing where the requests are those of a workload.
    #[inline]
    pub(super) fn next_id(&mut self) -> u32 {
        match self {
            Source::Workload(_) => 0,
            Source::Submitted(submitted) => submitted.ids.pop_front().expect("each submitted request has its id"),
        }
    }
}

impl WorkloadSource for Source {
    fn next_request(&mut self, thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        match self {
            Source::Workload(workload) => workload.next_request(thread),
            Source::Submitted(submitted) => Ok(submitted.requests.pop_front()),
        }
    }

    fn fill(&mut self, batch: &mut Vec<IoRequest>, count: usize) -> Result<(), WorkloadError> {
        match self {
            Source::Workload(workload) => workload.fill(batch, count),
            Source::Submitted(submitted) => {
                let take = submitted.requests.len().min(count.saturating_sub(batch.len()));
                batch.extend(submitted.requests.drain(..take));
                Ok(())
            }
        }
    }

    fn request_count(&self) -> Option<u64> {
        match self {
            Source::Workload(workload) => workload.request_count(),
            Source::Submitted(_) => None,
        }
    }
}
