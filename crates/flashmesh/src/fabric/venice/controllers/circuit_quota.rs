//! Limit on the circuits of one host request at a time (`venice.circuits-per-request`).
//!
//! Venice reserves a path "for each I/O request" (ISCA 2023, section 4.2), and drives with n controllers "reserve conflict-free paths for up to n
//! ongoing I/O requests" (section 6.5). The paper does not state whether a request for several pages accesses its chips one after the other. Here
//! each transfer reserves its own circuit. With a limit, the transactions of one request hold at most that many circuits; the others wait until one
//! is released.

use std::collections::VecDeque;

use crate::fabric::TransferPhase;
use crate::ids::{DieId, RequestId};

use super::path_queue::PathRequest;

/// Circuits of one host request, and its path requests over the limit.
#[derive(Clone, Debug, Default)]
struct RequestQuota {
    /// Number of circuits that the host request holds, or that its admitted path requests will hold.
    circuits: u32,
    /// Path requests over the limit, in order of arrival.
    waiting: VecDeque<PathRequest>,
}

/// Circuits of all host requests. Path requests of firmware work, such as GC, are not limited.
#[derive(Clone, Debug)]
pub(in super::super) struct CircuitQuota {
    limit: u32,
    /// Host request of the next path request; `None` for firmware work.
    next: Option<RequestId>,
    /// Circuits of each host request, indexed by host request; grown on demand.
    quota: Vec<RequestQuota>,
    /// Host request of the latest path request, indexed by die and phase; `None` for firmware work.
    owners: Vec<[Option<RequestId>; TransferPhase::ALL.len()]>,
}

impl CircuitQuota {
    /// Creates the quotas for a drive of `dies` dies: at most `limit` circuits at a time for each host request.
    pub fn new(limit: u32, dies: u32) -> CircuitQuota {
        CircuitQuota { limit, next: None, quota: Vec::new(), owners: vec![Default::default(); dies as usize] }
    }

    /// Sets the host request of the next path request; `None` for firmware work.
    pub fn set_host_request(&mut self, request: Option<RequestId>) {
        self.next = request;
    }

    fn owner(&self, request: &PathRequest) -> Option<RequestId> {
        self.owners[request.die.index()][request.phase.index()]
    }

    /// Admits the path request `request`, and returns `true`, if it is for firmware work or its host request is below the limit of circuits.
    /// Otherwise returns `false` and queues `request` until the host request releases a circuit.
    pub fn admit_or_enqueue(&mut self, request: &PathRequest) -> bool {
        let owner = self.next.take();
        self.owners[request.die.index()][request.phase.index()] = owner;
        let Some(owner) = owner else { return true };
        if self.quota.len() <= owner.index() {
            self.quota.resize_with(owner.index() + 1, RequestQuota::default);
        }
        let share = &mut self.quota[owner.index()];
        if share.circuits == self.limit {
            share.waiting.push_back(*request);
            return false;
        }
        share.circuits += 1;
        true
    }

    /// Releases the circuit of `request`. Returns the oldest queued path request of the same host request, if any, which the caller must queue for a
    /// controller.
    pub fn release(&mut self, request: &PathRequest) -> Option<PathRequest> {
        let owner = self.owner(request)?;
        let share = &mut self.quota[owner.index()];
        let next = share.waiting.pop_front();
        share.circuits -= u32::from(next.is_none());
        next
    }

    /// Returns whether the path request of `die` for `phase` is queued because its host request has reached its limit of circuits.
    pub fn is_waiting(&self, die: DieId, phase: TransferPhase) -> bool {
        let owner = self.owners[die.index()][phase.index()];
        let waits = |request: &PathRequest| (request.die, request.phase) == (die, phase);
        owner.is_some_and(|owner| self.quota[owner.index()].waiting.iter().any(waits))
    }
}
