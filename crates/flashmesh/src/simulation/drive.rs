//! The loop: takes the next event and gives it to the part it belongs to.

use std::time::{Duration, Instant};

use crate::config::Config;
use crate::datapath::Datapath;
use crate::error::RunError;
use crate::fabric::{Fabric, Kind, TransferPhase};
use crate::firmware::Firmware;
use crate::flash::geometry::Geometry;
use crate::frontend::Frontend;
use crate::kernel::Kernel;
use crate::kernel::event::{Event, WakeToken};
use crate::kernel::model::Model;
use crate::kernel::probe::{AtEnd, LinksAtEnd, Notice};
use crate::measure::report::Report;
use crate::reporting::Snapshot;
use crate::results::work::RecoveryReport;
use crate::units::Time;

use super::{Control, recovery};

/// Events between two looks at the [`Control`].
const EVENTS_PER_LOOK: u32 = 8192;

/// The parts of a drive.
pub(super) struct Drive<M: Model> {
    pub config: Box<Config>,
    pub geometry: Geometry,
    pub kernel: Kernel<M>,
    pub frontend: Frontend<M>,
    pub firmware: Firmware,
    pub datapath: Datapath<M>,
    /// What the run came to when the power was cut: what capacitors do after that is reported apart.
    pub at_cut: Option<Box<Report>>,
}

impl<M: Model> Drive<M> {
    /// Whether every feature is tested for at run time.
    pub const fn is_full(&self) -> bool {
        M::FULL
    }

    /// Runs all streams to their end, or until `control` cancels it.
    pub fn run(&mut self, control: &Control) -> Result<Report, RunError> {
        let started = Instant::now();
        control.begin(self.frontend.request_count());
        self.firmware.collect_idle_dies(&mut self.datapath, &mut self.kernel);
        self.settle();
        self.frontend.start(&self.firmware, &mut self.kernel)?;
        let interrupted = self.run_events(control)?;
        control.publish(self.frontend.counters().completed, self.kernel.now());
        if !interrupted && self.frontend.is_stalled() {
            let (at, in_flight) = (self.kernel.now(), self.frontend.in_flight());
            return Err(RunError::Stalled { at, in_flight });
        }
        self.datapath.finish(&mut self.kernel);
        let wall = started.elapsed();
        let mut report = self.snapshot(self.kernel.now()).report(wall, interrupted);
        if let Some(cut) = &mut report.power_cut {
            cut.recovery = self.recover()?;
        }
        self.kernel.conclude(&mut report);
        self.tell_end(&report);
        self.kernel.verdict()?;
        Ok(match self.at_cut.take() {
            Some(at_cut) => at_cut.with_end(report),
            None => report,
        })
    }

    /// Takes one event after the other; gives whether the run was cancelled.
    fn run_events(&mut self, control: &Control) -> Result<bool, RunError> {
        loop {
            for _ in 0..EVENTS_PER_LOOK {
                let Some(event) = self.next_event() else { return Ok(false) };
                self.handle(event)?;
                if self.frontend.is_over(&mut self.firmware, &mut self.datapath, &mut self.kernel) {
                    return Ok(false);
                }
            }
            if self.kernel.now() > Time::RUN_MAX {
                return Err(RunError::TooLong);
            }
            control.publish(self.frontend.counters().completed, self.kernel.now());
            if control.is_cancelled() {
                return Ok(true);
            }
        }
    }

    /// Moves the clock to what happens next. The fabric comes before all events of the time for which it asked to be woken.
    #[inline(always)]
    fn next_event(&mut self) -> Option<Event> {
        let wake_at = self.datapath.wake_at();
        if M::Fabric::ACTS && wake_at < Time::MAX && wake_at <= self.kernel.next_at() {
            self.kernel.advance_to(wake_at);
            return Some(Event::FabricWake(WakeToken(0)));
        }
        let due = self.kernel.advance()?;
        Some(self.kernel.take(due))
    }

