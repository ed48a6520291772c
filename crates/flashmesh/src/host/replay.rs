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

use super::batch::Batch;
use super::places::Places;

pub use super::batch::BATCH;

/// The fixed point of the time scale.
const SCALE_SHIFT: u32 = 40;

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

/// When a workload is issued, with what the start of the run needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// At arrival times.
    Open,
    /// Always so many in flight.
    Stress {
        /// How many.
        outstanding: u32,
    },
    /// By threads that wait for their answers.
    Closed {
        /// How many.
        threads: u32,
    },
}

impl From<&config::Replay> for Mode {
    fn from(replay: &config::Replay) -> Mode {
        match replay.mode {
            ReplayMode::Open => Mode::Open,
            ReplayMode::Stress => Mode::Stress { outstanding: replay.outstanding },
            ReplayMode::Closed => Mode::Closed { threads: replay.threads },
        }
    }
}

/// The replay of one workload.
pub struct Replay {
    source: Box<dyn WorkloadSource>,
    mode: Mode,
    /// What arrival times are multiplied by, in units of 2^-40: no float decides when something happens.
    time_scale: u128,
    think_time: Time,
    /// No request arrives after this.
    stop: Time,
    /// Closed: the threads that think, in the order in which they will be ready, each with what it will issue.
    thoughts: VecDeque<(u32, IoRequest)>,
    /// Requests of this workload that the drive holds at once; only stress and closed replay have others wait.
    places: Places,
    /// Pulled ahead from a workload without threads.
    batch: Batch,
    /// Open: an [`Next::At`] is pending for the head of the batch.
    alarm: bool,
    /// Open: how long at least one arrived request waited for a place in the queue.
    overdue: Overdue,
    /// Open: when the last request arrived that went to the drive.
    last_arrival: Time,
}

/// For how long something was late, what is late at once counted once.
#[derive(Clone, Copy, Debug, Default)]
struct Overdue {
    total: Time,
    /// Up to when it is counted.
    until: Time,
}

impl Overdue {
    /// What was due at `due` is done at `now`.
    fn count(&mut self, due: Time, now: Time) {
        self.total += now - due.later(self.until).min(now);
        self.until = now;
    }
}

impl std::fmt::Debug for Replay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("mode", &self.mode).field("places", &self.places).finish_non_exhaustive()
    }
}

impl Replay {
    /// Replays `source` as `config` says.
    pub fn new(config: &config::Replay, queue_depth: u32, source: Box<dyn WorkloadSource>) -> Replay {
        Replay {
            source,
            mode: config.into(),
            time_scale: (config.time_scale * (1u64 << SCALE_SHIFT) as f64).round() as u128,
            think_time: config.think_time,
            stop: config.stop_time.unwrap_or(Time::MAX),
            thoughts: VecDeque::new(),
            places: Places::new(queue_depth),
            batch: Batch::new(),
            alarm: false,
            overdue: Overdue::default(),
            last_arrival: Time::ZERO,
        }
    }

    /// Whether requests arrive at times of their own.
    pub fn is_open(&self) -> bool {
        self.mode == Mode::Open
    }

    /// When requests are issued.
    #[inline]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Open replay: how long arrived requests waited on the host because the drive's queue was full.
    pub fn overdue(&self) -> Time {
        self.overdue.total
    }

    /// Open replay: when the last request arrived that went to the drive.
    pub fn last_arrival(&self) -> Time {
        self.last_arrival
    }

