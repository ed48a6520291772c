//! Which die asks for a path next, where a scheduler in Python says so.

use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use flashmesh::ids::DieId;
use flashmesh::placement::Geometry;
use flashmesh::scheduler::Dispatch;

use super::arrays::{below, gone};
use super::asked::Policy;
use super::scheduler::{Transaction, classes};

scoped_thread_local!(static DISPATCH: for<'a> &'a Dispatch<'a>);

/// The dies that could begin something, and around them what waits for every die.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct DispatchState {
    dies: u32,
    channels: u32,
}

fn seen<T>(look: impl FnOnce(&Dispatch<'_>) -> T) -> PyResult<T> {
    if DISPATCH.is_set() { Ok(DISPATCH.with(|dispatch| look(dispatch))) } else { Err(gone()) }
}

impl DispatchState {
    fn die(&self, die: u32) -> PyResult<DieId> {
        below("die", die, self.dies).map(DieId)
    }
}

#[pymethods]
impl DispatchState {
    /// The time of the decision, in picoseconds.
    #[getter]
    fn now_ps(&self) -> PyResult<u64> {
        seen(|dispatch| dispatch.now().as_ps())
    }

    /// The dies that could begin something and have not asked for a path, in ascending order.
    #[getter]
    fn candidates(&self) -> PyResult<Vec<u32>> {
        seen(|dispatch| {
            let mut dies: Vec<u32> = dispatch.candidates().iter().map(|die| die.0).collect();
            dies.sort_unstable();
            dies
        })
    }

    /// Those of a channel.
    fn candidates_of_channel(&self, channel: u32) -> PyResult<Vec<u32>> {
        let channel = below("channel", channel, self.channels)?;
        seen(|dispatch| {
            let mut dies: Vec<u32> = dispatch.candidates().of_channel(channel).iter().map(|die| die.0).collect();
            dies.sort_unstable();
            dies
        })
    }

    /// The dies of which one begins something when a candidate has a path.
    fn speaks_for(&self, candidate: u32) -> PyResult<Vec<u32>> {
        let die = self.die(candidate)?;
        seen(|dispatch| dispatch.speaks_for(die).map(|die| die.0).collect())
    }

    /// Whether a die waits for a path for its next command.
    fn asks(&self, die: u32) -> PyResult<bool> {
        let die = self.die(die)?;
        seen(|dispatch| dispatch.states().asks(die))
    }

    /// Whether a die moves something over the interconnect, or waits for a path to do so.
    fn uses_path(&self, die: u32) -> PyResult<bool> {
        let die = self.die(die)?;
        seen(|dispatch| dispatch.states().uses_path(die))
    }

    /// Whether a die does nothing and nothing waits for it.
    fn is_idle(&self, die: u32) -> PyResult<bool> {
        let die = self.die(die)?;
        seen(|dispatch| dispatch.load().is_idle(die))
    }

    /// Transactions that wait for a die, and those that it works on.
    fn outstanding_of(&self, die: u32) -> PyResult<usize> {
        let die = self.die(die)?;
        seen(|dispatch| dispatch.load().outstanding(die))
    }

    /// What waits for a die, the first `limit` of each queue; not all of it may run now.
    #[pyo3(signature = (die, work, limit=usize::MAX))]
    fn queued(&self, die: u32, work: u32, limit: usize) -> PyResult<Vec<Transaction>> {
        let die = self.die(die)?;
        seen(|dispatch| {
            let queued = classes(work).flat_map(|class| dispatch.load().queued_first(die, class, limit));
            queued.map(|(queue, id, of)| Transaction::new(queue, id, of)).collect()
        })
    }
}

/// The method of a scheduler that names the dies which ask for paths.
pub struct Dispatcher {
    policy: Policy,
    state: Py<DispatchState>,
}

impl Dispatcher {
    /// That of `object`, where it has one.
    pub fn of(policy: &Policy, object: &Bound<'_, PyAny>, geometry: &Geometry) -> PyResult<Option<Dispatcher>> {
        let Some(policy) = policy.beside(object, "next_die")? else { return Ok(None) };
        let state = Py::new(object.py(), DispatchState { dies: geometry.dies(), channels: geometry.channels })?;
        Ok(Some(Dispatcher { policy, state }))
    }

    /// The die that it names. Once it has failed, candidates go one after the other until the run ends.
    pub fn next_die(&self, dispatch: &Dispatch<'_>) -> Option<DieId> {
        let first = || dispatch.candidates().iter().next();
        if self.policy.has_failed() {
            return first();
        }
        Python::attach(|py| {
            let Some(answer) = DISPATCH.set(dispatch, || self.policy.ask(py, (&self.state,))) else { return first() };
            if answer.is_none() {
                return None;
            }
            match answer.extract::<u32>() {
                Ok(die) if die < dispatch.geometry().dies() && dispatch.candidates().contains(DieId(die)) => {
                    return Some(DieId(die));
                }
                Ok(_) => {
                    self.policy.refuse(&answer, "that die is no candidate; dispatch.candidates gives those that are")
                }
                Err(_) => self.policy.refuse(&answer, "a die is a whole number, one of dispatch.candidates, or None"),
            }
            first()
        })
    }
}
