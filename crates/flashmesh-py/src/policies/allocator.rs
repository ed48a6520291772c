//! Placement of written pages.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use scoped_tls_hkt::scoped_thread_local;

use flashmesh::ids::{ChannelId, DieId, Lpn, PlaneId};
use flashmesh::placement::{Allocator, DriveView, Geometry, PageRead, PageWrite};

use super::arrays::{Shown, below, gone};
use super::asked::Policy;

scoped_thread_local!(static DRIVE: for<'a> DriveView<'a>);

/// A page that is to be written, or read.
#[derive(Clone, Copy)]
#[pyclass(get_all, module = "flashmesh._native")]
pub struct Write {
    /// The logical page.
    lpn: u32,
    /// The stream of the host; None for the firmware.
    stream: Option<u32>,
    /// The request that waits for it; None without one.
    request: Option<u32>,
    /// How many pages the request touches.
    pages: u32,
    /// Which of them this is, from 0.
    position: u32,
}

impl From<&PageWrite> for Write {
    fn from(write: &PageWrite) -> Write {
        let part = write.request;
        Write {
            lpn: write.lpn.0,
            stream: write.stream.map(|stream| stream.0),
            request: part.map(|part| part.request.0),
            pages: part.map_or(1, |part| part.pages),
            position: part.map_or(0, |part| part.position),
        }
    }
}

/// The arguments of a question, made once and filled anew for the next one unless somebody has kept them: making objects costs as much as
/// the rest of a call.
struct Question {
    write: Py<Write>,
    arguments: Py<PyTuple>,
}

impl Question {
    fn new(py: Python<'_>, write: Write, drive: &Py<DriveState>) -> PyResult<Question> {
        let write = Py::new(py, write)?;
        let arguments = (&write, drive).into_pyobject(py)?.unbind();
        Ok(Question { write, arguments })
    }

    /// Those that ask about `write`.
    fn about<'py>(&mut self, py: Python<'py>, write: Write, drive: &Py<DriveState>) -> PyResult<&Bound<'py, PyTuple>> {
        // The tuple is kept here alone, and the write here and in the tuple.
        let is_own = references(self.arguments.bind(py)) == 1 && references(self.write.bind(py)) == 2;
        let is_filled = is_own
            && self.write.try_borrow_mut(py).is_ok_and(|mut kept| {
                *kept = write;
                true
            });
        if !is_filled {
            *self = Question::new(py, write, drive)?;
        }
        Ok(self.arguments.bind(py))
    }
}

/// How many references there are to an object.
fn references<T>(object: &Bound<'_, T>) -> isize {
    // SAFETY: the pointer is that of an object that is alive, since `object` is a reference to it, and the interpreter is attached.
    #[allow(unsafe_code, reason = "100 ns of 900 a call: PyO3 has no safe function for it")]
    unsafe {
        pyo3::ffi::Py_REFCNT(object.as_ptr())
    }
}

/// What the dies do and how full the planes are.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct DriveState {
    dies: u32,
    planes: u32,
    channels: u32,
    outstanding: Shown<u32>,
    waiting: Shown<u32>,
    idle: Shown<u8>,
    valid_pages: Shown<u32>,
}

fn seen<T>(look: impl FnOnce(DriveView<'_>) -> T) -> PyResult<T> {
    if DRIVE.is_set() { Ok(DRIVE.with(look)) } else { Err(gone()) }
}

#[pymethods]
impl DriveState {
    /// Transactions that wait for each die, and those that it works on.
    #[getter]
    fn outstanding(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|drive| self.outstanding.filled(py, |die| drive.outstanding(DieId(die)) as u32))?
    }

    /// Transactions that wait for each die.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|drive| self.waiting.filled(py, |die| drive.waiting(DieId(die)) as u32))?
    }

    /// Whether each die does nothing and nothing waits for it.
    #[getter]
    fn idle(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|drive| self.idle.filled(py, |die| u8::from(drive.idle_dies().contains(DieId(die)))))?
    }

    /// Valid pages of each plane.
    #[getter]
    fn valid_pages(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|drive| self.valid_pages.filled(py, |plane| drive.occupancy().valid_pages(PlaneId(plane))))?
    }

    /// Transactions that wait for a die, and those that it works on.
    fn outstanding_of(&self, die: u32) -> PyResult<usize> {
        let die = DieId(below("die", die, self.dies)?);
        seen(|drive| drive.outstanding(die))
    }

    /// Transactions that wait for a die.
    fn waiting_of(&self, die: u32) -> PyResult<usize> {
        let die = DieId(below("die", die, self.dies)?);
        seen(|drive| drive.waiting(die))
    }

    /// Whether a die does nothing and nothing waits for it.
    fn is_idle(&self, die: u32) -> PyResult<bool> {
        let die = DieId(below("die", die, self.dies)?);
        seen(|drive| drive.idle_dies().contains(die))
    }

    /// How many dies are idle.
    #[getter]
    fn idle_count(&self) -> PyResult<u32> {
        seen(|drive| drive.idle_dies().len())
    }

    /// Whether no die of a channel moves anything, or waits to move something.
    fn is_channel_free(&self, channel: u32) -> PyResult<bool> {
        let channel = ChannelId(below("channel", channel, self.channels)?);
        seen(|drive| drive.is_channel_free(channel))
    }

    /// Valid pages of a plane.
    fn valid_pages_of(&self, plane: u32) -> PyResult<u32> {
        let plane = PlaneId(below("plane", plane, self.planes)?);
        seen(|drive| drive.occupancy().valid_pages(plane))
    }

    /// The plane that holds a logical page now; None for one that was never written.
    fn plane_of(&self, lpn: u32) -> PyResult<Option<u32>> {
        let pages = seen(|drive| drive.geometry().logical_pages)?;
        let lpn = Lpn(below("logical page", lpn, pages)?);
        seen(|drive| drive.occupancy().current_plane(lpn).map(|plane| plane.0))
    }
}

