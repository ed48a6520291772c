//! Held commands: with `cache.stall = "commands"`, a drive processes commands in order, so commands wait behind a write that waits for space in the
//! device cache.

use std::collections::VecDeque;

use crate::config::{CacheStall, Config};
use crate::controller::Controller;
use crate::datapath::Datapath;
use crate::ids::RequestId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::units::{Bytes, Time};

use super::Frontend;

/// Commands held behind a stalled write, in order of arrival, each with the earliest time at which it could have begun.
#[derive(Clone, Debug)]
pub(super) struct HeldCommands {
    is_in_order: bool,
    commands: VecDeque<(RequestId, Time)>,
}

impl HeldCommands {
    pub fn new(config: &Config) -> HeldCommands {
        let has_cache = config.cache.capacity > Bytes::ZERO;
        HeldCommands { is_in_order: has_cache && config.cache.stall == CacheStall::Commands, commands: VecDeque::new() }
    }

    /// Drops the held commands after a power cut.
    pub fn clear(&mut self) {
        self.commands.clear();
    }
}

impl<M: Model> Frontend<M> {
    /// Begins a command that the drive has received. With `cache.stall = "commands"`, holds the command instead if writes are stalled, or earlier
    /// commands are held.
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
        self.begin_request(id, kernel.now(), controller, datapath, kernel);
    }

    /// Handles the pending completions of the controller, then begins held commands until a write is stalled again.
    #[inline(always)]
    pub fn settle(&mut self, controller: &mut Controller, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.handle_completions(controller, datapath, kernel);
        while M::ALL_FEATURES && !self.held.commands.is_empty() && !controller.has_waiting_writes() {
            let Some((id, since)) = self.held.commands.pop_front() else { return };
            self.begin_request(id, since, controller, datapath, kernel);
            self.handle_completions(controller, datapath, kernel);
        }
    }
}
