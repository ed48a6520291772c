//! The order in which transactions arrive.

use crate::ids::RequestId;

/// In which order transactions have arrived, and whether those of one request come in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrivals {
    next_order: u64,
    /// The request of the transaction enqueued last.
    last_request: Option<RequestId>,
    has_siblings: bool,
}

impl Arrivals {
    /// The next place in the order of arrival.
    #[inline(always)]
    pub fn take_order(&mut self) -> u64 {
        let order = self.next_order;
        self.next_order += 1;
        order
    }

    /// A transaction of `request`, if of any, has been put into its queue.
    #[inline(always)]
    pub fn enqueued(&mut self, request: Option<RequestId>) {
        self.has_siblings |= request.is_some() && request == self.last_request;
        self.last_request = request;
    }

    /// Whether two transactions in a row have ever been of the same request.
    #[inline(always)]
    pub fn has_siblings(&self) -> bool {
        self.has_siblings
    }
}
