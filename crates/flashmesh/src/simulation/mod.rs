//! One drive and the workloads it runs: built from a configuration, run to its end, looked at.

mod control;
mod drive;
mod lean;
mod recovery;

use std::io::Write;

use crate::check::Oracles;
use crate::config::Config;
use crate::datapath::Datapath;
use crate::error::{RunError, WorkloadError};
use crate::fabric::{self, AnyFabric, Fabric};
use crate::firmware::Firmware;
use crate::firmware::policy::FirmwarePolicy;
use crate::firmware::replication::homes::HomeSelector;
use crate::flash::geometry::Geometry;
use crate::frontend::{self, Frontend};
use crate::ftl::allocation::Allocator;
use crate::ftl::collection::VictimSelector;
use crate::ftl::{Ftl, PreparedDrives};
use crate::kernel::Kernel;
use crate::kernel::probe::{Probe, Scope};
use crate::measure::log::RequestSink;
use crate::measure::report::Report;
use crate::probes::{ChipStatesProbe, CollisionProbe};
use crate::recording::Window;
use crate::recording::network::{NetworkRecorder, Recorded};
use crate::recording::timeline::{Outcome, Shape, Timeline};
use crate::schedule::{AnyScheduler, Custom, Scheduler};
use crate::workload::WorkloadSummary;
use crate::workload::source::WorkloadSource;

pub use control::Control;

use drive::Drive;
use lean::AnyDrive;

/// One drive and the workloads it runs.
pub struct Simulation {
    drive: AnyDrive,
    /// Whether all policies are those of the configuration, so that the run may use what is compiled for plain drives.
    is_standard: bool,
    /// Whether the interconnect is one of the caller's own.
    has_own_fabric: bool,
    /// Whether the oracles are on.
    is_checked: bool,
}

impl Simulation {
    /// Builds the drive that `config` describes and opens the workloads that it names.
    ///
    /// # Errors
    /// When the drive cannot be built, or a workload cannot be used on it.
    pub fn new(config: &Config) -> Result<Simulation, RunError> {
        Simulation::opened(config, None, None, &Control::default())
    }

    /// As [`Simulation::new`], or [`Simulation::alone`] where `only` names a stream, with a drive from those that were prepared
    /// already, if it is there.
    ///
    /// # Errors
    /// When the drive cannot be built, there is no such stream, or a workload cannot be used.
    pub fn prepared(config: &Config, only: Option<usize>, drives: &PreparedDrives) -> Result<Simulation, RunError> {
        Simulation::opened(config, only, Some(drives), &Control::default())
    }

    /// As [`Simulation::prepared`], or with a drive of its own without `drives`; `control` shows how far its preconditioning is.
    ///
    /// # Errors
    /// As [`Simulation::prepared`].
    pub fn watched(
        config: &Config,
        only: Option<usize>,
        drives: Option<&PreparedDrives>,
        control: &Control,
    ) -> Result<Simulation, RunError> {
        Simulation::opened(config, only, drives, control)
    }

    /// The same drive with the stream at `index` alone: the others issue nothing, and everything else is as it is beside them,
    /// so that the two runs of the stream can be compared.
    ///
    /// # Errors
    /// When the drive cannot be built, there is no such stream, or its workload cannot be used.
    pub fn alone(config: &Config, index: usize) -> Result<Simulation, RunError> {
        Simulation::opened(config, Some(index), None, &Control::default())
    }

    fn opened(
        config: &Config,
        only: Option<usize>,
        drives: Option<&PreparedDrives>,
        control: &Control,
    ) -> Result<Simulation, RunError> {
        let count = config.streams().len();
        if let Some(index) = only.filter(|&index| index >= count) {
            return Err(WorkloadError::Unusable(format!("there is no stream {index}: there are {count}")).into());
        }
        let opened = frontend::open(config, &Geometry::new(&config.geometry)?, only)?;
        let mut simulation = Simulation::assembled(config, opened.sources, drives, control)?;
        simulation.full().frontend.describe(opened.summaries);
        Ok(simulation)
    }

    /// Builds the drive that `config` describes, brings it to its initial state and connects `source` to its only stream.
    ///
    /// # Errors
    /// When the drive cannot be built, or the configuration has several streams.
    pub fn with_source(config: &Config, source: Box<dyn WorkloadSource>) -> Result<Simulation, RunError> {
        Simulation::with_sources(config, vec![source])
    }

