//! When requests are issued: at their arrival times, always so many in flight, or by threads that wait for their answers.
//!
//! Requests are pulled from the workload only when the drive can take them, so a trace that arrives faster than the drive
//! serves it waits in its file, not in memory.

use std::collections::VecDeque;

use crate::config::{self, ReplayMode};
use crate::error::WorkloadError;
use crate::units::Time;
use crate::workload::IoRequest;
use crate::workload::source::WorkloadSource;

/// Requests pulled at once from a workload without threads, so that what they will need can be fetched early.
const BATCH: usize = 32;

/// A request ready to go to the drive.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// What it asks.
    pub io: IoRequest,
    /// The thread that waits for it.
    pub thread: u32,
    /// When it arrived.
    pub arrival: Time,
}

/// What the simulation does after asking for requests.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// Send this one to the drive.
    Issue(Arrived),
    /// Ask again at this time.
    At(Time),
    /// Ask again when a request completes, or never if none is in flight.
    Later,
}

/// The replay of one workload.
pub struct Replay {
    source: Box<dyn WorkloadSource>,
    mode: ReplayMode,
    time_scale: f64,
    think_time: Time,
    thinking: u32,
    /// Requests the drive holds at once.
    queue_depth: usize,
    in_flight: usize,
    /// Stress and closed: arrived, but the queue was full.
    waiting: VecDeque<Arrived>,
    /// Pulled ahead from a workload without threads.
    batch: VecDeque<IoRequest>,
    /// What ended the batch early.
    failed: Option<WorkloadError>,
    /// Open: an [`Next::At`] is pending for the head of the batch.
    alarm: bool,
    /// Open: how long at least one arrived request waited for a place in the queue, and up to when that is counted.
    overdue: Time,
    overdue_until: Time,
}

impl std::fmt::Debug for Replay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("mode", &self.mode).field("in_flight", &self.in_flight).finish_non_exhaustive()
    }
}

impl Replay {
    /// Replays `source` as `config` says.
    pub fn new(config: &config::Replay, queue_depth: u32, source: Box<dyn WorkloadSource>) -> Replay {
        Replay {
            source,
            mode: config.mode,
            time_scale: config.time_scale,
            think_time: config.think_time,
            thinking: 0,
            queue_depth: queue_depth as usize,
            in_flight: 0,
            waiting: VecDeque::new(),
            batch: VecDeque::with_capacity(BATCH),
            failed: None,
            alarm: false,
            overdue: Time::ZERO,
            overdue_until: Time::ZERO,
        }
    }

    /// Whether requests arrive at times of their own.
    pub fn is_open(&self) -> bool {
        self.mode == ReplayMode::Open
    }

    /// Open replay: how long arrived requests waited on the host because the drive's queue was full.
    pub fn overdue(&self) -> Time {
        self.overdue
    }

    /// How many requests there will be, when known.
    pub fn request_count(&self) -> Option<u64> {
        self.source.request_count()
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Whether requests will be issued though none is in flight.
    pub fn will_issue(&self) -> bool {
        self.alarm || self.thinking > 0
    }

    /// Closed replay: a thread begins to think; gives for how long.
    pub fn think(&mut self) -> Time {
        self.thinking += 1;
        self.think_time
    }

    /// Closed replay: a thread has thought long enough.
    pub fn thought(&mut self) {
        self.thinking -= 1;
    }

    /// Pulls the next requests into the batch; gives those that are new, in case their pages can be fetched early.
    fn refill(&mut self) -> Result<(), WorkloadError> {
        if !self.batch.is_empty() {
            return Ok(());
        }
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        while self.batch.len() < BATCH {
            match self.source.next_request(0) {
                Ok(Some(io)) => self.batch.push_back(io),
                Ok(None) => break,
                Err(error) if self.batch.is_empty() => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok(())
    }

    /// The next request of `thread` whatever its arrival time, and whether the batch is new.
    fn pull(&mut self, thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        if self.mode == ReplayMode::Closed {
            return self.source.next_request(thread);
        }
        self.refill()?;
        Ok(self.batch.pop_front())
    }

    /// Stress and closed replay: `thread` is free for its next request at `now`.
    ///
    /// # Errors
    /// When the workload cannot be read on.
    pub fn next_for(&mut self, thread: u32, now: Time) -> Result<Next, WorkloadError> {
        let Some(io) = self.pull(thread)? else { return Ok(Next::Later) };
        let arrived = Arrived { io, thread, arrival: now };
        if self.in_flight == self.queue_depth {
            self.waiting.push_back(arrived);
            return Ok(Next::Later);
        }
        self.in_flight += 1;
        Ok(Next::Issue(arrived))
    }

    /// Open replay: what has arrived by `now`.
    ///
    /// # Errors
    /// When the workload cannot be read on.
    pub fn next_open(&mut self, now: Time) -> Result<Next, WorkloadError> {
        if self.in_flight == self.queue_depth || self.alarm {
            return Ok(Next::Later);
        }
        self.refill()?;
        let Some(&io) = self.batch.front() else { return Ok(Next::Later) };
        let arrival = self.scaled(io.arrival);
        if arrival > now {
            self.alarm = true;
            return Ok(Next::At(arrival));
        }
        self.batch.pop_front();
        self.in_flight += 1;
        self.overdue += now - arrival.later(self.overdue_until).min(now);
        self.overdue_until = now;
        Ok(Next::Issue(Arrived { io, thread: 0, arrival }))
    }

    /// Open replay: the time asked for with [`Next::At`] has come.
    pub fn alarm_rang(&mut self) {
        self.alarm = false;
    }

    /// A request completed; gives the one that waited longest for its place, if any.
    #[inline]
    pub fn completed(&mut self) -> Option<Arrived> {
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.in_flight -= 1;
        }
        next
    }

    /// Whether the last request taken was the first of a new batch.
    #[inline]
    pub fn has_new_batch(&self) -> bool {
        self.batch.len() + 1 == BATCH
    }

    /// The requests pulled ahead.
    pub fn batch(&self) -> impl Iterator<Item = &IoRequest> {
        self.batch.iter()
    }

    fn scaled(&self, arrival: Time) -> Time {
        if self.time_scale == 1.0 {
            return arrival;
        }
        Time::from_ps((arrival.as_ps() as f64 * self.time_scale) as u64)
    }
}