/// A policy in Python that places pages.
pub struct PythonAllocator {
    place: Policy,
    committed: Option<Policy>,
    stays: Option<Policy>,
    withdrawn: Option<Policy>,
    read: Option<Policy>,
    drive: Py<DriveState>,
    question: Question,
    planes: u32,
}

impl PythonAllocator {
    /// `place` of `object`, and what else it wants to be told or asked.
    pub fn new(place: Policy, object: &Bound<'_, PyAny>, geometry: &Geometry) -> PyResult<PythonAllocator> {
        let (py, dies, planes) = (object.py(), geometry.dies(), geometry.planes());
        let drive = DriveState {
            dies,
            planes,
            channels: geometry.channels,
            outstanding: Shown::new(py, dies, "uint32", "uint32")?,
            waiting: Shown::new(py, dies, "uint32", "uint32")?,
            idle: Shown::new(py, dies, "uint8", "bool")?,
            valid_pages: Shown::new(py, planes, "uint32", "uint32")?,
        };
        let drive = Py::new(py, drive)?;
        let [committed, stays, withdrawn, read] = ["committed", "stays", "withdrawn", "read"];
        Ok(PythonAllocator {
            committed: place.beside(object, committed)?,
            stays: place.beside(object, stays)?,
            withdrawn: place.beside(object, withdrawn)?,
            read: place.beside(object, read)?,
            place,
            question: Question::new(py, Write::from(&PageWrite::of(Lpn(0))), &drive)?,
            drive,
            planes,
        })
    }

    fn tell(&self, policy: Option<&Policy>, arguments: (u32, u32)) {
        if let Some(policy) = policy.filter(|policy| !policy.has_failed()) {
            Python::attach(|py| policy.ask(py, arguments).map(drop));
        }
    }
}

impl Allocator for PythonAllocator {
    fn place(&mut self, write: &PageWrite, drive: &DriveView<'_>) -> PlaneId {
        if self.place.has_failed() {
            return PlaneId(0);
        }
        Python::attach(|py| {
            let arguments = self.question.about(py, Write::from(write), &self.drive);
            let Ok(arguments) = arguments.map_err(|error| self.place.raised(error)) else { return PlaneId(0) };
            let Some(answer) = DRIVE.set(*drive, || self.place.ask(py, arguments)) else { return PlaneId(0) };
            match answer.extract::<u32>() {
                Ok(plane) if plane < self.planes => return PlaneId(plane),
                Ok(_) => self.place.refuse(&answer, &format!("the planes of the drive are 0 to {}", self.planes - 1)),
                Err(_) => self.place.refuse(&answer, "a place is the number of a plane, a whole number"),
            }
            PlaneId(0)
        })
    }

    fn committed(&mut self, lpn: Lpn, plane: PlaneId) {
        self.tell(self.committed.as_ref(), (lpn.0, plane.0));
    }

    fn stays(&self, write: &PageWrite, plane: PlaneId, drive: &DriveView<'_>) -> bool {
        let Some(policy) = self.stays.as_ref().filter(|policy| !policy.has_failed()) else { return true };
        Python::attach(|py| {
            let arguments = (Write::from(write), plane.0, &self.drive);
            let Some(answer) = DRIVE.set(*drive, || policy.ask(py, arguments)) else { return true };
            answer.extract::<bool>().unwrap_or_else(|_| {
                policy.refuse(&answer, "whether a write stays is True or False");
                true
            })
        })
    }

    fn withdrawn(&mut self, lpn: Lpn, plane: PlaneId) {
        self.tell(self.withdrawn.as_ref().or(self.committed.as_ref()), (lpn.0, plane.0));
    }

    fn read(&mut self, read: &PageRead) {
        let Some(policy) = self.read.as_ref().filter(|policy| !policy.has_failed()) else { return };
        let write = PageWrite { lpn: read.lpn, stream: Some(read.stream), request: read.request };
        Python::attach(|py| policy.ask(py, (Write::from(&write), read.plane.0)).map(drop));
    }
}
