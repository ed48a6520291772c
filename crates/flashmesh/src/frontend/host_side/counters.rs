//! Counters of requests, from the start of the run.

use crate::config::Config;
use crate::fabric::Cause;
use crate::host::status::Status;
use crate::measure::batches::{Batches, FillLevels};
use crate::measure::host::QueueOccupancy;
use crate::measure::interval::DriveCounts;
use crate::measure::request_budget::RequestBudget;
use crate::measure::stream::StreamMeasures;
use crate::measure::timeline::Timeline;
use crate::units::Time;

#[derive(Clone)]
pub struct Counters {
    pub issued: u64,
    pub completed: u64,
    pub streams: Vec<StreamMeasures>,
    pub queues: Vec<QueueOccupancy>,
    pub statuses: [u64; Status::ALL.len()],
    /// Time at which all dirty data was on flash after the last request; zero without a flush at the end of the run.
    pub flushed: Time,
    /// Number of requests whose transfers never waited for a path of the interconnect.
    pub requests_free: u64,
    /// Number of requests whose transfers never waited for a path used for another request (path conflict).
    pub requests_free_of_others: u64,
    pub requests_blocked: [u64; Cause::ALL.len()],
    pub timeline: Option<Box<Timeline>>,
    pub batches: Batches,
    /// The next of these times: the end of an epoch or of the warm-up in `timeline`, and the next sample of the drive in `batches`. `Time::MAX` if
    /// none is scheduled.
    pub due: Time,
    /// Whether `timeline` must be cut now, because the last completion filled a batch, or ended the warm-up or the run.
    pub is_due: bool,
}

impl Counters {
    /// Returns the counters of a run that ends when the requests to measure (`goal`) have completed, or without a `goal` when its workloads end.
    pub(super) fn new(streams: usize, config: &Config, goal: Option<RequestBudget>) -> Counters {
        let timeline = Timeline::new(&config.measure, goal, streams);
        let mut counters = Counters {
            issued: 0,
            completed: 0,
            streams: (0..streams).map(|_| StreamMeasures::default()).collect(),
            queues: vec![QueueOccupancy::default(); streams],
            statuses: [0; Status::ALL.len()],
            flushed: Time::ZERO,
            requests_free: 0,
            requests_free_of_others: 0,
            requests_blocked: [0; Cause::ALL.len()],
            due: Time::MAX,
            is_due: false,
            timeline: timeline.map(Box::new),
            batches: Batches::default(),
        };
        counters.update_due();
        counters
    }

    /// Samples the completed requests in `batches` at each sampling time that is due by `now`. A sample counts the requests that completed
    /// before its sampling time.
    #[cold]
    #[inline(never)]
    pub(super) fn mark_requests(&mut self, now: Time) {
        self.batches.sample_requests(now, &self.streams);
        self.update_due();
    }

    /// Closes the intervals that end at the time of `counts`, and samples the drive in `batches` if a sample is due at that time. `levels`
    /// are the fill levels of the drive at that time. Returns whether the measured window begins at that time.
    pub fn cut(&mut self, counts: &DriveCounts, levels: FillLevels) -> bool {
        let is_mark = self.batches.due() == counts.span;
        if is_mark {
            self.batches.sample_drive(counts, levels);
        }
        // Warm-up is checked only at sampling times, not at the ends of epochs. Otherwise, measuring epochs would change when the warm-up
        // ends.
        let marks = is_mark.then_some(&self.batches);
        let begins = self.timeline.as_mut().is_some_and(|timeline| timeline.cut(counts, marks));
        if begins {
            self.batches.restart(&self.streams, counts, levels);
        }
        self.update_due();
        self.is_due = false;
        begins
    }

    /// Returns whether all requests to measure have completed. Always false without a `goal` for their number.
    pub fn is_done(&self) -> bool {
        self.timeline.as_ref().is_some_and(|timeline| timeline.is_done())
    }

    fn update_due(&mut self) {
        let of_timeline = self.timeline.as_ref().map_or(Time::MAX, |timeline| timeline.due());
        self.due = of_timeline.min(self.batches.due());
    }
}