    #[inline(always)]
    fn handle(&mut self, event: Event) -> Result<(), RunError> {
        self.kernel.tell(|| Notice::Event);
        if M::MEASURES && self.frontend.counters().due <= self.kernel.now() {
            self.cut_intervals();
        }
        let Drive { kernel, frontend, firmware, datapath, .. } = self;
        match event {
            event if frontend.is_cut_off() && event.is_of_host() => {}
            Event::InDrive(request) => frontend.submit(request, firmware, datapath, kernel),
            Event::AtHost(request) => frontend.complete(request, firmware, kernel)?,
            Event::Arrive(stream) => frontend.arrive(stream, firmware, kernel)?,
            Event::ThreadReady(stream) => frontend.thought(stream, firmware, kernel),
            Event::CommandDelivered(asker) => firmware.delivered(TransferPhase::Command, asker, datapath, kernel),
            Event::DataDelivered(asker) => firmware.delivered(TransferPhase::DataOut, asker, datapath, kernel),
            Event::CopyDelivered(asker) => firmware.copy_delivered(asker, datapath, kernel),
            Event::Acknowledged(id) => firmware.acknowledged(id, datapath, kernel),
            Event::FabricWake(token) => datapath.wake(token, kernel),
            Event::ArrayEnd(die) => firmware.array_end(die, datapath, kernel),
            Event::Resumed(die) => firmware.resumed(die, datapath, kernel),
            Event::Memory => firmware.memory_done(datapath, kernel),
            Event::PowerCut => {
                self.report_cut();
                let Drive { kernel, frontend, firmware, datapath, .. } = self;
                frontend.cut_power(firmware, datapath, kernel);
            }
            Event::SubmissionDoorbell(_)
            | Event::CompletionDoorbell(_)
            | Event::EntryRead
            | Event::EntryArrived
            | Event::DataRead
            | Event::AdapterIssue => {
                if let Some(token) = event.token() {
                    frontend.wake(token, kernel);
                }
            }
        }
        self.settle();
        if M::MEASURES && self.frontend.counters().is_due {
            self.cut_interval(self.kernel.now());
        }
        self.kernel.tell(|| Notice::Settled(self.firmware.ftl()));
        self.kernel.verdict()
    }

    /// Brings what is done up to the requests, and granted paths down to the dies.
    #[inline(always)]
    fn settle(&mut self) {
        let Drive { kernel, frontend, firmware, datapath, .. } = self;
        frontend.take_done(firmware, datapath, kernel);
        while firmware.settle(datapath, kernel) {
            frontend.take_done(firmware, datapath, kernel);
            // What is done may have the device cache write pages, which wait for chips to be chosen.
            if !(M::FULL && firmware.has_due_writes()) {
                break;
            }
        }
    }

    /// Ends the intervals of the run that end by now, before anything happens now.
    #[cold]
    #[inline(never)]
    fn cut_intervals(&mut self) {
        while self.frontend.counters().due <= self.kernel.now() {
            self.cut_interval(self.frontend.counters().due);
        }
    }

    /// Ends the intervals of the run that end at `at`.
    #[cold]
    #[inline(never)]
    fn cut_interval(&mut self, at: Time) {
        let counts = self.snapshot(at).counts();
        let counters = self.frontend.counters_mut();
        if let Some(timeline) = &mut counters.timeline {
            timeline.cut(&counts);
            counters.due = timeline.due();
        }
        counters.is_due = false;
    }

    /// Reports the run up to now, before the power is cut.
    #[cold]
    #[inline(never)]
    fn report_cut(&mut self) {
        self.at_cut = Some(Box::new(self.snapshot(self.kernel.now()).report(Duration::ZERO, true)));
    }

    /// What the drive does when the power is back, where its map has to be found again.
    #[cold]
    #[inline(never)]
    fn recover(&mut self) -> Result<Option<RecoveryReport>, RunError> {
        let Drive { firmware, datapath, kernel, config, geometry, .. } = self;
        let Some(persistence) = firmware.persistence() else { return Ok(None) };
        let torn = firmware.pages_under_way(datapath);
        let scan = persistence.scan(geometry, firmware.ftl(), &torn, config.mapping.cache_capacity.is_some());
        let recovered = persistence.recover(firmware.ftl());
        kernel.tell(|| Notice::Recovered(&recovered));
        recovery::report(config, geometry, &scan, &recovered).map(Some)
    }

    fn snapshot(&self, now: Time) -> Snapshot<'_, M> {
        Snapshot {
            config: &self.config,
            geometry: &self.geometry,
            frontend: &self.frontend,
            firmware: &self.firmware,
            datapath: &self.datapath,
            now,
        }
    }

    /// Tells the probes, when there are any, what the run ends with.
    fn tell_end(&mut self, report: &Report) {
        if !self.kernel.is_probed() {
            return;
        }
        let fabric = self.datapath.fabric();
        let held = fabric.held();
        let is_complete = !report.interrupted && report.power_cut.is_none();
        let links = LinksAtEnd {
            layout: fabric.layout(),
            usage: fabric.usage(),
            held: &held,
            is_torn: !is_complete,
            hops: fabric.hops(),
        };
        let (ftl, power, power_cut) = (self.firmware.ftl(), &report.power, report.power_cut.as_ref());
        self.kernel.tell(|| Notice::Ended(AtEnd { ftl, links, power, power_cut, is_complete }));
    }
}
