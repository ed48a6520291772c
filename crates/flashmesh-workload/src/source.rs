//! The seam between a workload and the host that replays it.

use crate::error::WorkloadError;
use crate::request::IoRequest;

/// A stream of requests, pulled by the host.
///
/// # Contract
/// - Requests of one thread come in the order in which they are to be issued; arrivals never run back.
/// - The same source, built from the same configuration and seed, gives the same requests.
/// - Memory does not grow with the number of requests.
/// - After `Ok(None)` for a thread, every further call for that thread gives `Ok(None)`.
pub trait WorkloadSource: Send {
    /// The next request of `thread`; `None` when that thread has no more.
    ///
    /// Sources without threads of their own (traces) hand out one common stream, whatever the thread.
    ///
    /// # Errors
    /// When the file behind the source vanishes, is damaged or holds what cannot be used.
    fn next_request(&mut self, thread: u32) -> Result<Option<IoRequest>, WorkloadError>;

    /// Adds the next requests of the common stream to `batch`, until it holds `count` or there are no more.
    ///
    /// # Errors
    /// As [`next_request`](WorkloadSource::next_request); what came before the error has been added.
    fn fill(&mut self, batch: &mut Vec<IoRequest>, count: usize) -> Result<(), WorkloadError> {
        while batch.len() < count {
            let Some(io) = self.next_request(0)? else { return Ok(()) };
            batch.push(io);
        }
        Ok(())
    }

    /// How many requests there will be in all, when known beforehand.
    fn request_count(&self) -> Option<u64>;
}

/// A workload that has no requests.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl WorkloadSource for Silent {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        Ok(None)
    }

    fn request_count(&self) -> Option<u64> {
        Some(0)
    }
}
