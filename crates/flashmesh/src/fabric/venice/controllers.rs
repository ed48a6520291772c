//! Flash controllers, and the set of free ones.

use std::ops::{Index, IndexMut};

use crate::ids::ChannelId;
use crate::units::Time;

use super::controller::{Controller, Stage};
use super::free_controllers::FreeControllers;
use super::path_queue::PathRequest;

/// All controllers, indexed by row.
#[derive(Clone, Debug)]
pub(super) struct Controllers {
    controllers: Vec<Controller>,
    /// Controllers in [`Stage::Free`].
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
    /// Creates `rows` free controllers.
    pub fn new(rows: u32) -> Controllers {
        let controllers = (0..rows).map(|_| Controller::new()).collect();
        Controllers { controllers, free: FreeControllers::all(rows) }
    }

    /// Returns the controllers from the top row down.
    pub fn iter(&self) -> impl Iterator<Item = &Controller> {
        self.controllers.iter()
    }

    /// Returns the free controllers.
    #[inline(always)]
    pub fn free(&self) -> &FreeControllers {
        &self.free
    }

    /// Assigns `request` to the free `controller`. The scout leaves at `now`.
    #[inline]
    pub fn search(&mut self, controller: ChannelId, request: PathRequest, now: Time) {
        self.free.remove(controller);
        let state = &mut self.controllers[controller.index()];
        state.stage = Stage::Searching;
        state.request = request;
        state.since = now;
    }

    /// Marks `controller` as free from `now` on.
    #[inline]
    pub fn release_controller(&mut self, controller: ChannelId, now: Time) {
        let state = &mut self.controllers[controller.index()];
        state.busy = state.busy_until(now);
        state.stage = Stage::Free;
        self.free.insert(controller);
    }
}
