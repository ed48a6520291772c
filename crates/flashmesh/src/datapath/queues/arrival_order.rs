//! Arrival numbers of transactions, by which schedulers compare their age.

use crate::ids::RequestId;

/// Counter of transaction arrivals. Also detects whether any request has several transactions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArrivalOrder {
    next_order: u64,
    /// Request of the transaction enqueued last; `None` if that transaction belongs to no request (firmware work, destage).
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

    /// Records `request`, the request of a newly queued transaction; `None` if the transaction belongs to no request.
    #[inline(always)]
    pub fn record(&mut self, request: Option<RequestId>) {
        self.has_multi_page_requests |= request.is_some() && request == self.last_request;
        self.last_request = request;
    }

    /// Returns whether any request has had several transactions so far, queued one directly after the other.
    #[inline(always)]
    pub fn has_multi_page_requests(&self) -> bool {
        self.has_multi_page_requests
    }
}
