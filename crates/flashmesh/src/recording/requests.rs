//! Which request is which: ids are used again, the numbers given here are not; and which pages of which request are where.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::ids::{DieId, RequestId, StreamId};
use crate::units::Time;
use crate::workload::IoRequest;

#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    /// Sequence number of issue, from 1.
    pub number: u64,
    pub stream: StreamId,
    pub issued: Time,
    /// `None` until the drive has admitted it.
    pub io: Option<IoRequest>,
}

#[derive(Debug, Default)]
pub(super) struct Requests {
    in_flight: FxHashMap<RequestId, InFlight>,
    issued: u64,
}

impl Requests {
    pub fn issued(&mut self, id: RequestId, stream: StreamId, now: Time) -> u64 {
        self.issued += 1;
        self.in_flight.insert(id, InFlight { number: self.issued, stream, issued: now, io: None });
        self.issued
    }

    pub fn submitted(&mut self, id: RequestId, io: IoRequest) {
        if let Some(request) = self.in_flight.get_mut(&id) {
            request.io = Some(io);
        }
    }

    pub fn completed(&mut self, id: RequestId) -> Option<InFlight> {
        self.in_flight.remove(&id)
    }

    pub fn number(&self, id: Option<RequestId>) -> Option<u64> {
        Some(self.in_flight.get(&id?)?.number)
    }

    /// Whether one that was issued before a moment is not complete.
    pub fn has_older(&self, than: Time) -> bool {
        self.in_flight.values().any(|request| request.issued < than)
    }

    /// Those that are not complete, in order.
    pub fn rest(&self) -> Vec<InFlight> {
        let mut rest: Vec<InFlight> = self.in_flight.values().copied().collect();
        rest.sort_unstable_by_key(|request| request.number);
        rest
    }
}

/// Pages read by each die whose data has not left it, in the order of transfer.
#[derive(Debug, Default)]
pub(super) struct PagesRead {
    of: Option<DieId>,
    waiting: FxHashMap<DieId, VecDeque<Option<u64>>>,
}

impl PagesRead {
    /// The pages reported next are those of this die.
    pub fn ended(&mut self, die: DieId) {
        self.of = Some(die);
    }

    pub fn read(&mut self, request: Option<u64>) {
        if let Some(die) = self.of {
            self.waiting.entry(die).or_default().push_back(request);
        }
    }

    pub fn leaving(&self, die: DieId) -> Option<u64> {
        *self.waiting.get(&die)?.front()?
    }

    pub fn left(&mut self, die: DieId) {
        if let Some(waiting) = self.waiting.get_mut(&die) {
            waiting.pop_front();
        }
    }
}
