//! Allocator policies in Python, which choose the plane of each written page.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use scoped_tls_hkt::scoped_thread_local;

use flashmesh::ids::{ChannelId, DieId, Lpn, PlaneId};
use flashmesh::placement::{Allocator, DriveView, Geometry, PageRead, PageWrite};

use super::arrays::{Shown, below, gone};
use super::asked::Policy;

scoped_thread_local!(static DRIVE: for<'a> DriveView<'a>);

/// A page to be written or, for the method `read` of an allocator, a page that a request reads.
#[derive(Clone, Copy)]
#[pyclass(get_all, module = "flashmesh._native")]
pub struct Write {
    /// Logical page number.
    lpn: u32,
    /// Index of the host stream, from 0; None for a translation page.
    stream: Option<u32>,
    /// Id of the request to which the page belongs; None if it belongs to no request, as in a destage.
    request: Option<u32>,
    /// Number of pages of the request; 1 if the page belongs to no request.
    pages: u32,
    /// Index of the page in the request, from 0; 0 if the page belongs to no request.
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

/// Arguments of a call. The next call reuses the objects unless the policy has kept them, because creating new ones takes as long as the rest of a
/// call.
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

    /// Returns the arguments for `write`.
    fn about<'py>(&mut self, py: Python<'py>, write: Write, drive: &Py<DriveState>) -> PyResult<&Bound<'py, PyTuple>> {
        // Reference counts if the policy has kept no reference: 1 for the tuple (from here), and 2 for the write (from here and from the tuple).
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

/// Returns the reference count of an object.
fn references<T>(object: &Bound<'_, T>) -> isize {
    // SAFETY: `object` is a reference to an object that is alive, and the interpreter is attached.
    #[allow(unsafe_code, reason = "100 ns of 900 a call: PyO3 has no safe function for it")]
    unsafe {
        pyo3::ffi::Py_REFCNT(object.as_ptr())
    }
}

/// State of the dies and the planes of the drive, for an allocator.
///
/// Usable only during the call of the policy, in the same thread. Arrays are read-only views of one buffer for each property: the next access of the
/// property overwrites the buffer, so copy an array to keep it.
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
    /// Number of transactions queued for each die or in execution on it, indexed by die.
    #[getter]
    fn outstanding(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|drive| self.outstanding.filled(py, |die| drive.outstanding(DieId(die)) as u32))?
    }

    /// Number of transactions queued for each die, indexed by die.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|drive| self.waiting.filled(py, |die| drive.waiting(DieId(die)) as u32))?
    }

    /// Whether each die is idle and has nothing queued, indexed by die.
    #[getter]
    fn idle(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|drive| self.idle.filled(py, |die| u8::from(drive.idle_dies().contains(DieId(die)))))?
    }

    /// Number of valid pages of each plane, indexed by plane.
    #[getter]
    fn valid_pages(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|drive| self.valid_pages.filled(py, |plane| drive.occupancy().valid_pages(PlaneId(plane))))?
    }

    /// Returns `outstanding[die]`, without filling the array.
    fn outstanding_of(&self, die: u32) -> PyResult<usize> {
        let die = DieId(below("die", die, self.dies)?);
        seen(|drive| drive.outstanding(die))
    }

    /// Returns `waiting[die]`, without filling the array.
    fn waiting_of(&self, die: u32) -> PyResult<usize> {
        let die = DieId(below("die", die, self.dies)?);
        seen(|drive| drive.waiting(die))
    }

    /// Returns `idle[die]`, without filling the array.
    fn is_idle(&self, die: u32) -> PyResult<bool> {
        let die = DieId(below("die", die, self.dies)?);
        seen(|drive| drive.idle_dies().contains(die))
    }

    /// Number of dies that are idle and have nothing queued.
    #[getter]
    fn idle_count(&self) -> PyResult<u32> {
        seen(|drive| drive.idle_dies().len())
    }

    /// Returns whether no die of a channel has a transfer in progress or waits for a path.
    fn is_channel_free(&self, channel: u32) -> PyResult<bool> {
        let channel = ChannelId(below("channel", channel, self.channels)?);
        seen(|drive| drive.is_channel_free(channel))
    }

    /// Returns `valid_pages[plane]`, without filling the array.
    fn valid_pages_of(&self, plane: u32) -> PyResult<u32> {
        let plane = PlaneId(below("plane", plane, self.planes)?);
        seen(|drive| drive.occupancy().valid_pages(plane))
    }

    /// Returns the plane that holds a logical page; None if the page is unmapped, as before its first write.
    fn plane_of(&self, lpn: u32) -> PyResult<Option<u32>> {
        let pages = seen(|drive| drive.geometry().logical_pages)?;
        let lpn = Lpn(below("logical page", lpn, pages)?);
        seen(|drive| drive.occupancy().current_plane(lpn).map(|plane| plane.0))
    }
}

/// An allocator in Python, with its optional methods.
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
    /// Creates the allocator from its method `place`, and from the optional methods of `object`.
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
            question: Question::new(py, Write::from(&PageWrite::new(Lpn(0))), &drive)?,
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

    fn on_committed(&mut self, lpn: Lpn, plane: PlaneId) {
        self.tell(self.committed.as_ref(), (lpn.0, plane.0));
    }

    fn keeps_plane(&self, write: &PageWrite, plane: PlaneId, drive: &DriveView<'_>) -> bool {
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

    fn on_withdrawn(&mut self, lpn: Lpn, plane: PlaneId) {
        self.tell(self.withdrawn.as_ref().or(self.committed.as_ref()), (lpn.0, plane.0));
    }

    fn on_read(&mut self, read: &PageRead) {
        let Some(policy) = self.read.as_ref().filter(|policy| !policy.has_failed()) else { return };
        let write = PageWrite { lpn: read.lpn, stream: Some(read.stream), request: read.request };
        Python::attach(|py| policy.ask(py, (Write::from(&write), read.plane.0)).map(drop));
    }
}
