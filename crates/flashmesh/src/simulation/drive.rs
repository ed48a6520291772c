//! The event loop: dequeues the next event and dispatches it to the part that handles it.

use std::time::{Duration, Instant};

use crate::config::Config;
use crate::controller::{Backend, pages_under_way};
use crate::error::RunError;
use crate::fabric::{Fabric, TransferPhase};
use crate::flash::geometry::Geometry;
use crate::frontend::Frontend;
use crate::host::link::Direction;
use crate::kernel::event::{Event, WakeToken};
use crate::kernel::model::Model;
use crate::kernel::probe::{FabricEndState, Notice, RunEndState};
use crate::measure::part_times::PartTimes;
use crate::measure::report::Report;
use crate::reporting::Snapshot;
use crate::results::counters::RecoveryReport;
use crate::units::Time;

use super::{Control, Fault, recovery};

/// Number of events between polls of [`Control`] without probes.
const EVENTS_PER_LOOK: u32 = 8192;

/// Number of events between polls of [`Control`] while probes are attached. The polls are more frequent, because each poll also checks
/// whether all probes are done. The run can then continue in a faster variant without probes.
const EVENTS_PER_LOOK_PROBED: u32 = 64;

/// Reason for which the event loop returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// End of the run.
    Over,
    /// Cancellation through [`Control`].
    Cancelled,
    /// All probes are done, so the run can continue in a variant of the drive without notices.
    Unwatched,
    /// Pause scheduled by a stepped drive: its `advance` time, or a completion that ends the step.
    Due,
}

/// A drive with all its parts, compiled for the model `M`. The model fixes the interconnect and the optional features, so that unused code is left
/// out.
#[derive(Clone)]
pub(super) struct DriveInstance<M: Model> {
    pub config: Box<Config>,
    pub geometry: Geometry,
    pub frontend: Frontend<M>,
    pub backend: Backend<M>,
    /// Report at the power cut; `None` before a cut. The report excludes the work after the cut, which runs on the energy of capacitors.
    pub at_cut: Option<Box<Report>>,
    /// Busy times of the parts at the start of the measured window; `None` before it, and always without a warm-up or with the warm-up `auto`.
    pub window_begin: Option<Box<PartTimes>>,
    /// Error that user-supplied parts can raise to end the run.
    pub fault: Fault,
    /// Time at which the run ends even if requests are in flight, because the measurement is complete; `None` until then.
    pub end: Option<Time>,
    /// Number of completed requests at which [`is_precise`](Self::is_precise) next checks the precision of the run.
    pub precision_due: u64,
}

impl<M: Model> DriveInstance<M> {
    /// Resumes the garbage collections that were in progress in the initial state, starts collections on idle dies, and issues the first requests.
    pub fn start(&mut self, control: &Control) -> Result<(), RunError> {
        control.begin(self.frontend.host.request_count(), self.frontend.host.stops_at());
        self.backend.resume_collections();
        self.backend.collect_idle_dies();
        self.settle();
        self.fault.check(self.backend.kernel.now())?;
        self.frontend.start(&self.backend.controller, &mut self.backend.kernel)
    }

    /// Returns whether the run is over; begins the final flush of the device cache if the flush is due.
    #[inline(always)]
    pub fn is_over(&mut self) -> bool {
        self.frontend.is_over(&mut self.backend)
    }

    /// Stops all notices to probes, except the notice of the end of the run.
    pub fn stop_telling(&mut self) {
        self.backend.kernel.stop_notices();
        self.backend.datapath.interconnect.stop_recording_link_uses();
        self.backend.controller.stop_recording();
    }

    /// Ends a run that began at wall-clock time `started`. Returns the report of the run; after a power cut, the report up to the cut.
    pub fn finish(&mut self, interrupted: bool, started: Instant, control: &Control) -> Result<Report, RunError> {
        control.publish(self.frontend.host.counters().completed, self.backend.kernel.now());
        if let Some(stall) = self.stall().filter(|_| !interrupted && self.end.is_none()) {
            return Err(stall);
        }
        self.frontend.host.catch_up(self.backend.kernel.now());
        self.backend.datapath.interconnect.finish(&mut self.backend.kernel);
        let wall = started.elapsed();
        let mut report = self.snapshot(self.backend.kernel.now()).report(wall, interrupted || self.end.is_some());
        report.interrupted = interrupted;
        if let Some(cut) = &mut report.power_cut {
            cut.recovery = self.recover()?;
        }
        self.backend.kernel.conclude(&mut report);
        self.tell_end(&report);
        self.backend.kernel.check_probes()?;
        Ok(match self.at_cut.take() {
            Some(at_cut) => at_cut.with_end(report),
            None => report,
        })
    }

    /// Returns the error of a stalled run if requests or the final flush are unfinished; otherwise `None`. Called at the end of a run or step.
    pub fn stall(&self) -> Option<RunError> {
        let (at, in_flight) = (self.backend.kernel.now(), self.frontend.host.in_flight());
        self.frontend.is_stalled().then_some(RunError::Stalled { at, in_flight })
    }

