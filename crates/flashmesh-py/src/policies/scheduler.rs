//! Which transaction a die runs next, and which join it.

use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use flashmesh::ids::{DieId, TransactionId};
use flashmesh::placement::Geometry;
use flashmesh::scheduler::{self, Choice, Chosen, Class, Decision, Dispatch, Joiners, OutOfOrder, Scheduler};

use super::arrays::{below, gone};
use super::asked::Policy;
use super::dispatch::Dispatcher;

scoped_thread_local!(static WAITING: for<'a> &'a scheduler::Waiting<'a>);

/// A transaction that waits for a die.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Transaction {
    pub(super) queue: Choice,
    id: TransactionId,
    /// The logical page.
    #[pyo3(get)]
    lpn: u32,
    /// The physical page that is read.
    #[pyo3(get)]
    page: u32,
    /// The request that waits for it; None for work of the firmware.
    #[pyo3(get)]
    request: Option<u32>,
    /// The stream that it is for.
    #[pyo3(get)]
    stream: u32,
    /// Bytes that the host asked for, or gave.
    #[pyo3(get)]
    bytes: u64,
    /// Grows with the arrival of transactions.
    #[pyo3(get)]
    order: u64,
    /// Since when it waits, in picoseconds.
    #[pyo3(get)]
    queued_ps: u64,
}

impl Transaction {
    pub(super) fn new(queue: Choice, id: TransactionId, of: &scheduler::Transaction) -> Transaction {
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
    /// What it does, as a member of `flashmesh.policies.Work`.
    #[getter]
    fn work(&self) -> u32 {
        1 << self.queue.class.index()
    }

    /// The die that it waits for.
    #[getter]
    fn die(&self) -> u32 {
        self.queue.die.0
    }

    /// The plane in its die.
    #[getter]
    fn plane(&self) -> u8 {
        self.queue.plane
    }

    /// Its priority, 0 the most urgent.
    #[getter]
    fn priority(&self) -> usize {
        self.queue.priority.index()
    }

    fn __repr__(&self) -> String {
        let Choice { die, class, plane, .. } = self.queue;
        format!("<Transaction: {class:?} of page {} on plane {plane} of die {}>", self.lpn, die.0)
    }
}

/// What waits, for the dies that the decision is about and around them.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Waiting {
    /// Dies of the drive.
    dies_max: u32,
}

