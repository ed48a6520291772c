//! Stepped drives: the caller submits requests during the run, and advances the simulated time.

use std::time::Instant;

use crate::config::{Config, ExpectedWrites, ReplayMode};
use crate::error::{RunError, StepError};
use crate::fabric::info_of;
use crate::ftl::PreparedDrives;
use crate::host::source::{RequestSource, Submitted};
use crate::ids::StreamId;
use crate::measure::report::Report;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

use super::instances::{AnyDrive, Needs};
use super::{Control, Simulation};

pub use crate::measure::completions::Completion;

/// A request that the caller submits to a stepped [`Drive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Simulated time at which the request arrives at the host queue.
    pub time: Time,
    /// Kind of the request, such as read, write or flush.
    pub kind: RequestKind,
    /// Offset in the namespace of the stream in bytes, a multiple of the sector size.
    pub offset: Bytes,
    /// Size in bytes, a positive multiple of the sector size; zero for a flush.
    pub size: Bytes,
    /// Index of the issuing stream in [`Config::streams`].
    pub stream: usize,
}

#[derive(Clone, Copy, Debug)]
struct StreamState {
    capacity: Bytes,
    /// Arrival time of the request of this stream that was submitted last. Later requests must not arrive earlier.
    last: Time,
}

/// Progress of a stepped drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not started. Contains the earliest arrival time of the requests submitted so far; `None` without requests. Requests for time 0 are
    /// issued at the start, as in a run.
    New(Option<Time>),
    /// All requests have completed. Background work is suspended until the next request, because a run would end now and not perform that
    /// work.
    Idle,
    /// Requests are in flight, or submitted and not yet arrived.
    Busy,
    /// The power was cut at this simulated time. No more requests are accepted.
    Cut(Time),
    /// An error ended the simulation in the middle of an event, so that the drive cannot continue.
    Failed,
}

/// A drive that its caller steps.
///
/// Requests are submitted with their arrival times, and the drive is advanced to a time: all events up to and including that time are simulated, and
/// the requests that completed are returned. The configuration defines the streams. `[workload]` is ignored, and keys of `[replay]` that a stepped
/// drive does not support are errors.
///
/// If all requests that arrive up to a time are submitted before the drive is advanced to it, the report equals that of a run with the same requests
/// from a trace, bit for bit. A request submitted for the time to which the drive was already advanced arrives after all earlier events of that time.
///
/// ```
/// use flashmesh::config::Config;
/// use flashmesh::requests::RequestKind;
/// use flashmesh::stepping::{Drive, Submission};
/// use flashmesh::units::{Bytes, Time};
///
/// let mut drive = Drive::new(&Config::default())?;
/// let read = Submission { time: Time::from_us(5), kind: RequestKind::Read, offset: Bytes::new(4096), size: Bytes::new(4096), stream: 0 };
/// let id = drive.submit(read)?;
/// let completed = drive.advance(Time::from_us(50))?;
/// assert_eq!((completed.len(), completed[0].id), (1, id));
/// assert_eq!(drive.report()?.requests, 1);
/// # Ok::<(), flashmesh::error::RunError>(())
/// ```
#[derive(Clone)]
pub struct Drive {
    config: std::sync::Arc<Config>,
    is_checked: bool,
    drive: AnyDrive,
    needs: Needs,
    control: std::sync::Arc<Control>,
    streams: Vec<StreamState>,
    sector: Bytes,
    now: Time,
    state: State,
    power_cut: Option<Time>,
    outstanding: u64,
    started: Instant,
}

/// A copy of the whole state of a [`Drive`], from which [`Drive::restore`] continues.
pub struct Snapshot(Box<Drive>);

impl std::fmt::Debug for Drive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Drive { now, state, outstanding, .. } = self;
        let mut debug = f.debug_struct("Drive");
        debug.field("now", now).field("state", state).field("outstanding", outstanding).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Snapshot").field(&self.0).finish()
    }
}

impl Drive {
    /// Builds the drive that `config` describes in its initial state, at time 0.
    ///
    /// # Errors
    /// If the drive cannot be built, or `config` has a key that a stepped drive does not support.
    pub fn new(config: &Config) -> Result<Drive, RunError> {
        Drive::prepared(config, false, None)
    }

