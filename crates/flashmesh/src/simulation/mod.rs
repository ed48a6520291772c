//! Simulation of one drive and its workloads: construction from a configuration, setup, run.

mod control;
mod custom_parts;
mod drive;
mod fault;
mod instances;
mod recovery;
pub(crate) mod stepping;

use std::io::Write;

use crate::config::{Config, ExpectedWrites, Instance};
use crate::controller::{Backend, Controller};
use crate::datapath::Datapath;
use crate::error::{RunError, WorkloadError};
use crate::fabric::{Fabric, FabricInfo, info_of};
use crate::flash::geometry::Geometry;
use crate::frontend::{self, Frontend};
use crate::ftl::{Ftl, PreparedDrives};
use crate::host::source::RequestSource;
use crate::kernel::Kernel;
use crate::measure::report::Report;
use crate::measure::request_budget::RequestBudget;
use crate::policies::ftl_rules;
use crate::probes::{ChipStatesProbe, CollisionProbe};
use crate::recording::RecordingWindow;
use crate::recording::network::{NetworkRecorder, NetworkRecording};
use crate::recording::timeline::{DriveLayout, Timeline, TimelineOutcome};
use crate::workload::WorkloadSummary;
use crate::workload::source::WorkloadSource;

pub use control::Control;
pub use fault::Fault;

use drive::DriveInstance;
use instances::{AnyDrive, Needs};

/// One drive and its workloads, for one run.
pub struct Simulation {
    drive: AnyDrive,
    /// Compiled variants (instances) of the drive that the configuration and the user-supplied parts require.
    needs: Needs,
    /// Keys of `[policy]` for which a user-supplied part was set.
    policies: Vec<&'static str>,
}

impl Simulation {
    /// Builds the drive that `config` describes, in its initial state, and opens the workloads of `config`.
    ///
    /// # Errors
    /// If the drive cannot be built, or a workload cannot be used on it.
    pub fn new(config: &Config) -> Result<Simulation, RunError> {
        Simulation::opened(config, info_of(config.fabric.kind), None, None, &Control::default())
    }

    /// Like [`Simulation::new`], but over the interconnect that `info` declares; `fabric.kind` is ignored.
    ///
    /// # Errors
    /// Like [`Simulation::new`], and if the configuration requires something that the interconnect does not support.
    pub fn with_interconnect(config: &Config, info: &'static FabricInfo) -> Result<Simulation, RunError> {
        Simulation::opened(config, info, None, None, &Control::default())
    }

    /// Like [`Simulation::with_sources`], but over the interconnect that `info` declares; `fabric.kind` is ignored.
    ///
    /// # Errors
    /// Like [`Simulation::with_sources`], and if the configuration requires something that the interconnect does not support.
    pub fn over_with_sources(
        config: &Config,
        info: &'static FabricInfo,
        sources: Vec<Box<dyn WorkloadSource>>,
    ) -> Result<Simulation, RunError> {
        let sources = sources.into_iter().map(RequestSource::Workload).collect();
        Simulation::assembled(config, info, sources, &ExpectedWrites::unknown(), None, &Control::default())
    }

    /// Like [`Simulation::new`] if `only` is `None`; otherwise like [`Simulation::single_stream`] with the stream at the index `only`. Takes the
    /// initial state from `drives`. If `drives` does not have the state, prepares it there for later runs.
    ///
    /// # Errors
    /// If the drive cannot be built, there is no such stream, or a workload cannot be used.
    pub fn prepared(config: &Config, only: Option<usize>, drives: &PreparedDrives) -> Result<Simulation, RunError> {
        Simulation::opened(config, info_of(config.fabric.kind), only, Some(drives), &Control::default())
    }

    /// Like [`Simulation::prepared`], but publishes the progress of preconditioning to `control`. If `drives` is `None`, the state is prepared for
    /// this run only.
    ///
    /// # Errors
    /// Like [`Simulation::prepared`].
    pub fn with_control(
        config: &Config,
        only: Option<usize>,
        drives: Option<&PreparedDrives>,
        control: &Control,
    ) -> Result<Simulation, RunError> {
        Simulation::opened(config, info_of(config.fabric.kind), only, drives, control)
    }

