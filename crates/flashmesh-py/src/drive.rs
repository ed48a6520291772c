//! A stepped drive, with requests and completions as NumPy arrays.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::config::Config;
use crate::errors::{InternalError, WorkloadError, exception, guarded, shown};
use crate::simulation::PreparedDrives;
use flashmesh::error::RunError;
use flashmesh::report::Status;
use flashmesh::requests::RequestKind;
use flashmesh::stepping::{self, Completion, StepError, Submission};
use flashmesh::units::{Bytes, Time};

/// Columns of completions, with one row for each: id, time in picoseconds, latency in picoseconds, code of the status.
type Columns<'py> =
    (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u8>>);

/// A column of requests: one value for all requests, or an array with one for each.
#[derive(FromPyObject)]
enum Column<'py, T: numpy::Element> {
    One(T),
    Each(PyReadonlyArray1<'py, T>),
}

impl<T: numpy::Element + Copy> Column<'_, T> {
    /// Returns the values of the column, and whether there is one value for each request. If not, the only value applies to all requests.
    fn values(&self) -> PyResult<(&[T], bool)> {
        match self {
            Column::One(value) => Ok((std::slice::from_ref(value), false)),
            Column::Each(array) => Ok((array.as_slice()?, true)),
        }
    }
}

/// Values of a column, indexed by row: either one value for each row, or one value for all rows.
#[derive(Clone, Copy)]
struct Values<'a, T> {
    values: &'a [T],
    is_each: bool,
}

impl<'a, T: numpy::Element + Copy> Values<'a, T> {
    fn new(column: &'a Column<'_, T>, rows: usize, name: &str) -> PyResult<Values<'a, T>> {
        let (values, is_each) = column.values()?;
        if is_each && values.len() != rows {
            let message = format!("{name} has {} values, and time_ps {rows}", values.len());
            return Err(PyValueError::new_err(message));
        }
        Ok(Values { values, is_each })
    }

    fn at(&self, row: usize) -> T {
        self.values[if self.is_each { row } else { 0 }]
    }
}

fn refused(error: &StepError) -> PyErr {
    WorkloadError::new_err(shown(error))
}

fn kind_of(op: u8) -> Result<RequestKind, PyErr> {
    RequestKind::ALL.get(usize::from(op)).copied().ok_or_else(|| {
        let last = RequestKind::ALL.len() - 1;
        PyValueError::new_err(format!("an operation is a number from 0 to {last} (flashmesh.Op), not {op}"))
    })
}

/// A copy of the complete state of a drive.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Snapshot(Mutex<stepping::Snapshot>);

/// A drive that is simulated step by step, with requests submitted in between. Times are in picoseconds.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Drive(Mutex<stepping::Drive>);

impl Drive {
    fn lock(&self) -> MutexGuard<'_, stepping::Drive> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances the drive with the interpreter lock released. Returns the columns of the requests that completed in this step.
    fn stepped<'py>(
        &self,
        py: Python<'py>,
        step: impl FnOnce(&mut stepping::Drive) -> Result<(), RunError> + Send,
    ) -> PyResult<Columns<'py>> {
        let done = py.detach(|| {
            guarded(|| {
                let mut drive = self.lock();
                step(&mut drive).map(|()| drive.take_completions())
            })
        })?;
        let done = done.map_err(|error| exception(&error))?;
        let column = |of: fn(&Completion) -> u64| done.iter().map(of).collect::<Vec<u64>>().into_pyarray(py);
        Ok((
            column(|done| done.id),
            column(|done| done.time.as_ps()),
            column(|done| done.latency.as_ps()),
            done.iter().map(|done| done.status.index() as u8).collect::<Vec<u8>>().into_pyarray(py),
        ))
    }
}

#[pymethods]
impl Drive {
    #[new]
    #[pyo3(signature = (config, check, drives=None))]
    fn new(py: Python<'_>, config: &Config, check: bool, drives: Option<&Bound<'_, PreparedDrives>>) -> PyResult<Self> {
        let (config, drives) = (&config.config, drives.map(|drives| &drives.get().0));
        let opened = py.detach(|| guarded(|| stepping::Drive::prepared(config, check, drives)))?;
        opened.map(|drive| Drive(Mutex::new(drive))).map_err(|error| exception(&error))
    }

    /// Submits a request and returns its id. `op` is a code of `request_codes`. Raises WorkloadError if the drive refuses the request.
    fn submit(&self, time_ps: u64, op: u8, offset: u64, size: u64, stream: usize) -> PyResult<u64> {
        let (time, kind) = (Time::from_ps(time_ps), kind_of(op)?);
        let request = Submission { time, kind, offset: Bytes::new(offset), size: Bytes::new(size), stream };
        guarded(|| self.lock().submit(request))?.map_err(|error| refused(&error))
    }

