//! Replay of workloads: decides when each request is issued. Open replay issues a request at its arrival time. Stress replay keeps a constant number
//! of requests in flight. Closed replay has threads; each thread issues a request when its previous request completes, or a think time
//! after that.
//!
//! Open replay pulls requests from the workload, in batches, only when the drive has a free slot. Requests that arrive faster than the drive
//! completes them therefore stay in the trace file and do not fill memory.

use std::collections::VecDeque;

use crate::config::{self, LatencyStart, ReplayMode};
use crate::error::WorkloadError;
use crate::units::Time;
use crate::workload::IoRequest;
use crate::workload::source::WorkloadSource;

use super::batch::Batch;
use super::slots::QueueSlots;
use super::source::RequestSource;

pub use super::batch::BATCH;

/// The number of fraction bits of the time scale, a fixed-point number.
const SCALE_SHIFT: u32 = 40;

#[derive(Clone, Copy, Debug)]
pub struct ReplayRequest {
    pub io: IoRequest,
    /// The issuing thread in closed replay; the low 32 bits of the id of a submitted request; 0 otherwise.
    pub thread: u32,
    pub arrival: Time,
}

#[derive(Clone, Copy, Debug)]
pub enum NextRequest {
    Issue(ReplayRequest),
    At(Time),
    /// No request for now. The next completion or submission may allow one.
    Later,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Open,
    Stress {
        outstanding: u32,
    },
    /// Each thread issues a request when its previous request completes, or a think time after that.
    Closed {
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

/// The stage of a stream: before its phase, in its start delay, or issuing requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The phase of the stream has not started.
    Waits,
    /// The phase has started, and [`Replay::delay`] has not elapsed.
    Delayed,
    Begun,
}

#[derive(Clone)]
pub struct Replay {
    source: RequestSource,
    mode: Mode,
    /// The factor by which arrival times are multiplied, in units of 2^-40. Fixed-point, so that no event time depends on floating-point rounding.
    time_scale: u128,
    think_time: Time,
    /// The number of requests of a thread between two think times (closed replay).
    think_every: u32,
    /// The number of requests that each thread has completed since its last think time (closed replay).
    unthought: Vec<u32>,
    /// The start of the stream. Arrival times of the workload are relative to this time.
    begun: Time,
    /// The delay from the start of the phase to the start of the stream.
    delay: Time,
    progress: Progress,
    stop: Time,
    /// The time from which latencies count (open replay): the arrival of a request, or its issue.
    latency_start: LatencyStart,
    /// The threads in think time, each with its next request, in the order in which the think times end (closed replay).
    thoughts: VecDeque<(u32, IoRequest)>,
    /// The slots of this stream in the drive (commands outstanding at a time). Only stress and closed replay queue requests for a slot.
    slots: QueueSlots,
    /// Requests pulled ahead (open and stress replay).
    batch: Batch,
    /// Whether an event is scheduled for the arrival of the next request (open replay).
    alarm: bool,
    /// The time during which at least one arrived request waited for a slot (open replay).
    overdue: Overdue,
    /// The arrival of the last issued request (open replay).
    last_arrival: Time,
}

/// The total time during which at least one arrived request waited for a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Overdue {
    total: Time,
    /// The time up to which `total` is counted.
    until: Time,
}

impl Overdue {
    fn count(&mut self, due: Time, now: Time) {
        self.total += now - due.later(self.until).min(now);
        self.until = now;
    }
}

impl std::fmt::Debug for Replay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("mode", &self.mode).field("slots", &self.slots).finish_non_exhaustive()
    }
}

impl Replay {
    pub fn new(config: &config::Replay, queue_depth: u32, source: RequestSource) -> Replay {
        // Submitted requests carry their own arrival times.
        let mode = if let RequestSource::Submitted(_) = source { Mode::Open } else { config.into() };
        Replay {
            source,
            mode,
            time_scale: (config.time_scale * (1u64 << SCALE_SHIFT) as f64).round() as u128,
            think_time: config.think_time,
            think_every: config.think_every.max(1),
            unthought: vec![0; if let Mode::Closed { threads } = mode { threads as usize } else { 0 }],
            begun: Time::ZERO,
            delay: config.start_delay,
            progress: Progress::Waits,
            stop: config.stop_time.unwrap_or(Time::MAX),
            latency_start: config.latency_start,
            thoughts: VecDeque::new(),
            slots: QueueSlots::new(match config.outstanding_max {
                Some(most) if mode == Mode::Open => queue_depth.min(most),
                _ => queue_depth,
            }),
            batch: Batch::new(),
            alarm: false,
            overdue: Overdue::default(),
            last_arrival: Time::ZERO,
        }
    }

