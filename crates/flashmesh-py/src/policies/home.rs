//! Home policies in Python, which choose the copy of a replicated page that serves a read.

use pyo3::prelude::*;

use flashmesh::ids::Lpn;
use flashmesh::policy::{self, ReplicaChoice, ReplicaSelector};

use super::asked::Policy;

/// Copy of a replicated page: the original or the replica.
#[pyclass(frozen, get_all, module = "flashmesh._native")]
pub struct Home {
    /// Physical page number of the copy.
    page: u32,
    /// Index of the die that holds the copy.
    die: u32,
    /// Number of outstanding reads on the die of the copy.
    outstanding: u32,
}

impl Home {
    fn new(py: Python<'_>, home: policy::ReadLocation) -> PyResult<Bound<'_, Home>> {
        Bound::new(py, Home { page: home.ppn.0, die: home.die.0, outstanding: home.outstanding })
    }
}

/// A home policy written in Python. Chooses the copy of a replicated page that serves a read.
pub struct PythonHome(Policy);

impl PythonHome {
    pub fn new(policy: Policy) -> PythonHome {
        PythonHome(policy)
    }
}

impl ReplicaSelector for PythonHome {
    fn choose(&mut self, lpn: Lpn, original: policy::ReadLocation, replica: policy::ReadLocation) -> ReplicaChoice {
        if self.0.has_failed() {
            return ReplicaChoice::Original;
        }
        Python::attach(|py| {
            let (Ok(original), Ok(replica)) = (Home::new(py, original), Home::new(py, replica)) else {
                return ReplicaChoice::Original;
            };
            let Some(answer) = self.0.ask(py, (lpn.0, &original, &replica)) else { return ReplicaChoice::Original };
            if answer.is(&replica) {
                return ReplicaChoice::Replica;
            }
            if !answer.is(&original) {
                self.0.refuse(&answer, "a home is one of the two that are given, original or replica");
            }
            ReplicaChoice::Original
        })
    }
}
