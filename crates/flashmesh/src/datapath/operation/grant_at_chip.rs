//! Grants of command paths at chips whose operations are suspended together (`flash.suspension-scope = "chip"`).

use super::{GrantOutcome, GrantedPath};
use crate::datapath::dies::DieEntry;
use crate::datapath::gate::has_awaited_read;
use crate::datapath::path::PathGrant;
use crate::datapath::{Datapath, PageSource};
use crate::fabric::Grant;
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::units::Time;

impl<M: Model> Datapath<M> {
    /// Starts an operation over a command path that was granted to a die of a chip with chip-wide suspension.
    #[inline(never)]
    pub(super) fn on_command_grant_at_chip<S: PageSource<M>>(
        &mut self,
        grant: Grant,
        path: PathGrant,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> GrantOutcome {
        let die = grant.die;
        let requests_suspension = std::mem::take(&mut self.dies[die].requests_suspension);
        let is_idle = |die: DieId| self.dies[die].state.is_idle();
        let needs_suspension =
            requests_suspension && !self.dies.is_chip_suspended(die) && !self.dies.dies_of_chip(die).all(is_idle);
        if needs_suspension {
            let is_wanted =
                has_awaited_read(&self.queues.masks(die)) && self.gate().may_suspend_chip(die, source, kernel);
            if !is_wanted {
                // No retry is needed: the end of the current operations triggers the next issue.
                self.interconnect.release(grant, kernel);
                return GrantOutcome::Done;
            }
            self.dies.suspend_chip(die, kernel);
        } else if !self.dies.accepts_beside_plane_reads(die) {
            self.interconnect.release(grant, kernel);
            return GrantOutcome::Done;
        }
        let DieEntry { suspended_at, suspension_time, .. } = self.dies[self.dies.first_die_of_chip(die)];
        let is_suspending = self.dies.is_chip_suspended(die) && kernel.now() < suspended_at + suspension_time;
        let suspension = if is_suspending { suspension_time } else { Time::ZERO };
        self.choose_and_start(die, GrantedPath { grant, path, suspension }, source, kernel)
    }
}
