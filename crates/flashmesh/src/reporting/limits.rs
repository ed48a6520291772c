//! Bottleneck of a run, and the lower bound of its makespan.

use crate::host::interface::Interface;
use crate::host::link::Direction;
use crate::measure::bound::{ArrivalMode, Bound, CacheShares};
use crate::measure::breakdown::BreakdownSummary;
use crate::measure::lower_bound::{DieWork, LowerBound, RunWork};
use crate::measure::part_times::PartTimes;
use crate::units::Time;

use super::Snapshot;

impl Snapshot<'_> {
    /// Returns the busy times of all parts from the start of the run to the time of the snapshot.
    pub fn part_times(&self) -> PartTimes {
        let (now, interface, fabric) = (self.now, self.frontend.interface, self.datapath.fabric);
        PartTimes {
            span: now,
            host_link: [Direction::ToDrive, Direction::ToHost].map(|direction| interface.link().busy(direction, now)),
            adapter: interface.adapter_busy(now),
            firmware: self.controller.cores().map(|cores| cores.busy(now)),
            dram: self.controller.cache().map(|device| device.dram_busy(now)),
            throttle: self.controller.cache().map_or(Time::ZERO, |device| device.throttle_waited(now)),
            links: fabric.usage().iter().map(|link| link.busy_until(now)).collect(),
            links_held: fabric.link_hold_times(),
            controllers: fabric.controller_busy_times(now),
            dies: self.datapath.dies.iter().map(|die| die.busy(now)).collect(),
            dies_gc: self.datapath.dies.iter().map(|die| die.internal_busy(now)).collect(),
            work: self.work(),
            queue_full: self.queue_full_times(),
        }
    }

    /// Returns the bottleneck of the run, or of its measured window, from its busy times `times` and its mean latency by parts. `breakdown`
    /// is `None` if no request completed. `ran` is the time from the start of the run or window to its end.
    pub(super) fn bound(&self, times: &PartTimes, breakdown: Option<&BreakdownSummary>, ran: Time) -> Bound {
        let works = |die: &DieWork| times.share(die.min_busy_time(self.datapath.has_read_cache()));
        let at_work: Vec<f64> = times.work.iter().map(works).collect();
        let unit = if self.datapath.dies_take_turns() { "chip" } else { "die" };
        let cache =
            CacheShares { dram: times.dram.map(|busy| times.share(busy)), throttle: times.share(times.throttle) };
        let held = times.links_held.clone().map(|held| times.share(held));
        let overdue = times.queue_full.as_ref().map(|by_stream| by_stream.iter().copied().max().unwrap_or_default());
        let load = overdue.map_or(ArrivalMode::OnCompletion, |overdue| ArrivalMode::Open {
            overdue_share: if ran == Time::ZERO { 0.0 } else { overdue.as_secs_f64() / ran.as_secs_f64() },
        });
        let layout = self.datapath.fabric.layout();
        Bound::find(&times.utilisation(), (unit, &at_work), cache, (layout, &held), breakdown, load)
    }

    /// Returns for each stream the time for which an arrived request waited because the queue of the stream was full. `None` if any stream is
    /// closed-loop, that is, issues requests as others complete.
    fn queue_full_times(&self) -> Option<Vec<Time>> {
        let streams = self.frontend.streams;
        let is_open = streams.iter().all(|stream| stream.replay.is_open());
        is_open.then(|| streams.iter().map(|stream| stream.replay.overdue()).collect())
    }

    fn work(&self) -> Vec<DieWork> {
        let dies = self.datapath.work();
        if !self.datapath.dies_take_turns() {
            return dies;
        }
        let chips = dies.chunks(self.geometry.dies_per_chip as usize);
        chips.map(|dies| dies.iter().copied().fold(DieWork::default(), DieWork::and)).collect()
    }

    /// Returns the lower bound of the makespan for the work of the run. With `interrupted`, the run ended with work in progress.
    pub(super) fn lower_bound(&self, interrupted: bool) -> LowerBound {
        let (end, interface, fabric) = (self.now, self.frontend.interface, self.datapath.fabric);
        let open = self.frontend.streams.iter().map(|stream| &stream.replay).filter(|replay| replay.is_open());
        let held = fabric.link_hold_times();
        let work = RunWork {
            dies: &self.work(),
            read_cache: self.datapath.has_read_cache(),
            shared_resources: &fabric.shared_resources(),
            usage: fabric.usage(),
            held: held.by_operations(),
            link_to_drive: interface.link().busy(Direction::ToDrive, end),
            link_to_host: interface.link().busy(Direction::ToHost, end),
            adapter: interface.adapter_busy(end),
            firmware: self.controller.cores().map(|cores| cores.busy(end)),
            dram: self.controller.cache().map(|device| device.dram_busy(end)),
            last_arrival: open.map(|replay| replay.last_arrival()).max(),
            end,
            interrupted,
        };
        work.lower_bound()
    }
}