fn seen<T>(look: impl FnOnce(&scheduler::Waiting<'_>) -> T) -> PyResult<T> {
    if WAITING.is_set() { Ok(WAITING.with(|waiting| look(waiting))) } else { Err(gone()) }
}

impl Waiting {
    fn die(&self, die: u32) -> PyResult<DieId> {
        below("die", die, self.dies_max).map(DieId)
    }
}

/// The classes of a set of bits.
pub(super) fn classes(bits: u32) -> impl Iterator<Item = Class> {
    Class::ALL.into_iter().filter(move |class| bits >> class.index() & 1 != 0)
}

/// The id of the transaction that is the head of `queue`.
fn head(waiting: &scheduler::Waiting<'_>, queue: Choice) -> Option<TransactionId> {
    let queued = waiting.load().queued_first(queue.die, queue.class, 1);
    queued.into_iter().find(|(other, ..)| *other == queue).map(|(_, id, _)| id)
}

#[pymethods]
impl Waiting {
    /// The time of the decision, in picoseconds.
    #[getter]
    fn now_ps(&self) -> PyResult<u64> {
        seen(|waiting| waiting.now().as_ps())
    }

    /// The dies that the decision is about: one, or all of a chip that takes one operation at a time.
    #[getter]
    fn dies(&self) -> PyResult<Vec<u32>> {
        seen(|waiting| waiting.dies().map(|die| die.0).collect())
    }

    /// Whether garbage collection goes before requests here and now.
    #[getter]
    fn collection_first(&self) -> PyResult<bool> {
        seen(|waiting| waiting.collection_first())
    }

    /// Whether space is nearly out, so that only collection lets writes go on.
    #[getter]
    fn space_is_out(&self) -> PyResult<bool> {
        seen(|waiting| waiting.space_is_out())
    }

    /// The transactions of some kinds of work that may run: the first of each queue.
    fn heads(&self, work: u32) -> PyResult<Vec<Transaction>> {
        seen(|waiting| {
            let heads = classes(work).flat_map(|class| waiting.heads(class));
            heads.filter_map(|(queue, of)| Some(Transaction::new(queue, head(waiting, queue)?, of))).collect()
        })
    }

    /// The transaction of some kinds of work that may run and waits longest; None where none may.
    fn oldest(&self, work: u32) -> PyResult<Option<Transaction>> {
        seen(|waiting| {
            let heads = classes(work).flat_map(|class| waiting.heads(class));
            let (queue, of) = heads.min_by_key(|(_, of)| of.order)?;
            Some(Transaction::new(queue, head(waiting, queue)?, of))
        })
    }

    /// Whether a transaction of one of some kinds of work may run.
    fn is_ready(&self, work: u32) -> PyResult<bool> {
        seen(|waiting| classes(work).any(|class| waiting.is_ready(class)))
    }

    /// What waits for a die, the first `limit` of each queue; not all of it may run now.
    #[pyo3(signature = (die, work, limit=usize::MAX))]
    fn queued(&self, die: u32, work: u32, limit: usize) -> PyResult<Vec<Transaction>> {
        let die = self.die(die)?;
        seen(|waiting| {
            let queued = classes(work).flat_map(|class| waiting.load().queued_first(die, class, limit));
            queued.map(|(queue, id, of)| Transaction::new(queue, id, of)).collect()
        })
    }

    /// Transactions that wait for a die of the drive, and those that it works on.
    fn outstanding_of(&self, die: u32) -> PyResult<usize> {
        let die = self.die(die)?;
        seen(|waiting| waiting.load().outstanding(die))
    }

    /// Whether a die of the drive does nothing and nothing waits for it.
    fn is_idle(&self, die: u32) -> PyResult<bool> {
        let die = self.die(die)?;
        seen(|waiting| waiting.load().is_idle(die))
    }
}

/// A policy in Python that schedules.
pub struct PythonScheduler {
    policy: Policy,
    waiting: Py<Waiting>,
    /// Which die asks for a path, where it says so.
    dispatcher: Option<Dispatcher>,
    /// What answers once the policy has failed, until the run ends.
    otherwise: OutOfOrder,
}

impl PythonScheduler {
    /// For a drive of this shape.
    pub fn new(policy: Policy, object: &Bound<'_, PyAny>, geometry: &Geometry) -> PyResult<PythonScheduler> {
        let waiting = Py::new(object.py(), Waiting { dies_max: geometry.dies() })?;
        let dispatcher = Dispatcher::of(&policy, object, geometry)?;
        Ok(PythonScheduler { policy, waiting, dispatcher, otherwise: OutOfOrder::default() })
    }

    fn answer(&self, py: Python<'_>, waiting: &scheduler::Waiting<'_>) -> Option<Decision> {
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
        let mut chosen = Chosen::default();
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

    /// The decision that `lead` goes next, where it may.
    fn decision(
        &self,
        answer: &Bound<'_, PyAny>,
        waiting: &scheduler::Waiting<'_>,
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

/// Whether a transaction waits in its queue.
fn waits(waiting: &scheduler::Waiting<'_>, of: &Transaction) -> bool {
    let mut queued = waiting.load().queued(of.queue.die, of.queue.class);
    queued.any(|(queue, id, other)| queue == of.queue && id == of.id && other.order == of.order)
}

impl Scheduler for PythonScheduler {
    fn choose(&mut self, waiting: &scheduler::Waiting<'_>) -> Option<Choice> {
        self.decide(waiting).map(|decision| decision.queue)
    }

    fn decide(&mut self, waiting: &scheduler::Waiting<'_>) -> Option<Decision> {
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

    fn next_die(&mut self, dispatch: &Dispatch<'_>) -> Option<DieId> {
        let first = || dispatch.candidates().iter().next();
        self.dispatcher.as_ref().map_or_else(first, |dispatcher| dispatcher.next_die(dispatch))
    }
}
