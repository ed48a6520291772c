//! Sequence numbers of requests, whose ids are reused, and the requests that read the pages in the page registers.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::ids::{DieId, RequestId, StreamId};
use crate::units::Time;
use crate::workload::IoRequest;

#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    /// Sequence number in the order of issue, from 1.
    pub number: u64,
    pub stream: StreamId,
    pub issued: Time,
    /// The request itself; `None` until it is submitted to the drive.
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

    /// Returns whether a request issued before `than` is in flight.
    pub fn has_older(&self, than: Time) -> bool {
        self.in_flight.values().any(|request| request.issued < than)
    }

    /// Returns the requests in flight, in the order of issue.
    pub fn in_flight(&self) -> Vec<InFlight> {
        let mut rest: Vec<InFlight> = self.in_flight.values().copied().collect();
        rest.sort_unstable_by_key(|request| request.number);
        rest
    }
}

/// Requests of the pages in the page registers of each die, in the order of transfer; `None` for a page that no request reads.
#[derive(Debug, Default)]
pub(super) struct RegisterContents {
    of: Option<DieId>,
    waiting: FxHashMap<DieId, VecDeque<Option<u64>>>,
}

impl RegisterContents {
    /// Records the end of an array operation of `die`. The next calls of [`read`](Self::read) are for this die.
    pub fn set_current_die(&mut self, die: DieId) {
        self.of = Some(die);
    }

    pub fn push_page(&mut self, request: Option<u64>) {
        if let Some(die) = self.of {
            self.waiting.entry(die).or_default().push_back(request);
        }
    }

    pub fn front_page(&self, die: DieId) -> Option<u64> {
        *self.waiting.get(&die)?.front()?
    }

    pub fn pop_page(&mut self, die: DieId) {
        if let Some(waiting) = self.waiting.get_mut(&die) {
            waiting.pop_front();
        }
    }
}