    pub fn is_open(&self) -> bool {
        self.mode == Mode::Open
    }

    #[inline]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the total time during which at least one arrived request waited for a slot (open replay).
    pub fn overdue(&self) -> Time {
        self.overdue.total
    }

    /// Returns the time since the arrival of the last issued request if all slots of an open replay are occupied; zero otherwise.
    pub fn lag(&self, now: Time) -> Time {
        if self.is_open() && self.slots.are_taken() { now.saturating_sub(self.last_arrival) } else { Time::ZERO }
    }

    /// Returns the arrival of the last issued request (open replay).
    pub fn last_arrival(&self) -> Time {
        self.last_arrival
    }

    pub fn request_count(&self) -> Option<u64> {
        self.source.request_count()
    }

    pub fn in_flight(&self) -> usize {
        self.slots.taken()
    }

    /// Returns whether the stream will issue requests even if none is in flight: an arrival, or the end of a think time or of the start delay, is
    /// scheduled.
    pub fn will_issue(&self) -> bool {
        self.alarm || !self.thoughts.is_empty() || self.progress == Progress::Delayed
    }

    /// Returns whether the stream has begun, and has nothing in flight and nothing more to issue.
    pub fn has_ended(&self) -> bool {
        self.progress == Progress::Begun && self.in_flight() == 0 && !self.will_issue()
    }

    /// Starts the phase of the stream at `now`. Returns the time at which the stream will begin; `None` if it has begun without a delay.
    pub fn start_phase(&mut self, now: Time) -> Option<Time> {
        if self.delay == Time::ZERO {
            self.begin(now);
            return None;
        }
        self.progress = Progress::Delayed;
        Some(now + self.delay)
    }

    /// Starts the stream at `now`.
    pub fn begin(&mut self, now: Time) {
        self.progress = Progress::Begun;
        self.begun = now;
        self.stop = Time::from_ps(self.stop.as_ps().saturating_add(now.as_ps()));
    }

    /// Returns the time at which the stream began.
    pub fn begun(&self) -> Time {
        self.begun
    }

    /// Returns whether the start delay of the stream is running.
    pub fn is_delayed(&self) -> bool {
        self.progress == Progress::Delayed
    }

    /// Counts a completed request of `thread` (closed replay). Returns whether the thread issues its next request without think
    /// time.
    pub fn complete_thread_request(&mut self, thread: u32) -> bool {
        if self.think_every == 1 {
            return false;
        }
        let Some(unthought) = self.unthought.get_mut(thread as usize) else { return false };
        *unthought += 1;
        if *unthought < self.think_every {
            return true;
        }
        *unthought = 0;
        false
    }

    /// Starts the think time of `thread` at `now` (closed replay). Returns the think time, or `None` if the thread issues no further request.
    ///
    /// # Errors
    /// If the next request cannot be read from the workload.
    pub fn think(&mut self, thread: u32, now: Time) -> Result<Option<Time>, WorkloadError> {
        if now + self.think_time > self.stop {
            return Ok(None);
        }
        let Some(io) = self.source.next_request(thread)? else { return Ok(None) };
        self.thoughts.push_back((thread, io));
        Ok(Some(self.think_time))
    }

    /// Ends the earliest think time at `now` and issues the request of its thread (closed replay).
    pub fn end_think_time(&mut self, now: Time) -> NextRequest {
        match self.thoughts.pop_front() {
            Some((thread, io)) => self.arrive(ReplayRequest { io, thread, arrival: now }),
            None => NextRequest::Later,
        }
    }

    /// Issues an arrived request at once, or queues it for a slot and returns [`NextRequest::Later`].
    fn arrive(&mut self, arrived: ReplayRequest) -> NextRequest {
        if self.slots.are_taken() {
            self.slots.wait(arrived);
            return NextRequest::Later;
        }
        self.slots.occupy();
        NextRequest::Issue(arrived)
    }

    /// Takes the next request from the workload at `now` (stress replay). Returns whether a request can be issued, and makes it available through
    /// [`last_taken`](Replay::last_taken). Returns false if the stop time has passed, no request is left, or the request waits for a slot.
    ///
    /// # Errors
    /// If the next request cannot be read from the workload.
    #[inline(always)]
    pub fn takes_next(&mut self, now: Time) -> Result<bool, WorkloadError> {
        if now > self.stop {
            return Ok(false);
        }
        self.batch.refill(&mut self.source)?;
        Ok(self.take_from_batch(now))
    }

