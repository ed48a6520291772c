//! Arbitration policies in Python, which choose the next of the dies that wait for a channel or a controller.

use pyo3::prelude::*;
use pyo3::types::PyList;

use flashmesh::interconnect::{self, ArbitrationPolicy};

use super::asked::Policy;

/// A die that waits for a channel or a controller.
#[pyclass(frozen, get_all, module = "flashmesh._native")]
pub struct Contender {
    /// Index of the die in the drive.
    die: u32,
    /// Kind of message to send: the value of a member of `flashmesh.policies.Phase`.
    phase: u8,
    /// Purpose of the data to send: the value of a member of `flashmesh.policies.DataOf`; not used for commands.
    data: u8,
    /// Whether the die is sending data and requests the path for the next page of the same operation.
    goes_on: bool,
    /// Index of the die among the dies that share the channel or controller, from 0.
    position: u32,
    /// Sequence number of the path request, in order of arrival.
    order: u64,
}

impl From<&interconnect::Contender> for Contender {
    fn from(waiting: &interconnect::Contender) -> Contender {
        let &interconnect::Contender { die, phase, data_owner: data, continues_operation: goes_on, position, order } =
            waiting;
        Contender { die: die.0, phase: phase as u8, data: data as u8, goes_on, position, order }
    }
}

/// An arbitration policy written in Python. Chooses which of the waiting dies gets a channel or a controller next.
pub struct PythonArbiter(Policy);

impl PythonArbiter {
    pub fn new(policy: Policy) -> PythonArbiter {
        PythonArbiter(policy)
    }

    fn answer(&self, py: Python<'_>, resource: u32, last: u32, waiting: &[interconnect::Contender]) -> Option<usize> {
        let contenders = PyList::new(py, waiting.iter().map(Contender::from)).ok()?;
        let answer = self.0.ask(py, (resource, last, contenders))?;
        let order = answer.cast::<Contender>().ok().map(|chosen| chosen.get().order);
        let place = waiting.iter().position(|waiting| Some(waiting.order) == order);
        if place.is_none() {
            self.0.refuse(&answer, "who is served is one of those that are given");
        }
        place
    }
}

impl ArbitrationPolicy for PythonArbiter {
    fn choose(&mut self, resource: u32, last: u32, waiting: &[interconnect::Contender]) -> usize {
        if self.0.has_failed() {
            return 0;
        }
        Python::attach(|py| self.answer(py, resource, last, waiting)).unwrap_or(0)
    }
}
