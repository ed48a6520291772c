//! Arrival order of transactions.

use crate::ids::RequestId;

/// Counter of arrivals, and detector of requests with several transactions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArrivalOrder {
    next_order: u64,
    /// Owner of the transaction enqueued last.
    last_request: Option<RequestId>,
    has_multi_page_requests: bool,
}

impl ArrivalOrder {
    #[inline(always)]
    pub fn take_order(&mut self) -> u64 {
        let order = self.next_order;
        self.next_order += 1;
        order
    }

    /// Records the owner of a newly queued transaction; `None` for firmware work.
    #[inline(always)]
    pub fn record(&mut self, request: Option<RequestId>) {
        self.has_multi_page_requests |= request.is_some() && request == self.last_request;
        self.last_request = request;
    }

    /// Returns whether two consecutive transactions have ever belonged to the same request.
    #[inline(always)]
    pub fn has_multi_page_requests(&self) -> bool {
        self.has_multi_page_requests
    }
}
