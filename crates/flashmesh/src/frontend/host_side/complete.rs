//! Completion of requests at the host: measurement, and issue of the next requests.

use crate::controller::Controller;
use crate::error::RunError;
use crate::fabric::Cause;
use crate::host::replay::Mode;
use crate::ids::RequestId;
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::measure::completions::RecordDestination;
use crate::schedule::latency_account::LatencyBreakdown;
use crate::units::Time;

use super::request::Request;
use super::{HostSide, Sink};

impl<M: Model> HostSide<M> {
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
