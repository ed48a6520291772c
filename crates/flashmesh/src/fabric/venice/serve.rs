//! Which controller serves which die.

use crate::config::Retry;
use crate::fabric::{Cause, Outbox};
use crate::ids::{ChannelId, ChipId};
use crate::units::Time;

use super::controller::Stage;
use super::fabric::Venice;
use super::waiting::PathRequest;

impl Venice {
    /// A die asks: its scout leaves at once if its chip and a controller are free.
    #[inline]
    pub(super) fn admit(&mut self, request: PathRequest, now: Time, outbox: &mut Outbox) {
        let chip = &mut self.chips[request.chip.index()];
        if chip.taken {
            chip.queue.insert(request.blocked(Cause::Channel));
        } else if let Some(controller) = self.free.nearest(request.place.row, None) {
            self.waiting.insert_searching(request);
            self.launch(controller, request, now, outbox);
        } else {
            self.waiting.insert(request.blocked(Cause::Controller));
        }
    }

    /// Sends the scout of `controller` to look for a path.
    #[inline]
    pub(super) fn launch(&mut self, controller: ChannelId, request: PathRequest, now: Time, outbox: &mut Outbox) {
        self.free.remove(controller);
        self.chips[request.chip.index()].taken = true;
        self.network.launch(controller, request.chip);
        let state = &mut self.controllers[controller.index()];
        state.stage = Stage::Searching;
        state.request = request;
        state.since = now;
        self.follow(controller, now, outbox);
        self.foresee(controller, outbox);
        self.progress.steps.push_back((now + self.scout_hop, controller));
    }

    /// A controller has nothing to do any more.
    #[inline]
    pub(super) fn get_free(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        self.follow(controller, now, outbox);
        let state = &mut self.controllers[controller.index()];
        state.busy = state.busy_until(now);
        state.stage = Stage::Free;
        self.free.insert(controller);
    }

    /// The pins of a chip are free: whoever has waited longest for them now waits for a controller.
    #[inline]
    pub(super) fn chip_got_free(&mut self, chip: ChipId) {
        let state = &mut self.chips[chip.index()];
        state.taken = false;
        if let Some(next) = state.queue.pop() {
            self.waiting.insert(next);
        }
    }

    /// Sends scouts for those who wait for a controller, as long as there are free ones.
    #[inline]
    pub(super) fn serve_waiting(&mut self, now: Time, outbox: &mut Outbox) {
        while !self.free.is_empty()
            && let Some(row) = self.waiting.next(&self.free)
        {
            self.serve(row, now, outbox);
        }
    }

    /// Sends a scout for the first of `row`, unless its chip is taken; at least one controller is free.
    #[inline]
    fn serve(&mut self, row: usize, now: Time, outbox: &mut Outbox) {
        let request = self.waiting.first(row);
        let chip = &mut self.chips[request.chip.index()];
        if chip.taken {
            self.waiting.remove(&request);
            chip.queue.insert(request.blocked(Cause::Channel));
        } else if let Some(controller) = self.free.nearest(request.place.row, None) {
            self.waiting.search(&request);
            self.launch(controller, request, now, outbox);
        }
    }

    /// A scout is back without a path.
    pub(super) fn failed(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        self.get_free(controller, now, outbox);
        let request = self.controllers[controller.index()].request.blocked(Cause::Link);
        let other = match self.retry {
            Retry::NextRelease => None,
            Retry::NextController => self.free.nearest(request.place.row, Some(controller)),
        };
        if let Some(other) = other {
            self.launch(other, request, now, outbox);
        } else {
            // If a link was released meanwhile, perhaps behind the back of the scout, it may be tried again at once.
            self.waiting.failed(&request);
            self.chip_got_free(request.chip);
        }
        self.serve_waiting(now, outbox);
        // Scouts that meet nothing but each other may all fail. With nothing under way that could wake them, one leaves alone.
        if self.free.is_all()
            && let Some(row) = self.waiting.longest()
        {
            self.serve(row, now, outbox);
        }
    }
}
