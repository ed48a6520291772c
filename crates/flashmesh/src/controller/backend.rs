//! The back end of a drive: the controller, with the datapath that it drives and the clock.
//!
//! Calls of the frontend are in [`requests`](super::requests), events in [`events`](super::events), and what the datapath returns in
//! [`issue`](super::issue).

use crate::datapath::Datapath;
use crate::kernel::Kernel;
use crate::kernel::model::Model;

use super::{Context, Controller, Work};

/// The controller, and the parts of the drive that its work needs.
pub struct Backend<'a, M: Model> {
    pub controller: &'a mut Controller,
    pub datapath: &'a mut Datapath<M>,
    pub kernel: &'a mut Kernel<M>,
}

impl<M: Model> Backend<'_, M> {
    /// Returns the states of the kinds of work, and access to everything else.
    #[inline(always)]
    pub(super) fn parts(&mut self) -> (&mut Work, Context<'_, M>) {
        let Controller { shared, work } = &mut *self.controller;
        (work, Context { shared, datapath: self.datapath, kernel: self.kernel })
    }

    /// Returns access to everything but the states of the kinds of work.
    #[inline(always)]
    pub(super) fn context(&mut self) -> Context<'_, M> {
        self.parts().1
    }

    /// Enqueues held writes that the firmware policy releases, lets the scheduler choose the dies that request a path next, and handles granted
    /// paths, until no such work is left. Returns whether the scheduler chose a die, or the interconnect had grants or events.
    #[inline(always)]
    pub fn settle(&mut self) -> bool {
        let mut has_answered = false;
        loop {
            if M::ALL_FEATURES && self.controller.has_due_writes() {
                self.send_due();
            }
            let may_dispatch = self.datapath.scheduling.dispatches()
                && (self.datapath.scheduling.has_candidates() || self.datapath.interconnect.has_output());
            let has_dispatched = may_dispatch && self.dispatch();
            let has_answers = self.datapath.interconnect.has_output();
            // Plain drives (compiled without optional features) inline the handling of grants here; other drives call it out of line.
            if has_answers && M::ALL_FEATURES {
                self.take_grants_out_of_line();
            } else if has_answers {
                self.handle_grants();
            }
            has_answered |= has_dispatched || has_answers;
            // A grant can free resources for which the firmware policy holds writes. Repeat for these writes now, because no later event may send
            // them.
            if !(M::ALL_FEATURES && self.controller.has_due_writes()) {
                break;
            }
        }
        self.datapath.interconnect.report_link_uses(self.kernel);
        has_answered
    }
}
