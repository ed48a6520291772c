//! The interconnect of a drive: the fabric, with its pending grants and events.

use crate::config::Config;
use crate::engine::arena::Arena;
use crate::fabric::{
    Cause, Causes, DataOwner, Fabric, FabricEvent, FabricInfo, Grant, GrantRecord, Outbox, Payload, SendOutcome,
    StaticFabric, TransferPhase,
};
use crate::flash::die::Operation;
use crate::ids::{AcknowledgementId, DieId, PathId, RequestId};
use crate::kernel::Kernel;
use crate::kernel::event::{WakeToken, fabric_lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::measure::path_conflicts::PathConflicts;
use crate::units::Time;

use super::occupancy::Occupants;
use super::rules::PathRules;
use super::state::PathGrant;

/// Fabric between the flash controllers and the dies, with its pending grants and events.
#[derive(Clone)]
pub struct Interconnect<F> {
    pub info: &'static FabricInfo,
    pub fabric: F,
    pub(in super::super) rules: PathRules,
    /// Current or last user of each exclusive path, for the attribution of waits. Maintained only once a request has had several transactions.
    occupants: Occupants,
    /// Grants and events that the fabric has raised, until they are handled.
    outbox: Outbox,
    /// Number of the last batch, counted from 1; 0 before the first batch. A batch is a set of path requests, such as those of one host request,
    /// whose commands are arbitrated together.
    batches: u32,
    /// Completed operations whose acknowledgement is in flight.
    unacknowledged: Arena<AcknowledgementId, Operation>,
    pub(in super::super) transfers: TransferCounts,
}

/// Numbers of transfers, for reports.
#[derive(Clone, Debug, Default)]
pub struct TransferCounts {
    /// Number of transfers started, of commands and of data.
    pub started: u64,
    /// Number of transfers whose path was free at the first attempt, and that the network did not block later.
    pub unblocked: u64,
    /// Number and total time of the waits for paths and of the stalls after a grant, by cause. A wait with several causes counts once for each cause,
    /// and its time is divided among them. A transfer that waited and then stalled counts for both.
    pub conflicts: PathConflicts,
}

impl<F: Fabric> Interconnect<F> {
    pub(in super::super) fn new(config: &Config, info: &'static FabricInfo, fabric: F) -> Interconnect<F> {
        let (occupants, outbox, unacknowledged) =
            (Occupants::new(fabric.layout().links.len()), Outbox::default(), Arena::default());
        Interconnect {
            info,
            fabric,
            rules: PathRules::new(config, info),
            occupants,
            outbox,
            batches: 0,
            unacknowledged,
            transfers: TransferCounts::default(),
        }
    }

    /// Converts the fabric to the type for which this variant of the simulation is compiled.
    pub(in super::super) fn resolved<G>(self, resolve: impl FnOnce(F) -> G) -> Interconnect<G> {
        let Interconnect { info, fabric, rules, occupants, outbox, batches, unacknowledged, transfers } = self;
        Interconnect { info, fabric: resolve(fabric), rules, occupants, outbox, batches, unacknowledged, transfers }
    }
}

impl<F: StaticFabric> Interconnect<F> {
    /// Starts recording which links transfers use, for probes (observers of a run).
    pub fn record_link_uses(&mut self) {
        self.outbox.link_uses = Some(Vec::new());
    }

    pub fn stop_recording_link_uses(&mut self) {
        self.outbox.link_uses = None;
    }

    /// Returns the grant at index `next` among those not cleared yet, for [`Datapath::handle_grant`](crate::datapath::Datapath::handle_grant), and
    /// increments `next`; `None` after the last grant.
    #[inline(always)]
    pub fn next_grant(&mut self, next: &mut usize) -> Option<GrantRecord> {
        let granted = self.outbox.grants.get(*next)?;
        *next += 1;
        // Copy field by field, as the grant was stored: one wide load over several narrower stores would stall (failed store-to-load
        // forwarding).
        let GrantRecord { grant: Grant { die, phase, path }, since, cause } = *granted;
        Some(GrantRecord { grant: Grant { die, phase, path }, since, cause })
    }

    /// Begins a batch of path requests, whose commands are arbitrated together (`fabric.arbitration = "data-first-together"`).
    #[inline]
    pub fn begin_batch(&mut self) {
        let Interconnect { batches, outbox, .. } = self;
        *batches = batches.wrapping_add(1).max(1);
        outbox.batch = *batches;
    }

    /// Ends the batch (path requests whose commands are arbitrated together): later path requests belong to no batch.
    #[inline]
    pub fn end_batch(&mut self) {
        self.outbox.batch = 0;
    }

    /// Returns whether the fabric has raised grants or events that are not handled yet.
    #[inline(always)]
    pub fn has_output(&self) -> bool {
        !self.outbox.grants.is_empty() || (F::SCHEDULES_EVENTS && !self.outbox.events.is_empty())
    }

    /// Clears the handled grants, and schedules the events that the fabric has raised.
    #[inline(always)]
    pub fn clear_grants(&mut self, kernel: &mut Kernel<impl Model>) {
        self.outbox.grants.clear();
        if !F::SCHEDULES_EVENTS || self.outbox.events.is_empty() {
            return;
        }
        for (at, event) in self.outbox.events.drain(..) {
            match event {
                FabricEvent::Alarm(_) => kernel.set_alarm(at, event.into()),
                _ => kernel.schedule(fabric_lane(event), at, event.into()),
            }
        }
    }

    /// Reports to the probes (observers of the run) the link uses that have ended, and the moves and searches of scouts (packets that search for a
    /// path).
    #[inline]
    pub fn report_link_uses<M: Model>(&mut self, kernel: &mut Kernel<M>) {
        if M::PROBES
            && self.outbox.has_records()
            && let Some(uses) = &mut self.outbox.link_uses
        {
            uses.drain(..).for_each(|link_use| kernel.notify(|| Notice::LinkUsed(link_use)));
            self.outbox.scout_steps.drain(..).for_each(|step| kernel.notify(|| Notice::ScoutMoved(step)));
            self.outbox.searches.drain(..).for_each(|search| kernel.notify(|| Notice::Searched(search)));
        }
    }

    /// Returns the time of the next event of the fabric itself, if it precedes all events of `kernel`, as it does at the same time; otherwise `None`.
    #[inline(always)]
    pub fn next_wake(&self, kernel: &Kernel<impl Model>) -> Option<Time> {
        let at = self.outbox.wake_at;
        (F::SCHEDULES_EVENTS && at < Time::MAX && at <= kernel.next_at()).then_some(at)
    }

    /// Lets the fabric execute its own event that is due now (see [`next_wake`](Self::next_wake)).
    #[inline]
    pub fn wake(&mut self, WakeToken(token): WakeToken, kernel: &mut Kernel<impl Model>) {
        let Interconnect { fabric, outbox, .. } = self;
        outbox.lookahead_until = kernel.next_at();
        fabric.wake(token, kernel.now(), outbox);
    }

    /// Updates the fabric's counters of link use and of scouts (packets that search for a path) to `now`. Call this before the counters are read
    /// during a run.
    pub fn catch_up(&mut self, now: Time) {
        let Interconnect { fabric, outbox, .. } = self;
        fabric.catch_up(now, outbox);
    }

    /// Reports to the probes (observers of the run) all link uses, and all moves and searches of scouts (packets that search for a path), not
    /// reported yet. Call this before the probes are detached.
    pub fn report_remaining_uses(&mut self, kernel: &mut Kernel<impl Model>) {
        self.catch_up(kernel.now());
        self.report_link_uses(kernel);
    }

    /// Updates the fabric's counters of link use and of scouts (packets that search for a path) to the end of the run.
    pub fn finish(&mut self, kernel: &mut Kernel<impl Model>) {
        let Interconnect { fabric, outbox, .. } = self;
        fabric.finish(kernel.now(), outbox);
        self.report_link_uses(kernel);
    }

    /// Notifies the fabric of the host request for which the next path is requested; `None` if the transaction belongs to no request.
    #[inline(never)]
    pub(super) fn announce_request(&mut self, request: Option<RequestId>) {
        self.fabric.set_host_request(request);
    }

    /// Releases a path, which the fabric may then grant to a waiting die.
    #[inline]
    pub fn release(&mut self, grant: Grant, kernel: &mut Kernel<impl Model>) {
        kernel.notify(|| Notice::PathReleased(grant));
        self.fabric.release(grant, kernel.now(), &mut self.outbox);
    }

    /// Returns the causes of the wait for a granted path. `is_by_another` is whether another request blocked the path.
    #[inline]
    pub(in super::super) fn wait_causes(&self, granted: &GrantRecord, is_by_another: bool) -> Causes {
        let GrantRecord { grant, cause, .. } = *granted;
        let mut causes = Causes::default();
        match self.fabric.wait_by_cause(grant) {
            None => causes.insert(cause),
            Some(waits) => {
                Cause::ALL
                    .into_iter()
                    .filter(|cause| waits[cause.index()] > Time::ZERO)
                    .for_each(|it| causes.insert(it));
            }
        }
        if is_by_another {
            causes.insert_path_conflict();
        }
        causes
    }

    /// Adds the wait for a path to the counters of path conflicts, divided among the causes of the wait.
    #[inline]
    fn count_conflict(&mut self, grant: Grant, path: PathGrant) {
        match self.fabric.wait_by_cause(grant) {
            None => self.transfers.conflicts.count(path.cause, path.waited()),
            Some(waits) => self.count_conflict_causes(path, waits),
        }
    }

    #[inline(never)]
    fn count_conflict_causes(&mut self, path: PathGrant, waits: [Time; Cause::ALL.len()]) {
        // `waits` begin at the path request, which a busy die makes early. Only the last part of the wait, when the die is ready, counts. Charge it
        // from the last cause back: `Cause::ALL` is in the usual order of the waits.
        let mut left = path.waited();
        for cause in Cause::ALL.into_iter().rev() {
            if path.wait.causes.contains(cause) {
                let waited = left.min(waits[cause.index()]);
                left -= waited;
                self.transfers.conflicts.count(cause, waited);
            }
        }
    }

    #[inline]
    pub(in super::super) fn count_transfer(&mut self, grant: Grant, path: PathGrant) {
        self.transfers.started += 1;
        if path.waited() > Time::ZERO {
            self.count_conflict(grant, path);
        } else {
            self.transfers.unblocked += 1;
        }
    }

    /// Counts a path conflict of length `stalled`, for which the network blocked a transfer after the grant. `was_blocked` is whether the transfer
    /// also waited for its grant, which was counted already.
    pub(in super::super) fn count_stall(&mut self, was_blocked: bool, stalled: Time) {
        self.transfers.unblocked -= u64::from(!was_blocked);
        self.transfers.conflicts.count(Cause::Link, stalled);
    }

    /// Requests a path of `die` for `phase`: a command, or data out of the die.
    #[inline(always)]
    pub(super) fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time) {
        self.fabric.acquire(die, phase, now, &mut self.outbox);
    }

    /// Requests a path for read data of `die`. `data` is the owner of the data (request, GC or map), by which the channel may be arbitrated.
    #[inline(always)]
    pub(super) fn acquire_for(&mut self, die: DieId, data: DataOwner, now: Time) {
        self.fabric.acquire_for(die, data, now, &mut self.outbox);
    }

    /// Requests a path for read data from die `from` to the chip of die `to`.
    pub(super) fn acquire_chip_to_chip(&mut self, from: DieId, to: DieId, now: Time) {
        self.fabric.acquire_chip_to_chip(from, to, now, &mut self.outbox);
    }

    /// Sends `payload` over the path of `grant`.
    #[inline(always)]
    pub(in super::super) fn send(&mut self, grant: Grant, payload: Payload, now: Time) -> SendOutcome {
        self.fabric.send(grant, payload, now, &mut self.outbox)
    }

    /// Sends the acknowledgement of the ended `operation` to the controller. `requester` is the die that requests paths for the die of the operation.
    pub(in super::super) fn acknowledge<M: Model>(
        &mut self,
        requester: DieId,
        operation: Operation,
        kernel: &mut Kernel<M>,
    ) {
        let id = self.unacknowledged.insert(operation);
        kernel.notify(|| Notice::AcknowledgementSent(requester, id));
        self.fabric.acknowledge(requester, id, kernel.now(), &mut self.outbox);
    }

    /// Removes and returns the operation whose acknowledgement has arrived.
    pub(in super::super) fn take_acknowledged(&mut self, id: AcknowledgementId) -> Operation {
        let operation = self.unacknowledged[id];
        self.unacknowledged.remove(id);
        operation
    }

    /// Returns whether the last pending grant is for `phase` of `die`, that is, whether a path that was just requested was granted at once.
    pub(super) fn was_granted_last(&self, die: DieId, phase: TransferPhase) -> bool {
        self.outbox.grants.last().is_some_and(|last| (last.grant.die, last.grant.phase) == (die, phase))
    }

    /// Makes `request` the occupant of `path`, if paths are exclusive (used by one transfer at a time). Returns whether another request or firmware
    /// work occupied the path since `requested_at`; always `true` for firmware work, `false` if paths are not exclusive.
    pub(super) fn occupy(&mut self, path: PathId, request: Option<RequestId>, requested_at: Time, now: Time) -> bool {
        self.fabric.has_exclusive_paths() && self.occupants.occupy(path, request, requested_at, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{AnyFabric, info_of};
    use crate::flash::geometry::Geometry;
    use crate::kernel::event::{Event, lane};
    use crate::kernel::model::Probed;

    #[test]
    fn the_fabric_wakes_before_the_other_events_of_the_same_time() {
        let config = Config::default();
        let geometry = Geometry::from_config(&config).expect("the geometry is valid");
        let fabric = AnyFabric::new(&config, &geometry).expect("the interconnect fits");
        let mut interconnect = Interconnect::new(&config, info_of(config.fabric.kind), fabric);
        let mut kernel = Kernel::<Probed>::default();
        assert_eq!(interconnect.next_wake(&kernel), None, "no event is pending");
        kernel.schedule(lane::TO_DRIVE, Time::from_ns(10), Event::InDrive);
        for (wake_at, is_next) in [(9, true), (10, true), (11, false)].map(|(ns, next)| (Time::from_ns(ns), next)) {
            interconnect.outbox.wake_at = wake_at;
            assert_eq!(interconnect.next_wake(&kernel), is_next.then_some(wake_at));
        }
    }
}
