//! Completions that are handled ahead of time, without an event.
//!
//! The link delivers completions in the order of sending, so the time at which a completion reaches the host is known when the completion is sent. If
//! the host then only issues its next request, the completion and this issue are handled at once, with the later time. The result is the same:
//! nothing in between depends on them, and event order does not depend on when an event was scheduled.

use crate::config::Config;
use crate::controller::Controller;
use crate::host::interface::{AnyInterface, HostEvent};
use crate::host::replay::Mode;
use crate::ids::RequestId;
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::measure::completions::RecordDestination;
use crate::schedule::latency_account::LatencyBreakdown;
use crate::units::Time;

use super::HostSide;

impl<M: Model> HostSide<M> {
    /// Returns whether the completions of this run can be handled ahead of time. This requires that the host only completes requests and
    /// issues the next ones, and that nothing is measured or logged in the order of time.
    pub(super) fn may_complete_ahead(&self, config: &Config) -> bool {
        let are_stressed = self.streams.iter().all(|stream| matches!(stream.replay.mode(), Mode::Stress { .. }));
        let is_unwatched = matches!(self.records, RecordDestination::Dropped)
            && self.counters.timeline.is_none()
            && config.measure.precision == 0.0;
        let is_delayed = self.streams.iter().any(|stream| stream.config.replay.start_delay > Time::ZERO);
        let is_one_phase = self.phases_left.len() <= 1 && !is_delayed;
        !M::ALL_FEATURES && are_stressed && is_unwatched && is_one_phase
    }

    /// Handles the completion of a request that reaches the host at `at`, later than now. The completion is handled at once if possible; otherwise an
    /// event is scheduled.
    #[inline(always)]
    pub(super) fn complete_or_schedule(
        &mut self,
        id: RequestId,
        spent: &LatencyBreakdown,
        at: Time,
        controller: &Controller,
        kernel: &mut Kernel<M>,
    ) {
        let stream = self.requests[id].stream;
        // Handle ahead only if no earlier completion is pending as an event, and if the stream has a next request.
        if !self.crossing.has_no_completion() || !self.streams[stream.index()].replay.has_next(at) {
            if let AnyInterface::Nvme(nvme) = &mut self.interface {
                nvme.end_reactive(stream);
                self.completes_ahead = false;
            }
            self.requests[id].last_breakdown = *spent;
            self.crossing.sent(HostEvent::AtHost(id));
            kernel.schedule(lane::TO_HOST, at, Event::AtHost);
            return;
        }
        self.end_request(id, spent, at);
        let replay = &mut self.streams[stream.index()].replay;
        if let Some(waiting) = replay.completed() {
            self.issue(stream, waiting, at, controller, kernel);
        }
        if self.streams[stream.index()].replay.take_from_batch(at) {
            self.issue_taken(stream, at, controller, kernel);
        }
    }
}
