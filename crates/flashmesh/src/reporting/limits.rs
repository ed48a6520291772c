//! What bounds the run, and how fast the same work could have been done at best.

use crate::host::interface::Interface;
use crate::host::link::Direction;
use crate::measure::bound::{Bound, Load};
use crate::measure::breakdown::BreakdownSummary;
use crate::measure::lower_bound::{DieWork, LowerBound, Work};
use crate::measure::report::Utilisation;
use crate::units::Time;

use super::Snapshot;

impl Snapshot<'_> {
    pub(super) fn bound(&self, utilisation: &Utilisation, breakdown: Option<&BreakdownSummary>, end: Time) -> Bound {
        let now = self.now.as_secs_f64();
        let share_of_run = |time: Time| if now > 0.0 { (time.as_secs_f64() / now).min(1.0) } else { 0.0 };
        let works = |die: &DieWork| share_of_run(die.least(self.datapath.has_read_cache()));
        let at_work: Vec<f64> = self.work().iter().map(works).collect();
        let unit = if self.datapath.dies_take_turns() { "chip" } else { "die" };
        let dram = self.controller.cache().map(|device| share_of_run(device.dram_busy(self.now)));
        let fabric = self.datapath.fabric;
        let held = fabric.links_held().map(share_of_run);
        Bound::find(utilisation, (unit, &at_work), dram, (fabric.layout(), &held), breakdown, self.load(end))
    }

    /// With several open streams, they are overdue when one is.
    fn load(&self, end: Time) -> Load {
        let streams = self.frontend.streams;
        if !streams.iter().all(|stream| stream.replay.is_open()) {
            return Load::OnCompletion;
        }
        let overdue = streams.iter().map(|stream| stream.replay.overdue()).max().unwrap_or_default();
        let overdue_share = if end == Time::ZERO { 0.0 } else { overdue.as_secs_f64() / end.as_secs_f64() };
        Load::Open { overdue_share }
    }

    fn work(&self) -> Vec<DieWork> {
        let dies = self.datapath.work();
        if !self.datapath.dies_take_turns() {
            return dies;
        }
        let chips = dies.chunks(self.geometry.dies_per_chip as usize);
        chips.map(|dies| dies.iter().copied().fold(DieWork::default(), DieWork::and)).collect()
    }

    /// Shortest possible makespan of the same work.
    pub(super) fn lower_bound(&self, interrupted: bool) -> LowerBound {
        let (end, interface, fabric) = (self.now, self.frontend.interface, self.datapath.fabric);
        let open = self.frontend.streams.iter().map(|stream| &stream.replay).filter(|replay| replay.is_open());
        let held = fabric.links_held();
        let work = Work {
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
