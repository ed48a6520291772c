//! Policies in Python, in place of built-in ones.

mod allocator;
mod arbiter;
mod arrays;
mod asked;
mod dispatch;
mod home;
mod hops;
mod placement;
mod routing;
mod scheduler;
mod victim;

pub use allocator::{DriveState, Write};
pub use arbiter::Contender;
pub use asked::Raised;
pub use dispatch::DispatchState;
pub use home::Home;
pub use hops::Router;
pub use placement::Planes;
pub use scheduler::{Transaction, Waiting};
pub use victim::Blocks;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use flashmesh::error::RunError;
use flashmesh::interconnect::PacketRoutingError;
use flashmesh::simulation::{Fault, Simulation};

use crate::errors::PolicyError;
use asked::Policy;

/// Replaces the built-in policy of the given `kind` by a policy in Python. Messages call the policy `name`. If the policy fails, `fault` is raised.
///
/// # Errors
/// The outer error is a Python exception, the inner one the reason why the drive refuses the policy.
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
        "home" => simulation.set_replica_selector(Box::new(home::PythonHome::new(policy("choose")?))),
        "scheduler" => {
            let geometry = simulation.geometry().clone();
            let scheduler = scheduler::PythonScheduler::new(policy("decide")?, object, &geometry)?;
            simulation.set_scheduler(Box::new(scheduler));
        }
        "placement" => {
            let geometry = simulation.geometry().clone();
            let placer = placement::PythonPlacer::new(policy("place_write")?, object.py(), &geometry)?;
            simulation.set_write_placer(Box::new(placer));
        }
        "hops" => return led(simulation, name, object),
        "routing" => return Ok(simulation.set_routing(&routing::Table::new(object)?)),
        "arbiter" => return Ok(simulation.set_arbiter(Box::new(arbiter::PythonArbiter::new(policy("grant")?)))),
        other => return Err(PyValueError::new_err(format!("there is no kind of policy {other:?}"))),
    }
    Ok(Ok(()))
}

/// Sets a packet routing policy for NoSSD. Fails like [`set`].
fn led(simulation: &mut Simulation, name: &str, object: &Bound<'_, PyAny>) -> PyResult<Result<(), RunError>> {
    let hops = hops::PythonHops::new(object, name)?;
    let set = simulation.set_packet_routing(&hops);
    if let Some(failure) = hops.failure() {
        return Err(failure);
    }
    match set {
        Ok(()) => Ok(Ok(())),
        Err(PacketRoutingError::Fabric(error)) => Ok(Err(error.into())),
        Err(PacketRoutingError::Routes(error)) => Err(PolicyError::new_err(format!("{name}.next_hop: {error}"))),
    }
}
