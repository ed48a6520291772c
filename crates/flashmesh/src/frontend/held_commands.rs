//! Held commands: with `cache.stall = "commands"`, a drive processes commands in order, so commands wait behind a write that waits for space in the
//! device cache.

use std::collections::VecDeque;

use crate::config::{CacheStall, Config};
use crate::controller::Backend;
use crate::ids::RequestId;
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
    pub fn submit(&mut self, id: RequestId, backend: &mut Backend<M>) {
        if M::ALL_FEATURES
            && self.held.is_in_order
            && (!self.held.commands.is_empty() || backend.controller.has_waiting_writes())
        {
            return self.held.commands.push_back((id, backend.kernel.now()));
        }
        self.begin_request(id, backend.kernel.now(), backend);
    }

    /// Handles the pending completions of the controller, then begins held commands until a write is stalled again.
    #[inline(always)]
    pub fn settle(&mut self, backend: &mut Backend<M>) {
        self.handle_completions(backend);
        while M::ALL_FEATURES && !self.held.commands.is_empty() && !backend.controller.has_waiting_writes() {
            let Some((id, since)) = self.held.commands.pop_front() else { return };
            self.begin_request(id, since, backend);
            self.handle_completions(backend);
        }
    }
}