    /// Like [`Drive::new`], but with the oracles (independent checks of the run) enabled: the drive fails at the first violation.
    ///
    /// # Errors
    /// Like [`Drive::new`].
    pub fn checked(config: &Config) -> Result<Drive, RunError> {
        Drive::prepared(config, true, None)
    }

    /// Like [`Drive::new`], or like [`Drive::checked`] if `is_checked`. Takes the initial state from `drives`; if `None`, prepares it for this drive
    /// only.
    ///
    /// # Errors
    /// Like [`Drive::new`].
    pub fn prepared(config: &Config, is_checked: bool, drives: Option<&PreparedDrives>) -> Result<Drive, RunError> {
        check_steppable(config)?;
        let names = config.streams().len();
        let sources = (0..names).map(|_| RequestSource::Submitted(Submitted::default())).collect();
        let mut simulation = Simulation::assembled(
            config,
            info_of(config.fabric.kind),
            sources,
            &ExpectedWrites::unknown(),
            drives,
            &Control::default(),
        )?;
        simulation.require_policies()?;
        if is_checked {
            simulation.enable_checks();
        }
        let built = simulation.unstarted_drive();
        built.frontend.open_for_submissions();
        let streams = (0..names as u32)
            .map(|stream| StreamState { capacity: built.frontend.host.capacity(StreamId(stream)), last: Time::ZERO });
        let (streams, sector) = (streams.collect(), built.geometry.sector_size);
        let Simulation { drive, needs, .. } = simulation;
        Ok(Drive {
            config: std::sync::Arc::new(config.clone()),
            is_checked,
            drive,
            needs,
            control: std::sync::Arc::default(),
            streams,
            sector,
            now: Time::ZERO,
            state: State::New(None),
            power_cut: config.power.cut,
            outstanding: 0,
            started: Instant::now(),
        })
    }

    /// Returns the simulated time to which the drive was advanced.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the number of requests of all streams that were submitted and have not completed.
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Returns the sector size. The offset and the size of each request must be multiples of the sector size.
    pub fn sector_size(&self) -> Bytes {
        self.sector
    }

    /// Returns the number of bytes that the stream at the index `stream` can address; `None` if there is no such stream.
    pub fn capacity(&self, stream: usize) -> Option<Bytes> {
        self.streams.get(stream).map(|stream| stream.capacity)
    }

    /// Submits a request. Returns its id; ids count up from 0. A request beyond the capacity completes with an error status.
    ///
    /// # Errors
    /// If the request arrives before the current time of the drive or before the last request of its stream, or if it is invalid (stream, time,
    /// alignment or size). Also if the power was cut or the drive has failed.
    pub fn submit(&mut self, request: Submission) -> Result<u64, StepError> {
        self.require_open()?;
        self.check(&request)?;
        Ok(self.accept(request))
    }

    /// Submits requests in order. Returns the id of the first request; the ids of the others follow. Submits nothing if one of the requests is
    /// invalid.
    ///
    /// # Errors
    /// Like [`Drive::submit`], with the index of the invalid request in `requests`.
    pub fn submit_all(
        &mut self,
        requests: impl Iterator<Item = Submission> + Clone,
    ) -> Result<u64, (usize, StepError)> {
        self.require_open().map_err(|error| (0, error))?;
        let before: Vec<Time> = self.streams.iter().map(|stream| stream.last).collect();
        let checked = requests.clone().enumerate().try_for_each(|(place, request)| {
            self.check(&request).map_err(|error| (place, error))?;
            self.streams[request.stream].last = request.time;
            Ok(())
        });
        if let Err(refused) = checked {
            self.streams.iter_mut().zip(before).for_each(|(stream, last)| stream.last = last);
            return Err(refused);
        }
        let first = self.drive.completions().submitted;
        requests.for_each(|request| {
            self.accept(request);
        });
        Ok(first)
    }

    fn require_open(&self) -> Result<(), StepError> {
        match self.state {
            State::New(_) | State::Idle | State::Busy => Ok(()),
            State::Cut(at) => Err(StepError::PowerCut { at }),
            State::Failed => Err(StepError::Failed),
        }
    }

