//! Dispatch by a Python scheduler, which chooses the next die to request a path.

use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use flashmesh::ids::DieId;
use flashmesh::placement::Geometry;
use flashmesh::scheduler::DispatchView;

use super::arrays::{below, gone};
use super::asked::Policy;
use super::scheduler::{Transaction, classes};

scoped_thread_local!(static DISPATCH: for<'a> &'a DispatchView<'a>);

/// Dies that can request a path, and the queues of all dies, for the method `next_die` of a scheduler.
///
/// Usable only during the call of the policy, in the same thread.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct DispatchState {
    dies: u32,
    channels: u32,
}

fn seen<T>(look: impl FnOnce(&DispatchView<'_>) -> T) -> PyResult<T> {
    if DISPATCH.is_set() { Ok(DISPATCH.with(|dispatch| look(dispatch))) } else { Err(gone()) }
}

impl DispatchState {
    fn die(&self, die: u32) -> PyResult<DieId> {
        below("die", die, self.dies).map(DieId)
    }
}

#[pymethods]
impl DispatchState {
    /// Simulated time of the decision, in picoseconds.
    #[getter]
    fn now_ps(&self) -> PyResult<u64> {
        seen(|dispatch| dispatch.now().as_ps())
    }

    /// Indices of the dies that can start an operation and have not requested a path, in ascending order. If a chip executes one operation at a time,
    /// only its first die is listed, for all dies of the chip.
    #[getter]
    fn candidates(&self) -> PyResult<Vec<u32>> {
        seen(|dispatch| {
            let mut dies: Vec<u32> = dispatch.candidates().iter().map(|die| die.0).collect();
            dies.sort_unstable();
            dies
        })
    }

    /// Returns the candidates on a channel, in ascending order.
    fn candidates_of_channel(&self, channel: u32) -> PyResult<Vec<u32>> {
        let channel = below("channel", channel, self.channels)?;
        seen(|dispatch| {
            let mut dies: Vec<u32> = dispatch.candidates().of_channel(channel).iter().map(|die| die.0).collect();
            dies.sort_unstable();
            dies
        })
    }

    /// Returns the dies that can use the path that a candidate requests: all dies of its chip if the chip executes one operation at a time,
    /// otherwise only the candidate.
    fn speaks_for(&self, candidate: u32) -> PyResult<Vec<u32>> {
        let die = self.die(candidate)?;
        seen(|dispatch| dispatch.represented_dies(die).map(|die| die.0).collect())
    }

    /// Returns whether a die waits for a path for its next command.
    fn asks(&self, die: u32) -> PyResult<bool> {
        let die = self.die(die)?;
        seen(|dispatch| dispatch.states().requests_path(die))
    }

    /// Returns whether a die has a transfer in progress or waits for a path.
    fn uses_path(&self, die: u32) -> PyResult<bool> {
        let die = self.die(die)?;
        seen(|dispatch| dispatch.states().uses_path(die))
    }

    /// Returns whether a die is idle and has nothing queued.
    fn is_idle(&self, die: u32) -> PyResult<bool> {
        let die = self.die(die)?;
        seen(|dispatch| dispatch.load().is_idle(die))
    }

    /// Returns the number of transactions queued for a die or in execution on it.
    fn outstanding_of(&self, die: u32) -> PyResult<usize> {
        let die = self.die(die)?;
        seen(|dispatch| dispatch.load().outstanding(die))
    }

    /// Returns the first `limit` transactions for `work` in each queue of a die; all of them without `limit`. `work` is a `flashmesh.policies.Work`:
    /// one purpose, or several joined by `|`. A die has a queue for each plane and purpose, and for each priority unless `schedule.priorities` is
    /// `off`. Some of the transactions may not be ready to run.
    #[pyo3(signature = (die, work, limit=usize::MAX))]
    fn queued(&self, die: u32, work: u32, limit: usize) -> PyResult<Vec<Transaction>> {
        let die = self.die(die)?;
        seen(|dispatch| {
            let queued = classes(work).flat_map(|class| dispatch.load().queued_first(die, class, limit));
            queued.map(|(queue, id, of)| Transaction::new(queue, id, of)).collect()
        })
    }
}

/// Optional method of a Python scheduler, which chooses the dies that request paths.
pub struct Dispatcher {
    policy: Policy,
    state: Py<DispatchState>,
}

impl Dispatcher {
    /// Looks up the optional method `next_die` of `object`; `None` if `object` does not have it.
    pub fn of(policy: &Policy, object: &Bound<'_, PyAny>, geometry: &Geometry) -> PyResult<Option<Dispatcher>> {
        let Some(policy) = policy.beside(object, "next_die")? else { return Ok(None) };
        let state = Py::new(object.py(), DispatchState { dies: geometry.dies(), channels: geometry.channels })?;
        Ok(Some(Dispatcher { policy, state }))
    }

    /// Returns the die that the method chooses; `None` if the method chooses none for now. After a failure of the method, returns the first
    /// candidate until the run ends.
    pub fn next_die(&self, dispatch: &DispatchView<'_>) -> Option<DieId> {
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
