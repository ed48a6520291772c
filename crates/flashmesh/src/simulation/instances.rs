//! Choice of the compiled variant (instance) of a drive: the one with the fewest features that supports the configuration and the user-supplied
//! parts. Fewer features make a run faster.

use std::time::Instant;

use crate::config::{Config, Instance};
use crate::controller::{Backend, Controller};
use crate::error::RunError;
use crate::fabric::{AnyFabric, Pnssd, SharedChannels, nossd::Nossd, venice::Venice};
use crate::flash::geometry::Geometry;
use crate::ids::StreamId;
use crate::kernel::model::{Any, Model, Plain, Probed};
use crate::kernel::probe::Scope;
use crate::measure::completions::Completions;
use crate::measure::report::Report;
use crate::units::Time;
use crate::workload::{IoRequest, WorkloadSummary};

use super::Control;
use super::drive::{DriveInstance, Pause};

/// A drive in one of the compiled variants.
#[derive(Clone)]
pub(super) enum AnyDrive {
    /// Variant with all features, in which every drive is built and set up.
    Probed(Box<DriveInstance<Probed>>),
    Any(Box<DriveInstance<Any>>),
    SharedChannels(Box<DriveInstance<Plain<SharedChannels>>>),
    Pnssd(Box<DriveInstance<Plain<Pnssd>>>),
    Nossd(Box<DriveInstance<Plain<Nossd>>>),
    Venice(Box<DriveInstance<Plain<Venice>>>),
    /// No drive: placeholder during a conversion to another variant.
    Between,
}

/// A user-supplied part that replaces or extends a configured part.
#[derive(Clone, Copy, Debug)]
pub(super) enum CustomPart {
    Scheduler,
    FirmwarePolicy,
    ReplicaSelector,
    Allocator,
    VictimSelector,
    Routing,
    PacketRouting,
    WritePlacer,
    Arbiter,
    Fault,
    RequestSink,
    Probe(Scope),
}

impl CustomPart {
    /// Returns the variant with the fewest features that supports this part.
    const fn needs(self) -> Instance {
        match self {
            // Replica selectors are used only with `replication.enabled`, which already requires a variant with more features.
            CustomPart::ReplicaSelector | CustomPart::VictimSelector | CustomPart::RequestSink => Instance::Plain,
            CustomPart::Routing | CustomPart::PacketRouting | CustomPart::Arbiter => Instance::Plain,
            CustomPart::Scheduler
            | CustomPart::FirmwarePolicy
            | CustomPart::WritePlacer
            | CustomPart::Allocator
            | CustomPart::Fault => Instance::Any,
            CustomPart::Probe(Scope::Reads) => Instance::Plain,
            CustomPart::Probe(Scope::All) => Instance::Probed,
        }
    }

    /// Returns the key of `[policy]` that names this part in a configuration; `None` if no key does.
    pub const fn key(self) -> Option<&'static str> {
        match self {
            CustomPart::VictimSelector => Some("policy.victim"),
            CustomPart::Allocator => Some("policy.allocator"),
            CustomPart::ReplicaSelector => Some("policy.home"),
            CustomPart::Scheduler => Some("policy.scheduler"),
            CustomPart::Routing => Some("policy.routing"),
            CustomPart::PacketRouting => Some("policy.hops"),
            CustomPart::WritePlacer => Some("policy.placement"),
            CustomPart::Arbiter => Some("policy.arbiter"),
            CustomPart::FirmwarePolicy | CustomPart::Fault | CustomPart::RequestSink | CustomPart::Probe(_) => None,
        }
    }
}

/// Compiled variants that a drive needs: while probes are attached, and after all of them are done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// Variant with the fewest features that suffices once all probes are done. With `is_watched`, the variant `Probed` is required until then.
    unwatched: Instance,
    is_watched: bool,
}

impl Needs {
    /// Returns the variants that the keys of a configuration require.
    pub fn of(config: &Config) -> Needs {
        let mut needs = Needs { unwatched: Instance::Plain, is_watched: false };
        config.required_instances().into_iter().for_each(|(_, instance)| needs.add(instance));
        needs
    }

    /// Adds the requirement of at least the features of `instance`.
    pub fn add(&mut self, instance: Instance) {
        match instance {
            Instance::Plain | Instance::Any => self.unwatched = self.unwatched.max(instance),
            Instance::Probed => self.is_watched = true,
        }
    }

