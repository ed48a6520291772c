//! Attribution of path waits: whether other requests block a path, or only transfers of the same request.

use crate::datapath::activity::DieActivity;
use crate::datapath::{Datapath, Interconnect, TransactionQueues};
use crate::fabric::{Fabric, Grant, StaticFabric, TransferPhase};
use crate::ids::{DieId, TransactionId};
use crate::kernel::model::Model;
use crate::units::Time;

use super::state::PathGrant;

impl<M: Model> Datapath<M> {
    /// Records whether the path that `die` has just requested is blocked only by transfers of the same host request.
    #[inline(always)]
    pub(super) fn record_blocker(&mut self, die: DieId, phase: TransferPhase) {
        // Without multi-page requests, every blocking transfer belongs to another request. For exclusive paths (used by one transfer at a time),
        // `attribute_wait` decides later, at the grant.
        if self.interconnect.fabric.has_exclusive_paths() || !self.queues.have_multi_page_requests() {
            return;
        }
        let activity = self.activity();
        let is_by_own = if activity.is_conflict_attributed(die, phase) {
            Some(false)
        } else {
            activity.is_blocked_by_own(die, phase, &self.interconnect)
        };
        if let Some(is_by_own) = is_by_own {
            self.dies[die].path.blocked_by_own_request[phase.index()] = is_by_own;
        }
    }
}

impl<M: Model> DieActivity<'_, M> {
    /// Returns whether the read whose data requests a path already has a path conflict with another request in its latency account. A read counts at
    /// most one such conflict, so the search for blockers can be skipped.
    ///
    /// Always `false` for commands, and with `ALL_FEATURES`, where a die may request paths for other dies.
    #[inline(always)]
    fn is_conflict_attributed(&self, die: DieId, phase: TransferPhase) -> bool {
        let is_for_one = !M::ALL_FEATURES && phase == TransferPhase::DataOut;
        let outgoing = if is_for_one { self.dies[die].state.last_outgoing() } else { None };
        outgoing.is_some_and(|id| self.queues.transaction(id).account.conflict().has_path_conflict())
    }

    /// Returns whether the path that `die` has just requested is blocked only by transfers of the same host request; `None` if the path was granted
    /// at once and cannot be blocked any more.
    #[inline(never)]
    fn is_blocked_by_own(
        &self,
        die: DieId,
        phase: TransferPhase,
        interconnect: &Interconnect<M::Fabric>,
    ) -> Option<bool> {
        // A fabric with acknowledgements is a packet network, where a transfer can be blocked even after its grant.
        if interconnect.was_granted_last(die, phase) && !interconnect.fabric.sends_acknowledgements() {
            return None;
        }
        let own = match phase {
            TransferPhase::Command => self.queues.first_queued_request(die),
            TransferPhase::DataOut | TransferPhase::Copy => self.active_or_next_request(die),
        };
        let mut is_another = |other| self.active_or_next_request(other) != own;
        Some(own.is_some() && !interconnect.fabric.is_blocked_by(die, phase, &mut is_another))
    }
}

impl<F: StaticFabric> Interconnect<F> {
    /// Makes the request of transaction `id` the occupant of the granted path. If the transaction waited while another request or firmware work
    /// occupied the path, records a path conflict. Only for exclusive paths (used by one transfer at a time), and only once a request has had several
    /// transactions.
    #[inline(always)]
    pub(in super::super) fn attribute_wait<M: Model>(
        &mut self,
        queues: &TransactionQueues<M>,
        id: TransactionId,
        grant: Grant,
        path: &mut PathGrant,
        now: Time,
    ) {
        if queues.have_multi_page_requests()
            && self.occupy(grant.path, queues.transaction(id).owner.request, path.wait.requested_at, now)
            && path.waited() > Time::ZERO
        {
            path.wait.causes.insert_path_conflict();
        }
    }
}