    /// Handles events until the run must pause or end. Returns the reason.
    pub fn run_events(&mut self, control: &Control) -> Result<Pause, RunError> {
        loop {
            for _ in 0..if M::PROBES { EVENTS_PER_LOOK_PROBED } else { EVENTS_PER_LOOK } {
                let Some(event) = self.next_event() else { return Ok(Pause::Over) };
                if let Event::Pause = event {
                    self.backend.kernel.paused();
                    return Ok(if self.end.is_some() { Pause::Over } else { Pause::Due });
                }
                self.handle(event)?;
                if self.is_over() {
                    return Ok(Pause::Over);
                }
            }
            if self.backend.kernel.now() > Time::RUN_MAX {
                return Err(RunError::TooLong);
            }
            control.publish(self.frontend.host.counters().completed, self.backend.kernel.now());
            if control.is_cancelled() {
                return Ok(Pause::Cancelled);
            }
            if self.backend.kernel.are_probes_done() {
                self.backend.datapath.interconnect.report_remaining_uses(&mut self.backend.kernel);
                return Ok(Pause::Unwatched);
            }
        }
    }

    /// Advances the clock to the next event and dequeues the event; `None` if no event is pending. If the fabric schedules its own events,
    /// a wake-up of the fabric precedes all other events of the same time.
    #[inline(always)]
    fn next_event(&mut self) -> Option<Event> {
        if let Some(wake_at) = self.backend.datapath.interconnect.next_wake(&self.backend.kernel) {
            self.backend.kernel.advance_to(wake_at);
            self.begin_event();
            return Some(Event::FabricWake(WakeToken(0)));
        }
        let due = self.backend.kernel.advance()?;
        self.begin_event();
        Some(self.backend.kernel.dequeue(due))
    }

    /// Notifies probes of an event, and closes the measurement intervals that are due. Runs before the event is dequeued, so that dequeue and
    /// dispatch compile to one jump on the event kind.
    #[inline(always)]
    fn begin_event(&mut self) {
        self.backend.kernel.notify(|| Notice::Event);
        if self.frontend.host.counters().due <= self.backend.kernel.now() {
            self.cut_intervals();
        }
    }

    #[inline(always)]
    fn handle(&mut self, event: Event) -> Result<(), RunError> {
        let DriveInstance { frontend, backend, .. } = self;
        match event {
            event if frontend.is_cut_off() && event.is_of_host() => {}
            Event::InDrive => {
                if let Some(request) = frontend.host.take_arrived(&mut backend.kernel) {
                    frontend.arrived(request, backend);
                }
            }
            Event::CoreDone(job) if M::ALL_FEATURES => frontend.core_done(job, backend),
            Event::AtHost => {
                let request = frontend.host.crossed(Direction::ToHost);
                frontend.host.complete(request, &mut backend.controller, &mut backend.kernel)?;
                if frontend.host.counters().is_due {
                    self.settle();
                    self.cut_interval(self.backend.kernel.now());
                }
            }
            Event::Arrive(stream) => frontend.host.arrive(stream, &backend.controller, &mut backend.kernel)?,
            Event::ThreadReady(stream) => {
                frontend.host.end_think_time(stream, &backend.controller, &mut backend.kernel)
            }
            Event::CommandDelivered(asker) => {
                backend.delivered(TransferPhase::Command, asker);
                frontend.host.prefetch_request(|| backend.datapath.activity().active_request(asker));
            }
            Event::DataDelivered(asker) => {
                if let Some(page) = backend.delivered(TransferPhase::DataOut, asker) {
                    frontend.host.page_read(page, backend);
                }
            }
            Event::CopyDelivered(asker) if M::ALL_FEATURES => backend.copy_delivered(asker),
            Event::Acknowledged(id) => backend.acknowledged(id),
            Event::FabricWake(token) => backend.datapath.interconnect.wake(token, &mut backend.kernel),
            Event::ArrayEnd(die) => backend.array_end(die),
            Event::Resumed(die) if M::ALL_FEATURES => backend.resumed(die),
            Event::GatherDue(die) => backend.gather_due(die),
            Event::Memory => backend.memory_done(),
            Event::CacheOpens if M::ALL_FEATURES => backend.cache_opens(),
            Event::PowerCut if M::ALL_FEATURES => {
                self.report_cut();
                let DriveInstance { frontend, backend, .. } = self;
                frontend.cut_power(backend);
            }
            // Wake-ups of the host interface. The events from `Pause` on are listed only for completeness: drives with all features handle them
            // above, and other drives never schedule them.
            Event::SubmissionDoorbell(_)
            | Event::CompletionDoorbell(_)
            | Event::EntryRead
            | Event::EntryArrived
            | Event::DataRead
            | Event::AdapterIssue
            | Event::Pause
            | Event::CacheOpens
            | Event::CoreDone(_)
            | Event::CopyDelivered(_)
            | Event::Resumed(_)
            | Event::PowerCut => {
                if let Some(token) = event.token() {
                    frontend.host.wake(token, &mut backend.kernel);
                }
            }
        }
        self.settle();
        if M::ALL_FEATURES {
            self.fault.check(self.backend.kernel.now())?;
        }
        self.backend.kernel.notify(|| Notice::Settled(self.backend.controller.ftl()));
        self.backend.kernel.check_probes()
    }

