//! One drive and the workloads it runs: built from a configuration, run to its end, looked at.

mod control;
mod drive;
mod lean;

use crate::check::Oracles;
use crate::config::Config;
use crate::datapath::Datapath;
use crate::error::{RunError, WorkloadError};
use crate::firmware::Firmware;
use crate::flash::geometry::Geometry;
use crate::frontend::{self, Frontend};
use crate::ftl::Ftl;
use crate::kernel::Kernel;
use crate::kernel::probe::Probe;
use crate::measure::log::RequestSink;
use crate::measure::report::Report;
use crate::schedule::{AnyScheduler, Custom, Scheduler};
use crate::workload::WorkloadSummary;
use crate::workload::source::WorkloadSource;

pub use control::Control;

use drive::Drive;
use lean::AnyDrive;

/// One drive and the workloads it runs.
pub struct Simulation {
    drive: AnyDrive,
    /// Whether the run may use what is compiled for plain drives.
    may_be_lean: bool,
}

impl Simulation {
    /// Builds the drive that `config` describes and opens the workloads that it names.
    ///
    /// # Errors
    /// When the drive cannot be built, or a workload cannot be used on it.
    pub fn new(config: &Config) -> Result<Simulation, RunError> {
        Simulation::opened(config, None)
    }

    /// The same drive with the stream at `index` alone: the others issue nothing, and everything else is as it is beside them,
    /// so that the two runs of the stream can be compared.
    ///
    /// # Errors
    /// When the drive cannot be built, there is no such stream, or its workload cannot be used.
    pub fn alone(config: &Config, index: usize) -> Result<Simulation, RunError> {
        let count = config.streams().len();
        if index >= count {
            return Err(WorkloadError::Unusable(format!("there is no stream {index}: there are {count}")).into());
        }
        Simulation::opened(config, Some(index))
    }

    fn opened(config: &Config, only: Option<usize>) -> Result<Simulation, RunError> {
        let opened = frontend::open(config, &Geometry::new(&config.geometry)?, only)?;
        let mut simulation = Simulation::with_sources(config, opened.sources)?;
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
        let geometry = Geometry::new(&config.geometry)?;
        let frontend = Frontend::new(config, &geometry, sources)?;
        let datapath = Datapath::new(config, &geometry)?;
        let firmware = Firmware::new(config, &geometry);
        let config = Box::new(config.clone());
        let drive = Drive { config, geometry, kernel: Kernel::default(), frontend, firmware, datapath };
        Ok(Simulation { drive: AnyDrive::Full(Box::new(drive)), may_be_lean: true })
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
        self.may_be_lean = false;
        self.full().datapath.set_scheduler(AnyScheduler::Custom(Custom(scheduler)));
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
        self.may_be_lean = false;
        let drive = self.full();
        drive.datapath.tell_uses();
        drive.firmware.tell_probes();
        drive.kernel.add_probe(probe);
    }

    /// WeightedRoundRobin the oracles on: the run fails at the first thing that must not happen.
    ///
    /// # Panics
    /// When the drive has run already: it is set up before.
    pub fn enable_checks(&mut self) {
        let drive = self.full();
        let oracles = Oracles::new(&drive.geometry, &drive.config);
        self.add_probe(Box::new(oracles));
    }

    /// Whether the drive was run by the instance for plain drives over its interconnect.
    pub fn was_lean(&self) -> bool {
        !matches!(self.drive, AnyDrive::Full(_))
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

    /// Runs all streams to their end, or until `control` cancels it.
    ///
    /// # Errors
    /// When the workload cannot be read on, a sink takes no more records, or an oracle speaks.
    pub fn run(&mut self, control: &Control) -> Result<Report, RunError> {
        if self.may_be_lean {
            self.drive.make_lean();
        }
        self.drive.run(control)
    }
}
