//! How many circuits one request of the host has at a time (`venice.circuits-per-request`).
//!
//! The paper reserves a path "for each I/O request" (Venice, ISCA 2023, section 4.2), and drives with n controllers "reserve conflict-free
//! paths for up to n ongoing I/O requests" (section 6.5). A request of several pages goes to several chips, of which it does not say whether
//! they are reached one after the other. Here each transfer reserves a circuit of its own; a bound lets the transactions of one request share
//! so many, and the others wait for a controller that serves their request.

use std::collections::VecDeque;

use crate::fabric::TransferPhase;
use crate::ids::{DieId, RequestId};

use super::waiting::PathRequest;

/// What one request has.
#[derive(Clone, Debug, Default)]
struct Share {
    /// Circuits that it has, or whose scouts are sent or wait for a controller.
    circuits: u32,
    /// Its dies that may send none, in the order of asking.
    waiting: VecDeque<PathRequest>,
}

/// The circuits of the requests, of which each has so many at most. What serves no request is not bound.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    most: u32,
    /// The request of the path that is asked for next.
    next: Option<RequestId>,
    /// By request.
    shares: Vec<Share>,
    /// By die and phase: the request of the path that it has asked for last.
    owners: Vec<[Option<RequestId>; TransferPhase::ALL.len()]>,
}

impl Shares {
    /// No request has a circuit; each may have `most`, on one of so many dies.
    pub fn new(most: u32, dies: u32) -> Shares {
        Shares { most, next: None, shares: Vec::new(), owners: vec![Default::default(); dies as usize] }
    }

    /// The path that is asked for next is one of `request`.
    pub fn name(&mut self, request: Option<RequestId>) {
        self.next = request;
    }

    fn owner(&self, request: &PathRequest) -> Option<RequestId> {
        self.owners[request.die.index()][request.phase.index()]
    }

    /// A die asks; gives whether it may have a circuit now, or waits for its request to have one less.
    pub fn admits(&mut self, request: &PathRequest) -> bool {
        let owner = self.next.take();
        self.owners[request.die.index()][request.phase.index()] = owner;
        let Some(owner) = owner else { return true };
        if self.shares.len() <= owner.index() {
            self.shares.resize_with(owner.index() + 1, Share::default);
        }
        let share = &mut self.shares[owner.index()];
        if share.circuits == self.most {
            share.waiting.push_back(*request);
            return false;
        }
        share.circuits += 1;
        true
    }

    /// The circuit of `request` is torn down; gives who may have one in its place.
    pub fn torn_down(&mut self, request: &PathRequest) -> Option<PathRequest> {
        let owner = self.owner(request)?;
        let share = &mut self.shares[owner.index()];
        let next = share.waiting.pop_front();
        share.circuits -= u32::from(next.is_none());
        next
    }

    /// Whether a die waits for its own request.
    pub fn waits(&self, die: DieId, phase: TransferPhase) -> bool {
        let owner = self.owners[die.index()][phase.index()];
        let waits = |request: &PathRequest| (request.die, request.phase) == (die, phase);
        owner.is_some_and(|owner| self.shares[owner.index()].waiting.iter().any(waits))
    }
}
