//! Packet routing policies in Python for NoSSD, which choose the next link of a packet.

use std::cell::RefCell;

use pyo3::prelude::*;

use flashmesh::interconnect::{PacketRouting, Port, PortSet, RouterCoord};

use crate::errors::PolicyError;

/// Router of NoSSD, one in each chip.
#[pyclass(frozen, get_all, module = "flashmesh._native")]
pub struct Router {
    /// Row of the router, from 0, which is the index of its channel; 0 in a ring.
    row: u32,
    /// Column of the router, from 0 in the west; in a ring, the position of the router.
    column: u32,
}

#[pymethods]
impl Router {
    fn __repr__(&self) -> String {
        format!("Router({}, {})", self.row, self.column)
    }
}

/// A packet routing policy in Python, called only before the run, when the routing table is built.
pub struct PythonHops<'py> {
    method: Bound<'py, PyAny>,
    /// The class `flashmesh.policies.Port`.
    port: Bound<'py, PyAny>,
    name: String,
    failure: RefCell<Option<PyErr>>,
}

impl<'py> PythonHops<'py> {
    pub fn new(object: &Bound<'py, PyAny>, name: &str) -> PyResult<PythonHops<'py>> {
        Ok(PythonHops {
            method: object.getattr("next_hop")?,
            port: object.py().import("flashmesh.policies.kinds")?.getattr("Port")?,
            name: format!("{name}.next_hop"),
            failure: RefCell::new(None),
        })
    }

    /// Removes and returns the error of the first failed call of the policy; `None` if no call has failed.
    pub fn failure(&self) -> Option<PyErr> {
        self.failure.borrow_mut().take()
    }

    fn refused(&self, answer: &Bound<'py, PyAny>, at: RouterCoord, to: RouterCoord, open: PortSet) -> PyErr {
        let shown = |object: &Bound<'py, PyAny>| object.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        let open = self.port.call1((open.to_bits(),)).map_or_else(|_| "?".to_owned(), |open| shown(&open));
        let why = format!("it is one port of those that are open, {open}");
        PolicyError::new_err(format!("{} answered {} at {at} for {to}: {why}", self.name, shown(answer)))
    }

    fn asked(&self, at: RouterCoord, to: RouterCoord, open: PortSet) -> PyResult<Port> {
        let py = self.method.py();
        let router = |place: RouterCoord| Router { row: place.row, column: place.column };
        let arguments = (router(at), router(to), self.port.call1((open.to_bits(),))?);
        let answer = self.method.call1(arguments).map_err(|error| {
            let raised = PolicyError::new_err(format!("{} raised {error}", self.name));
            raised.set_cause(py, Some(error));
            raised
        })?;
        let bits = if answer.is_instance_of::<pyo3::types::PyBool>() { None } else { answer.extract::<u8>().ok() };
        let port =
            bits.and_then(|bits| Port::MESH.into_iter().find(|port| PortSet::from_port(*port).to_bits() == bits));
        port.filter(|port| open.contains(*port)).ok_or_else(|| self.refused(&answer, at, to, open))
    }
}

impl PacketRouting for PythonHops<'_> {
    fn next_hop(&self, at: RouterCoord, to: RouterCoord, open: PortSet) -> Port {
        if self.failure.borrow().is_none() {
            match self.asked(at, to, open) {
                Ok(port) => return port,
                Err(error) => _ = self.failure.borrow_mut().replace(error),
            }
        }
        Port::Chip
    }
}
