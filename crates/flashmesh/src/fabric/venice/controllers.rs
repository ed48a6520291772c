//! The flash controllers: what each does, and which are free.

use std::ops::{Index, IndexMut};

use crate::fabric::{Message, Payload};
use crate::ids::ChannelId;
use crate::units::Time;

use super::controller::{Controller, Stage};
use super::free::FreeControllers;
use super::waiting::PathRequest;

/// All controllers, by their rows.
#[derive(Debug)]
pub(super) struct Controllers {
    controllers: Vec<Controller>,
    /// Those whose stage is [`Stage::Free`].
    free: FreeControllers,
    /// Whether the circuit of a read is kept until its last data has left.
    hold_circuit: bool,
}

impl Index<ChannelId> for Controllers {
    type Output = Controller;

    #[inline(always)]
    fn index(&self, controller: ChannelId) -> &Controller {
        &self.controllers[controller.index()]
    }
}

impl IndexMut<ChannelId> for Controllers {
    #[inline(always)]
    fn index_mut(&mut self, controller: ChannelId) -> &mut Controller {
        &mut self.controllers[controller.index()]
    }
}

impl Controllers {
    /// One for each of `rows`, all of them free.
    pub fn new(rows: u32, hold_circuit: bool) -> Controllers {
        let controllers = (0..rows).map(|_| Controller::new()).collect();
        Controllers { controllers, free: FreeControllers::all(rows), hold_circuit }
    }

    /// All of them, the uppermost one first.
    pub fn iter(&self) -> impl Iterator<Item = &Controller> {
        self.controllers.iter()
    }

    /// Those that are free.
    #[inline(always)]
    pub fn free(&self) -> &FreeControllers {
        &self.free
    }

    /// `controller`, which was free, sends a scout for `request` at `now`.
    #[inline]
    pub fn search(&mut self, controller: ChannelId, request: PathRequest, now: Time) {
        self.free.remove(controller);
        let state = &mut self.controllers[controller.index()];
        state.stage = Stage::Searching;
        state.request = request;
        state.since = now;
    }

    /// `controller` has nothing to do from `now` on.
    #[inline]
    pub fn get_free(&mut self, controller: ChannelId, now: Time) {
        let state = &mut self.controllers[controller.index()];
        state.busy = state.busy_until(now);
        state.stage = Stage::Free;
        self.free.insert(controller);
    }

    /// `payload` goes over the circuit of `controller`, which is kept for the data of a read if that is how it is done.
    #[inline]
    pub fn count_pages_owed(&mut self, controller: ChannelId, payload: Payload) {
        if self.hold_circuit {
            let owed = &mut self.controllers[controller.index()].pages_owed;
            match payload.message {
                Message::Read => *owed += payload.planes,
                Message::Data => *owed = owed.saturating_sub(payload.planes),
                Message::Program | Message::Erase | Message::Copyback | Message::Copy => {}
            }
        }
    }
}
