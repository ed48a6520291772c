//! When requests are issued: at their arrival times, always so many in flight, or by threads that wait for their answers.
//!
//! Requests are pulled from the workload only when the drive can take them, so a trace that arrives faster than the drive
//! serves it waits in its file, not in memory.

use std::collections::VecDeque;

use crate::config::{self, LatencyStart, ReplayMode};
use crate::error::WorkloadError;
use crate::units::Time;
use crate::workload::IoRequest;
use crate::workload::source::WorkloadSource;

use super::batch::Batch;
use super::slots::Slots;
use super::source::Source;

pub use super::batch::BATCH;

/// Fraction bits of the time scale.
const SCALE_SHIFT: u32 = 40;

#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    pub io: IoRequest,
    /// Closed replay: the thread that issues it. Of a submitted request: the last bits of its id.
    pub thread: u32,
    pub arrival: Time,
}

#[derive(Clone, Copy, Debug)]
pub enum Next {
    Issue(Arrived),
    At(Time),
    /// Ask again when a request completes; never if none is in flight, unless one is submitted.
    Later,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Open,
    Stress {
        outstanding: u32,
    },
    /// Threads issue when the previous request of theirs completes.
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

/// How far a stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Its phase has not come.
    Waits,
    /// Its phase has come, and [`Replay::delay`] runs.
    Delayed,
    Begun,
}

#[derive(Clone)]
pub struct Replay {
    source: Source,
    mode: Mode,
    /// Factor of arrival times in units of 2^-40: floats decide no event time.
    time_scale: u128,
    think_time: Time,
    /// Closed replay: requests of a thread between two think times.
    think_every: u32,
    /// Closed replay: requests of each thread since it last thought.
    unthought: Vec<u32>,
    /// When the stream began; times of the workload count from then.
    begun: Time,
    /// From the start of the phase to the start of the stream.
    delay: Time,
    progress: Progress,
    stop: Time,
    /// Open replay.
    latency_start: LatencyStart,
    /// Closed replay: thinking threads in the order in which they will be ready, with their next request.
    thoughts: VecDeque<(u32, IoRequest)>,
    /// Slots of this workload in the drive; requests wait for one in stress and closed replay only.
    slots: Slots,
    /// Requests pulled ahead from a workload without threads.
    batch: Batch,
    /// Open replay: an [`Next::At`] is pending for the head of the batch.
    alarm: bool,
    /// Open replay: time during which an arrived request waited for a slot.
    overdue: Overdue,
    /// Open replay: arrival of the last issued request.
    last_arrival: Time,
}

