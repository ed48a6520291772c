//! What is counted of requests.

use crate::config::Measure;
use crate::fabric::Cause;
use crate::host::status::Status;
use crate::measure::host::QueueWork;
use crate::measure::stream::StreamMeasures;
use crate::measure::timeline::Timeline;
use crate::units::Time;

#[derive(Clone)]
pub struct Counters {
    pub issued: u64,
    pub completed: u64,
    pub streams: Vec<StreamMeasures>,
    pub queues: Vec<QueueWork>,
    pub statuses: [u64; Status::ALL.len()],
    /// When all dirty data was on flash, if the run waited for that.
    pub flushed: Time,
    /// Requests that met no path conflict.
    pub requests_free: u64,
    /// Requests that met no path conflict with another request.
    pub requests_free_of_others: u64,
    pub requests_blocked: [u64; Cause::ALL.len()],
    pub timeline: Option<Box<Timeline>>,
    /// When the current interval ends, if time ends it.
    pub due: Time,
    /// Whether the current interval has its number of requests.
    pub is_due: bool,
}

impl Counters {
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
