//! Commands that wait behind writes for which the device cache has no room, where the drive takes commands in order: `cache.stall`.

use std::collections::VecDeque;

use crate::config::{CacheStall, Config};
use crate::controller::Controller;
use crate::datapath::Datapath;
use crate::ids::RequestId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::units::{Bytes, Time};

use super::Frontend;

/// Commands that have reached the drive and wait, in the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Held {
    is_in_order: bool,
    commands: VecDeque<(RequestId, Time)>,
}

impl Held {
    pub fn new(config: &Config) -> Held {
        let has_cache = config.cache.capacity > Bytes::ZERO;
        Held { is_in_order: has_cache && config.cache.stall == CacheStall::Commands, commands: VecDeque::new() }
    }

    /// The host is gone: nothing of what waits is done.
    pub fn clear(&mut self) {
        self.commands.clear();
    }
}

impl<M: Model> Frontend<M> {
    /// A request has reached the drive.
    #[inline(always)]
    pub fn submit(
        &mut self,
        id: RequestId,
        controller: &mut Controller,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if M::ALL_FEATURES
            && self.held.is_in_order
            && (!self.held.commands.is_empty() || controller.has_waiting_writes())
        {
            return self.held.commands.push_back((id, kernel.now()));
        }
        self.take(id, kernel.now(), controller, datapath, kernel);
    }

    /// Takes what the controller has done for requests, and then the commands that need not wait any more.
    #[inline(always)]
    pub fn settle(&mut self, controller: &mut Controller, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.take_done(controller, datapath, kernel);
        while M::ALL_FEATURES && !self.held.commands.is_empty() && !controller.has_waiting_writes() {
            let Some((id, since)) = self.held.commands.pop_front() else { return };
            self.take(id, since, controller, datapath, kernel);
            self.take_done(controller, datapath, kernel);
        }
    }
}
