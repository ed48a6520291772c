//! Attribution of path waits: whether other requests block a path, or only transfers of the same request.

use crate::datapath::Datapath;
use crate::fabric::{Fabric, Grant, TransferPhase};
use crate::ids::{DieId, RequestId, TransactionId};
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
        if self.is_conflict_attributed(die, phase) {
            self.dies[die].path.blocked_by_own_request[phase.index()] = false;
        } else {
            self.record_multi_page_blocker(die, phase);
        }
    }

    #[inline(never)]
    fn record_multi_page_blocker(&mut self, die: DieId, phase: TransferPhase) {
        // A fabric with acknowledgements is a packet network, where a transfer can be blocked even after its grant.
        if !self.interconnect.was_granted_last(die, phase) || self.interconnect.fabric.sends_acknowledgements() {
            self.dies[die].path.blocked_by_own_request[phase.index()] = !self.is_blocked_by_another(die, phase);
        }
    }

    /// Returns whether the read whose data requests a path has already been counted as blocked by another request. Each read counts at most one such
    /// conflict, so further blockers need not be found.
    ///
    /// Can be `true` only for the data of a single read, and never in models with `ALL_FEATURES`, where a die may request paths for other
    /// dies.
    #[inline(always)]
    fn is_conflict_attributed(&self, die: DieId, phase: TransferPhase) -> bool {
        let is_for_one = !M::ALL_FEATURES && phase == TransferPhase::DataOut;
        let outgoing = if is_for_one { self.dies[die].state.last_outgoing() } else { None };
        outgoing.is_some_and(|id| self.queues.transaction(id).account.conflict().has_path_conflict())
    }

    #[inline]
    fn is_blocked_by_another(&self, die: DieId, phase: TransferPhase) -> bool {
        let own = match phase {
            TransferPhase::Command => self.queues.first_queued_request(die),
            TransferPhase::DataOut | TransferPhase::Copy => self.active_or_next_request(die),
        };
        own.is_none()
            || self
                .interconnect
                .fabric
                .is_blocked_by(die, phase, &mut |other| self.active_or_next_request(other) != own)
    }

    /// Records the request of transaction `id` as the occupant of the granted path. If the transaction waited for the path, and another request or
    /// firmware work occupied the path meanwhile, adds a path conflict to the causes of the wait. Does nothing unless paths are exclusive (used by
    /// one transfer at a time) and a request with several transactions has been seen.
    #[inline(always)]
    pub(in super::super) fn attribute_wait(
        &mut self,
        id: TransactionId,
        grant: Grant,
        path: &mut PathGrant,
        now: Time,
    ) {
        let has_multi_page_requests = self.queues.have_multi_page_requests();
        if has_multi_page_requests
            && self.interconnect.occupy(
                grant.path,
                self.queues.transaction(id).owner.request,
                path.wait.requested_at,
                now,
            )
            && path.waited() > Time::ZERO
        {
            path.wait.causes.insert_path_conflict();
        }
    }

    /// Returns the request of the operation in progress at `die`; `None` if the die is idle or works for no request.
    #[inline]
    pub fn request_under_way(&self, die: DieId) -> Option<RequestId> {
        let first = self.dies.first_in_progress(die)?;
        self.queues.transaction(first).owner.request
    }

    /// Returns the request of the operation in progress at `die`; for an idle die, the request of its first queued transaction. `None` if there is no
    /// such transaction, or if it belongs to no request.
    #[inline]
    fn active_or_next_request(&self, die: DieId) -> Option<RequestId> {
        match self.dies.first_in_progress(die) {
            Some(id) => self.queues.transaction(id).owner.request,
            None => self.queues.first_queued_request(die),
        }
    }
}