    /// Passes completions to the frontend, and path grants to the dies, until none is pending.
    #[inline(always)]
    fn settle(&mut self) {
        let DriveInstance { frontend, backend, .. } = self;
        frontend.settle(backend);
        while backend.settle() {
            frontend.settle(backend);
            // Completions can make the device cache destage pages. Repeat only if the firmware policy can now release held writes.
            if !(M::ALL_FEATURES && backend.controller.has_due_writes()) {
                break;
            }
        }
    }

    /// Closes the measurement intervals that have ended by the current time, before any event of this time is handled.
    #[cold]
    #[inline(never)]
    fn cut_intervals(&mut self) {
        while self.frontend.host.counters().due <= self.backend.kernel.now() {
            self.cut_interval(self.frontend.host.counters().due);
        }
    }

    /// Closes the measurement intervals that end at `at`. Schedules the end of the run if the measurement is complete.
    #[cold]
    #[inline(never)]
    fn cut_interval(&mut self, at: Time) {
        self.frontend.host.catch_up(at);
        let snapshot = self.snapshot(at);
        let (counts, levels) = (snapshot.counts(), snapshot.levels());
        if self.frontend.host.counters_mut().cut(&counts, levels) {
            self.window_begin = Some(Box::new(self.snapshot(at).part_times()));
        }
        if self.frontend.host.counters().is_done() || self.is_precise(at) {
            self.end = Some(at);
            self.backend.kernel.schedule_pause(at.later(self.backend.kernel.now()));
        }
    }

    /// Returns whether the run is in steady state and its figure `measure.precision-of` has the precision `measure.precision` at time `at`.
    /// Returns false if `measure.precision` is 0, and between checks.
    fn is_precise(&mut self, at: Time) -> bool {
        let wanted = self.config.measure.precision;
        let completed = self.frontend.host.counters().completed;
        if wanted == 0.0 || completed < self.precision_due {
            return false;
        }
        // Check rarely, after an eighth more requests: each check costs a report, and can find a sufficient precision by chance.
        self.precision_due = completed + completed / 8;
        let report = self.snapshot(at).report(Duration::ZERO, true);
        let is_measured = report.warm_up.as_ref().is_none_or(|_| report.measured.is_some());
        is_measured && report.steadiness.steady && report.precision.is_some_and(|precision| precision.met)
    }

    /// Stores the report of the run up to the power cut. Called at the time of the power cut.
    #[cold]
    #[inline(never)]
    fn report_cut(&mut self) {
        // Apply the deferred updates of the usage and scout counters of the interconnect, because the report reads them.
        self.backend.datapath.interconnect.catch_up(self.backend.kernel.now());
        self.at_cut = Some(Box::new(self.snapshot(self.backend.kernel.now()).report(Duration::ZERO, true)));
    }

    /// Simulates the recovery of the map after a power cut. Returns its report; `None` if the map survives a power cut without recovery
    /// (`persistence.policy = "ideal"`).
    #[cold]
    #[inline(never)]
    fn recover(&mut self) -> Result<Option<RecoveryReport>, RunError> {
        let DriveInstance { backend: Backend { controller, datapath, kernel }, config, geometry, .. } = self;
        let Some(persistence) = controller.persistence() else { return Ok(None) };
        let torn = pages_under_way(datapath);
        let scan = persistence.scan(geometry, controller.ftl(), &torn, config.mapping.cache_capacity.is_some());
        let recovered = persistence.recover(controller.ftl());
        kernel.notify(|| Notice::Recovered(&recovered));
        recovery::report(config, geometry, datapath.interconnect.info, &scan, &recovered).map(Some)
    }

    fn snapshot(&self, now: Time) -> Snapshot<'_> {
        Snapshot {
            config: &self.config,
            geometry: &self.geometry,
            frontend: self.frontend.figures(),
            controller: &self.backend.controller,
            datapath: self.backend.datapath.stats(),
            window_begin: self.window_begin.as_deref(),
            now,
        }
    }

    /// Notifies the probes, if any, of the end of the run.
    fn tell_end(&mut self, report: &Report) {
        let fabric = &self.backend.datapath.interconnect.fabric;
        let held = fabric.held_links();
        let is_complete = !report.interrupted && report.power_cut.is_none() && self.end.is_none();
        let links = FabricEndState {
            layout: fabric.layout(),
            usage: fabric.usage(),
            held: &held,
            has_transfers_in_flight: !is_complete,
            hops: fabric.hops(),
        };
        let (ftl, power, power_cut) = (self.backend.controller.ftl(), &report.power, report.power_cut.as_ref());
        self.backend.kernel.notify_end(|| Notice::Ended(RunEndState { ftl, links, power, power_cut, is_complete }));
    }
}