    /// Adds the requirement of a user-supplied part.
    pub fn inject(&mut self, injected: CustomPart) {
        self.add(injected.needs());
    }

    /// Returns the variant in which the drive starts.
    fn instance(self) -> Instance {
        if self.is_watched { Instance::Probed } else { self.unwatched }
    }
}

/// Parts of a drive whose types are the same in all variants.
pub(super) struct Parts<'a> {
    pub controller: &'a Controller,
    pub geometry: &'a Geometry,
    pub summaries: Vec<(&'a str, Option<&'a WorkloadSummary>)>,
}

/// Evaluates `$does` with `$drive` bound to the drive in `$any`, whatever the variant of the drive.
macro_rules! with_drive {
    ($any:expr, $drive:ident => $does:expr) => {
        match $any {
            AnyDrive::Probed($drive) => $does,
            AnyDrive::Any($drive) => $does,
            AnyDrive::SharedChannels($drive) => $does,
            AnyDrive::Pnssd($drive) => $does,
            AnyDrive::Nossd($drive) => $does,
            AnyDrive::Venice($drive) => $does,
            AnyDrive::Between => unreachable!("a drive becomes another one at once"),
        }
    };
}

impl AnyDrive {
    /// Returns the parts whose types are the same in all variants.
    pub fn parts(&self) -> Parts<'_> {
        with_drive!(self, drive => Parts {
            controller: &drive.backend.controller,
            geometry: &drive.geometry,
            summaries: drive.frontend.host.summaries().collect(),
        })
    }

    /// Returns the set of features for which the current variant is compiled.
    pub fn instance(&self) -> Instance {
        match self {
            AnyDrive::Probed(_) | AnyDrive::Between => Instance::Probed,
            AnyDrive::Any(_) => Instance::Any,
            AnyDrive::SharedChannels(_) | AnyDrive::Pnssd(_) | AnyDrive::Nossd(_) | AnyDrive::Venice(_) => {
                Instance::Plain
            }
        }
    }

    /// Runs the drive to its end, from the variant that `needs` requires. When all probes are done, the run continues in a variant without probes.
    pub fn run(&mut self, needs: Needs, control: &Control) -> Result<Report, RunError> {
        let ran = self.run_events(needs, control);
        let ended = with_drive!(self, drive => drive.frontend.host.end_records());
        let report = ran?;
        ended.map_err(RunError::Sink)?;
        Ok(report)
    }

    fn run_events(&mut self, needs: Needs, control: &Control) -> Result<Report, RunError> {
        let started = Instant::now();
        self.turn_into(needs.instance());
        with_drive!(self, drive => drive.start(control)?);
        let is_cancelled = loop {
            match with_drive!(self, drive => drive.run_events(control)?) {
                Pause::Over => break false,
                Pause::Cancelled => break true,
                Pause::Due => {}
                Pause::Unwatched => {
                    with_drive!(self, drive => drive.stop_telling());
                    self.turn_into(needs.unwatched);
                }
            }
        };
        with_drive!(self, drive => drive.finish(is_cancelled, started, control))
    }

    /// Starts a stepped drive in the variant that `needs` requires.
    pub fn open(&mut self, needs: Needs) -> Result<(), RunError> {
        self.turn_into(needs.instance());
        with_drive!(self, drive => drive.start(&Control::default()))
    }

    /// Handles all events up to and including `until`, or up to a completion that ends the step. Returns whether all work for requests is done, so
    /// that no event is left to handle.
    pub fn step(&mut self, until: Time, needs: Needs, control: &Control) -> Result<bool, RunError> {
        if until < Time::MAX {
            with_drive!(self, drive => drive.backend.kernel.schedule_pause(until));
        }
        loop {
            match with_drive!(self, drive => drive.run_events(control)?) {
                Pause::Over => {
                    if let Some(stall) = with_drive!(self, drive => drive.stall()) {
                        return Err(stall);
                    }
                    return Ok(true);
                }
                Pause::Cancelled => {}
                Pause::Due => {
                    // A step that ended early at a completion leaves its pause event in the queue. A later step ignores that event.
                    let now = self.now();
                    if now >= until || self.completions().pauses_at(now) {
                        return Ok(false);
                    }
                }
                Pause::Unwatched => {
                    with_drive!(self, drive => drive.stop_telling());
                    self.turn_into(needs.unwatched);
                }
            }
        }
    }

    /// Submits a request of `stream`. Returns the id of the request; ids count up from 0.
    pub fn accept(&mut self, stream: StreamId, io: IoRequest) -> u64 {
        with_drive!(self, drive => drive.frontend.host.accept(stream, io, &mut drive.backend.kernel))
    }

    /// Returns the requests that completed in the current step.
    pub fn completions(&mut self) -> &mut Completions {
        with_drive!(self, drive => drive.frontend.host.completions())
    }

    /// Returns the simulated time of the last event.
    pub fn now(&self) -> Time {
        with_drive!(self, drive => drive.backend.kernel.now())
    }

    /// Returns whether a power cut (`power.cut`) has ended the work for the host.
    pub fn is_cut_off(&self) -> bool {
        with_drive!(self, drive => drive.frontend.is_cut_off())
    }

    /// Returns the simulated time of the next event; `None` if no event is pending.
    pub fn next_event(&self) -> Option<Time> {
        let at = with_drive!(self, drive => {
            let Backend { datapath, kernel, .. } = &drive.backend;
            datapath.interconnect.next_wake(kernel).unwrap_or_else(|| kernel.next_at())
        });
        (at < Time::MAX).then_some(at)
    }

    /// Ends a stepped drive and returns its report. If `is_left`, requests are unfinished, and the run counts as cancelled. Otherwise a
    /// final flush runs first, if configured, and the run counts as complete.
    pub fn end(&mut self, is_left: bool, started: Instant) -> Result<Report, RunError> {
        let control = Control::default();
        with_drive!(self, drive => {
            if !is_left {
                drive.frontend.close();
                if !drive.is_over() {
                    while drive.run_events(&control)? != Pause::Over {}
                }
            }
            drive.finish(is_left, started, &control)
        })
    }

    /// Converts a drive from the variant in which it was built to `instance`. Leaves a drive in any other variant unchanged.
    fn turn_into(&mut self, instance: Instance) {
        *self = match (std::mem::replace(self, AnyDrive::Between), instance) {
            (AnyDrive::Probed(drive), Instance::Plain) => plain(drive),
            (AnyDrive::Probed(drive), Instance::Any) => any(drive),
            (drive, _) => drive,
        };
    }
}

