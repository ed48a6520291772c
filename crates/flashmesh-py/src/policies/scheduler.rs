//! Schedulers in Python, which choose the next transaction of a die and those that join it.

use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use flashmesh::ids::{DieId, TransactionId};
use flashmesh::placement::Geometry;
use flashmesh::scheduler::{
    self, ChosenJoiners, Decision, DispatchView, Joiners, OutOfOrder, QueueId, Scheduler, TransactionClass,
};

use super::arrays::{below, gone};
use super::asked::Policy;
use super::dispatch::Dispatcher;

scoped_thread_local!(static WAITING: for<'a> &'a scheduler::SchedulerView<'a>);

/// Queued transaction: the read or program of one page, or the erase of one block.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Transaction {
    pub(super) queue: QueueId,
    id: TransactionId,
    /// Logical page number, or number of a translation page; 0 for an erase.
    #[pyo3(get)]
    lpn: u32,
    /// Physical page number of the page to read, to move or to replicate; for an erase, of any page of the block. Without meaning for other programs.
    #[pyo3(get)]
    page: u32,
    /// Id of the request that waits for the transaction; None without one, as for GC and destages.
    #[pyo3(get)]
    request: Option<u32>,
    /// Index of the stream of the request; for a destage, index of the stream that wrote the page; 0 for firmware work.
    #[pyo3(get)]
    stream: u32,
    /// Number of bytes of the page that the request reads or writes; for firmware work, at most a page.
    #[pyo3(get)]
    bytes: u64,
    /// Sequence number of the transaction, in order of arrival at the queues of the drive.
    #[pyo3(get)]
    order: u64,
    /// Simulated time at which the transaction was enqueued, in picoseconds.
    #[pyo3(get)]
    queued_ps: u64,
}

impl Transaction {
    pub(super) fn new(queue: QueueId, id: TransactionId, of: &scheduler::Transaction) -> Transaction {
        Transaction {
            queue,
            id,
            lpn: of.lpn.0,
            page: of.from.0,
            request: of.owner.request.map(|request| request.0),
            stream: of.owner.stream.0,
            bytes: of.bytes.as_u64(),
            order: of.order,
            queued_ps: of.account.queued().as_ps(),
        }
    }
}

#[pymethods]
impl Transaction {
    /// Purpose of the transaction: the value of a member of `flashmesh.policies.Work`.
    #[getter]
    fn work(&self) -> u32 {
        1 << self.queue.class.index()
    }

    /// Index of the die for which the transaction is queued.
    #[getter]
    fn die(&self) -> u32 {
        self.queue.die.0
    }

    /// Index of the plane in its die, from 0.
    #[getter]
    fn plane(&self) -> u8 {
        self.queue.plane
    }

    /// Priority of the queue; 0 is the most urgent. 2 for all transactions if `schedule.priorities` is `off`.
    #[getter]
    fn priority(&self) -> usize {
        self.queue.priority.index()
    }

    fn __repr__(&self) -> String {
        let QueueId { die, class, plane, .. } = self.queue;
        format!("<Transaction: {class:?} of page {} on plane {plane} of die {}>", self.lpn, die.0)
    }
}

/// Queued transactions for a scheduling decision, and the queues of all dies.
///
/// A die has a queue for each plane and purpose, and for each priority unless `schedule.priorities` is `off`. Usable only during the call of the
/// policy, in the same thread.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Waiting {
    /// Number of dies of the drive.
    dies_max: u32,
}

