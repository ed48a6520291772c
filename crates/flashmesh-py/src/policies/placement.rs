//! Placement policies in Python, which choose the plane for a page after the allocator's choice.

use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use flashmesh::ids::PlaneId;
use flashmesh::placement::{Geometry, OpenBlockKind};
use flashmesh::policy::{PlacementView, WritePlacer};

use super::arrays::{Shown, below, gone};
use super::asked::Policy;

/// State of the planes during a call, and the kind of open block (such as that of a host stream) that takes the page.
#[derive(Clone, Copy)]
struct Asked<'a> {
    planes: &'a PlacementView<'a>,
    stream: OpenBlockKind,
}

scoped_thread_local!(static ASKED: for<'a> Asked<'a>);

/// State of the planes of the drive, for a placement policy.
///
/// Usable only during the call of the policy, in the same thread. Arrays are read-only views of one buffer for each property: the next access of the
/// property overwrites the buffer, so copy an array to keep it.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Planes {
    count: u32,
    free_pages: Shown<u32>,
    valid_pages: Shown<u32>,
    pages_open: Shown<u32>,
    writes_waiting: Shown<u32>,
    moves_waiting: Shown<u32>,
}

fn seen<T>(look: impl FnOnce(Asked<'_>) -> T) -> PyResult<T> {
    if ASKED.is_set() { Ok(ASKED.with(look)) } else { Err(gone()) }
}

impl Planes {
    fn new(py: Python<'_>, count: u32) -> PyResult<Planes> {
        let array = || Shown::new(py, count, "uint32", "uint32");
        Ok(Planes {
            count,
            free_pages: array()?,
            valid_pages: array()?,
            pages_open: array()?,
            writes_waiting: array()?,
            moves_waiting: array()?,
        })
    }

    fn plane(&self, plane: u32) -> PyResult<PlaneId> {
        below("plane", plane, self.count).map(PlaneId)
    }
}

#[pymethods]
impl Planes {
    /// Number of free pages of each plane, indexed by plane. Free pages are in free blocks, including the reserve of GC, and in open blocks; the SLC
    /// cache does not count.
    #[getter]
    fn free_pages(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|asked| self.free_pages.filled(py, |plane| asked.planes.free_pages(PlaneId(plane))))?
    }

    /// Number of valid pages of each plane, indexed by plane.
    #[getter]
    fn valid_pages(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|asked| self.valid_pages.filled(py, |plane| asked.planes.valid_pages(PlaneId(plane))))?
    }

    /// Number of used pages in the open blocks of each plane to which the page can go, indexed by plane. For a host write, the open block
    /// of host writes and that of pages moved by GC count together; for a translation page, only the open block of translation pages
    /// counts.
    #[getter]
    fn pages_open(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|Asked { planes, stream }| {
            self.pages_open.filled(py, |plane| planes.open_block_pages(PlaneId(plane), stream))
        })?
    }

    /// Number of writes placed on each plane and not yet assigned a physical page, indexed by plane.
    #[getter]
    fn writes_waiting(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|asked| self.writes_waiting.filled(py, |plane| asked.planes.writes_waiting(PlaneId(plane))))?
    }

    /// Number of pages that GC moves to each plane, not yet assigned a physical page, indexed by plane.
    #[getter]
    fn moves_waiting(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        seen(|asked| self.moves_waiting.filled(py, |plane| asked.planes.moves_waiting(PlaneId(plane))))?
    }

    /// Returns `free_pages[plane]`, without filling the array.
    fn free_pages_of(&self, plane: u32) -> PyResult<u32> {
        let plane = self.plane(plane)?;
        seen(|asked| asked.planes.free_pages(plane))
    }

    /// Returns `valid_pages[plane]`, without filling the array.
    fn valid_pages_of(&self, plane: u32) -> PyResult<u32> {
        let plane = self.plane(plane)?;
        seen(|asked| asked.planes.valid_pages(plane))
    }

    /// Returns `pages_open[plane]`, without filling the array.
    fn pages_open_of(&self, plane: u32) -> PyResult<u32> {
        let plane = self.plane(plane)?;
        seen(|Asked { planes, stream }| planes.open_block_pages(plane, stream))
    }

    /// Returns `writes_waiting[plane]`, without filling the array.
    fn writes_waiting_of(&self, plane: u32) -> PyResult<u32> {
        let plane = self.plane(plane)?;
        seen(|asked| asked.planes.writes_waiting(plane))
    }

    /// Returns `moves_waiting[plane]`, without filling the array.
    fn moves_waiting_of(&self, plane: u32) -> PyResult<u32> {
        let plane = self.plane(plane)?;
        seen(|asked| asked.planes.moves_waiting(plane))
    }
}

/// A placement policy written in Python. Chooses the plane of each page that the host or the map writes.
pub struct PythonPlacer {
    policy: Policy,
    planes: Py<Planes>,
}

impl PythonPlacer {
    /// Creates the policy for a drive with this geometry.
    pub fn new(policy: Policy, py: Python<'_>, geometry: &Geometry) -> PyResult<PythonPlacer> {
        Ok(PythonPlacer { policy, planes: Py::new(py, Planes::new(py, geometry.planes())?)? })
    }
}

impl WritePlacer for PythonPlacer {
    fn place_write(&mut self, plane: PlaneId, stream: OpenBlockKind, planes: &PlacementView<'_>) -> PlaneId {
        if self.policy.has_failed() {
            return plane;
        }
        let of_host = match stream {
            OpenBlockKind::Host(stream) => Some(stream.0),
            _ => None,
        };
        Python::attach(|py| {
            let arguments = (plane.0, of_host, &self.planes);
            let answer = ASKED.set(Asked { planes, stream }, || self.policy.ask(py, arguments));
            let Some(answer) = answer else { return plane };
            let of_drive = planes.geometry().planes();
            match answer.extract::<u32>().map(PlaneId) {
                Ok(chosen) if chosen.0 < of_drive && planes.may_use(chosen, plane) => return chosen,
                Ok(chosen) if chosen.0 < of_drive => {
                    let usable: Vec<String> = (0..of_drive)
                        .filter(|&other| planes.may_use(PlaneId(other), plane))
                        .map(|other| other.to_string())
                        .collect();
                    let why = format!("planes that use the same blocks as plane {} are {}", plane.0, usable.join(", "));
                    self.policy.refuse(&answer, &why);
                }
                Ok(_) => self.policy.refuse(&answer, &format!("the planes of the drive are 0 to {}", of_drive - 1)),
                Err(_) => self.policy.refuse(&answer, "a place is the number of a plane, a whole number"),
            }
            plane
        })
    }
}
