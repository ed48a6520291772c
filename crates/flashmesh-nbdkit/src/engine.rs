//! The stepped drive, with the completions and figures of its requests.

use std::collections::HashMap;
use std::thread::Thread;
use std::time::Duration;

use flashmesh::report::Status;
use flashmesh::requests::RequestKind;
use flashmesh::stepping::{Completion, Drive, Submission};
use flashmesh::units::{Bytes, Time};

use crate::log::Log;

/// Delay above which a response counts as late, if it also exceeds 1 / `LATE_PARTS` of the latency.
const LATE: Duration = Duration::from_micros(100);
const LATE_PARTS: u32 = 20;

/// Counts of the requests of all clients since the start of the drive.
#[derive(Clone, Debug, Default)]
pub struct LiveStats {
    pub requests: u64,
    pub bytes: u64,
    /// Sum of the latencies of all completed requests, in ps.
    pub latency_ps: u128,
    pub simulated: Time,
    pub outstanding: u64,
    /// Number of requests with a late response.
    pub late: u64,
    /// Largest delay of a late response since the last call of [`DriveSession::take_stats`]; zero without a late response.
    pub late_max: Duration,
}

/// A drive that serves clients.
pub struct DriveSession {
    drive: Drive,
    log: Option<Log>,
    /// Threads that wait while another thread advances the drive, by the id of their request.
    parked: HashMap<u64, Thread>,
    done: HashMap<u64, Completion>,
    figures: LiveStats,
    /// The thread that advances the drive with the wall clock.
    leader: Option<Thread>,
    /// Whether new requests are refused.
    is_closed: bool,
}

impl DriveSession {
    pub fn new(drive: Drive, log: Option<Log>) -> DriveSession {
        DriveSession {
            drive,
            log,
            parked: HashMap::new(),
            done: HashMap::new(),
            figures: LiveStats::default(),
            leader: None,
            is_closed: false,
        }
    }

    /// Submits a request with arrival time `time`, or the drive's current time if that is later. Extends the range of the request to whole sectors.
    /// Returns the request id.
    ///
    /// # Errors
    /// If the drive is closed or refuses the request, or the log cannot be written.
    pub fn submit(&mut self, time: Time, kind: RequestKind, offset: u64, size: u64) -> Result<u64, String> {
        if self.is_closed {
            return Err("the drive is being closed".to_owned());
        }
        let time = time.later(self.drive.now());
        let sector = self.drive.sector_size().as_u64();
        let start = offset / sector * sector;
        let covered = (offset + size).next_multiple_of(sector) - start;
        let (start, covered) = if kind == RequestKind::Flush { (0, 0) } else { (start, covered) };
        let request = Submission { time, kind, offset: Bytes::new(start), size: Bytes::new(covered), stream: 0 };
        let id = self.drive.submit(request).map_err(|error| error.to_string())?;
        if let Some(log) = &mut self.log {
            log.record(time, kind, start, covered)?;
        }
        self.figures.bytes += size;
        if let Some(leader) = &self.leader {
            leader.unpark();
        }
        Ok(id)
    }

    pub fn now(&self) -> Time {
        self.drive.now()
    }

    /// Simulates until the next completion. Returns whether a request has completed; false if none can complete any more.
    ///
    /// # Errors
    /// If the drive failed.
    pub fn advance_to_completion(&mut self) -> Result<bool, String> {
        let done = self.drive.advance_to_completion(None).map(|done| !done.is_empty());
        let is_any = *done.as_ref().unwrap_or(&false);
        self.collect_completions(done.map(drop).map_err(|error| error.to_string()))?;
        Ok(is_any)
    }

    /// Simulates up to `time`. Returns the time of the next event; `None` if no event is pending.
    ///
    /// # Errors
    /// If the drive failed.
    pub fn advance(&mut self, time: Time) -> Result<Option<Time>, String> {
        let done = self.drive.advance(time.later(self.drive.now())).map(|_| ());
        self.collect_completions(done.map_err(|error| error.to_string()))?;
        Ok(self.drive.next_event())
    }

    /// Collects the completions of the last step and wakes the threads that wait for them. Returns the error of the step, if any.
    fn collect_completions(&mut self, stepped: Result<(), String>) -> Result<(), String> {
        stepped?;
        for completion in self.drive.take_completions() {
            self.figures.requests += 1;
            self.figures.latency_ps += u128::from(completion.latency.as_ps());
            self.done.insert(completion.id, completion);
            if let Some(thread) = self.parked.remove(&completion.id) {
                thread.unpark();
            }
        }
        self.figures.simulated = self.drive.now();
        self.figures.outstanding = self.drive.outstanding();
        Ok(())
    }

    pub fn is_done(&self, id: u64) -> bool {
        self.done.contains_key(&id)
    }

    /// Removes and returns the completion of a request; `None` if it has not completed.
    pub fn completed(&mut self, id: u64) -> Option<Completion> {
        self.done.remove(&id)
    }

    /// Counts a response as late if its delay `late` exceeds both limits: `LATE`, and the latency of the request divided by `LATE_PARTS`.
    pub fn count_late(&mut self, late: Duration, latency: Duration) {
        if late > LATE && late > latency / LATE_PARTS {
            self.figures.late += 1;
            self.figures.late_max = self.figures.late_max.max(late);
        }
    }

    pub fn is_led(&self) -> bool {
        self.leader.is_some()
    }

    /// Makes this thread the leader, which advances the drive.
    pub fn lead(&mut self) {
        self.leader = Some(std::thread::current());
    }

    /// Registers this thread to be woken when request `id` completes, or when this thread is to become the leader.
    pub fn park(&mut self, id: u64) {
        self.parked.insert(id, std::thread::current());
    }

    /// Ends the leadership of this thread and wakes a parked thread, if any, to take over.
    pub fn hand_over(&mut self) {
        self.leader = None;
        if let Some(thread) = self.parked.values().next() {
            thread.unpark();
        }
    }

    /// Returns the current figures and resets the largest delay.
    pub fn take_stats(&mut self) -> LiveStats {
        let figures = self.figures.clone();
        self.figures.late_max = Duration::ZERO;
        figures
    }

    /// Flushes the buffered part of the log.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn write_log(&mut self) -> Result<(), String> {
        self.log.as_mut().map_or(Ok(()), Log::flush)
    }

    /// Refuses requests from now on.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Returns whether any requests in flight can still complete.
    pub fn is_busy(&self) -> bool {
        self.drive.outstanding() > 0 && self.drive.next_event().is_some()
    }

    /// Completes all requests and returns the report of a run that ends then, as JSON.
    ///
    /// # Errors
    /// If the drive failed.
    pub fn report(&mut self) -> Result<String, String> {
        let done = self.drive.drain().map(|_| ());
        self.collect_completions(done.map_err(|error| error.to_string()))?;
        let report = self.drive.report().map_err(|error| error.to_string())?;
        serde_json::to_string(&report).map_err(|error| error.to_string())
    }
}

/// Converts a completion to the response for the client.
///
/// # Errors
/// If the request failed, with its status.
pub fn answer(completion: &Completion) -> Result<(), String> {
    match completion.status {
        Status::Success => Ok(()),
        status => Err(format!("the drive answered {}", status.name())),
    }
}
