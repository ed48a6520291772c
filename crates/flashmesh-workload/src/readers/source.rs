//! The workload source of a trace.

use std::path::PathBuf;

use super::input::FileIdentity;
use super::read_ahead::RequestsAhead;
use super::stream::TraceStream;
use super::summary::TraceSummary;
use super::ties::SpreadTies;
use crate::config::Workload;
use crate::error::WorkloadError;
use crate::request::IoRequest;
use crate::source::WorkloadSource;
use crate::units::Bytes;

/// The workload source of a trace, streamed from its file. Threads read and parse ahead of the host.
///
/// Leaves out the same lines as [`super::scan`], but does not check the share of bad lines, so the trace must be scanned first.
pub struct TraceSource {
    requests: RequestsAhead,
    path: PathBuf,
    /// The number of requests that the scan counted; `None` if the trace was not scanned.
    expected: Option<u64>,
    issued: u64,
    /// The identity of the file that was scanned; `None` if unknown, or after the check at the last request.
    counted: Option<FileIdentity>,
    /// The state of `replay.spread-ties`; `None` if requests keep their time stamps.
    ties: Option<SpreadTies>,
}

impl TraceSource {
    /// Opens the trace of `workload` for a drive of `capacity` with sectors of `sector_size`.
    ///
    /// # Errors
    /// Like [`TraceStream::open`].
    pub fn open(workload: &Workload, capacity: Bytes, sector_size: Bytes) -> Result<TraceSource, WorkloadError> {
        Ok(TraceSource::from_stream(TraceStream::open(workload, capacity, sector_size)?))
    }

    /// Creates a source from a stream at its start, without a scan to compare with.
    pub fn from_stream(stream: TraceStream) -> TraceSource {
        let path = stream.path().to_owned();
        TraceSource { requests: RequestsAhead::new(stream), path, expected: None, issued: 0, counted: None, ties: None }
    }

    /// Sets the number of requests that the scan of the same trace counted. Any other number is then an error.
    #[must_use]
    pub fn with_summary(mut self, summary: &TraceSummary) -> TraceSource {
        self.expected = Some(summary.requests);
        self.requests.limit(summary.requests);
        self
    }

    /// Sets the identity of the file that was scanned. A changed file is then an error at the last request. `None` omits this check.
    #[must_use]
    pub fn expecting_file(mut self, identity: Option<FileIdentity>) -> TraceSource {
        self.counted = identity;
        self
    }

    /// Spreads requests that share a time stamp evenly up to the next time stamp, if `is_asked`.
    #[must_use]
    pub fn with_spread_ties(mut self, is_asked: bool) -> TraceSource {
        self.ties = is_asked.then(SpreadTies::default);
        self
    }

    fn changed(&self, message: String) -> WorkloadError {
        WorkloadError::Parse { path: self.path.clone(), line: self.requests.lines(), column: 0, message }
    }
}

impl WorkloadSource for TraceSource {
    /// Returns the next request of the one common stream, whatever the thread; `None` at its end. An error if the file was changed since the scan.
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        if self.expected == Some(self.issued) {
            let counted = self.counted.take();
            if counted.is_some() && counted != FileIdentity::of(&self.path) {
                return Err(self.changed("the file was changed while it was replayed".to_owned()));
            }
            return Ok(None);
        }
        let request = match &mut self.ties {
            Some(ties) => ties.next(|| self.requests.next())?,
            None => self.requests.next()?,
        };
        match (request, self.expected) {
            (Some(_), _) => self.issued += 1,
            (None, Some(expected)) => {
                return Err(self.changed(format!(
                    "the trace ends after {} requests, of {expected} counted before the run: the file has changed",
                    self.issued
                )));
            }
            (None, None) => {}
        }
        Ok(request)
    }

    fn request_count(&self) -> Option<u64> {
        self.expected
    }
}
