//! One run of a drive, watched and stopped from other threads.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use pyo3::prelude::*;

use crate::config::Config;
use crate::errors::{InternalError, OutputError, PolicyError, exception, guarded, shown};
use crate::policies;
use crate::request_log::RequestLog;
use flashmesh::StateFolder;
use flashmesh::config::Instance;
use flashmesh::error::{RunError, said};
use flashmesh::probe::Outcome;
use flashmesh::report::Fairness;
use flashmesh::requests::WorkloadSummary;
use flashmesh::simulation;
use flashmesh::units::{Bytes, printable_path};

/// How far a run is, and the switch that ends it.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Control(Arc<simulation::Control>);

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Control(Arc::new(simulation::Control::default()))
    }

    /// Ends the run at the next request; its report covers what was simulated.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether `cancel` was called.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Requests completed.
    #[getter]
    fn requests_done(&self) -> u64 {
        self.0.requests_done()
    }

    /// Requests there will be in all, when known.
    #[getter]
    fn request_total(&self) -> Option<u64> {
        self.0.request_total()
    }

    /// How much of the preconditioning is done, from 0 to 1; None while there is none under way.
    #[getter]
    fn preconditioned(&self) -> Option<f64> {
        self.0.preconditioned()
    }

    /// Simulated time, in picoseconds.
    #[getter]
    fn simulated_ps(&self) -> u64 {
        self.0.simulated().as_ps()
    }
}

/// Preconditioned drives, prepared once for all runs that begin with the same state.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct PreparedDrives(pub flashmesh::PreparedDrives);

#[pymethods]
impl PreparedDrives {
    /// With `folder` what takes longest is kept there, in at most `limit` bytes; with `one_run` nothing is kept in memory.
    #[new]
    #[pyo3(signature = (folder=None, limit=0, one_run=false))]
    fn new(folder: Option<PathBuf>, limit: u64, one_run: bool) -> Self {
        let mut drives = flashmesh::PreparedDrives::default();
        if let Some(folder) = folder {
            drives = drives.kept_in(StateFolder::new(folder, Bytes::new(limit)));
        }
        PreparedDrives(if one_run { drives.for_one_run() } else { drives })
    }

    /// What decides the state in which a run begins: runs of one key share it. None for a drive that needs no preparation.
    fn key(&self, config: &Config) -> Option<String> {
        simulation::Simulation::state_key(&config.0, &self.0)
    }

    /// What went wrong with the folder since this was asked last, a sentence each.
    fn take_notes(&self) -> Vec<String> {
        self.0.take_notes()
    }
}

/// A drive with its workload, ready to run once.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Simulation {
    simulation: Mutex<simulation::Simulation>,
    /// What became of the timeline, when there is one.
    timeline: OnceLock<Outcome>,
    /// What the policies in the drive raise when they fail.
    fault: simulation::Fault,
    /// The name of the scheduler, when it is a policy in Python.
    scheduler: OnceLock<String>,
}

impl Simulation {
    fn lock(&self) -> MutexGuard<'_, simulation::Simulation> {
        self.simulation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The exception of a run that failed. A scheduler of the user's own may leave a drive with nothing to do.
    fn failure(&self, error: &RunError) -> PyErr {
        match (error, self.scheduler.get()) {
            (RunError::Stalled { at, in_flight }, Some(name)) => PolicyError::new_err(format!(
                "at {at}: {name} left {in_flight} requests waiting for good: a scheduler does not answer None while they are ready and \
                 nothing goes on"
            )),
            _ => exception(error),
        }
    }
}

#[pymethods]
impl Simulation {
    /// Opens the workloads and puts the drive into its first state, or takes that from `drives`; with `alone` only the stream
    /// at that place issues requests. `control` shows how far preconditioning is.
    #[new]
    #[pyo3(signature = (config, alone=None, drives=None, control=None))]
    fn new(
        py: Python<'_>,
        config: &Config,
        alone: Option<usize>,
        drives: Option<&Bound<'_, PreparedDrives>>,
        control: Option<&Bound<'_, Control>>,
    ) -> PyResult<Self> {
        let drives = drives.map(|drives| &drives.get().0);
        let control = control.map_or_else(Arc::default, |control| Arc::clone(&control.get().0));
        let opened = py.detach(|| guarded(|| simulation::Simulation::watched(&config.0, alone, drives, &control)))?;
        let simulation = Mutex::new(opened.map_err(|error| exception(&error))?);
        let (timeline, fault, scheduler) = Default::default();
        Ok(Simulation { simulation, timeline, fault, scheduler })
    }

