//! Routing algorithms in Python, for scouts of Venice.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use flashmesh::interconnect::{PortSet, RoutingAlgorithm};

/// Number of possible sets of the four ports that link a router to other routers.
const SETS: usize = 16;

/// Allowed ports of a router, as bits, for every pair of port sets: the ports that lead nearer to the destination, and the open ports.
pub struct Table(Vec<u8>);

impl Table {
    /// Creates the table from the policy's results, which are indexed by 16 * (set of ports that lead nearer) + (set of open ports).
    pub fn new(answers: &Bound<'_, PyAny>) -> PyResult<Table> {
        let answers: Vec<u8> = answers.extract()?;
        if answers.len() != SETS * SETS {
            return Err(PyValueError::new_err("a routing algorithm has 256 answers"));
        }
        Ok(Table(answers))
    }
}

impl RoutingAlgorithm for Table {
    fn candidates(&self, nearer: PortSet, open: PortSet) -> PortSet {
        let pair = usize::from(nearer.to_bits()) * SETS + usize::from(open.to_bits());
        PortSet::from_bits(self.0.get(pair).copied().unwrap_or(0))
    }
}
