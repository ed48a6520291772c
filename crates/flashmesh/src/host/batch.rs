//! Requests pulled ahead from a workload.

use crate::error::WorkloadError;
use crate::workload::IoRequest;
use crate::workload::source::WorkloadSource;

/// Requests pulled at once from a workload without threads, so that what they will need can be fetched early.
pub const BATCH: usize = 32;

/// The requests pulled last, and how many of them are taken.
#[derive(Debug)]
pub(super) struct Batch {
    requests: Vec<IoRequest>,
    taken: usize,
    /// What ended it early.
    failed: Option<WorkloadError>,
}

impl Batch {
    /// Nothing is pulled yet.
    pub(super) fn new() -> Batch {
        Batch { requests: Vec::with_capacity(BATCH), taken: 0, failed: None }
    }

    /// Pulls the next requests from `source` when all are taken.
    #[inline]
    pub(super) fn refill(&mut self, source: &mut dyn WorkloadSource) -> Result<(), WorkloadError> {
        if self.taken < self.requests.len() { Ok(()) } else { self.fill(source) }
    }

    #[inline(never)]
    fn fill(&mut self, source: &mut dyn WorkloadSource) -> Result<(), WorkloadError> {
        self.requests.clear();
        self.taken = 0;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        match source.fill(&mut self.requests, BATCH) {
            Err(error) if self.requests.is_empty() => return Err(error),
            filled => self.failed = filled.err(),
        }
        Ok(())
    }

    /// The next request; none when all are taken.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<&IoRequest> {
        self.requests.get(self.taken)
    }

    /// Takes the next request.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<IoRequest> {
        let io = *self.requests.get(self.taken)?;
        self.taken += 1;
        Some(io)
    }

    /// Whether the last request taken was the first of a full batch.
    #[inline]
    pub(super) fn is_new(&self) -> bool {
        self.taken == 1 && self.requests.len() == BATCH
    }

    /// The requests that are not taken.
    #[inline]
    pub(super) fn rest(&self) -> &[IoRequest] {
        &self.requests[self.taken..]
    }
}
