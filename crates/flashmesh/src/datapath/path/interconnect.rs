//! The interconnect of a drive, with its grants and events.

use crate::datapath::Datapath;
use crate::engine::arena::Arena;
use crate::fabric::{Fabric, FabricEvent, FabricInfo, Grant, GrantRecord, Outbox, StaticFabric};
use crate::flash::die::Operation;
use crate::ids::AcknowledgementId;
use crate::kernel::Kernel;
use crate::kernel::event::{WakeToken, fabric_lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::units::Time;

use super::occupancy::Occupants;

/// Fabric between the flash controllers and the dies, with the operations and grants in flight.
#[derive(Clone)]
pub(in super::super) struct Interconnect<F> {
    pub info: &'static FabricInfo,
    pub fabric: F,
    /// Requests that use, or last used, the exclusive paths, for the attribution of waits. Maintained only once a request with several
    /// transactions was seen.
    pub occupants: Occupants,
    /// Grants and events raised by the fabric.
    pub outbox: Outbox,
    /// Number of the last batch, counted from 1; 0 before the first batch. A batch is a set of transactions, such as those of one request,
    /// whose commands are arbitrated together.
    pub batches: u32,
    /// Completed operations whose acknowledgement is in flight.
    pub unacknowledged: Arena<AcknowledgementId, Operation>,
}

impl<F: Fabric> Interconnect<F> {
    pub fn new(info: &'static FabricInfo, fabric: F) -> Interconnect<F> {
        let (occupants, outbox, unacknowledged) =
            (Occupants::new(fabric.layout().links.len()), Outbox::default(), Arena::default());
        Interconnect { info, fabric, occupants, outbox, batches: 0, unacknowledged }
    }

    /// Converts the fabric to the type for which this variant of the simulation is compiled.
    pub fn resolved<G>(self, resolve: impl FnOnce(F) -> G) -> Interconnect<G> {
        let Interconnect { info, fabric, occupants, outbox, batches, unacknowledged } = self;
        Interconnect { info, fabric: resolve(fabric), occupants, outbox, batches, unacknowledged }
    }
}

impl<M: Model> Datapath<M> {
    /// Returns the grant at index `next` for [`Datapath::handle_grant`], and increments `next`; `None` after the last grant.
    #[inline(always)]
    pub fn next_grant(&mut self, next: &mut usize) -> Option<GrantRecord> {
        let granted = self.interconnect.outbox.grants.get(*next)?;
        *next += 1;
        // Copy field by field, as the grant was stored: one wide load over several narrower stores would stall (failed store-to-load
        // forwarding).
        let GrantRecord { grant: Grant { die, phase, path }, since, cause } = *granted;
        Some(GrantRecord { grant: Grant { die, phase, path }, since, cause })
    }

    /// Begins a batch of transactions, whose commands are arbitrated together (`fabric.arbitration = "data-first-together"`).
    #[inline]
    pub fn begin_batch(&mut self) {
        let Interconnect { batches, outbox, .. } = &mut self.interconnect;
        *batches = batches.wrapping_add(1).max(1);
        outbox.batch = *batches;
    }

    /// Ends the batch: transactions enqueued from here on belong to no batch.
    #[inline]
    pub fn end_batch(&mut self) {
        self.interconnect.outbox.batch = 0;
    }

    /// Returns whether the fabric has raised grants or events that are not processed yet.
    #[inline(always)]
    pub fn has_output(&self) -> bool {
        !self.interconnect.outbox.grants.is_empty()
            || (M::Fabric::SCHEDULES_EVENTS && !self.interconnect.outbox.events.is_empty())
    }

    /// Clears the processed grants and schedules the events raised by the fabric.
    #[inline(always)]
    pub fn clear_grants(&mut self, kernel: &mut Kernel<M>) {
        self.interconnect.outbox.grants.clear();
        if !M::Fabric::SCHEDULES_EVENTS || self.interconnect.outbox.events.is_empty() {
            return;
        }
        for (at, event) in self.interconnect.outbox.events.drain(..) {
            match event {
                FabricEvent::Alarm(_) => kernel.set_alarm(at, event.into()),
                _ => kernel.schedule(fabric_lane(event), at, event.into()),
            }
        }
    }

    /// Reports to the probes the link uses that have ended, and the moves and searches of scouts (packets that search for a path).
    #[inline]
    pub fn report_link_uses(&mut self, kernel: &mut Kernel<M>) {
        if M::PROBES
            && self.interconnect.outbox.has_records()
            && let Some(uses) = &mut self.interconnect.outbox.link_uses
        {
            uses.drain(..).for_each(|link_use| kernel.notify(|| Notice::LinkUsed(link_use)));
            self.interconnect.outbox.scout_steps.drain(..).for_each(|step| kernel.notify(|| Notice::ScoutMoved(step)));
            self.interconnect.outbox.searches.drain(..).for_each(|search| kernel.notify(|| Notice::Searched(search)));
        }
    }

    /// Returns the time at which the fabric must be woken, before all other events of that time; [`Time::MAX`] if never.
    #[inline(always)]
    pub fn wake_at(&self) -> Time {
        self.interconnect.outbox.wake_at
    }

    #[inline]
    pub fn wake(&mut self, WakeToken(token): WakeToken, kernel: &mut Kernel<M>) {
        let Interconnect { fabric, outbox, .. } = &mut self.interconnect;
        outbox.lookahead_until = kernel.next_at();
        fabric.wake(token, kernel.now(), outbox);
    }

    /// Advances the counters of the fabric to `now`, during a run.
    pub fn catch_up(&mut self, now: Time) {
        let Interconnect { fabric, outbox, .. } = &mut self.interconnect;
        fabric.catch_up(now, outbox);
    }

    /// Reports the remaining link uses, before the probes are detached.
    pub fn report_remaining_uses(&mut self, kernel: &mut Kernel<M>) {
        self.catch_up(kernel.now());
        self.report_link_uses(kernel);
    }

    /// Advances the counters of the fabric to the end of the run.
    pub fn finish(&mut self, kernel: &mut Kernel<M>) {
        let Interconnect { fabric, outbox, .. } = &mut self.interconnect;
        fabric.finish(kernel.now(), outbox);
        self.report_link_uses(kernel);
    }
}