fn seen<T>(look: impl FnOnce(&scheduler::SchedulerView<'_>) -> T) -> PyResult<T> {
    if WAITING.is_set() { Ok(WAITING.with(|waiting| look(waiting))) } else { Err(gone()) }
}

impl Waiting {
    fn die(&self, die: u32) -> PyResult<DieId> {
        below("die", die, self.dies_max).map(DieId)
    }
}

/// Returns the transaction classes in a set of bits.
pub(super) fn classes(bits: u32) -> impl Iterator<Item = TransactionClass> {
    TransactionClass::ALL.into_iter().filter(move |class| bits >> class.index() & 1 != 0)
}

/// Returns the id of the transaction at the head of `queue`; `None` if the queue is empty.
fn head(waiting: &scheduler::SchedulerView<'_>, queue: QueueId) -> Option<TransactionId> {
    let queued = waiting.load().queued_first(queue.die, queue.class, 1);
    queued.into_iter().find(|(other, ..)| *other == queue).map(|(_, id, _)| id)
}

#[pymethods]
impl Waiting {
    /// Simulated time of the decision, in picoseconds.
    #[getter]
    fn now_ps(&self) -> PyResult<u64> {
        seen(|waiting| waiting.now().as_ps())
    }

    /// Indices of the dies for which the scheduler decides: one die, or all dies of a chip that executes one operation at a time.
    #[getter]
    fn dies(&self) -> PyResult<Vec<u32>> {
        seen(|waiting| waiting.dies().map(|die| die.0).collect())
    }

    /// Whether GC currently has priority over requests at one of `dies`.
    #[getter]
    fn collection_first(&self) -> PyResult<bool> {
        seen(|waiting| waiting.collection_first())
    }

    /// Whether one of `dies` has nearly no free pages, so that only GC can make room for writes.
    #[getter]
    fn space_is_out(&self) -> PyResult<bool> {
        seen(|waiting| waiting.space_is_out())
    }

    /// Returns the transactions for `work` that may run now: the first of each queue. `work` is a `flashmesh.policies.Work`: one purpose, or several
    /// joined by `|`.
    fn heads(&self, work: u32) -> PyResult<Vec<Transaction>> {
        seen(|waiting| {
            let heads = classes(work).flat_map(|class| waiting.heads(class));
            heads.filter_map(|(queue, of)| Some(Transaction::new(queue, head(waiting, queue)?, of))).collect()
        })
    }

    /// Returns the oldest transaction of `heads(work)`; None if there is none.
    fn oldest(&self, work: u32) -> PyResult<Option<Transaction>> {
        seen(|waiting| {
            let heads = classes(work).flat_map(|class| waiting.heads(class));
            let (queue, of) = heads.min_by_key(|(_, of)| of.order)?;
            Some(Transaction::new(queue, head(waiting, queue)?, of))
        })
    }

    /// Returns whether a transaction for `work` may run now. `work` is a `flashmesh.policies.Work`: one purpose, or several joined by `|`.
    fn is_ready(&self, work: u32) -> PyResult<bool> {
        seen(|waiting| classes(work).any(|class| waiting.is_ready(class)))
    }

    /// Returns the first `limit` transactions for `work` in each queue of a die; all of them without `limit`. `work` is a `flashmesh.policies.Work`:
    /// one purpose, or several joined by `|`. A die has a queue for each plane and purpose, and for each priority unless `schedule.priorities` is
    /// `off`. Some of the transactions may not be ready to run.
    #[pyo3(signature = (die, work, limit=usize::MAX))]
    fn queued(&self, die: u32, work: u32, limit: usize) -> PyResult<Vec<Transaction>> {
        let die = self.die(die)?;
        seen(|waiting| {
            let queued = classes(work).flat_map(|class| waiting.load().queued_first(die, class, limit));
            queued.map(|(queue, id, of)| Transaction::new(queue, id, of)).collect()
        })
    }

    /// Returns the number of transactions queued for a die or in execution on it.
    fn outstanding_of(&self, die: u32) -> PyResult<usize> {
        let die = self.die(die)?;
        seen(|waiting| waiting.load().outstanding(die))
    }

    /// Returns whether a die is idle and has nothing queued.
    fn is_idle(&self, die: u32) -> PyResult<bool> {
        let die = self.die(die)?;
        seen(|waiting| waiting.load().is_idle(die))
    }
}

/// A scheduler written in Python. Decides which queued transaction a die runs next, and which other transactions join its operation.
pub struct PythonScheduler {
    policy: Policy,
    waiting: Py<Waiting>,
    /// Method that chooses the dies that request paths; `None` if the scheduler does not have it.
    dispatcher: Option<Dispatcher>,
    /// Built-in scheduler that decides after a failure of the policy, until the run ends.
    otherwise: OutOfOrder,
}

impl PythonScheduler {
    /// Creates the scheduler for a drive with this geometry.
    pub fn new(policy: Policy, object: &Bound<'_, PyAny>, geometry: &Geometry) -> PyResult<PythonScheduler> {
        let waiting = Py::new(object.py(), Waiting { dies_max: geometry.dies() })?;
        let dispatcher = Dispatcher::of(&policy, object, geometry)?;
        Ok(PythonScheduler { policy, waiting, dispatcher, otherwise: OutOfOrder::default() })
    }

    fn answer(&self, py: Python<'_>, waiting: &scheduler::SchedulerView<'_>) -> Option<Decision> {
        let answer = WAITING.set(waiting, || self.policy.ask(py, (&self.waiting,)))?;
        if answer.is_none() {
            return None;
        }
        if let Ok(lead) = answer.cast::<Transaction>() {
            return self.decision(&answer, waiting, lead.get(), Joiners::First);
        }
        let Ok((lead, joiners)) = answer.extract::<(Bound<'_, Transaction>, Vec<Bound<'_, Transaction>>)>() else {
            let why = "a decision is a transaction that waits, a pair of one and a list of those that join it, or None";
            self.policy.refuse(&answer, why);
            return None;
        };
        let queue = lead.get().queue;
        let mut chosen = ChosenJoiners::default();
        for joiner in joiners {
            let Transaction { queue: other, id, .. } = joiner.get();
            if (other.die, other.class) != (queue.die, queue.class) || other.plane == queue.plane {
                self.policy.refuse(&answer, "who joins waits for another plane of the same die, for the same work");
                return None;
            }
            if !waits(waiting, joiner.get()) {
                self.policy.refuse(&answer, "one of those that join waits no longer");
                return None;
            }
            chosen.push(other.plane, *id);
        }
        self.decision(&answer, waiting, lead.get(), Joiners::These(chosen))
    }

    /// Returns the decision to run `lead` next, and `joiners` in the same operation. If `lead` may not run now or is no longer queued, refuses
    /// the policy's result and returns `None`.
    fn decision(
        &self,
        answer: &Bound<'_, PyAny>,
        waiting: &scheduler::SchedulerView<'_>,
        lead: &Transaction,
        joiners: Joiners,
    ) -> Option<Decision> {
        let queue = lead.queue;
        let is_asked = waiting.dies().any(|die| die == queue.die);
        if !is_asked || waiting.ready_planes(queue.die, queue.class) >> queue.plane & 1 == 0 {
            self.policy.refuse(answer, "that transaction may not run now; waiting.heads gives those that may");
            return None;
        }
        if head(waiting, queue) == Some(lead.id) {
            return Some(Decision { queue, lead: None, joiners });
        }
        if !waits(waiting, lead) {
            self.policy.refuse(answer, "that transaction waits no longer");
            return None;
        }
        Some(Decision { queue, lead: Some(lead.id), joiners })
    }
}

/// Returns whether a transaction is still queued.
fn waits(waiting: &scheduler::SchedulerView<'_>, of: &Transaction) -> bool {
    let mut queued = waiting.load().queued(of.queue.die, of.queue.class);
    queued.any(|(queue, id, other)| queue == of.queue && id == of.id && other.order == of.order)
}

impl Scheduler for PythonScheduler {
    fn choose(&mut self, waiting: &scheduler::SchedulerView<'_>) -> Option<QueueId> {
        self.decide(waiting).map(|decision| decision.queue)
    }

    fn decide(&mut self, waiting: &scheduler::SchedulerView<'_>) -> Option<Decision> {
        if !self.policy.has_failed() {
            let decision = Python::attach(|py| self.answer(py, waiting));
            if !self.policy.has_failed() {
                return decision;
            }
        }
        self.otherwise.decide(waiting)
    }

    fn dispatches(&self) -> bool {
        self.dispatcher.is_some()
    }

    fn next_die(&mut self, dispatch: &DispatchView<'_>) -> Option<DieId> {
        let first = || dispatch.candidates().iter().next();
        self.dispatcher.as_ref().map_or_else(first, |dispatcher| dispatcher.next_die(dispatch))
    }
}
