//! Batches of requests that a replay pulls ahead from its workload.

use crate::error::WorkloadError;
use crate::workload::IoRequest;
use crate::workload::source::WorkloadSource;

/// The maximum number of requests in a batch. Pulling requests ahead allows prefetching their mapping entries.
pub const BATCH: usize = 32;

/// The requests that a stream has pulled ahead, and the number of them already taken.
#[derive(Debug)]
pub(super) struct Batch {
    requests: Vec<IoRequest>,
    taken: usize,
    failed: Option<WorkloadError>,
}

impl Clone for Batch {
    /// Clones the batch. A cloned batch has no stored error: only drives with submitted requests are cloned, and reading submitted requests never
    /// fails.
    fn clone(&self) -> Batch {
        assert!(self.failed.is_none(), "a drive whose workload cannot be read is not copied");
        Batch { requests: self.requests.clone(), taken: self.taken, failed: None }
    }
}

impl Batch {
    pub(super) fn new() -> Batch {
        Batch { requests: Vec::with_capacity(BATCH), taken: 0, failed: None }
    }

    /// Pulls the next batch if all requests of the current batch are taken. If the workload cannot be read, the error is returned only
    /// after all requests read before the error are taken.
    #[inline]
    pub(super) fn refill(&mut self, source: &mut dyn WorkloadSource) -> Result<(), WorkloadError> {
        if self.taken < self.requests.len() { Ok(()) } else { self.fill(source) }
    }

    /// Like [`Batch::refill`], but stores an error instead of returning it. A later [`Batch::refill`] returns the error.
    #[inline(always)]
    pub(super) fn refill_ahead(&mut self, source: &mut dyn WorkloadSource) {
        if self.taken >= self.requests.len() && self.failed.is_none() {
            self.failed = self.fill(source).err();
        }
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

    #[inline(always)]
    pub(super) fn first(&self) -> Option<&IoRequest> {
        self.requests.get(self.taken)
    }

    /// Takes the first remaining request, which [`Batch::last`] then returns. The batch must not be empty.
    #[inline(always)]
    pub(super) fn take(&mut self) {
        debug_assert!(self.taken < self.requests.len(), "nothing is taken from an empty batch");
        self.taken += 1;
    }

    /// Returns the request taken last.
    #[inline(always)]
    pub(super) fn last(&self) -> &IoRequest {
        &self.requests[self.taken - 1]
    }

    /// Returns whether the batch is full and only its first request has been taken, so that the other requests can be prefetched.
    #[inline]
    pub(super) fn is_new(&self) -> bool {
        self.taken == 1 && self.requests.len() == BATCH
    }

    #[inline]
    pub(super) fn rest(&self) -> &[IoRequest] {
        &self.requests[self.taken..]
    }
}