    /// Returns the key under which `drives` keeps the initial state of a run of `config` with all its streams. `None` if each run prepares its own
    /// state, or if the drive cannot be built. Runs with equal keys share one state, and wait while one of them prepares it.
    pub fn state_key(config: &Config, drives: &PreparedDrives) -> Option<String> {
        let geometry = Geometry::from_config(config).ok()?;
        drives.key(&geometry, config, ftl_rules(config), &config.expected_writes())
    }

    /// Builds the drive with requests of only the stream at `index`, as the baseline of fairness. The other streams exist but issue nothing.
    ///
    /// # Errors
    /// If the drive cannot be built, there is no such stream, or its workload cannot be used.
    pub fn single_stream(config: &Config, index: usize) -> Result<Simulation, RunError> {
        Simulation::opened(config, info_of(config.fabric.kind), Some(index), None, &Control::default())
    }

    fn opened(
        config: &Config,
        info: &'static FabricInfo,
        only: Option<usize>,
        drives: Option<&PreparedDrives>,
        control: &Control,
    ) -> Result<Simulation, RunError> {
        let count = config.streams().len();
        if let Some(index) = only.filter(|&index| index >= count) {
            return Err(WorkloadError::Unusable(format!("there is no stream {index}: there are {count}")).into());
        }
        let opened = frontend::open(config, &Geometry::from_config(config)?, only)?;
        let sources = opened.sources.into_iter().map(RequestSource::Workload).collect();
        let writes = only.map_or_else(|| config.expected_writes(), |stream| config.expected_writes_of_single(stream));
        let mut simulation = Simulation::assembled(config, info, sources, &writes, drives, control)?;
        let frontend = &mut simulation.unstarted_drive().frontend;
        frontend.host.describe(opened.summaries);
        if let Some(goal) = RequestBudget::from_config(config, only) {
            frontend.set_goal(goal);
        }
        Ok(simulation)
    }

    /// Builds the drive that `config` describes, in its initial state. `source` issues the requests of its only stream.
    ///
    /// # Errors
    /// If the drive cannot be built, or the configuration has several streams.
    pub fn with_source(config: &Config, source: Box<dyn WorkloadSource>) -> Result<Simulation, RunError> {
        Simulation::with_sources(config, vec![source])
    }

    /// Builds the drive that `config` describes, in its initial state. `sources` issue the requests of the streams, in the order of
    /// [`Config::streams`]. Offsets of a source are relative to the namespace of its stream.
    ///
    /// # Errors
    /// If the drive cannot be built, or the numbers of sources and streams differ.
    pub fn with_sources(config: &Config, sources: Vec<Box<dyn WorkloadSource>>) -> Result<Simulation, RunError> {
        Simulation::over_with_sources(config, info_of(config.fabric.kind), sources)
    }

    /// Returns the drive that `config` describes, in its initial state, with one of `sources` for each stream. `writes` are the writes to expect from
    /// the sources; the initial state depends on them.
    fn assembled(
        config: &Config,
        info: &'static FabricInfo,
        sources: Vec<RequestSource>,
        writes: &ExpectedWrites,
        drives: Option<&PreparedDrives>,
        control: &Control,
    ) -> Result<Simulation, RunError> {
        let geometry = Geometry::from_config(config)?;
        let frontend = Frontend::new(config, &geometry, sources)?;
        let datapath = Datapath::new(config, &geometry, info)?;
        let watch = |share| control.publish_preconditioned(share);
        let rules = ftl_rules(config);
        let ftl = match drives {
            Some(drives) => drives.ftl(&geometry, config, rules, writes, &watch),
            None => Ftl::preconditioned(&geometry, config, rules, writes, None, &watch),
        };
        let controller = Controller::new(config, &geometry, ftl);
        let (analyses_collisions, tells_chip_states) = (config.measure.collisions, config.measure.chip_states);
        let needs = Needs::of(config);
        let config = Box::new(config.clone());
        let (kernel, fault) = (Kernel::default(), Fault::default());
        let drive = DriveInstance {
            config,
            geometry,
            frontend,
            backend: Backend { controller, datapath, kernel },
            at_cut: None,
            window_begin: None,
            fault,
            end: None,
            precision_due: 0,
        };
        let drive = AnyDrive::Probed(Box::new(drive));
        let mut simulation = Simulation { drive, needs, policies: Vec::new() };
        if analyses_collisions {
            let drive = simulation.unstarted_drive();
            let probe = CollisionProbe::new(&drive.config, &drive.geometry);
            drive.backend.kernel.add_probe(Box::new(probe));
        }
        if tells_chip_states {
            let drive = simulation.unstarted_drive();
            drive.backend.kernel.add_probe(Box::new(ChipStatesProbe::new(&drive.geometry)));
        }
        Ok(simulation)
    }

