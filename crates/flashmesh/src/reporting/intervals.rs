//! Current counts and fill levels of the parts of a drive, for the reports of the measured window, of epochs and of the steady state.

use crate::host::interface::Interface;
use crate::host::link::Direction;
use crate::measure::batches::FillLevels;
use crate::measure::interval::{BusyTimes, DriveCounts, IntervalReport, PartCounts};
use crate::measure::timeline::{MeasuredWindow, WarmUpReport};
use crate::units::Time;

use super::Snapshot;

#[derive(Default)]
pub(super) struct IntervalReports {
    pub warm_up: Option<WarmUpReport>,
    pub measured: Option<MeasuredWindow>,
    pub epochs: Vec<IntervalReport>,
}

impl Snapshot<'_> {
    pub(super) fn interval_reports(&self, end: Time) -> IntervalReports {
        let Some(timeline) = &self.frontend.counters.timeline else { return IntervalReports::default() };
        let counts = self.counts();
        let parts = PartCounts { links: self.datapath.fabric.usage().len(), dies: self.datapath.dies.len() };
        let begun: Vec<(&str, Time)> =
            self.frontend.streams.iter().map(|stream| (stream.config.name.as_str(), stream.replay.begun())).collect();
        let (warm_up, measured) = timeline.measured(end, &counts, parts, &begun);
        IntervalReports { warm_up, measured, epochs: timeline.epochs(end, &counts, parts) }
    }

    /// Returns the current fill levels of the drive: free pages, dirty pages of the device cache, pages in the SLC cache, outstanding requests, and
    /// the lag of open replays.
    pub fn levels(&self) -> FillLevels {
        let cache = self.controller.cache().map(|device| device.state());
        let streams = || self.frontend.streams.iter();
        let (ftl, collections) = (self.controller.ftl(), self.controller.collection_levels());
        FillLevels {
            free_pages: ftl.blocks().free_pages_of_drive(),
            reserve_pages: ftl.blocks().free_pages_of_drive() + collections.reclaimed_pages,
            victims: collections.victims,
            pages_before_gc: ftl.pages_before_collection(),
            dirty_pages: cache.map_or(0, |cache| cache.dirty_pages()),
            dirty_limit: cache.map_or(0, |cache| cache.dirty_limit()),
            slc_pages: self.controller.ftl().blocks().slc_pages_in_use(),
            outstanding: streams().map(|stream| stream.replay.in_flight() as u64).sum(),
            replay_lag_ps: streams().map(|stream| stream.replay.lag(self.now).as_ps()).max().unwrap_or(0),
        }
    }

    /// Returns the counts from the start of the run to the time of the snapshot, which may lie between two events.
    pub fn counts(&self) -> DriveCounts {
        let at = self.now;
        let ps = |time: Time| u128::from(time.as_ps());
        let link = self.frontend.interface.link();
        let map = self.controller.mapping_cache().map(|map| map.counters());
        let timeline = self.frontend.counters.timeline.as_deref();
        DriveCounts {
            span: at,
            gc: self.controller.counters().gc.clone(),
            flash: self.flash(),
            map_lookups: map.map_or(0, |map| map.hits + map.misses + map.joined_misses),
            map_hits: map.map_or(0, |map| map.hits),
            busy: BusyTimes {
                link_to_drive: ps(link.busy(Direction::ToDrive, at)),
                link_to_host: ps(link.busy(Direction::ToHost, at)),
                links: self.datapath.fabric.usage().iter().map(|usage| ps(usage.busy_until(at))).sum(),
                dies: self.datapath.dies.iter().map(|die| ps(die.busy(at))).sum(),
                dies_gc: self.datapath.dies.iter().map(|die| ps(die.internal_busy(at))).sum(),
                queues: timeline.map_or(0, |timeline| timeline.occupancy_until(at)),
            },
        }
    }
}
