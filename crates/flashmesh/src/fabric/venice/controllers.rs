//! The flash controllers: what each does, and which are free.

use std::ops::{Index, IndexMut};

use crate::ids::ChannelId;
use crate::units::Time;

use super::controller::{Controller, Stage};
use super::free::FreeControllers;
use super::waiting::PathRequest;

/// All controllers, by their rows.
#[derive(Clone, Debug)]
pub(super) struct Controllers {
    controllers: Vec<Controller>,
    /// Those whose stage is [`Stage::Free`].
    free: FreeControllers,
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
    pub fn new(rows: u32) -> Controllers {
        let controllers = (0..rows).map(|_| Controller::new()).collect();
        Controllers { controllers, free: FreeControllers::all(rows) }
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
}
