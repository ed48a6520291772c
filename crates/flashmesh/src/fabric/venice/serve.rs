//! Which controller serves which die.

use crate::config::Retry;
use crate::fabric::{Cause, Outbox};
use crate::ids::{ChannelId, ChipId};
use crate::units::Time;

use super::controller::{Controller, Stage};
use super::fabric::Venice;
use super::waiting::PathRequest;

impl Venice {
    /// A die asks: its scout leaves at once if its chip and a controller are free.
    #[inline]
    pub(super) fn admit(&mut self, request: PathRequest, now: Time, outbox: &mut Outbox) {
        let chip = &mut self.chips[request.chip];
        if chip.taken {
            chip.queue.insert(request);
            self.waits.wait(&request, Cause::Channel, now);
        } else if let Some(controller) = self.controllers.free().nearest(request.place.row, None) {
            self.waiting.insert_searching(request);
            self.launch(controller, request, now, outbox);
        } else {
            self.waiting.insert(request);
            self.waits.wait(&request, Cause::Controller, now);
        }
    }

    /// Sends the scout of `controller` to look for a path.
    #[inline]
    pub(super) fn launch(&mut self, controller: ChannelId, request: PathRequest, now: Time, outbox: &mut Outbox) {
        self.waits.end(&request, now);
        self.chips[request.chip].taken = true;
        self.network.launch(controller, request.chip);
        self.controllers.search(controller, request, now);
        self.follow(controller, now, outbox);
        self.foresee(controller, now, outbox);
        self.progress.steps.add(now + self.timing.scout_hop(), controller);
    }

    /// A controller has nothing to do any more.
    #[inline]
    pub(super) fn get_free(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        self.follow(controller, now, outbox);
        self.controllers.get_free(controller, now);
    }

    /// The pins of a chip are free: whoever has waited longest for them now waits for a controller.
    #[inline]
    pub(super) fn chip_got_free(&mut self, chip: ChipId, now: Time) {
        let state = &mut self.chips[chip];
        state.taken = false;
        if let Some(next) = state.queue.pop() {
            self.waiting.insert(next);
            self.waits.wait(&next, Cause::Controller, now);
        }
    }

    /// Sends scouts for those who wait for a controller, as long as there are free ones.
    #[inline]
    pub(super) fn serve_waiting(&mut self, now: Time, outbox: &mut Outbox) {
        while !self.controllers.free().is_empty()
            && let Some(row) = self.waiting.next(self.controllers.free())
        {
            self.serve(row, now, outbox);
        }
    }

    /// Sends a scout for the first of `row`, unless its chip is taken; at least one controller is free.
    #[inline]
    fn serve(&mut self, row: usize, now: Time, outbox: &mut Outbox) {
        let (position, request) = self.waiting.first(row);
        let chip = &mut self.chips[request.chip];
        if chip.taken {
            self.waiting.remove_at(row, position);
            chip.queue.insert(request);
            self.waits.wait(&request, Cause::Channel, now);
        } else if let Some(controller) = self.controllers.free().nearest(request.place.row, None) {
            self.waiting.search(row, position);
            self.launch(controller, request, now, outbox);
        }
    }

    /// Whether a scout that has failed leaves again at once, with `retry = "immediate"`: while a circuit stands, which will be torn down;
    /// and where none does, if no other scout under way is for a die that has waited longer.
    fn may_retry(&self, request: &PathRequest) -> bool {
        let stands = |state: &Controller| matches!(state.stage, Stage::Returning | Stage::Granted);
        let goes_before =
            |state: &Controller| state.stage == Stage::Searching && state.request.sequence < request.sequence;
        self.controllers.iter().any(stands) || !self.controllers.iter().any(goes_before)
    }

    /// A scout is back without a path.
    pub(super) fn failed(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        self.get_free(controller, now, outbox);
        let Controller { request, since, .. } = self.controllers[controller];
        if self.waits.fail(&request, since) {
            self.network.count_first_failure();
        }
        let other = match self.retry {
            Retry::OnTeardown => None,
            Retry::Immediate => self.may_retry(&request).then_some(controller),
            Retry::NextController => self.controllers.free().nearest(request.place.row, Some(controller)),
        };
        if let Some(other) = other {
            self.launch(other, request, now, outbox);
        } else {
            // If a link was released meanwhile, perhaps behind the back of the scout, it may be tried again at once.
            self.waiting.failed(&request);
            self.chip_got_free(request.chip, now);
        }
        self.serve_waiting(now, outbox);
        // Scouts that meet nothing but each other may all fail. With nothing under way that could wake them, one leaves alone.
        if self.controllers.free().is_all()
            && let Some(row) = self.waiting.longest()
        {
            self.serve(row, now, outbox);
        }
    }
}
