//! The end of a run that leaves dirty pages in the device cache: they are reported, flushed, or the power is cut.
//!
//! When the power is cut the drive takes nothing more from the host, and what is under way for requests is lost: it
//! neither completes nor counts. With capacitors all dirty pages are programmed then, as the run goes on; what waits in
//! the queues for requests is given up first, so that it is in nobody's way. Without, what the array is programming is
//! lost as well: its page is torn, and the older version is found again. The map of the translation layer is taken to
//! survive [choice].

use crate::flash::die::OperationKind;
use crate::ids::{DieId, Lpn, TransactionId};
use crate::measure::cache::PowerCutReport;
use crate::power::energy;
use crate::schedule::Choice;
use crate::schedule::transaction::{Class, Transaction};
use crate::units::Time;

use super::Simulation;

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
}

impl Simulation {
    /// Whether the run is over, now that an event has been handled.
    #[inline]
    pub(super) fn is_over(&mut self) -> bool {
        if self.power_cut.is_some() {
            return self.ending == Ending::Over;
        }
        self.requests.is_empty() && !self.will_issue() && self.is_at_rest()
    }

    /// Whether the run has come to its end before all was done.
    pub(super) fn is_stalled(&self) -> bool {
        let awaited = self.power_cut.is_none() && self.streams.iter().any(|stream| stream.replay.in_flight() > 0);
        awaited || self.ending == Ending::Flushing
    }

    /// Whether nothing is left to do after the last request.
    fn is_at_rest(&mut self) -> bool {
        if self.cache.is_none() || !self.config.cache.flush_at_end {
            return true;
        }
        if self.ending == Ending::NotYet {
            self.flush_everything();
            self.settle();
        }
        self.ending == Ending::Over
    }

    fn flush_everything(&mut self) {
        self.ending = Ending::Flushing;
        self.flush_cache(None, 0..u32::MAX);
    }

    /// A flush that the drive itself waits for is done.
    pub(super) fn flushed(&mut self) {
        let now = self.now();
        self.ending = Ending::Over;
        match &self.power_cut {
            None => self.measures.flushed = now,
            Some(cut) => {
                let (energy_before, destages_before) = (cut.energy_j, cut.destages);
                let energy_j = self.energy_so_far() - energy_before;
                let destages = self.cache.as_ref().map_or(0, |device| device.cache.counts().destages);
                if let Some(cut) = &mut self.power_cut {
                    let report = &mut cut.report;
                    report.pages_programmed = destages - destages_before;
                    report.duration_ps = (now - Time::from_ps(report.at_ps)).as_ps();
                    report.energy_j = energy_j;
                }
            }
        }
    }

    /// What the cut of the power did, if it came.
    pub(super) fn power_cut_report(&self) -> Option<PowerCutReport> {
        self.power_cut.as_ref().map(|cut| cut.report.clone())
    }

    /// The power is cut now.
    pub(super) fn cut_power(&mut self) {
        let now = self.now();
        let Some(device) = &mut self.cache else { return };
        let (unsaved, acknowledged) = (device.cache.unsaved(), device.cache.unsaved_acknowledged());
        let (destages, sector) = (device.cache.counts().destages, self.geometry.sector_size.as_u64());
        let capacitors = self.config.cache.capacitors;
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
            report.programs_lost = self.programs_under_way();
        }
        let energy_j = self.energy_so_far();
        self.power_cut = Some(Box::new(PowerCut { report, energy_j, destages }));
        if !capacitors {
            self.ending = Ending::Over;
            return;
        }
        if let Some(device) = &mut self.cache {
            device.cache.drop_waiting();
        }
        self.drop_flushes();
        self.give_up_requests();
        self.flush_everything();
    }

    /// Pages of requests, or of the cache, that are being programmed, or were set aside while they were.
    fn programs_under_way(&self) -> u64 {
        let operations = self.dies.iter().flat_map(|die| die.under_way());
        let programs = operations.filter(|operation| operation.kind == OperationKind::Program && !operation.internal);
        let pages = programs.flat_map(|operation| operation.transactions());
        pages.filter(|&&id| self.transactions[id].class == Class::UserProgram).count() as u64
    }

    fn energy_so_far(&self) -> f64 {
        energy::report(&self.config, &self.activity()).energy_j.total
    }

    /// Takes what waits for requests out of the queues of the dies; what the cache has sent to flash stays.
    fn give_up_requests(&mut self) {
        let mut kept: Vec<TransactionId> = Vec::new();
        let mut given_up: Vec<TransactionId> = Vec::new();
        let priorities = self.queues.priorities();
        for die in (0..self.geometry.dies()).map(DieId) {
            for class in [Class::UserRead, Class::UserProgram] {
                let planes = 0..self.geometry.planes_per_die as u8;
                for (plane, &priority) in
                    planes.flat_map(|plane| priorities.iter().map(move |priority| (plane, priority)))
                {
                    let queue = Choice { die, class, plane, priority };
                    while let Some(id) = self.queues.pop(&mut self.transactions, queue) {
                        match self.transactions[id].request {
                            None => kept.push(id),
                            Some(_) => given_up.push(id),
                        }
                    }
                    for id in kept.drain(..) {
                        self.queues.push(&mut self.transactions, die, plane, id);
                    }
                }
            }
        }
        given_up.extend(self.take_held_back_of_requests());
        given_up.into_iter().for_each(|id| self.give_up(id));
    }

    /// A write of a page has been programmed or given up: the next one of the page takes its turn.
    pub(super) fn start_successor(&mut self, lpn: Lpn, successor: Option<TransactionId>) {
        let mut next = successor;
        while let Some(id) = next {
            if self.power_cut.is_none() || self.transactions[id].request.is_none() {
                return self.start_write(id);
            }
            next = self.transactions[id].successor;
            self.drop_write(id);
        }
        self.writes_in_flight.remove(&lpn);
    }

    /// Drops a transaction of a request, which is in no queue.
    pub(super) fn give_up(&mut self, id: TransactionId) {
        let Transaction { class, reads_first, lpn, successor, is_cached, .. } = self.transactions[id];
        if class == Class::UserProgram || reads_first {
            self.drop_write(id);
            self.start_successor(lpn, successor);
        } else {
            self.transactions.remove(id);
            if is_cached {
                self.tell_cache(|cache| cache.not_filled(lpn));
            }
        }
    }

    fn drop_write(&mut self, id: TransactionId) {
        let Transaction { lpn, is_cached, .. } = self.transactions[id];
        self.drop_page(id);
        self.transactions.remove(id);
        if is_cached {
            self.passed_cache(lpn);
        }
    }
}
