//! What is counted of requests.

use crate::config::Measure;
use crate::fabric::Cause;
use crate::host::status::Status;
use crate::measure::host::QueueWork;
use crate::measure::stream::StreamMeasures;
use crate::measure::timeline::Timeline;
use crate::units::Time;

/// What is counted of requests.
pub struct Counters {
    /// Requests issued.
    pub issued: u64,
    /// Requests completed.
    pub completed: u64,
    /// What each stream has completed.
    pub streams: Vec<StreamMeasures>,
    /// By stream.
    pub queues: Vec<QueueWork>,
    /// Requests that ended so.
    pub statuses: [u64; Status::ALL.len()],
    /// When all that was dirty at the end was on flash, if that was waited for.
    pub flushed: Time,
    /// Requests that met no path conflict.
    pub requests_free: u64,
    /// Requests that met no path conflict with another request.
    pub requests_free_of_others: u64,
    /// Requests that each cause was in the way of.
    pub requests_blocked: [u64; Cause::ALL.len()],
    /// Intervals of the run; nothing unless asked for.
    pub timeline: Option<Box<Timeline>>,
    /// When the next of them ends, if time ends it.
    pub due: Time,
    /// Whether one ends now, since enough requests have completed.
    pub is_due: bool,
}

impl Counters {
    /// Nothing counted yet for so many streams; `settings` say what else to measure.
    pub(super) fn new(streams: usize, settings: &Measure) -> Counters {
        let timeline = Timeline::new(settings, streams);
        Counters {
            issued: 0,
            completed: 0,
            streams: (0..streams).map(|_| StreamMeasures::default()).collect(),
            queues: vec![QueueWork::default(); streams],
            statuses: [0; Status::ALL.len()],
            flushed: Time::ZERO,
            requests_free: 0,
            requests_free_of_others: 0,
            requests_blocked: [0; Cause::ALL.len()],
            due: timeline.as_ref().map_or(Time::MAX, Timeline::due),
            is_due: false,
            timeline: timeline.map(Box::new),
        }
    }
}
