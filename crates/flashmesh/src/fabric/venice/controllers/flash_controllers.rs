//! Flash controllers of all rows, and the set of free controllers.

use std::ops::{Index, IndexMut};

use crate::ids::ChannelId;
use crate::units::Time;

use super::flash_controller::{ControllerStage, FlashController};
use super::free_controllers::FreeControllers;
use super::path_queue::PathRequest;

/// The controllers of all rows, indexed by row.
#[derive(Clone, Debug)]
pub(in super::super) struct FlashControllers {
    controllers: Vec<FlashController>,
    free: FreeControllers,
}

impl Index<ChannelId> for FlashControllers {
    type Output = FlashController;

    #[inline(always)]
    fn index(&self, controller: ChannelId) -> &FlashController {
        &self.controllers[controller.index()]
    }
}

impl IndexMut<ChannelId> for FlashControllers {
    #[inline(always)]
    fn index_mut(&mut self, controller: ChannelId) -> &mut FlashController {
        &mut self.controllers[controller.index()]
    }
}

impl FlashControllers {
    pub fn new(rows: u32) -> FlashControllers {
        let controllers = (0..rows).map(|_| FlashController::new()).collect();
        FlashControllers { controllers, free: FreeControllers::all(rows) }
    }

    /// Returns the controllers in order of rows, from the top.
    pub fn iter(&self) -> impl Iterator<Item = &FlashController> {
        self.controllers.iter()
    }

    #[inline(always)]
    pub fn free(&self) -> &FreeControllers {
        &self.free
    }

    /// Assigns `request` to the free `controller`, and starts the search of its scout at `now`.
    #[inline]
    pub fn search(&mut self, controller: ChannelId, request: PathRequest, now: Time) {
        self.free.remove(controller);
        let state = &mut self.controllers[controller.index()];
        state.stage = ControllerStage::Searching;
        state.request = request;
        state.since = now;
    }

    /// Marks `controller`, which must be busy, as free from `now` on, and counts its busy time.
    #[inline]
    pub fn release_controller(&mut self, controller: ChannelId, now: Time) {
        let state = &mut self.controllers[controller.index()];
        state.busy = state.busy_until(now);
        state.stage = ControllerStage::Free;
        self.free.insert(controller);
    }
}
