//! The drive, and what its requests came to.

use std::collections::HashMap;
use std::thread::Thread;
use std::time::Duration;

use flashmesh::report::Status;
use flashmesh::requests::RequestKind;
use flashmesh::stepping::{Completion, Drive, Submission};
use flashmesh::units::{Bytes, Time};

use crate::clock::Clock;
use crate::log::Log;

/// Completions that come later than this are counted as late.
const LATE: Duration = Duration::from_micros(100);

/// What is counted since the start.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub requests: u64,
    pub bytes: u64,
    pub latency_ps: u64,
    pub simulated: Time,
    pub outstanding: u64,
    /// Requests that completed later than they should have, and by how much at most.
    pub late: u64,
    pub late_max: Duration,
}

/// A request in flight.
#[derive(Clone, Debug)]
struct Waiting {
    /// Parked until it is done; none where its thread looks itself.
    thread: Option<Thread>,
}

pub struct Engine {
    drive: Drive,
    log: Option<Log>,
    waiting: HashMap<u64, Waiting>,
    done: HashMap<u64, Completion>,
    pub figures: Figures,
    /// Whether a thread moves the drive with the wall clock.
    pub is_led: bool,
}

impl Engine {
    pub fn new(drive: Drive, log: Option<Log>) -> Engine {
        Engine { drive, log, waiting: HashMap::new(), done: HashMap::new(), figures: Figures::default(), is_led: false }
    }

    /// Submits a request for `time`, or now if the drive is further; gives its id. What covers parts of sectors covers them whole.
    ///
    /// # Errors
    /// When the drive takes it not, or the log cannot be written.
    pub fn submit(&mut self, time: Time, kind: RequestKind, offset: u64, size: u64) -> Result<u64, String> {
        let time = time.later(self.drive.now());
        let sector = self.drive.sector_size().as_u64();
        let start = offset / sector * sector;
        let size = (offset + size).next_multiple_of(sector) - start;
        let (start, size) = if kind == RequestKind::Flush { (0, 0) } else { (start, size) };
        let (offset, bytes) = (Bytes::new(start), Bytes::new(size));
        let id = self.drive.submit(Submission { time, kind, offset, size: bytes, stream: 0 });
        let id = id.map_err(|error| error.to_string())?;
        self.waiting.insert(id, Waiting { thread: None });
        if let Some(log) = &mut self.log {
            log.record(time, kind, start, size)?;
        }
        self.figures.bytes += size;
        Ok(id)
    }

    pub fn now(&self) -> Time {
        self.drive.now()
    }

    /// Simulates until something completes.
    pub fn advance_to_completion(&mut self) -> Result<(), String> {
        let done = self.drive.advance_to_completion(None).map(<[Completion]>::to_vec);
        self.take(&done.map_err(|error| error.to_string())?, None);
        Ok(())
    }

    /// Simulates up to `now` of a clock; gives when the next event comes.
    pub fn advance(&mut self, now: Time, clock: &Clock) -> Result<Option<Time>, String> {
        let done = self.drive.advance(now.later(self.drive.now())).map(<[Completion]>::to_vec);
        self.take(&done.map_err(|error| error.to_string())?, Some(clock));
        Ok(self.drive.next_event())
    }

    fn take(&mut self, done: &[Completion], clock: Option<&Clock>) {
        for &completion in done {
            self.figures.requests += 1;
            self.figures.latency_ps += completion.latency.as_ps();
            if let Some(clock) = clock {
                let late = clock.wall(clock.now() - completion.time.min(clock.now()));
                self.figures.late += u64::from(late > LATE);
                self.figures.late_max = self.figures.late_max.max(late);
            }
            self.done.insert(completion.id, completion);
            if let Some(Waiting { thread: Some(thread) }) = self.waiting.remove(&completion.id) {
                thread.unpark();
            }
        }
        self.figures.simulated = self.drive.now();
        self.figures.outstanding = self.drive.outstanding();
    }

    pub fn is_done(&self, id: u64) -> bool {
        self.done.contains_key(&id)
    }

    /// The completion of a request, if it has come.
    pub fn completed(&mut self, id: u64) -> Option<Result<(), String>> {
        let completion = self.done.remove(&id)?;
        Some(match completion.status {
            Status::Success => Ok(()),
            status => Err(format!("the drive answered {}", status.name())),
        })
    }

    /// Has `thread` woken when the request is done.
    pub fn park(&mut self, id: u64, thread: Thread) {
        if let Some(waiting) = self.waiting.get_mut(&id) {
            waiting.thread = Some(thread);
        }
    }

    /// Wakes one thread that waits, to lead from now on.
    pub fn hand_over(&mut self) {
        self.is_led = false;
        if let Some(thread) = self.waiting.values().find_map(|waiting| waiting.thread.as_ref()) {
            thread.unpark();
        }
    }

    /// Ends the drive; gives its report as JSON.
    ///
    /// # Errors
    /// When the drive failed, or the log cannot be written.
    pub fn finish(&mut self) -> Result<String, String> {
        if let Some(log) = &mut self.log {
            log.finish()?;
        }
        let done = self.drive.drain().map(<[Completion]>::to_vec);
        self.take(&done.map_err(|error| error.to_string())?, None);
        let report = self.drive.report().map_err(|error| error.to_string())?;
        serde_json::to_string(&report).map_err(|error| error.to_string())
    }
}
