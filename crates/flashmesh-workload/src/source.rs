//! The interface between a workload and the host that replays it.

use crate::error::WorkloadError;
use crate::request::IoRequest;

/// A source of requests, pulled by the host.
///
/// # Contract
/// - Requests of one thread are returned in issue order; arrivals never decrease.
/// - Two sources built from the same configuration and seed return the same requests.
/// - Memory does not grow with the number of requests.
/// - After `Ok(None)` for a thread, every further call for that thread returns `Ok(None)`.
pub trait WorkloadSource: Send {
    /// Returns the next request of `thread`; `None` if that thread has no more requests.
    ///
    /// Sources without threads of their own (traces) return requests of one common stream, whatever the thread.
    ///
    /// # Errors
    /// If the file behind the source vanishes, is damaged or has unusable contents.
    fn next_request(&mut self, thread: u32) -> Result<Option<IoRequest>, WorkloadError>;

    /// Appends the next requests of the common stream to `batch`, until `batch` holds `count` requests or the stream ends.
    ///
    /// # Errors
    /// Like [`next_request`](WorkloadSource::next_request); the requests before the error have been appended.
    fn fill(&mut self, batch: &mut Vec<IoRequest>, count: usize) -> Result<(), WorkloadError> {
        while batch.len() < count {
            let Some(io) = self.next_request(0)? else { return Ok(()) };
            batch.push(io);
        }
        Ok(())
    }

    /// Returns the total number of requests; `None` if it is not known beforehand.
    fn request_count(&self) -> Option<u64>;
}

/// A workload without requests.
#[derive(Clone, Copy, Debug)]
pub struct EmptySource;

impl WorkloadSource for EmptySource {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        Ok(None)
    }

    fn request_count(&self) -> Option<u64> {
        Some(0)
    }
}