    /// What the scans of traces found, for people; None without traces: the configuration describes other workloads.
    fn trace_summary(&self) -> Option<String> {
        let simulation = self.lock();
        let is_only = simulation.summaries().count() == 1;
        let found: Vec<String> = simulation
            .summaries()
            .filter_map(|(name, summary)| match summary? {
                summary @ WorkloadSummary::Trace(_) if is_only => Some(summary.to_string()),
                summary @ WorkloadSummary::Trace(_) => Some(format!("{name}: {summary}")),
                _ => None,
            })
            .collect();
        (!found.is_empty()).then(|| found.join("\n"))
    }

    /// Turns the checks on.
    fn enable_checks(&self) {
        self.lock().enable_checks();
    }

    /// Puts a policy into the drive, in the place that `kind` names: victim, allocator, home, scheduler, routing or arbiter; messages call
    /// it `name`. Of a routing algorithm the policy is the list of its 256 answers.
    fn set_policy(&self, kind: &str, name: &str, policy: &Bound<'_, PyAny>) -> PyResult<()> {
        if kind == "scheduler" {
            // The first one stays: there is one a run.
            let _ = self.scheduler.set(name.to_owned());
        }
        policies::set(&mut self.lock(), &self.fault, kind, name, policy)?.map_err(|error| exception(&error))
    }

    /// The shape of the array: channels, chips per channel, dies per chip, planes per die, blocks per plane, pages per block, bytes of a page,
    /// logical pages.
    fn shape(&self) -> [u64; 8] {
        let simulation = self.lock();
        let geometry = simulation.geometry();
        let counts = [
            geometry.channels,
            geometry.chips_per_channel,
            geometry.dies_per_chip,
            geometry.planes_per_die,
            geometry.blocks_per_plane,
            geometry.pages_per_block,
        ];
        let [channels, chips, dies, planes, blocks, pages] = counts.map(u64::from);
        [channels, chips, dies, planes, blocks, pages, geometry.page_size.as_u64(), geometry.logical_pages.into()]
    }

    /// Has the run use the code with every feature, as policies do, where less would do. The results are the same: for measurements.
    fn require_every_feature(&self) {
        self.lock().require(Instance::Any);
    }

    /// Has the run write a timeline for Perfetto into the file at `path`, which is there.
    fn record_timeline(&self, path: PathBuf) -> PyResult<()> {
        let file = OpenOptions::new().write(true).truncate(true).open(&path).map_err(|error| {
            OutputError::new_err(format!("{}: the timeline cannot be written: {}", printable_path(&path), said(&error)))
        })?;
        let outcome = self.lock().record_timeline(Box::new(file));
        self.timeline.set(outcome).map_err(|_| InternalError::new_err("a run has one timeline"))
    }

    /// From when on the timeline says nothing because it was full, in picoseconds; None when it says all.
    #[getter]
    fn timeline_full_ps(&self) -> Option<u64> {
        Some(self.timeline.get()?.full_at()?.as_ps())
    }

    /// Why the timeline could not be written, in the words of the system; None when it could.
    #[getter]
    fn timeline_failure(&self) -> Option<String> {
        self.timeline.get()?.failed()
    }

    /// Runs to the end, or until `control` is cancelled, and gives the report as JSON.
    ///
    /// `on_requests(rows, columns)` gets every completed request, in batches: the bytes of each column by its name. A thread of its own calls
    /// it; what it raises ends the run.
    #[pyo3(signature = (control, on_requests=None))]
    fn run(&self, py: Python<'_>, control: &Control, on_requests: Option<Py<PyAny>>) -> PyResult<String> {
        let (log, sink) = on_requests.map(RequestLog::new).transpose()?.unzip();
        let report = py.detach(|| {
            guarded(|| {
                let mut simulation = self.lock();
                if let Some(sink) = sink {
                    simulation.set_request_sink(Box::new(sink));
                }
                simulation.run(&control.0)
            })
        })?;
        if let Some(log) = log {
            log.finish(py)?;
        }
        let report = report.map_err(|error| self.failure(&error))?;
        serde_json::to_string(&report).map_err(|error| InternalError::new_err(shown(&error)))
    }
}

/// How much streams slow one another down, as JSON: of each its name, its mean latency beside the others, and that alone.
#[pyfunction]
pub fn fairness(streams: Vec<(String, Option<f64>, Option<f64>)>) -> PyResult<String> {
    serde_json::to_string(&Fairness::new(streams)).map_err(|error| InternalError::new_err(shown(&error)))
}
