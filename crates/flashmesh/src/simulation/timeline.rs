//! What the parts of the drive have done so far, for what is measured in stretches of the run.

use crate::fabric::Fabric;
use crate::host::interface::Interface;
use crate::host::link::Direction;
use crate::measure::stretch::{Busy, Counts, Parts, StretchReport};
use crate::measure::timeline::{MeasuredReport, WarmUpReport};
use crate::units::Time;

use super::Simulation;

/// What the stretches of a run come to.
#[derive(Default)]
pub(super) struct TimelineReports {
    pub warm_up: Option<WarmUpReport>,
    pub measured: Option<MeasuredReport>,
    pub epochs: Vec<StretchReport>,
}

impl Simulation {
    /// Ends the stretches of the run that end before `now`, before anything happens then.
    #[cold]
    #[inline(never)]
    pub(super) fn cut_timeline(&mut self, now: Time) {
        while self.measures.due <= now {
            self.cut_timeline_at(self.measures.due);
        }
    }

    /// Ends the stretches of the run that end at `at`.
    pub(super) fn cut_timeline_at(&mut self, at: Time) {
        let counts = self.counts(at);
        if let Some(timeline) = &mut self.measures.timeline {
            timeline.cut(&counts);
        }
        self.measures.due = self.measures.timeline.as_ref().map_or(Time::MAX, |timeline| timeline.due());
    }

    /// What the stretches of a run that ends at `end` come to.
    pub(super) fn timeline_reports(&self, end: Time) -> TimelineReports {
        let Some(timeline) = &self.measures.timeline else { return TimelineReports::default() };
        let counts = self.counts(self.now());
        let parts = Parts { links: self.fabric.usage().len(), dies: self.dies.len() };
        let names: Vec<&str> = self.streams.iter().map(|stream| stream.config.name.as_str()).collect();
        let (warm_up, measured) = timeline.measured(end, &counts, parts, &names);
        TimelineReports { warm_up, measured, epochs: timeline.epochs(end, &counts, parts) }
    }

    /// What the drive has done by `at`, which lies between the last event and the next.
    pub(super) fn counts(&self, at: Time) -> Counts {
        let ps = |time: Time| u128::from(time.as_ps());
        let link = self.interface.link();
        let map = self.map.as_ref().map(|map| map.counters());
        Counts {
            span: at,
            gc: self.measures.gc.clone(),
            flash: self.measures.flash.clone(),
            map_wanted: map.map_or(0, |map| map.hits + map.misses + map.joined_misses),
            map_found: map.map_or(0, |map| map.hits),
            busy: Busy {
                link_to_drive: ps(link.busy(Direction::ToDrive, at)),
                link_to_host: ps(link.busy(Direction::ToHost, at)),
                links: self.fabric.usage().iter().map(|usage| ps(usage.busy_by(at))).sum(),
                dies: self.dies.iter().map(|die| ps(die.busy(at))).sum(),
                dies_gc: self.dies.iter().map(|die| ps(die.internal_busy(at))).sum(),
                queues: self.measures.timeline.as_deref().map_or(0, |timeline| timeline.held_by(at)),
            },
        }
    }
}
