//! The end of a run that leaves dirty pages in the device cache: they are reported, flushed, or the power is cut.
//!
//! When the power is cut the drive takes nothing more from the host, and what is under way for requests is lost: it
//! neither completes nor counts. With capacitors all dirty pages are programmed then, as the run goes on; what waits in
//! the queues for requests is given up first, so that it is in nobody's way. Without, what the array is programming is
//! lost as well: its page is torn, and the older version is found again. How the map of the translation layer survives is said by
//! `persistence.policy`.

use crate::cache::Cache;
use crate::datapath::Datapath;
use crate::firmware::{DeviceCache, Firmware};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::measure::cache::PowerCutReport;
use crate::power::energy;
use crate::units::Time;

use super::Frontend;

/// How the run ends once nothing more comes from the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ending {
    /// It has not come to that.
    #[default]
    NotYet,
    /// Dirty pages are written to flash.
    Flushing,
    /// There is nothing more to do.
    Over,
}

/// The power cut, once it has come.
#[derive(Clone, Debug)]
pub(super) struct PowerCut {
    report: PowerCutReport,
    /// What the drive had taken, and programmed, by then.
    energy_j: f64,
    destages: u64,
    map_programs: u64,
}

impl<M: Model> Frontend<M> {
    /// Whether the power was cut: nothing more comes from the host.
    #[inline(always)]
    pub fn is_cut_off(&self) -> bool {
        M::FULL && self.power_cut.is_some()
    }

    /// Whether the run is over, now that an event has been handled; it may have to write dirty pages first.
    #[inline(always)]
    pub fn is_over(&mut self, firmware: &mut Firmware, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) -> bool {
        if self.is_cut_off() {
            return self.ending == Ending::Over;
        }
        self.requests.is_empty()
            && !self.streams.iter().any(|stream| stream.replay.will_issue())
            && self.is_at_rest(firmware, datapath, kernel)
    }

    /// Whether the run has come to its end before all was done.
    pub fn is_stalled(&self) -> bool {
        let awaited = self.power_cut.is_none() && self.in_flight() > 0;
        awaited || self.ending == Ending::Flushing
    }

    /// Whether nothing is left to do after the last request.
    fn is_at_rest(&mut self, firmware: &mut Firmware, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) -> bool {
        if firmware.cache().is_none() || !self.rules.flushes_at_end {
            return true;
        }
        if self.ending == Ending::NotYet {
            self.flush_everything(firmware, datapath, kernel);
            self.take_done(firmware, datapath, kernel);
            firmware.settle(datapath, kernel);
        }
        self.ending == Ending::Over
    }

    fn flush_everything(&mut self, firmware: &mut Firmware, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.ending = Ending::Flushing;
        firmware.flush(None, 0..u32::MAX, datapath, kernel);
    }

    /// A flush that the drive itself waits for is done.
    pub(super) fn flushed(&mut self, firmware: &Firmware, datapath: &Datapath<M>, kernel: &Kernel<M>) {
        let now = kernel.now();
        self.ending = Ending::Over;
        let energy_j = self.energy_j(datapath, now);
        match &mut self.power_cut {
            None => self.counters.flushed = now,
            Some(cut) => {
                let report = &mut cut.report;
                report.pages_programmed = destages(firmware) - cut.destages;
                report.map_pages_programmed = map_programs(firmware) - cut.map_programs;
                report.duration_ps = (now - Time::from_ps(report.at_ps)).as_ps();
                report.energy_j = energy_j - cut.energy_j;
            }
        }
    }

    /// What all events have taken up to now.
    fn energy_j(&self, datapath: &Datapath<M>, now: Time) -> f64 {
        energy::report(&self.config, &datapath.activity(now)).energy_j.total
    }

    /// What the cut of the power did, if it came.
    pub fn power_cut_report(&self) -> Option<PowerCutReport> {
        self.power_cut.as_ref().map(|cut| cut.report.clone())
    }

    /// The power is cut now.
    pub fn cut_power(&mut self, firmware: &mut Firmware, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        let state = firmware.cache().map(DeviceCache::state);
        let (unsaved, acknowledged) =
            (state.map(Cache::unsaved).unwrap_or_default(), state.map(Cache::unsaved_acknowledged).unwrap_or_default());
        let sector = self.geometry.sector_size.as_u64();
        let capacitors = self.rules.capacitors;
        let mut report = PowerCutReport {
            at_ps: now.as_ps(),
            capacitors,
            requests_lost: self.requests.len() as u64,
            dirty_pages: unsaved.pages,
            dirty_bytes: unsaved.sectors * sector,
            ..PowerCutReport::default()
        };
        if !capacitors {
            report.pages_lost = acknowledged.pages;
            report.bytes_lost = acknowledged.sectors * sector;
            report.programs_lost = firmware.programs_under_way(datapath);
        }
        let (energy_j, destages) = (self.energy_j(datapath, now), destages(firmware));
        let map_programs = map_programs(firmware);
        self.power_cut = Some(Box::new(PowerCut { report, energy_j, destages, map_programs }));
        if !capacitors {
            self.ending = Ending::Over;
            return;
        }
        self.flushes.clear();
        firmware.cut_off(datapath, kernel);
        self.flush_everything(firmware, datapath, kernel);
    }
}

/// Pages that the device cache has sent to flash.
fn destages(firmware: &Firmware) -> u64 {
    firmware.cache().map_or(0, |device| device.state().counts().destages)
}

/// Pages of the map, and of its journal, that were programmed.
fn map_programs(firmware: &Firmware) -> u64 {
    let flash = &firmware.counters().flash;
    flash.map_programs + flash.journal_programs
}