    /// How many requests there will be, when known.
    pub fn request_count(&self) -> Option<u64> {
        self.source.request_count()
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> usize {
        self.places.taken()
    }

    /// Whether requests will be issued though none is in flight.
    pub fn will_issue(&self) -> bool {
        self.alarm || !self.thoughts.is_empty()
    }

    /// Closed replay: from `now` on `thread` thinks about its next request; gives for how long, or nothing when it has no more.
    ///
    /// # Errors
    /// When the workload cannot be read on.
    pub fn think(&mut self, thread: u32, now: Time) -> Result<Option<Time>, WorkloadError> {
        if now + self.think_time > self.stop {
            return Ok(None);
        }
        let Some(io) = self.source.next_request(thread)? else { return Ok(None) };
        self.thoughts.push_back((thread, io));
        Ok(Some(self.think_time))
    }

    /// Closed replay: the thread that thinks longest has thought long enough at `now`.
    pub fn thought(&mut self, now: Time) -> Next {
        match self.thoughts.pop_front() {
            Some((thread, io)) => self.arrive(Arrived { io, thread, arrival: now }),
            None => Next::Later,
        }
    }

    /// A request that has arrived goes to the drive, or waits for a place there.
    fn arrive(&mut self, arrived: Arrived) -> Next {
        if self.places.are_taken() {
            self.places.wait(arrived);
            return Next::Later;
        }
        self.places.take();
        Next::Issue(arrived)
    }

    /// Stress replay: a place is free at `now`; gives the request that takes it.
    ///
    /// # Errors
    /// When the workload cannot be read on.
    #[inline(always)]
    pub fn next_in_batch(&mut self, now: Time) -> Result<Option<IoRequest>, WorkloadError> {
        if now > self.stop {
            return Ok(None);
        }
        self.batch.refill(&mut *self.source)?;
        Ok(self.take_from_batch(now))
    }

    #[inline(always)]
    fn take_from_batch(&mut self, now: Time) -> Option<IoRequest> {
        let io = self.batch.take()?;
        if self.places.are_taken() {
            self.places.wait(Arrived { io, thread: 0, arrival: now });
            return None;
        }
        self.places.take();
        Some(io)
    }

    /// Closed replay: `thread` is free for its next request at `now`.
    ///
    /// # Errors
    /// When the workload cannot be read on.
    pub fn next_of(&mut self, thread: u32, now: Time) -> Result<Next, WorkloadError> {
        if now > self.stop {
            return Ok(Next::Later);
        }
        let Some(io) = self.source.next_request(thread)? else { return Ok(Next::Later) };
        Ok(self.arrive(Arrived { io, thread, arrival: now }))
    }

    /// Open replay: what has arrived by `now`.
    ///
    /// # Errors
    /// When the workload cannot be read on.
    pub fn next_open(&mut self, now: Time) -> Result<Next, WorkloadError> {
        if self.places.are_taken() || self.alarm {
            return Ok(Next::Later);
        }
        self.batch.refill(&mut *self.source)?;
        let Some(&io) = self.batch.first() else { return Ok(Next::Later) };
        let arrival = self.scaled(io.arrival)?;
        if arrival > self.stop {
            return Ok(Next::Later);
        }
        if arrival > now {
            self.alarm = true;
            return Ok(Next::At(arrival));
        }
        self.batch.take();
        self.places.take();
        self.overdue.count(arrival, now);
        self.last_arrival = self.last_arrival.later(arrival);
        Ok(Next::Issue(Arrived { io, thread: 0, arrival }))
    }

    /// Open replay: the time asked for with [`Next::At`] has come.
    pub fn alarm_rang(&mut self) {
        self.alarm = false;
    }

    /// A request completed; gives the one that waited longest for its place, if any.
    #[inline]
    pub fn completed(&mut self) -> Option<Arrived> {
        self.places.hand_over()
    }

    /// Whether the last request taken was the first of a new batch.
    #[inline]
    pub fn has_new_batch(&self) -> bool {
        self.batch.is_new()
    }

    /// The requests pulled ahead.
    pub fn batch(&self) -> impl Iterator<Item = &IoRequest> {
        self.batch.rest().iter()
    }

    fn scaled(&self, arrival: Time) -> Result<Time, WorkloadError> {
        let scaled = (u128::from(arrival.as_ps()) * self.time_scale) >> SCALE_SHIFT;
        match u64::try_from(scaled).map(Time::from_ps) {
            Ok(scaled) if scaled <= Time::RUN_MAX => Ok(scaled),
            _ => Err(WorkloadError::Unusable(format!(
                "a request arrives {:.0} days after the start, beyond the 106 days that can be simulated: lower replay.time-scale, \
                 or replay fewer requests",
                scaled as f64 / Time::PS_PER_SECOND as f64 / 86_400.0
            ))),
        }
    }
}