    fn check(&self, request: &Submission) -> Result<(), StepError> {
        let &Submission { time, kind, offset, size, stream } = request;
        let Some(&StreamState { last, .. }) = self.streams.get(stream) else {
            return Err(StepError::NoStream { stream, count: self.streams.len() });
        };
        if time < self.now {
            return Err(StepError::Late { time, now: self.now });
        }
        if time < last {
            return Err(StepError::OutOfOrder { stream, time, last });
        }
        if time > Time::RUN_MAX {
            return Err(StepError::TooFar { time });
        }
        let sector = self.sector.as_u64();
        for (what, bytes) in [("offset", offset), ("size", size)] {
            if !bytes.as_u64().is_multiple_of(sector) {
                return Err(StepError::Unaligned { what, bytes: bytes.as_u64(), sector });
            }
        }
        if (size == Bytes::ZERO) != (kind == RequestKind::Flush) {
            let expected = if kind == RequestKind::Flush { "no bytes" } else { "at least one sector" };
            return Err(StepError::Size { kind: kind.name(), expected, bytes: size.as_u64() });
        }
        if offset.as_u64().checked_add(size.as_u64()).is_none() {
            return Err(StepError::TooLarge { offset: offset.as_u64(), bytes: size.as_u64() });
        }
        Ok(())
    }

    /// Submits a request that [`check`](Self::check) accepts. Returns the id of the request.
    fn accept(&mut self, request: Submission) -> u64 {
        let Submission { time: arrival, kind, offset, size, stream } = request;
        self.streams[stream].last = arrival;
        self.state = match self.state {
            State::New(first) => State::New(Some(first.unwrap_or(arrival).min(arrival))),
            _ => State::Busy,
        };
        self.outstanding += 1;
        self.drive.accept(StreamId(stream as u32), IoRequest { arrival, kind, offset, size, stream: 0 })
    }

    /// Returns the simulated time of the next event; `None` if nothing happens until a request is submitted. The event need not complete a request.
    pub fn next_event(&self) -> Option<Time> {
        match self.state {
            State::New(first) => first,
            State::Busy => self.drive.next_event().map(|at| at.later(self.now)),
            _ => None,
        }
    }

    /// Simulates all events up to and including `time`. Returns the requests that completed in this step, in order of completion.
    ///
    /// # Errors
    /// If `time` is before the current time of the drive or beyond [`Time::RUN_MAX`], if the drive has failed, or if an oracle finds a violation.
    pub fn advance(&mut self, time: Time) -> Result<&[Completion], RunError> {
        if time > Time::RUN_MAX {
            return Err(StepError::TooFar { time }.into());
        }
        self.step(time, false)
    }

    /// Like [`Drive::advance`], but stops early at the next completion, or when all work for requests is done. Without `time`, nothing else stops the
    /// step.
    ///
    /// # Errors
    /// Like [`Drive::advance`].
    pub fn advance_to_completion(&mut self, time: Option<Time>) -> Result<&[Completion], RunError> {
        if let Some(time) = time.filter(|&time| time > Time::RUN_MAX) {
            return Err(StepError::TooFar { time }.into());
        }
        self.step(time.unwrap_or(Time::MAX), true)
    }

    /// Simulates until all submitted requests have completed. Returns the requests that completed in this step, in order of completion.
    ///
    /// # Errors
    /// If the drive has failed, or an oracle finds a violation.
    pub fn drain(&mut self) -> Result<&[Completion], RunError> {
        self.step(Time::MAX, false)
    }

    fn step(&mut self, until: Time, to_completion: bool) -> Result<&[Completion], RunError> {
        if self.state == State::Failed {
            return Err(StepError::Failed.into());
        }
        if until < self.now {
            return Err(StepError::Backwards { time: until, now: self.now }.into());
        }
        if let State::New(first) = self.state {
            self.drive.open(self.needs).inspect_err(|_| self.state = State::Failed)?;
            self.state = if first.is_some() { State::Busy } else { State::Idle };
        }
        self.drive.completions().begin(to_completion);
        if self.state == State::Busy {
            let stepped = self.drive.step(until, self.needs, &self.control);
            let is_over = stepped.inspect_err(|_| self.state = State::Failed)?;
            if is_over {
                self.state = match self.power_cut {
                    Some(at) if self.drive.is_cut_off() => State::Cut(at),
                    _ => State::Idle,
                };
            }
        }
        // Without an end time, or after an early stop at a completion, the current time is the time of the last event.
        let done = self.drive.completions().done.len();
        let pauses_early = to_completion && done > 0;
        self.now = if until == Time::MAX || pauses_early { self.drive.now().later(self.now) } else { until };
        self.outstanding -= done as u64;
        Ok(&self.drive.completions().done)
    }

