//! One run of a drive, which other threads can observe and stop.

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
use flashmesh::error::{RunError, system_message};
use flashmesh::probe::TimelineOutcome;
use flashmesh::report::{Fairness, StreamLatency};
use flashmesh::requests::WorkloadSummary;
use flashmesh::simulation;
use flashmesh::units::{Bytes, printable_path};

/// Progress of a run, and a way to cancel it.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Control(Arc<simulation::Control>);

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Control(Arc::new(simulation::Control::default()))
    }

    /// Requests the end of the run. The event loop polls the request regularly. The report covers the simulated part of the run.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether `cancel` was called.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Number of requests completed.
    #[getter]
    fn requests_done(&self) -> u64 {
        self.0.requests_done()
    }

    /// Total number of requests of the run; None if it is not known.
    #[getter]
    fn request_total(&self) -> Option<u64> {
        self.0.request_total()
    }

    /// Progress of preconditioning, from 0 to 1; None outside preconditioning.
    #[getter]
    fn preconditioned(&self) -> Option<f64> {
        self.0.preconditioned()
    }

    /// Simulated time of the run, in picoseconds.
    #[getter]
    fn simulated_ps(&self) -> u64 {
        self.0.simulated().as_ps()
    }
}

/// Preconditioned drives. A drive is prepared once for all runs with the same initial state.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct PreparedDrives(pub flashmesh::PreparedDrives);

#[pymethods]
impl PreparedDrives {
    /// Creates an empty store. With `folder`, states that take long to prepare are stored there, in at most `limit` bytes. With `one_run`, no state
    /// is kept in memory.
    #[new]
    #[pyo3(signature = (folder=None, limit=0, one_run=false))]
    fn new(folder: Option<PathBuf>, limit: u64, one_run: bool) -> Self {
        let mut drives = flashmesh::PreparedDrives::default();
        if let Some(folder) = folder {
            drives = drives.with_folder(StateFolder::new(folder, Bytes::new(limit)));
        }
        PreparedDrives(if one_run { drives.without_sharing() } else { drives })
    }

    /// Returns the key of the initial state of a run; None if each run prepares its own state. Runs with the same key share one state.
    fn key(&self, config: &Config) -> Option<String> {
        simulation::Simulation::state_key(&config.config, &self.0)
    }

    /// Returns the problems with the folder since the last call, one sentence each.
    fn take_notes(&self) -> Vec<String> {
        self.0.take_warnings()
    }
}

/// A drive with its workload, for one run.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Simulation {
    simulation: Mutex<simulation::Simulation>,
    /// Result of writing the timeline; unset without a timeline.
    timeline: OnceLock<TimelineOutcome>,
    /// Error that a Python policy of the drive raises to end the run.
    fault: simulation::Fault,
    /// Name of the Python scheduler; unset without one.
    scheduler: OnceLock<String>,
}

impl Simulation {
    fn lock(&self) -> MutexGuard<'_, simulation::Simulation> {
        self.simulation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Converts the error of a failed run to a Python exception. If the run has stalled and has a Python scheduler, blames the scheduler.
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
    /// Opens the workloads. Preconditions the drive, or takes its state from `drives`. With `alone`, only the stream with this index issues requests.
    /// `control` shows the progress of preconditioning.
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
        let opened =
            py.detach(|| guarded(|| simulation::Simulation::with_control(&config.config, alone, drives, &control)))?;
        let simulation = Mutex::new(opened.map_err(|error| exception(&error))?);
        let (timeline, fault, scheduler) = Default::default();
        Ok(Simulation { simulation, timeline, fault, scheduler })
    }

    /// Returns a summary of the traces as text. None without traces: the configuration already describes every other workload, so no summary
    /// is needed.
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

    /// Attaches the oracles, which check invariants, to the run.
    fn enable_checks(&self) {
        self.lock().enable_checks();
    }

    /// Sets a policy of the drive. `kind` is victim, allocator, home, scheduler, placement, hops, routing or arbiter. Messages call the policy
    /// `name`. A routing algorithm is passed as the list of its 256 results.
    fn set_policy(&self, kind: &str, name: &str, policy: &Bound<'_, PyAny>) -> PyResult<()> {
        if kind == "scheduler" {
            // Only the first name is stored, because a run has one scheduler.
            let _ = self.scheduler.set(name.to_owned());
        }
        policies::set(&mut self.lock(), &self.fault, kind, name, policy)?.map_err(|error| exception(&error))
    }

    /// Returns eight numbers: channels, chips per channel, dies per chip, planes per die, blocks per plane, pages per block, bytes of a page, logical
    /// pages.
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

    /// Makes the run use the compiled variant with every feature, so that its speed can be measured. The results do not change.
    fn require_every_feature(&self) {
        self.lock().require(Instance::Any);
    }

    /// Makes the run write a timeline for Perfetto to the existing file at `path`.
    fn record_timeline(&self, path: PathBuf) -> PyResult<()> {
        let file = OpenOptions::new().write(true).truncate(true).open(&path).map_err(|error| {
            OutputError::new_err(format!(
                "{}: the timeline cannot be written: {}",
                printable_path(&path),
                system_message(&error)
            ))
        })?;
        let outcome = self.lock().record_timeline(Box::new(file));
        self.timeline.set(outcome).map_err(|_| InternalError::new_err("a run has one timeline"))
    }

    /// Time at which the timeline became full and writing stopped, in picoseconds; None if it never became full.
    #[getter]
    fn timeline_full_ps(&self) -> Option<u64> {
        Some(self.timeline.get()?.full_at()?.as_ps())
    }

    /// Operating system's message if the timeline could not be written; None otherwise.
    #[getter]
    fn timeline_failure(&self) -> Option<String> {
        self.timeline.get()?.failed()
    }

    /// Runs to the end, or until `control` is cancelled. Returns the report as JSON.
    ///
    /// `on_requests(rows, columns)` is called in a separate thread with each batch of completed requests. `columns` has the bytes of each column, by
    /// its name. An exception in `on_requests` ends the run.
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

/// Returns the effect of streams on one another, as JSON. Each stream has its name, mean and p99 of its latency in the shared run, both alone, and
/// whether its run alone is steady.
#[pyfunction]
pub fn fairness(streams: Vec<(String, StreamLatency, StreamLatency, bool)>) -> PyResult<String> {
    serde_json::to_string(&Fairness::new(streams)).map_err(|error| InternalError::new_err(shown(&error)))
}
