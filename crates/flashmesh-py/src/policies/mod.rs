//! Policies in Python, in the places of built-in ones.

mod allocator;
mod arbiter;
mod arrays;
mod asked;
mod home;
mod routing;
mod scheduler;
mod victim;

pub use allocator::{DriveState, Write};
pub use arbiter::Contender;
pub use asked::Raised;
pub use home::Home;
pub use scheduler::{Transaction, Waiting};
pub use victim::Blocks;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use flashmesh::error::RunError;
use flashmesh::simulation::{Fault, Simulation};

use asked::Policy;

/// Puts a policy into a drive, in the place that `kind` names; `name` is how messages call it. It raises `fault` when it fails.
pub fn set(
    simulation: &mut Simulation,
    fault: &Fault,
    kind: &str,
    name: &str,
    object: &Bound<'_, PyAny>,
) -> PyResult<Result<(), RunError>> {
    let policy = |method| Policy::new(object, method, name, fault.clone());
    simulation.set_fault(fault.clone());
    match kind {
        "victim" => {
            let planes = simulation.geometry().blocks_per_plane;
            simulation.set_victim_selector(Box::new(victim::PythonVictim::new(
                policy("select")?,
                object.py(),
                planes,
            )?));
        }
        "allocator" => {
            let geometry = simulation.geometry().clone();
            simulation.set_allocator(Box::new(allocator::PythonAllocator::new(policy("place")?, object, &geometry)?));
        }
        "home" => simulation.set_home_selector(Box::new(home::PythonHome::new(policy("choose")?))),
        "scheduler" => {
            let dies = simulation.geometry().dies();
            let scheduler = scheduler::PythonScheduler::new(policy("decide")?, object.py(), dies)?;
            simulation.set_scheduler(Box::new(scheduler));
        }
        "routing" => return Ok(simulation.set_routing(&routing::Table::new(object)?)),
        "arbiter" => return Ok(simulation.set_arbiter(Box::new(arbiter::PythonArbiter::new(policy("grant")?)))),
        other => return Err(PyValueError::new_err(format!("there is no kind of policy {other:?}"))),
    }
    Ok(Ok(()))
}