    /// Returns whether the workload has a next request and `now` is not after the stop time (stress replay).
    #[inline(always)]
    pub fn has_next(&mut self, now: Time) -> bool {
        self.batch.refill_ahead(&mut self.source);
        now <= self.stop && self.batch.first().is_some()
    }

    /// Like [`Replay::takes_next`], but neither refills the batch nor checks the stop time. Also returns false if the batch is empty.
    #[inline(always)]
    pub fn take_from_batch(&mut self, now: Time) -> bool {
        if self.batch.first().is_none() {
            return false;
        }
        self.batch.take();
        if self.slots.are_taken() {
            self.slots.wait(ReplayRequest { io: *self.batch.last(), thread: 0, arrival: now });
            return false;
        }
        self.slots.occupy();
        true
    }

    /// Returns the request taken last. A separate method, because [`takes_next`](Self::takes_next) would return an `Option<IoRequest>`, which the
    /// compiler moves in pieces.
    #[inline(always)]
    pub fn last_taken(&self) -> &IoRequest {
        self.batch.last()
    }

    /// Issues the next request of `thread` at `now` (closed replay). Returns [`NextRequest::Later`] if the request waits for a slot, or the thread
    /// issues no further request.
    ///
    /// # Errors
    /// If the request cannot be read from the workload.
    pub fn next_of(&mut self, thread: u32, now: Time) -> Result<NextRequest, WorkloadError> {
        if now > self.stop {
            return Ok(NextRequest::Later);
        }
        let Some(io) = self.source.next_request(thread)? else { return Ok(NextRequest::Later) };
        Ok(self.arrive(ReplayRequest { io, thread, arrival: now }))
    }

    /// Issues the next request if it has arrived by `now` (open replay), or returns the time of its arrival. Returns [`NextRequest::Later`] if no
    /// slot is free, an arrival is already scheduled, or no request is left before the stop time.
    ///
    /// # Errors
    /// If the request cannot be read from the workload.
    pub fn next_open(&mut self, now: Time) -> Result<NextRequest, WorkloadError> {
        if self.slots.are_taken() || self.alarm {
            return Ok(NextRequest::Later);
        }
        self.batch.refill(&mut self.source)?;
        let Some(&io) = self.batch.first() else {
            self.source.begins_waiting();
            return Ok(NextRequest::Later);
        };
        let arrival = self.scaled(io.arrival)?;
        if arrival > self.stop {
            return Ok(NextRequest::Later);
        }
        if arrival > now {
            self.alarm = true;
            return Ok(NextRequest::At(arrival));
        }
        let counts_from_issue = self.latency_start == LatencyStart::Issue;
        if counts_from_issue && now > self.stop {
            return Ok(NextRequest::Later);
        }
        self.batch.take();
        self.slots.occupy();
        self.overdue.count(arrival, now);
        self.last_arrival = self.last_arrival.later(arrival);
        let arrival = if counts_from_issue { now } else { arrival };
        Ok(NextRequest::Issue(ReplayRequest { io, thread: self.source.next_id(), arrival }))
    }

    /// Appends a submitted request with the low 32 bits of its id. Returns its arrival time, for the caller to schedule, if the replay was waiting
    /// for a request; otherwise `None`.
    pub fn submit(&mut self, io: IoRequest, id: u32) -> Option<Time> {
        let RequestSource::Submitted(submitted) = &mut self.source else { return None };
        submitted.push(io, id);
        if !self.source.ends_waiting() {
            return None;
        }
        self.alarm = true;
        Some(io.arrival)
    }

    /// Records that the event scheduled for the arrival of a request has occurred (open replay).
    pub fn alarm_rang(&mut self) {
        self.alarm = false;
    }

    /// Frees the slot of a completed request. If requests wait for a slot, the oldest one occupies it and is returned, to be issued; otherwise
    /// `None`.
    #[inline(always)]
    pub fn completed(&mut self) -> Option<ReplayRequest> {
        self.slots.release()
    }

    #[inline]
    pub fn has_new_batch(&self) -> bool {
        self.batch.is_new()
    }

    pub fn batch(&self) -> impl Iterator<Item = &IoRequest> {
        self.batch.rest().iter()
    }

    fn scaled(&self, arrival: Time) -> Result<Time, WorkloadError> {
        let scaled = ((u128::from(arrival.as_ps()) * self.time_scale) >> SCALE_SHIFT) + u128::from(self.begun.as_ps());
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
