//! Where a scout may go next.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use flashmesh::interconnect::{Ports, RoutingAlgorithm};

/// Sets of ports towards other routers.
const SETS: usize = 16;

/// What a policy has answered for every pair of sets of ports.
pub struct Table(Vec<u8>);

impl Table {
    /// The answers by the ports that lead nearer, times 16, and the open ones.
    pub fn new(answers: &Bound<'_, PyAny>) -> PyResult<Table> {
        let answers: Vec<u8> = answers.extract()?;
        if answers.len() != SETS * SETS {
            return Err(PyValueError::new_err("a routing algorithm has 256 answers"));
        }
        Ok(Table(answers))
    }
}

impl RoutingAlgorithm for Table {
    fn candidates(&self, nearer: Ports, open: Ports) -> Ports {
        let pair = usize::from(nearer.to_bits()) * SETS + usize::from(open.to_bits());
        Ports::from_bits(self.0.get(pair).copied().unwrap_or(0))
    }
}