    /// Returns the drive before its run. Panics if the run has started.
    fn unstarted_drive(&mut self) -> &mut DriveInstance<crate::kernel::model::Probed> {
        match &mut self.drive {
            AnyDrive::Probed(drive) => drive,
            _ => panic!("the drive has begun to run: it is set up before"),
        }
    }

    /// Requires at least the features of the compiled variant `instance`. Tests compare variants: one with more features is slower, with equal
    /// results.
    pub fn require(&mut self, instance: Instance) {
        self.needs.add(instance);
    }

    /// Returns the compiled variant in which the drive runs or has run; before the run, the variant with all features.
    pub fn instance(&self) -> Instance {
        self.drive.instance()
    }

    /// Returns the flash translation layer, which maps logical pages to locations.
    pub fn ftl(&self) -> &Ftl {
        self.drive.parts().controller.ftl()
    }

    /// Returns the geometry of the flash array.
    pub fn geometry(&self) -> &Geometry {
        self.drive.parts().geometry
    }

    /// Returns the name of each stream, in the order of the configuration, and the summary of its workload; `None` for a workload that was not opened
    /// from the configuration.
    pub fn summaries(&self) -> impl Iterator<Item = (&str, Option<&WorkloadSummary>)> {
        self.drive.parts().summaries.into_iter()
    }

    /// Returns the summary of the workload of the only stream; `None` if there are several streams, or the workload was not opened from the
    /// configuration.
    pub fn summary(&self) -> Option<&WorkloadSummary> {
        match self.drive.parts().summaries.as_slice() {
            &[(_, summary)] => summary,
            _ => None,
        }
    }

    /// Writes a timeline of the run for Perfetto to `sink`. `[measure]` limits its time window and its size. Returns a handle from which the outcome
    /// can be read after the run.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn record_timeline(&mut self, sink: Box<dyn Write + Send>) -> TimelineOutcome {
        let drive = self.unstarted_drive();
        let measure = &drive.config.measure;
        let shape = DriveLayout {
            geometry: &drive.geometry,
            layout: drive.backend.datapath.interconnect.fabric.layout(),
            streams: drive.frontend.host.summaries().map(|(name, _)| name).collect(),
        };
        let (timeline, outcome) =
            Timeline::new(&shape, RecordingWindow::new(measure), measure.timeline_events_max, sink);
        self.add_probe(Box::new(timeline));
        outcome
    }

    /// Adds the recorder of the interconnect if `measure.network` is set. Returns the handle to the recording; `None` without a recorder.
    fn record_network(&mut self) -> Option<NetworkRecording> {
        let AnyDrive::Probed(drive) = &self.drive else { return None };
        let measure = &drive.config.measure;
        if !measure.network {
            return None;
        }
        let (recorder, recorded) = NetworkRecorder::new(
            drive.backend.datapath.interconnect.info,
            RecordingWindow::new(measure),
            measure.network_events_max,
        );
        self.add_probe(Box::new(recorder));
        Some(recorded)
    }

    /// Returns an error if the configuration names a user-supplied policy that the caller has not set.
    fn require_policies(&mut self) -> Result<(), RunError> {
        let AnyDrive::Probed(drive) = &self.drive else { return Ok(()) };
        let mut missing = drive.config.policy.named().filter(|(key, _)| !self.policies.contains(key));
        missing.next().map_or(Ok(()), |(key, name)| Err(RunError::NoPolicy { key, name: name.to_owned() }))
    }

    /// Runs all streams to their end, or until `control` cancels the run.
    ///
    /// # Errors
    /// If a workload cannot be read further, a sink cannot be written, or an oracle finds a violation.
    pub fn run(&mut self, control: &Control) -> Result<Report, RunError> {
        self.require_policies()?;
        let recorded = self.record_network();
        let mut report = self.drive.run(self.needs, control)?;
        report.network = recorded.map(|recorded| recorded.take());
        Ok(report)
    }
}
