//! End of requests: responses, measurement of completed requests, and issue of the next ones.

use crate::controller::{CompletedWork, Controller};
use crate::datapath::Datapath;
use crate::error::RunError;
use crate::fabric::{Cause, Causes};
use crate::host::replay::Mode;
use crate::host::status::Status;
use crate::ids::{RequestId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::job::Job;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::measure::completions::RecordDestination;
use crate::schedule::latency_account::LatencyBreakdown;
use crate::schedule::transaction::TransactionClass;
use crate::units::{Bytes, Time};
use crate::workload::RequestKind;

use super::request::Request;
use super::{Frontend, Sink};

/// Number of requests in flight that fit into the second-level CPU cache. With more, requests are prefetched.
const CACHED_REQUESTS: usize = 1024;

impl<M: Model> Frontend<M> {
    /// Handles the pending completions of the controller.
    #[inline(always)]
    pub fn handle_completions(
        &mut self,
        controller: &mut Controller,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if controller.has_completions() {
            self.take_all_done(controller, datapath, kernel);
        }
    }

    #[inline(always)]
    fn take_all_done(&mut self, controller: &mut Controller, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let mut next = 0;
        while let Some(done) = controller.next_done(next) {
            next += 1;
            let (ended, spent) = match done {
                &CompletedWork::Page(id) => {
                    let ended = self.transaction_done(id, datapath, kernel);
                    let spent = *datapath.transaction(id).account.spent();
                    datapath.remove(id);
                    (ended, spent)
                }
                &CompletedWork::Cached { request, read, spent } => {
                    (self.page_done(request, read, Causes::default(), kernel).then_some(request), spent)
                }
                &CompletedWork::Flush(Some(request)) => {
                    self.respond(request, &LatencyBreakdown::default(), controller, kernel);
                    continue;
                }
                CompletedWork::Flush(None) => {
                    self.flushed(controller, datapath, kernel);
                    continue;
                }
            };
            if let Some(request) = ended {
                // Read the kind first: `respond` can remove the request, and another request can reuse its slot.
                let is_read = self.requests[request].kind == RequestKind::Read;
                let write = if is_read { None } else { self.write_done(request) };
                self.respond(request, &spent, controller, kernel);
                if let Some(write) = write {
                    self.release_flushes(write, controller, datapath, kernel);
                }
            }
        }
        controller.clear_completions();
    }

    /// Handles a finished page read that the controller returned directly, not in the list of [`CompletedWork`].
    #[inline(always)]
    pub fn page_read(
        &mut self,
        id: TransactionId,
        controller: &mut Controller,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if let Some(request) = self.transaction_done(id, datapath, kernel) {
            self.respond(request, datapath.transaction(id).account.spent(), controller, kernel);
        }
        datapath.remove(id);
    }

    /// Counts the page of a finished transaction. Returns the request if all of its pages are finished, otherwise `None`. The caller removes the
    /// transaction.
    #[inline(always)]
    fn transaction_done(
        &mut self,
        id: TransactionId,
        datapath: &Datapath<M>,
        kernel: &mut Kernel<M>,
    ) -> Option<RequestId> {
        let transaction = datapath.transaction(id);
        let read = if transaction.class() == TransactionClass::UserRead { transaction.bytes } else { Bytes::ZERO };
        // A `match`, not a closure, because the compiler would not inline the closure.
        match transaction.owner.request {
            Some(request) if self.page_done(request, read, transaction.account.conflict(), kernel) => Some(request),
            _ => None,
        }
    }

    /// Prefetches a request that will be accessed soon, if more than `CACHED_REQUESTS` have been in flight.
    #[inline(always)]
    pub fn prefetch_request(&self, request: impl FnOnce() -> Option<RequestId>) {
        if self.requests.peak_len() > CACHED_REQUESTS
            && let Some(request) = request()
        {
            self.requests.prefetch(request);
        }
    }

    /// Counts a finished page, or part of a page, of a request. Returns whether it was the last one.
    #[inline(always)]
    fn page_done(&mut self, id: RequestId, read: Bytes, conflict: Causes, kernel: &mut Kernel<M>) -> bool {
        if read > Bytes::ZERO && self.rules.sends_pages {
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
    pub(super) fn respond(
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
    pub(super) fn send_response(
        &mut self,
        id: RequestId,
        spent: &LatencyBreakdown,
        controller: &mut Controller,
        kernel: &mut Kernel<M>,
    ) {
        let now = kernel.now();
        let Request { kind, size, stream, status, .. } = self.requests[id];
        if kind == RequestKind::Read && !self.rules.sends_pages && status == Status::Success {
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

    /// Completes a request at the host, and issues the requests that follow.
    ///
    /// # Errors
    /// If a workload cannot be read further, or the sink accepts no more records.
    #[inline(always)]
    pub fn complete(
        &mut self,
        id: RequestId,
        controller: &mut Controller,
        kernel: &mut Kernel<M>,
    ) -> Result<(), RunError> {
        let now = kernel.now();
        kernel.notify(|| Notice::RequestCompleted(id));
        let Request { stream, thread, .. } = self.requests[id];
        self.interface.consume_completion(stream, now, &mut Sink { kernel, crossing: &mut self.crossing });
        controller.acknowledge(id);
        if let RecordDestination::Sink(sink) = &mut self.records {
            sink.record(&self.requests[id].record(now)).map_err(RunError::Sink)?;
        } else if let RecordDestination::Completions(completions) = &mut self.records {
            let Request { arrival, status, .. } = self.requests[id];
            if completions.push(thread, now, now - arrival, status) {
                kernel.schedule_pause(now);
            }
        }
        let spent = self.requests[id].last_breakdown;
        self.end_request(id, &spent, now);
        let replay = &mut self.streams[stream.index()].replay;
        let mode = replay.mode();
        if let Some(waiting) = replay.completed() {
            self.issue(stream, waiting, now, controller, kernel);
        }
        match mode {
            Mode::Open => self.issue_open(stream, controller, kernel)?,
            Mode::Stress { .. } => self.issue_next(stream, controller, kernel)?,
            Mode::Closed { .. } if self.streams[stream.index()].replay.complete_thread_request(thread) => {
                self.issue_for(stream, thread, controller, kernel)?;
            }
            Mode::Closed { .. } => {
                if let Some(thinks) = self.streams[stream.index()].replay.think(thread, now)? {
                    kernel.schedule(lane::ARRIVAL, now + thinks, Event::ThreadReady(stream));
                }
            }
        }
        if self.phases_left.is_empty() { Ok(()) } else { self.start_phases(controller, kernel) }
    }

    /// Measures and removes a request that completes at the host at `now`. `spent` is the latency breakdown of the transaction that finished last.
    #[inline(always)]
    pub(super) fn end_request(&mut self, id: RequestId, spent: &LatencyBreakdown, now: Time) {
        let request = &self.requests[id];
        let (stream, io) = (request.stream, request.io());
        let latency = now - request.arrival;
        let firmware = if M::ALL_FEATURES { request.firmware } else { Time::ZERO };
        let counters = &mut self.counters;
        if now >= counters.batches.next_request_sample {
            counters.mark_requests(now);
        }
        counters.completed += 1;
        counters.requests_free_of_others += u64::from(!request.conflict.has_path_conflict());
        if request.conflict.is_empty() {
            counters.requests_free += 1;
        } else {
            for cause in Cause::ALL {
                counters.requests_blocked[cause.index()] += u64::from(request.conflict.contains(cause));
            }
        }
        counters.statuses[request.status.index()] += 1;
        counters.queues[stream.index()].count(now - request.submitted);
        counters.streams[stream.index()].record(&io, request.status, now, latency, firmware, spent);
        if let Some(timeline) = &mut counters.timeline {
            counters.is_due |= timeline.record_completion(stream, &io, request.status, now, latency);
        }
        self.requests.remove(id);
    }
}
