//! Requests of a trace, parsed ahead of whoever takes them.

use super::super::stream::TraceStream;
use super::{Ahead, Maker};
use crate::error::WorkloadError;
use crate::request::IoRequest;

/// Requests of a [`Stretch`].
const STRETCH_REQUESTS: usize = 1024;

/// Requests that were parsed together.
#[derive(Default)]
pub(in super::super) struct Stretch {
    requests: Vec<IoRequest>,
    /// Lines of the file that were read up to its end.
    lines: u64,
    /// That nothing follows: the trace is at its end, or cannot be read on.
    end: Option<Result<(), WorkloadError>>,
}

/// Parses requests.
pub(in super::super) struct Parser {
    stream: TraceStream,
    /// Requests still wanted.
    left: u64,
}

impl Maker for Parser {
    type Item = Stretch;

    const THREAD: &'static str = "flashmesh-trace";

    fn make(&mut self) -> (Stretch, bool) {
        let mut stretch = Stretch::default();
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

/// The requests of a trace in their order, with what goes wrong in its place among them.
pub(in super::super) struct RequestsAhead {
    stretches: Ahead<Parser>,
    /// The stretch parsed last, and how many of its requests were taken.
    stretch: Stretch,
    taken: usize,
}

impl RequestsAhead {
    /// Those of a stream, from where it is.
    pub fn of(stream: TraceStream) -> RequestsAhead {
        let stretches = Ahead::of(Parser { stream, left: u64::MAX });
        RequestsAhead { stretches, stretch: Stretch::default(), taken: 0 }
    }

    /// Ends after so many requests. Only before the first one is taken.
    pub fn limit(&mut self, requests: u64) {
        if let Some(parser) = self.stretches.maker() {
            parser.left = requests;
        }
    }

    /// The next request; `None` at the end of the trace, and after an error.
    ///
    /// # Errors
    /// As [`TraceStream::next_request`].
    #[inline]
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
        self.stretch = self.stretches.next().unwrap_or(Stretch { lines, end, ..Stretch::default() });
        self.taken = 0;
    }

    /// Lines of the file that were read up to the last request, when that has been taken.
    pub fn lines(&self) -> u64 {
        self.stretch.lines
    }

    /// The stream, which has come to its end.
    pub fn stream(&mut self) -> Option<&TraceStream> {
        // The last stretch is there before the thread has ended.
        while self.stretches.next().is_some() {}
        self.stretches.maker().map(|parser| &parser.stream)
    }
}
