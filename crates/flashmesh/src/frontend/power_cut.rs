//! The end of a run with dirty pages in the device cache: the pages are only reported, or are flushed, or the power is cut.
//!
//! After a power cut, the drive accepts nothing from the host. Requests in flight are lost: they neither complete nor count. With capacitors the run
//! continues until all dirty pages are programmed. Transactions of requests are first removed from the queues, so that they do not delay the
//! destages. Without capacitors, running programs are lost as well: their pages are torn, and recovery finds the older versions. `persistence.policy`
//! selects how the map survives.

use crate::cache::Cache;
use crate::controller::{Backend, Controller, DeviceCache, programs_under_way};
use crate::datapath::Datapath;
use crate::kernel::model::Model;
use crate::measure::cache::PowerCutReport;
use crate::power::energy;
use crate::units::Time;

use super::Frontend;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ending {
    #[default]
    NotYet,
    Flushing,
    Over,
}

#[derive(Clone, Debug)]
pub(super) struct PowerCut {
    pub(super) report: PowerCutReport,
    /// Energy of the drive, number of destages, and number of programs of the map and its journal, from the start of the run to the power cut. The
    /// report subtracts them from the totals at the end of the flush.
    energy_j: f64,
    destages: u64,
    map_programs: u64,
}

impl<M: Model> Frontend<M> {
    /// Returns whether the power was cut. All events of the host after the cut are ignored.
    #[inline(always)]
    pub fn is_cut_off(&self) -> bool {
        M::ALL_FEATURES && self.power_cut.is_some()
    }

    /// Returns whether the run is over. Called after each event. Begins the final flush of the device cache if the flush is due.
    #[inline(always)]
    pub fn is_over(&mut self, backend: &mut Backend<M>) -> bool {
        if self.is_cut_off() {
            return self.ending == Ending::Over;
        }
        self.host.requests.is_empty()
            && !self.host.streams.iter().any(|stream| stream.replay.will_issue())
            && self.is_at_rest(backend)
    }

    /// Returns whether the final flush is unfinished, or requests are in flight without a power cut. The run has then stalled if no event is left.
    pub fn is_stalled(&self) -> bool {
        let awaited = self.power_cut.is_none() && self.host.in_flight() > 0;
        awaited || self.ending == Ending::Flushing
    }

    /// Returns whether the final flush of the device cache has ended, or none is configured; begins the flush at the first call. Called when no
    /// request is left.
    fn is_at_rest(&mut self, backend: &mut Backend<M>) -> bool {
        if backend.controller.cache().is_none() || !self.rules.flushes_at_end {
            return true;
        }
        if self.ending == Ending::NotYet {
            self.flush_everything(backend);
            self.handle_completions(backend);
            backend.settle();
        }
        self.ending == Ending::Over
    }

    fn flush_everything(&mut self, backend: &mut Backend<M>) {
        self.ending = Ending::Flushing;
        backend.flush(None, 0..u32::MAX);
    }

    /// Records the end of a flush that the drive itself started, at the end of the run or after a power cut.
    pub(super) fn flushed(&mut self, backend: &Backend<M>) {
        let Backend { controller, datapath, kernel } = backend;
        let now = kernel.now();
        self.ending = Ending::Over;
        let energy_j = self.energy_j(datapath, now);
        match &mut self.power_cut {
            None => self.host.counters.flushed = now,
            Some(cut) => {
                let report = &mut cut.report;
                report.pages_programmed = destages(controller) - cut.destages;
                report.map_pages_programmed = map_programs(controller) - cut.map_programs;
                report.duration_ps = (now - Time::from_ps(report.at_ps)).as_ps();
                report.energy_j = energy_j - cut.energy_j;
            }
        }
    }

    fn energy_j(&self, datapath: &Datapath<M>, now: Time) -> f64 {
        energy::report(&self.config, &datapath.stats().activity(now)).energy_j.total
    }

    /// Cuts the power: records the lost data, and with capacitors begins the flush.
    pub fn cut_power(&mut self, backend: &mut Backend<M>) {
        let now = backend.kernel.now();
        let state = backend.controller.cache().map(DeviceCache::state);
        let (unsaved, acknowledged) =
            (state.map(Cache::unsaved).unwrap_or_default(), state.map(Cache::unsaved_acknowledged).unwrap_or_default());
        let sector = self.geometry.sector_size.as_u64();
        let capacitors = self.rules.capacitors;
        let mut report = PowerCutReport {
            at_ps: now.as_ps(),
            capacitors,
            requests_lost: self.host.requests.len() as u64,
            dirty_pages: unsaved.pages,
            dirty_bytes: unsaved.sectors * sector,
            ..PowerCutReport::default()
        };
        if !capacitors {
            report.pages_lost = acknowledged.pages;
            report.bytes_lost = acknowledged.sectors * sector;
            report.programs_lost = programs_under_way(&backend.datapath);
        }
        let (energy_j, destages) = (self.energy_j(&backend.datapath, now), destages(&backend.controller));
        let map_programs = map_programs(&backend.controller);
        self.power_cut = Some(Box::new(PowerCut { report, energy_j, destages, map_programs }));
        if !capacitors {
            self.ending = Ending::Over;
            return;
        }
        self.flushes.clear();
        self.held.clear();
        backend.cut_off();
        self.flush_everything(backend);
    }
}

/// Returns the number of destages so far.
fn destages(controller: &Controller) -> u64 {
    controller.cache().map_or(0, |device| device.state().counts().destages)
}

/// Returns the number of programs of the map and its journal so far.
fn map_programs(controller: &Controller) -> u64 {
    let flash = &controller.counters().flash;
    flash.map_programs + flash.journal_programs
}