    /// Removes and returns the completions of the last step, without copying them. Empty if they were taken before.
    pub fn take_completions(&mut self) -> Vec<Completion> {
        std::mem::take(&mut self.drive.completions().done)
    }

    /// Returns the report of a run that ends now. The run counts as complete if all requests have completed, otherwise as interrupted. Only a copy of
    /// the drive is ended, so the drive itself can continue.
    ///
    /// # Errors
    /// If the drive has failed, or an oracle finds a violation at its end.
    pub fn report(&self) -> Result<Report, RunError> {
        self.clone().finish()
    }

    /// Like [`Drive::report`], but ends this drive instead of a copy.
    ///
    /// # Errors
    /// Like [`Drive::report`].
    pub fn finish(mut self) -> Result<Report, RunError> {
        match self.state {
            State::Failed => Err(StepError::Failed.into()),
            state => {
                let is_left = matches!(state, State::Busy | State::New(Some(_)));
                if let State::New(_) = state {
                    self.drive.open(self.needs)?;
                }
                self.drive.end(is_left, self.started)
            }
        }
    }

    /// Returns a copy of the whole state, for [`Drive::restore`].
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(Box::new(self.clone()))
    }

    /// Restores the state of the drive from `snapshot`. Equal submissions afterwards have equal results.
    ///
    /// # Errors
    /// If the snapshot is of a drive with another configuration, or only one of the two has the oracles enabled. The drive is then unchanged.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), StepError> {
        let other = &*snapshot.0;
        self.refuse_other(other)?;
        *self = other.clone();
        Ok(())
    }

    /// Returns an error if `other` has another configuration, or only one of the two drives has the oracles enabled.
    fn refuse_other(&self, other: &Drive) -> Result<(), StepError> {
        let shown = |value: Option<String>| value.unwrap_or_else(|| "not set".to_owned());
        let differs = |key: String, theirs: String, own: String| Err(StepError::OtherDrive { key, theirs, own });
        if !std::sync::Arc::ptr_eq(&self.config, &other.config)
            && let Some((key, [own, theirs])) = self.config.first_difference(&other.config)
        {
            return differs(key, shown(theirs), shown(own));
        }
        if self.is_checked != other.is_checked {
            return differs("check".to_owned(), other.is_checked.to_string(), self.is_checked.to_string());
        }
        Ok(())
    }
}

/// Returns an error if `config` has a key that sets the arrival of requests, because the caller of a stepped drive decides on arrivals.
/// Also returns an error for `measure.network`, because the state of its recorder cannot be copied.
fn check_steppable(config: &Config) -> Result<(), StepError> {
    const BY_CALLER: &str = "whoever steps a drive says when each request arrives: remove the key";
    let refused = |key: String, value: String, reason| Err(StepError::Key { key, value, reason });
    for stream in config.streams() {
        let section =
            if config.stream.is_empty() { "replay".to_owned() } else { format!("stream.{}.replay", stream.name) };
        let replay = &stream.replay;
        if replay.mode == ReplayMode::Closed {
            return refused(format!("{section}.mode"), "\"closed\"".to_owned(), BY_CALLER);
        }
        if replay.time_scale != 1.0 {
            return refused(format!("{section}.time-scale"), replay.time_scale.to_string(), BY_CALLER);
        }
        if replay.start_delay != Time::ZERO {
            return refused(format!("{section}.start-delay"), format!("\"{}\"", replay.start_delay), BY_CALLER);
        }
        if replay.phase != 0 {
            return refused(format!("{section}.phase"), replay.phase.to_string(), BY_CALLER);
        }
        if let Some(stop) = replay.stop_time {
            return refused(format!("{section}.stop-time"), format!("\"{stop}\""), BY_CALLER);
        }
    }
    if config.measure.network {
        let reason = "only a run records its interconnect: remove the key, and run the requests as a trace";
        return refused("measure.network".to_owned(), "true".to_owned(), reason);
    }
    Ok(())
}