    /// Builds the drive that `config` describes, brings it to its initial state and connects one of `sources` to each stream,
    /// in the order of [`Config::streams`]. Offsets of a source count from the beginning of the namespace of its stream.
    ///
    /// # Errors
    /// When the drive cannot be built, or there are not as many sources as streams.
    pub fn with_sources(config: &Config, sources: Vec<Box<dyn WorkloadSource>>) -> Result<Simulation, RunError> {
        Simulation::assembled(config, sources, None, &Control::default())
    }

    fn assembled(
        config: &Config,
        sources: Vec<Box<dyn WorkloadSource>>,
        drives: Option<&PreparedDrives>,
        control: &Control,
    ) -> Result<Simulation, RunError> {
        let geometry = Geometry::new(&config.geometry)?;
        let frontend = Frontend::new(config, &geometry, sources)?;
        let datapath = Datapath::new(config, &geometry)?;
        let watch = |share| control.publish_preconditioned(share);
        let ftl = match drives {
            Some(drives) => drives.ftl(&geometry, config, &watch),
            None => Ftl::prepared(&geometry, config, &watch),
        };
        let firmware = Firmware::new(config, &geometry, ftl);
        let (analyses_collisions, tells_chip_states) = (config.measure.collisions, config.measure.chip_states);
        let config = Box::new(config.clone());
        let drive = Drive { config, geometry, kernel: Kernel::default(), frontend, firmware, datapath, at_cut: None };
        let drive = AnyDrive::Full(Box::new(drive));
        let mut simulation = Simulation { drive, is_standard: true, has_own_fabric: false, is_checked: false };
        if analyses_collisions {
            let drive = simulation.full();
            let probe = CollisionProbe::new(&drive.config, &drive.geometry);
            drive.kernel.add_probe(Box::new(probe));
        }
        if tells_chip_states {
            let drive = simulation.full();
            drive.kernel.add_probe(Box::new(ChipStatesProbe::new(&drive.geometry)));
        }
        Ok(simulation)
    }

    /// The drive before it runs.
    fn full(&mut self) -> &mut Drive<crate::kernel::model::Full> {
        match &mut self.drive {
            AnyDrive::Full(drive) => drive,
            _ => panic!("the drive has begun to run: it is set up before"),
        }
    }

    /// Runs with a scheduling policy of the caller's own in place of the configured one.
    ///
    /// # Panics
    /// When the drive has run already: it is set up before.
    pub fn set_scheduler(&mut self, scheduler: Box<dyn Scheduler + Send>) {
        self.is_standard = false;
        self.full().datapath.set_scheduler(AnyScheduler::Custom(Custom(scheduler)));
    }

    /// Runs with a firmware policy of the caller's own in place of the configured one. The state before the first request is that
    /// which the configuration describes.
    ///
    /// # Panics
    /// When the drive has run already, or its configuration has another policy than `page`.
    pub fn set_firmware_policy(&mut self, policy: Box<dyn FirmwarePolicy + Send>) {
        self.is_standard = false;
        let drive = self.full();
        let configured = drive.config.ftl.policy;
        assert_eq!(configured.name(), "page", "a policy takes the place of `page`: set ftl.policy to it");
        drive.firmware.set_policy(policy);
    }

    /// Chooses which copy of a replicated page serves a read by a selector of the caller's own. Without `replication.enabled` no page has
    /// a copy, and it is not asked.
    ///
    /// # Panics
    /// When the drive has run already: it is set up before.
    pub fn set_home_selector(&mut self, selector: Box<dyn HomeSelector + Send>) {
        if let Some(replication) = self.full().firmware.replication_mut() {
            replication.set_selector(selector);
        }
    }

    /// Runs over an interconnect of the caller's own in place of the configured one; what else `fabric.kind` decides, such as the
    /// controllers on the dies of pSSD, stays.
    ///
    /// # Panics
    /// When the drive has run already, or the oracles are on: they have to know what they watch.
    pub fn set_fabric(&mut self, fabric: Box<dyn Fabric + Send>) {
        assert!(!self.is_checked, "the interconnect is set before the oracles are enabled");
        self.is_standard = false;
        self.has_own_fabric = true;
        self.full().datapath.set_fabric(AnyFabric::Custom(fabric::Custom(fabric)));
    }

    /// Places pages by an allocator of the caller's own in place of the configured one. What preconditioning has placed stays.
    ///
    /// # Panics
    /// When the drive has run already: it is set up before.
    pub fn set_allocator(&mut self, allocator: Box<dyn Allocator + Send>) {
        self.is_standard = false;
        let drive = self.full();
        drive.datapath.track_idle();
        drive.firmware.set_allocator(allocator);
    }

