//! The back end of a drive: the controller, with the datapath that it drives and the clock.
//!
//! Calls of the frontend are in [`requests`](super::requests), events in [`events`](super::events), and what the datapath returns in
//! [`issue`](super::issue).

use crate::datapath::Datapath;
use crate::kernel::Kernel;
use crate::kernel::model::Model;

use super::{Context, Controller, Work};

/// The controller, and the parts of the drive that its work needs.
#[derive(Clone)]
pub struct Backend<M: Model> {
    pub controller: Controller,
    pub datapath: Datapath<M>,
    pub kernel: Kernel<M>,
}

impl<M: Model> Backend<M> {
    /// Returns the states of the kinds of work, and access to everything else.
    #[inline(always)]
    pub(super) fn parts(&mut self) -> (&mut Work, Context<'_, M>) {
        let Backend { controller: Controller { shared, work }, datapath, kernel } = self;
        (work, Context { shared, datapath, kernel })
    }

    /// Returns access to everything but the states of the kinds of work.
    #[inline(always)]
    pub(super) fn context(&mut self) -> Context<'_, M> {
        self.parts().1
    }
}