/// Converts a drive to the variant `$to`, which is compiled for the interconnect in `AnyFabric::$kind`.
macro_rules! over {
    ($drive:ident, $kind:ident, $to:ident) => {{
        let known = |fabric| match fabric {
            AnyFabric::$kind(known) => known,
            _ => unreachable!("looked at before"),
        };
        AnyDrive::$to(Box::new(resolve(*$drive, known)))
    }};
}

/// Converts a drive to the plain variant for its interconnect. Leaves the drive unchanged if none is compiled for the interconnect.
fn plain(drive: Box<DriveInstance<Probed>>) -> AnyDrive {
    match &drive.backend.datapath.interconnect.fabric {
        AnyFabric::SharedChannels(_) => over!(drive, SharedChannels, SharedChannels),
        AnyFabric::Pnssd(_) => over!(drive, Pnssd, Pnssd),
        AnyFabric::Nossd(_) => over!(drive, Nossd, Nossd),
        AnyFabric::Venice(_) => over!(drive, Venice, Venice),
        _ => AnyDrive::Probed(drive),
    }
}

/// Converts a drive to the variant with every feature but probes. Leaves the drive unchanged if none is compiled for its interconnect.
fn any(drive: Box<DriveInstance<Probed>>) -> AnyDrive {
    match &drive.backend.datapath.interconnect.fabric {
        AnyFabric::SharedChannels(_) => over!(drive, SharedChannels, Any),
        _ => AnyDrive::Probed(drive),
    }
}

fn resolve<M: Model>(drive: DriveInstance<Probed>, fabric: impl FnOnce(AnyFabric) -> M::Fabric) -> DriveInstance<M> {
    DriveInstance {
        config: drive.config,
        geometry: drive.geometry,
        frontend: drive.frontend.into_model(),
        backend: Backend {
            controller: drive.backend.controller,
            datapath: drive.backend.datapath.into_model(fabric),
            kernel: drive.backend.kernel.into_model(),
        },
        at_cut: drive.at_cut,
        window_begin: drive.window_begin,
        fault: drive.fault,
        end: drive.end,
        precision_due: drive.precision_due,
    }
}
