//! Support code of the tests of workloads.

pub mod cases;
pub mod fingerprint;
pub mod shared;

use std::collections::VecDeque;

use flashmesh_workload::IoRequest;
use flashmesh_workload::error::WorkloadError;
use flashmesh_workload::source::WorkloadSource;

/// Source that returns a given list of requests.
pub struct Listed(pub VecDeque<IoRequest>);

impl WorkloadSource for Listed {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        Ok(self.0.pop_front())
    }

    fn request_count(&self) -> Option<u64> {
        Some(self.0.len() as u64)
    }
}
