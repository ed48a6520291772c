//! The drive, and what its requests came to.

use std::collections::HashMap;
use std::thread::Thread;
use std::time::Duration;

use flashmesh::report::Status;
use flashmesh::requests::RequestKind;
use flashmesh::stepping::{Completion, Drive, Submission};
use flashmesh::units::{Bytes, Time};

use crate::log::Log;

/// Requests that are answered later than this, and than a share of their latency, are counted as late.
const LATE: Duration = Duration::from_micros(100);
const LATE_PARTS: u32 = 20;

/// What is counted since the start.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub requests: u64,
    pub bytes: u64,
    /// The sum of all latencies.
    pub latency_ps: u128,
    pub simulated: Time,
    pub outstanding: u64,
    /// Requests that were answered late.
    pub late: u64,
    /// The largest such delay since the figures were last taken.
    pub late_max: Duration,
}

/// A drive that is served.
pub struct Engine {
    drive: Drive,
    log: Option<Log>,
    /// Requests in flight whose threads wait for somebody else to move the drive.
    parked: HashMap<u64, Thread>,
    done: HashMap<u64, Completion>,
    figures: Figures,
    /// The thread that moves the drive with the wall clock.
    leader: Option<Thread>,
    /// Whether requests are no longer taken.
    is_closed: bool,
}

impl Engine {
    pub fn new(drive: Drive, log: Option<Log>) -> Engine {
        Engine {
            drive,
            log,
            parked: HashMap::new(),
            done: HashMap::new(),
            figures: Figures::default(),
            leader: None,
            is_closed: false,
        }
    }

    /// Submits a request for `time`, or now if the drive is further; gives its id. What covers parts of sectors covers them whole.
    ///
    /// # Errors
    /// When the drive does not take it, or the log cannot be written.
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

    /// Simulates until something completes; false where nothing will.
    pub fn advance_to_completion(&mut self) -> Result<bool, String> {
        let done = self.drive.advance_to_completion(None).map(|done| !done.is_empty());
        let is_any = *done.as_ref().unwrap_or(&false);
        self.taken(done.map(drop).map_err(|error| error.to_string()))?;
        Ok(is_any)
    }

    /// Simulates up to `time`; gives when the next event comes.
    pub fn advance(&mut self, time: Time) -> Result<Option<Time>, String> {
        let done = self.drive.advance(time.later(self.drive.now())).map(|_| ());
        self.taken(done.map_err(|error| error.to_string()))?;
        Ok(self.drive.next_event())
    }

    /// Takes what the last step has completed, and wakes those that wait for it.
    fn taken(&mut self, stepped: Result<(), String>) -> Result<(), String> {
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

    /// The completion of a request, if it has come.
    pub fn completed(&mut self, id: u64) -> Option<Completion> {
        self.done.remove(&id)
    }

    /// Counts how much later than it should have been a request is answered that was to take `latency`.
    pub fn count_late(&mut self, late: Duration, latency: Duration) {
        if late > LATE && late > latency / LATE_PARTS {
            self.figures.late += 1;
            self.figures.late_max = self.figures.late_max.max(late);
        }
    }

    pub fn is_led(&self) -> bool {
        self.leader.is_some()
    }

    /// Has this thread move the drive.
    pub fn lead(&mut self) {
        self.leader = Some(std::thread::current());
    }

    /// Has this thread woken when the request is done, or when nobody moves the drive.
    pub fn park(&mut self, id: u64) {
        self.parked.insert(id, std::thread::current());
    }

    /// Wakes one thread that waits, to lead from now on.
    pub fn hand_over(&mut self) {
        self.leader = None;
        if let Some(thread) = self.parked.values().next() {
            thread.unpark();
        }
    }

    /// The figures now; the largest delay counts anew from here.
    pub fn take_figures(&mut self) -> Figures {
        let figures = self.figures.clone();
        self.figures.late_max = Duration::ZERO;
        figures
    }

    /// Writes what is buffered of the log.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_log(&mut self) -> Result<(), String> {
        self.log.as_mut().map_or(Ok(()), Log::flush)
    }

    /// Takes no more requests.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether requests are in flight that will complete.
    pub fn is_busy(&self) -> bool {
        self.drive.outstanding() > 0 && self.drive.next_event().is_some()
    }

    /// What a run would report that ends here, as JSON, once all requests have completed.
    ///
    /// # Errors
    /// When the drive failed.
    pub fn report(&mut self) -> Result<String, String> {
        let done = self.drive.drain().map(|_| ());
        self.taken(done.map_err(|error| error.to_string()))?;
        let report = self.drive.report().map_err(|error| error.to_string())?;
        serde_json::to_string(&report).map_err(|error| error.to_string())
    }
}

/// What a client is told of a completed request.
///
/// # Errors
/// With the status of a request that failed.
pub fn answer(completion: &Completion) -> Result<(), String> {
    match completion.status {
        Status::Success => Ok(()),
        status => Err(format!("the drive answered {}", status.name())),
    }
}
