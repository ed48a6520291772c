//! Which request is which: ids are used again, the numbers given here are not; and which pages of which request are where.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::ids::{DieId, RequestId, StreamId};
use crate::units::Time;
use crate::workload::IoRequest;

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    /// Its place in the order of issue, from 1 on.
    pub number: u64,
    /// The stream it belongs to.
    pub stream: StreamId,
    /// When the host issued it.
    pub issued: Time,
    /// What it asks, once the drive has admitted it.
    pub io: Option<IoRequest>,
}

/// The requests in flight.
#[derive(Debug, Default)]
pub(super) struct Requests {
    in_flight: FxHashMap<RequestId, InFlight>,
    issued: u64,
}

impl Requests {
    /// The host issued a request.
    pub fn issued(&mut self, id: RequestId, stream: StreamId, now: Time) -> u64 {
        self.issued += 1;
        self.in_flight.insert(id, InFlight { number: self.issued, stream, issued: now, io: None });
        self.issued
    }

    /// The drive admitted a request.
    pub fn submitted(&mut self, id: RequestId, io: IoRequest) {
        if let Some(request) = self.in_flight.get_mut(&id) {
            request.io = Some(io);
        }
    }

    /// A request is complete.
    pub fn completed(&mut self, id: RequestId) -> Option<InFlight> {
        self.in_flight.remove(&id)
    }

    /// The number of a request.
    pub fn number(&self, id: Option<RequestId>) -> Option<u64> {
        Some(self.in_flight.get(&id?)?.number)
    }

    /// Those that are not complete, in order.
    pub fn rest(&self) -> Vec<InFlight> {
        let mut rest: Vec<InFlight> = self.in_flight.values().copied().collect();
        rest.sort_unstable_by_key(|request| request.number);
        rest
    }
}

/// The pages that a die has read and whose data has not left it yet, in the order in which it leaves.
#[derive(Debug, Default)]
pub(super) struct PagesRead {
    /// The die whose array has just finished.
    of: Option<DieId>,
    waiting: FxHashMap<DieId, VecDeque<Option<u64>>>,
}

impl PagesRead {
    /// The array of a die is done: the pages read that are told next are its.
    pub fn ended(&mut self, die: DieId) {
        self.of = Some(die);
    }

    /// The array read a page, for the request with this number or for none.
    pub fn read(&mut self, request: Option<u64>) {
        if let Some(die) = self.of {
            self.waiting.entry(die).or_default().push_back(request);
        }
    }

    /// For which request the data is that leaves a die next, or is leaving.
    pub fn leaving(&self, die: DieId) -> Option<u64> {
        *self.waiting.get(&die)?.front()?
    }

    /// The data of a page has left a die.
    pub fn left(&mut self, die: DieId) {
        if let Some(waiting) = self.waiting.get_mut(&die) {
            waiting.pop_front();
        }
    }
}
