//! Finished pages of requests, and the responses after the last page.

use crate::controller::{Backend, Controller};
use crate::datapath::Datapath;
use crate::fabric::Causes;
use crate::host::status::Status;
use crate::ids::{RequestId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::job::Job;
use crate::kernel::model::Model;
use crate::schedule::latency_account::LatencyBreakdown;
use crate::schedule::transaction::TransactionClass;
use crate::units::Bytes;
use crate::workload::RequestKind;

use super::request::Request;
use super::{HostSide, Sink};

impl<M: Model> HostSide<M> {
    /// Handles a finished page read that the controller returned directly, not in the list of [`CompletedWork`](crate::controller::CompletedWork).
    #[inline(always)]
    pub fn page_read(&mut self, id: TransactionId, backend: &mut Backend<M>) {
        if let Some(request) = self.transaction_done(id, &backend.datapath, &mut backend.kernel) {
            self.respond(
                request,
                backend.datapath.queues.transaction(id).account.spent(),
                &mut backend.controller,
                &mut backend.kernel,
            );
        }
        backend.datapath.queues.transactions.remove(id);
    }

    /// Counts the page of a finished transaction. Returns the request if all of its pages are finished, otherwise `None`. The caller removes the
    /// transaction.
    #[inline(always)]
    pub fn transaction_done(
        &mut self,
        id: TransactionId,
        datapath: &Datapath<M>,
        kernel: &mut Kernel<M>,
    ) -> Option<RequestId> {
        let transaction = datapath.queues.transaction(id);
        let read = if transaction.class() == TransactionClass::UserRead { transaction.bytes } else { Bytes::ZERO };
        // A `match`, not a closure, because the compiler would not inline the closure.
        match transaction.owner.request {
            Some(request) if self.page_done(request, read, transaction.account.conflict(), kernel) => Some(request),
            _ => None,
        }
    }

    /// Counts a finished page, or part of a page, of a request. Returns whether it was the last one of the request.
    #[inline(always)]
    pub fn page_done(&mut self, id: RequestId, read: Bytes, conflict: Causes, kernel: &mut Kernel<M>) -> bool {
        if read > Bytes::ZERO && self.sends_pages {
            self.interface.send_data(read, kernel.now());
        }
        let request = &mut self.requests[id];
        request.conflict.join(conflict);
        request.remaining -= 1;
        request.remaining == 0
    }

    /// Sends the response of a request. If completions take core time, a core processes the response first. `spent` is the latency breakdown of the
    /// transaction that finished last.
    #[inline(always)]
    pub fn respond(
        &mut self,
        id: RequestId,
        spent: &LatencyBreakdown,
        controller: &mut Controller,
        kernel: &mut Kernel<M>,
    ) {
        if M::ALL_FEATURES
            && let Some(end) = controller.ask_core(Job::Completion(id), kernel)
        {
            let request = &mut self.requests[id];
            request.firmware += end - kernel.now();
            request.last_breakdown = *spent;
            return;
        }
        self.send_response(id, spent, controller, kernel);
    }

    #[inline(always)]
    pub fn send_response(
        &mut self,
        id: RequestId,
        spent: &LatencyBreakdown,
        controller: &mut Controller,
        kernel: &mut Kernel<M>,
    ) {
        let now = kernel.now();
        let Request { kind, size, stream, status, .. } = self.requests[id];
        if kind == RequestKind::Read && !self.sends_pages && status == Status::Success {
            self.interface.send_data(size, now);
        }
        let sink = &mut Sink { kernel, crossing: &mut self.crossing };
        if !M::ALL_FEATURES && self.completes_ahead {
            if let Some(at) = self.interface.complete(id, stream, now, sink) {
                self.complete_or_schedule(id, spent, at, controller, kernel);
            }
            return;
        }
        self.requests[id].last_breakdown = *spent;
        self.interface.respond(id, stream, now, sink);
    }
}