    /// Chooses victims of garbage collection by a policy of the caller's own in place of the configured one. Preconditioning has been
    /// done by the configured one.
    ///
    /// # Panics
    /// When the drive has run already: it is set up before.
    pub fn set_victim_selector(&mut self, selector: Box<dyn VictimSelector + Send>) {
        self.full().firmware.set_victim_selector(selector);
    }

    /// Gives every completed request to `sink`.
    ///
    /// # Panics
    /// When the drive has run already: it is set up before.
    pub fn set_request_sink(&mut self, sink: Box<dyn RequestSink>) {
        self.full().frontend.set_request_sink(sink);
    }

    /// Adds a probe, which is told what happens during the run.
    ///
    /// # Panics
    /// When the drive has run already: it is set up before.
    pub fn add_probe(&mut self, probe: Box<dyn Probe + Send>) {
        // What is compiled for plain drives tells of no reads.
        self.is_standard &= probe.scope() == Scope::All;
        let drive = self.full();
        if probe.scope() == Scope::All {
            drive.datapath.tell_uses();
            drive.firmware.tell_probes();
        }
        drive.kernel.add_probe(probe);
    }

    /// Turns the oracles on: the run fails at the first thing that must not happen.
    ///
    /// # Panics
    /// When the drive has run already: it is set up before.
    pub fn enable_checks(&mut self) {
        self.is_checked = true;
        let has_own_fabric = self.has_own_fabric;
        let drive = self.full();
        let mut oracles = Oracles::new(&drive.geometry, &drive.config);
        if has_own_fabric {
            oracles.leave_paths_open();
        }
        self.add_probe(Box::new(oracles));
    }

    /// Whether the drive was run by an instance that was compiled for less than all a drive may use.
    pub fn was_lean(&self) -> bool {
        !self.drive.is_full()
    }

    /// The translation layer, to look at where pages live.
    pub fn ftl(&self) -> &Ftl {
        self.drive.parts().firmware.ftl()
    }

    /// The shape of the array.
    pub fn geometry(&self) -> &Geometry {
        self.drive.parts().geometry
    }

    /// What the workload of each stream is, with the name of the stream; nothing where the configuration does not name it.
    pub fn summaries(&self) -> impl Iterator<Item = (&str, Option<&WorkloadSummary>)> {
        self.drive.parts().summaries.into_iter()
    }

    /// What the workload is, when there is only one and the configuration names it.
    pub fn summary(&self) -> Option<&WorkloadSummary> {
        match self.drive.parts().summaries.as_slice() {
            &[(_, summary)] => summary,
            _ => None,
        }
    }

    /// Writes a timeline of the run for Perfetto into `sink`, of the window and size in `[measure]`. What became of it can be asked for
    /// after the run.
    ///
    /// # Panics
    /// When the drive has run already: it is set up before.
    pub fn record_timeline(&mut self, sink: Box<dyn Write + Send>) -> Outcome {
        let drive = self.full();
        let measure = &drive.config.measure;
        let shape = Shape {
            geometry: &drive.geometry,
            layout: drive.datapath.fabric().layout(),
            streams: drive.frontend.summaries().map(|(name, _)| name).collect(),
        };
        let (timeline, outcome) = Timeline::new(&shape, Window::new(measure), measure.timeline_events_max, sink);
        self.add_probe(Box::new(timeline));
        outcome
    }

    /// Records the interconnect where the configuration wants it.
    fn record_network(&mut self) -> Option<Recorded> {
        let AnyDrive::Full(drive) = &self.drive else { return None };
        let measure = &drive.config.measure;
        if !measure.network {
            return None;
        }
        let (recorder, recorded) = NetworkRecorder::new(Window::new(measure), measure.network_events_max);
        self.add_probe(Box::new(recorder));
        Some(recorded)
    }

    /// Runs all streams to their end, or until `control` cancels it.
    ///
    /// # Errors
    /// When the workload cannot be read on, a sink cannot be written, or an oracle speaks.
    pub fn run(&mut self, control: &Control) -> Result<Report, RunError> {
        let recorded = self.record_network();
        self.drive.make_lean(self.is_standard);
        let mut report = self.drive.run(control)?;
        report.network = recorded.map(|recorded| recorded.take());
        Ok(report)
    }
}
