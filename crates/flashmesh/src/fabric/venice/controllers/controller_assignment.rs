//! Assignment of controllers to path requests, and launch of their scouts (packets that search a path).

use crate::config::Retry;
use crate::fabric::venice::fabric::Venice;
use crate::fabric::{Cause, Outbox};
use crate::ids::{ChannelId, ChipId};
use crate::units::Time;

use super::flash_controller::{ControllerStage, FlashController};
use super::path_queue::PathRequest;

impl Venice {
    /// Admits a path request. If the chip pins and a controller are free, launches a scout at once. Otherwise queues the request for the
    /// pins or for a controller.
    #[inline]
    pub(in super::super) fn admit(&mut self, request: PathRequest, now: Time, outbox: &mut Outbox) {
        let chip = &mut self.chips[request.chip];
        if chip.is_reserved {
            chip.queue.insert(request);
            self.wait_stats.set_cause(&request, Cause::Channel, now);
        } else if let Some(controller) = self.controllers.free().nearest(request.coord.row, None) {
            self.path_queue.insert_searching(request);
            self.launch(controller, request, now, outbox);
        } else {
            self.path_queue.insert(request);
            self.wait_stats.set_cause(&request, Cause::Controller, now);
        }
    }

    /// Launches the scout of the free `controller` for `request`, and reserves the pins of its chip.
    #[inline]
    pub(in super::super) fn launch(
        &mut self,
        controller: ChannelId,
        request: PathRequest,
        now: Time,
        outbox: &mut Outbox,
    ) {
        self.wait_stats.end(&request, now);
        self.chips[request.chip].is_reserved = true;
        self.network.launch(controller, request.chip);
        self.controllers.search(controller, request, now);
        self.record_held(controller, now, outbox);
        self.predict(controller, now, outbox);
        self.scout_events.steps.add(now + self.timing.scout_hop(), controller);
    }

    /// Marks `controller`, which has released its links, as free from `now` on.
    #[inline]
    pub(in super::super) fn release_controller(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        self.record_held(controller, now, outbox);
        self.controllers.release_controller(controller, now);
    }

    /// Frees the pins of `chip`, and moves the oldest request that waits for them to the controller queue.
    #[inline]
    pub(in super::super) fn release_pins(&mut self, chip: ChipId, now: Time) {
        let state = &mut self.chips[chip];
        state.is_reserved = false;
        if let Some(next) = state.queue.pop() {
            self.path_queue.insert(next);
            self.wait_stats.set_cause(&next, Cause::Controller, now);
        }
    }

    /// Launches scouts for queued requests until no controller is free or no queued request may launch one.
    #[inline]
    pub(in super::super) fn serve_waiting(&mut self, now: Time, outbox: &mut Outbox) {
        while !self.controllers.free().is_empty()
            && let Some(row) = self.path_queue.next_row(self.controllers.free())
        {
            self.serve(row, now, outbox);
        }
    }

    /// Launches a scout for the first request of `row` that may have one. If the pins of its chip are reserved, instead moves the request to the
    /// queue for the pins. At least one controller must be free.
    #[inline]
    fn serve(&mut self, row: usize, now: Time, outbox: &mut Outbox) {
        let (position, request) = self.path_queue.first_request(row);
        let chip = &mut self.chips[request.chip];
        if chip.is_reserved {
            self.path_queue.remove_at(row, position);
            chip.queue.insert(request);
            self.wait_stats.set_cause(&request, Cause::Channel, now);
        } else if let Some(controller) = self.controllers.free().nearest(request.coord.row, None) {
            self.path_queue.mark_searching(row, position);
            self.launch(controller, request, now, outbox);
        }
    }

    /// Returns whether, under `retry = "immediate"`, another scout is launched at once for `request`, whose scout failed: some circuit exists, which
    /// will be torn down, or no scout in flight serves an older request.
    fn may_retry(&self, request: &PathRequest) -> bool {
        let has_circuit =
            |state: &FlashController| matches!(state.stage, ControllerStage::Returning | ControllerStage::Granted);
        let is_older = |state: &FlashController| {
            state.stage == ControllerStage::Searching && state.request.sequence < request.sequence
        };
        self.controllers.iter().any(has_circuit) || !self.controllers.iter().any(is_older)
    }

    /// Handles the return of the scout of `controller` without a path at `now`: launches another one for the request, or queues the request. Then
    /// serves other requests.
    pub(in super::super) fn handle_failure(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        self.release_controller(controller, now, outbox);
        let FlashController { request, since, .. } = self.controllers[controller];
        if self.wait_stats.record_failure(&request, since) {
            self.network.count_first_failure();
        }
        let other = match self.retry {
            Retry::OnTeardown => None,
            Retry::Immediate => self.may_retry(&request).then_some(controller),
            Retry::NextController => self.controllers.free().nearest(request.coord.row, Some(controller)),
        };
        if let Some(other) = other {
            self.launch(other, request, now, outbox);
        } else {
            // If a circuit was torn down during the search, perhaps where the scout had searched already, `mark_failed` allows another scout at once.
            self.path_queue.mark_failed(&request);
            self.release_pins(request.chip, now);
        }
        self.serve_waiting(now, outbox);
        // If all scouts failed by blocking only each other, no later event would launch others. So launch a scout for the oldest request alone, which
        // finds a path.
        if self.controllers.free().is_all()
            && let Some(row) = self.path_queue.oldest_row()
        {
            self.serve(row, now, outbox);
        }
    }
}