    /// Submits one request for each element of `time_ps`. Returns the id of the first request; the other requests have consecutive ids. If
    /// a request is refused, submits none and raises WorkloadError.
    fn submit_batch(
        &self,
        time_ps: PyReadonlyArray1<'_, u64>,
        op: Column<'_, u8>,
        offset: Column<'_, u64>,
        size: Column<'_, u64>,
        stream: Column<'_, u32>,
    ) -> PyResult<u64> {
        let times = time_ps.as_slice()?;
        let rows = times.len();
        let ops = Values::new(&op, rows, "op")?;
        ops.values.iter().try_for_each(|&op| kind_of(op).map(drop))?;
        let offsets = Values::new(&offset, rows, "offset")?;
        let sizes = Values::new(&size, rows, "size")?;
        let streams = Values::new(&stream, rows, "stream")?;
        let requests = times.iter().enumerate().map(|(row, &time)| Submission {
            time: Time::from_ps(time),
            kind: RequestKind::ALL[usize::from(ops.at(row))],
            offset: Bytes::new(offsets.at(row)),
            size: Bytes::new(sizes.at(row)),
            stream: streams.at(row) as usize,
        });
        guarded(|| self.lock().submit_all(requests))?
            .map_err(|(row, error)| WorkloadError::new_err(format!("row {row}: {}", shown(&error))))
    }

    /// Returns the time of the next event, in picoseconds; None if no event is pending.
    fn next_event(&self) -> Option<u64> {
        self.lock().next_event().map(Time::as_ps)
    }

    /// Simulates all events up to `time_ps`, inclusive. Returns the completions of this step.
    fn advance<'py>(&self, py: Python<'py>, time_ps: u64) -> PyResult<Columns<'py>> {
        self.stepped(py, |drive| drive.advance(Time::from_ps(time_ps)).map(drop))
    }

    /// Simulates up to the next completion, but not beyond `time_ps` (None for no limit). Returns the completions of this step.
    fn advance_to_completion<'py>(&self, py: Python<'py>, time_ps: Option<u64>) -> PyResult<Columns<'py>> {
        self.stepped(py, |drive| drive.advance_to_completion(time_ps.map(Time::from_ps)).map(drop))
    }

    /// Simulates until all requests have completed. Returns the completions of this step.
    fn drain<'py>(&self, py: Python<'py>) -> PyResult<Columns<'py>> {
        self.stepped(py, |drive| drive.drain().map(drop))
    }

    /// Returns the report of the run as if it ended now, as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let report = py.detach(|| guarded(|| self.lock().report()))?.map_err(|error| exception(&error))?;
        serde_json::to_string(&report).map_err(|error| InternalError::new_err(shown(&error)))
    }

    /// Returns a copy of the state of the drive.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        py.detach(|| guarded(|| self.lock().snapshot())).map(|snapshot| Snapshot(Mutex::new(snapshot)))
    }

    /// Restores the state in a snapshot. Raises ConfigError if the snapshot is of a drive with another configuration or another `check`.
    fn restore(&self, py: Python<'_>, snapshot: &Snapshot) -> PyResult<()> {
        py.detach(|| {
            guarded(|| {
                let snapshot = snapshot.0.lock().unwrap_or_else(PoisonError::into_inner);
                self.lock().restore(&snapshot)
            })
        })?
        .map_err(|error| exception(&error.into()))
    }

    /// Time up to which the drive was simulated, in picoseconds.
    #[getter]
    fn now_ps(&self) -> u64 {
        self.lock().now().as_ps()
    }

    /// Number of requests that were submitted and have not completed.
    #[getter]
    fn outstanding(&self) -> u64 {
        self.lock().outstanding()
    }

    /// Sector size in bytes. The offsets and sizes of requests must be multiples of the sector size.
    #[getter]
    fn sector_size(&self) -> u64 {
        self.lock().sector_size().as_u64()
    }

    /// Returns the number of bytes that a stream can address; None if the stream does not exist.
    fn capacity(&self, stream: usize) -> Option<u64> {
        self.lock().capacity(stream).map(Bytes::as_u64)
    }
}

/// Returns the names of the operations and of the completion statuses of requests, each indexed by code.
#[pyfunction]
pub fn request_codes() -> (Vec<&'static str>, Vec<&'static str>) {
    (RequestKind::ALL.map(RequestKind::name).to_vec(), Status::ALL.map(Status::name).to_vec())
}
