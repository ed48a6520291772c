//! One run of a drive, watched and stopped from other threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::config::Config;
use crate::errors::{InternalError, exception, guarded};
use crate::request_log::RequestLog;
use flashmesh::measure::fairness::Fairness;
use flashmesh::simulation;
use flashmesh::workload::WorkloadSummary;

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

    /// Simulated time, in picoseconds.
    #[getter]
    fn simulated_ps(&self) -> u64 {
        self.0.simulated().as_ps()
    }
}

/// A drive with its workload, ready to run once.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Simulation(Mutex<simulation::Simulation>);

impl Simulation {
    fn lock(&self) -> MutexGuard<'_, simulation::Simulation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Simulation {
    /// Opens the workloads and puts the drive into its first state; with `alone` only the stream at that place issues requests.
    #[new]
    #[pyo3(signature = (config, alone=None))]
    fn new(py: Python<'_>, config: &Config, alone: Option<usize>) -> PyResult<Self> {
        let opened = py.detach(|| {
            guarded(|| match alone {
                None => simulation::Simulation::new(&config.0),
                Some(stream) => simulation::Simulation::alone(&config.0, stream),
            })
        })?;
        opened.map(|opened| Simulation(Mutex::new(opened))).map_err(|error| exception(&error))
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

    /// Runs to the end, or until `control` is cancelled, and gives the report as JSON.
    ///
    /// `on_requests(rows, columns)` gets every completed request, in batches: the bytes of each column by its name.
    #[pyo3(signature = (control, on_requests=None))]
    fn run(&self, py: Python<'_>, control: &Control, on_requests: Option<Py<PyAny>>) -> PyResult<String> {
        let (log, sink) = on_requests.map(RequestLog::new).unzip();
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
        let report = report.map_err(|error| exception(&error))?;
        serde_json::to_string(&report).map_err(|error| InternalError::new_err(error.to_string()))
    }
}

/// How much streams slow one another down, as JSON: of each its name, its mean latency beside the others, and that alone.
#[pyfunction]
pub fn fairness(streams: Vec<(String, Option<f64>, Option<f64>)>) -> PyResult<String> {
    serde_json::to_string(&Fairness::new(streams)).map_err(|error| InternalError::new_err(error.to_string()))
}
