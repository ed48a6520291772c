//! Sequence numbers of requests, because request ids are reused. Also, for each die, the requests whose data is in its page registers.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::ids::{DieId, RequestId, StreamId};
use crate::units::Time;
use crate::workload::IoRequest;

#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    /// Sequence number of the request in the order of issue over all streams, from 1.
    pub number: u64,
    pub stream: StreamId,
    pub issued: Time,
    /// Kind, offset and size of the request; `None` until the request is submitted to the drive, and for a rejected request.
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

    /// Returns whether any request that was issued before the time `than` is still in flight.
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

/// Sequence numbers of the requests whose pages are in the page registers of each die, in the order of transfer; `None` for a page without a request.
#[derive(Debug, Default)]
pub(super) struct RegisterContents {
    of: Option<DieId>,
    waiting: FxHashMap<DieId, VecDeque<Option<u64>>>,
}

impl RegisterContents {
    /// Records the end of an array operation of `die`. The following calls of [`push_page`](Self::push_page) are for its registers.
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