/// Time during which at least one request was overdue.
#[derive(Clone, Copy, Debug, Default)]
struct Overdue {
    total: Time,
    /// Counted up to here.
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
    pub fn new(config: &config::Replay, queue_depth: u32, source: Source) -> Replay {
        // Whoever submits a request says when it arrives.
        let mode = if let Source::Submitted(_) = source { Mode::Open } else { config.into() };
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
            slots: Slots::new(match config.outstanding_max {
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

    /// Open replay: time during which arrived requests waited on the host for a full queue.
    pub fn overdue(&self) -> Time {
        self.overdue.total
    }

    /// Returns how long the last issued request of an open replay has been in the drive whose queue is full; zero where it is not.
    pub fn lag(&self, now: Time) -> Time {
        if self.is_open() && self.slots.are_taken() { now.saturating_sub(self.last_arrival) } else { Time::ZERO }
    }

    /// Open replay: arrival of the last issued request.
    pub fn last_arrival(&self) -> Time {
        self.last_arrival
    }

    pub fn request_count(&self) -> Option<u64> {
        self.source.request_count()
    }

    pub fn in_flight(&self) -> usize {
        self.slots.taken()
    }

    /// Whether requests will come although none is in flight.
    pub fn will_issue(&self) -> bool {
        self.alarm || !self.thoughts.is_empty() || self.progress == Progress::Delayed
    }

    /// Whether the stream has begun, and has nothing in flight and nothing more to issue.
    pub fn has_ended(&self) -> bool {
        self.progress == Progress::Begun && self.in_flight() == 0 && !self.will_issue()
    }

    /// Starts the phase of the stream at `now`. Returns when the stream begins, if that is later.
    pub fn start_phase(&mut self, now: Time) -> Option<Time> {
        if self.delay == Time::ZERO {
            self.begin(now);
            return None;
        }
        self.progress = Progress::Delayed;
        Some(now + self.delay)
    }

    /// Begins the stream at `now`.
    pub fn begin(&mut self, now: Time) {
        self.progress = Progress::Begun;
        self.begun = now;
        self.stop = Time::from_ps(self.stop.as_ps().saturating_add(now.as_ps()));
    }

    /// When the stream began.
    pub fn begun(&self) -> Time {
        self.begun
    }

    /// Whether the stream waits for its delay to end.
    pub fn is_delayed(&self) -> bool {
        self.progress == Progress::Delayed
    }

    /// Closed replay: counts a completed request of `thread`. Returns whether the thread issues the next one without thinking.
    pub fn goes_on(&mut self, thread: u32) -> bool {
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

    /// An arrived request goes to the drive, or waits for a slot.
    fn arrive(&mut self, arrived: Arrived) -> Next {
        if self.slots.are_taken() {
            self.slots.wait(arrived);
            return Next::Later;
        }
        self.slots.take();
        Next::Issue(arrived)
    }

    /// Stress replay: a place is free at `now`; gives whether a request takes it, which is the one [taken last](Replay::last_taken).
    ///
    /// # Errors
    /// When the workload cannot be read on.
    #[inline(always)]
    pub fn takes_next(&mut self, now: Time) -> Result<bool, WorkloadError> {
        if now > self.stop {
            return Ok(false);
        }
        self.batch.refill(&mut self.source)?;
        Ok(self.take_from_batch(now))
    }

    /// Stress replay: whether a request takes a place that is free at `now`, or waits for one.
    #[inline(always)]
    pub fn has_next(&mut self, now: Time) -> bool {
        self.batch.refill_ahead(&mut self.source);
        now <= self.stop && self.batch.first().is_some()
    }

    /// As [`Replay::takes_next`], where there is a next one.
    #[inline(always)]
    pub fn take_from_batch(&mut self, now: Time) -> bool {
        if self.batch.first().is_none() {
            return false;
        }
        self.batch.take();
        if self.slots.are_taken() {
            self.slots.wait(Arrived { io: *self.batch.last(), thread: 0, arrival: now });
            return false;
        }
        self.slots.take();
        true
    }

    /// The request that was taken last of those pulled ahead. Not given with the taking: within an `Option` it is moved in pieces.
    #[inline(always)]
    pub fn last_taken(&self) -> &IoRequest {
        self.batch.last()
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
        if self.slots.are_taken() || self.alarm {
            return Ok(Next::Later);
        }
        self.batch.refill(&mut self.source)?;
        let Some(&io) = self.batch.first() else {
            self.source.begins_waiting();
            return Ok(Next::Later);
        };
        let arrival = self.scaled(io.arrival)?;
        if arrival > self.stop {
            return Ok(Next::Later);
        }
        if arrival > now {
            self.alarm = true;
            return Ok(Next::At(arrival));
        }
        let counts_from_issue = self.latency_start == LatencyStart::Issue;
        if counts_from_issue && now > self.stop {
            return Ok(Next::Later);
        }
        self.batch.take();
        self.slots.take();
        self.overdue.count(arrival, now);
        self.last_arrival = self.last_arrival.later(arrival);
        let arrival = if counts_from_issue { now } else { arrival };
        Ok(Next::Issue(Arrived { io, thread: self.source.next_id(), arrival }))
    }

    /// Adds a request to a stream whose requests are submitted, with the last bits of its id. Gives its arrival if that was awaited.
    pub fn submit(&mut self, io: IoRequest, id: u32) -> Option<Time> {
        let Source::Submitted(submitted) = &mut self.source else { return None };
        submitted.push(io, id);
        if !self.source.ends_waiting() {
            return None;
        }
        self.alarm = true;
        Some(io.arrival)
    }

    /// Open replay: the time of [`Next::At`] has come.
    pub fn alarm_rang(&mut self) {
        self.alarm = false;
    }

    /// Frees the slot of a completed request; the longest waiting request takes it.
    #[inline(always)]
    pub fn completed(&mut self) -> Option<Arrived> {
        self.slots.hand_over()
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
