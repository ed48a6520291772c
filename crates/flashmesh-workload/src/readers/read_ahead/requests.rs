//! Parsing ahead of the consumer, in a thread.

use super::super::stream::TraceStream;
use super::{Producer, ReadAhead};
use crate::error::WorkloadError;
use crate::request::IoRequest;

/// The number of requests in a [`RequestBatch`].
const STRETCH_REQUESTS: usize = 1024;

#[derive(Default)]
pub(in super::super) struct RequestBatch {
    requests: Vec<IoRequest>,
    /// The number of lines read up to the end of the batch.
    lines: u64,
    /// The end of the trace, or the error that follows this batch; `None` if neither was reached.
    end: Option<Result<(), WorkloadError>>,
}

/// The producer, which parses batches of requests.
pub(in super::super) struct Parser {
    stream: TraceStream,
    /// The number of requests still to be parsed; `u64::MAX` without a limit.
    left: u64,
}

impl Producer for Parser {
    type Item = RequestBatch;

    const THREAD: &'static str = "flashmesh-trace";

    fn produce(&mut self) -> (RequestBatch, bool) {
        let mut stretch = RequestBatch::default();
        let count = usize::try_from(self.left).map_or(STRETCH_REQUESTS, |left| left.min(STRETCH_REQUESTS));
        stretch.requests.reserve_exact(count);
        while stretch.requests.len() < count && stretch.end.is_none() {
            match self.stream.next_request() {
                Ok(Some(request)) => stretch.requests.push(request),
                Ok(None) => stretch.end = Some(Ok(())),
                Err(error) => stretch.end = Some(Err(error)),
            }
        }
        self.left -= stretch.requests.len() as u64;
        stretch.lines = self.stream.line_counts().lines;
        let is_last = stretch.end.is_some() || self.left == 0;
        (stretch, is_last)
    }
}

/// The requests of a trace, in order. An error is returned after all requests before the error.
pub(in super::super) struct RequestsAhead {
    stretches: ReadAhead<Parser>,
    /// The current batch, and the number of its requests already taken.
    stretch: RequestBatch,
    taken: usize,
}

impl RequestsAhead {
    /// Starts with the next request of `stream`.
    pub fn new(stream: TraceStream) -> RequestsAhead {
        let stretches = ReadAhead::new(Parser { stream, left: u64::MAX });
        RequestsAhead { stretches, stretch: RequestBatch::default(), taken: 0 }
    }

    /// Limits the number of requests to `requests`. Call this before the first request is taken: it has no effect later.
    pub fn limit(&mut self, requests: u64) {
        if let Some(parser) = self.stretches.maker() {
            parser.left = requests;
        }
    }

    /// Returns the next request; `None` at the end of the trace, and after an error.
    ///
    /// # Errors
    /// Like [`TraceStream::next_request`].
    pub fn next(&mut self) -> Result<Option<IoRequest>, WorkloadError> {
        loop {
            if let Some(&request) = self.stretch.requests.get(self.taken) {
                self.taken += 1;
                return Ok(Some(request));
            }
            if let Some(end) = self.stretch.end.replace(Ok(())) {
                return end.map(|()| None);
            }
            self.refill();
        }
    }

    #[cold]
    fn refill(&mut self) {
        let (lines, end) = (self.stretch.lines, Some(Ok(())));
        self.stretch = self.stretches.next().unwrap_or(RequestBatch { lines, end, ..RequestBatch::default() });
        self.taken = 0;
    }

    /// Returns the number of lines read up to the end of the current batch.
    pub fn lines(&self) -> u64 {
        self.stretch.lines
    }

    /// Discards the remaining requests and returns the stream; `None` only after a panic of the parser.
    pub fn stream(&mut self) -> Option<&TraceStream> {
        // The thread returns the stream when it ends, which can be after the arrival of the last batch.
        while self.stretches.next().is_some() {}
        self.stretches.maker().map(|parser| &parser.stream)
    }
}
