//! The interconnect, its grants and its events.

use crate::engine::arena::Arena;
use crate::fabric::{Fabric, FabricEvent, Facts, Grant, Granted, Kind, Outbox};
use crate::flash::die::Operation;
use crate::ids::AcknowledgementId;
use crate::kernel::Kernel;
use crate::kernel::event::{WakeToken, fabric_lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::units::Time;

use super::Datapath;
use super::occupancy::Occupants;

/// The interconnect between the dies and the controllers, and what is on its way over it.
#[derive(Clone)]
pub(super) struct Interconnect<F> {
    /// Its kind.
    pub facts: &'static Facts,
    pub fabric: F,
    /// The requests that occupy its paths; kept once requests have more than one page.
    pub occupants: Occupants,
    /// Its grants, and the events that it asked for.
    pub outbox: Outbox,
    /// Operations that are done, while the controllers have not been told.
    pub unacknowledged: Arena<AcknowledgementId, Operation>,
}

impl<F: Fabric> Interconnect<F> {
    /// `fabric`, idle.
    pub fn new(facts: &'static Facts, fabric: F) -> Interconnect<F> {
        let (occupants, outbox, unacknowledged) =
            (Occupants::none(fabric.layout().links.len()), Outbox::default(), Arena::default());
        Interconnect { facts, fabric, occupants, outbox, unacknowledged }
    }

    /// The same, with the fabric resolved at compile time.
    pub fn resolved<G>(self, resolve: impl FnOnce(F) -> G) -> Interconnect<G> {
        let Interconnect { facts, fabric, occupants, outbox, unacknowledged } = self;
        Interconnect { facts, fabric: resolve(fabric), occupants, outbox, unacknowledged }
    }
}

impl<M: Model> Datapath<M> {
    /// The next path that the fabric has granted, to be given to [`Datapath::granted`].
    #[inline(always)]
    pub fn next_grant(&mut self, next: &mut usize) -> Option<Granted> {
        let granted = self.interconnect.outbox.grants.get(*next)?;
        *next += 1;
        // Field by field: it was written so, and reading it whole would wait until that is in the cache.
        let Granted { grant: Grant { die, phase, path }, since, cause } = *granted;
        Some(Granted { grant: Grant { die, phase, path }, since, cause })
    }

    /// Whether the fabric has answered.
    #[inline(always)]
    pub fn has_answers(&self) -> bool {
        !self.interconnect.outbox.grants.is_empty() || (M::Fabric::ACTS && !self.interconnect.outbox.events.is_empty())
    }

    /// All grants have been taken: schedules the events that the fabric has asked for.
    #[inline(always)]
    pub fn grants_taken(&mut self, kernel: &mut Kernel<M>) {
        self.interconnect.outbox.grants.clear();
        if !M::Fabric::ACTS || self.interconnect.outbox.events.is_empty() {
            return;
        }
        for (at, event) in self.interconnect.outbox.events.drain(..) {
            match event {
                FabricEvent::Alarm(_) => kernel.set_alarm(at, event.into()),
                _ => kernel.schedule(fabric_lane(event), at, event.into()),
            }
        }
    }

    /// Tells the probes, when there are any, of the uses of links that ended.
    #[inline]
    pub fn tell_link_uses(&mut self, kernel: &mut Kernel<M>) {
        if M::PROBES
            && self.interconnect.outbox.has_seen()
            && let Some(uses) = &mut self.interconnect.outbox.uses
        {
            uses.drain(..).for_each(|link_use| kernel.tell(|| Notice::LinkUsed(link_use)));
            self.interconnect.outbox.steps.drain(..).for_each(|step| kernel.tell(|| Notice::ScoutMoved(step)));
            self.interconnect.outbox.searches.drain(..).for_each(|search| kernel.tell(|| Notice::Searched(search)));
        }
    }

    /// When the fabric is to be woken before all events of that time; later than any event when it is not.
    #[inline(always)]
    pub fn wake_at(&self) -> Time {
        self.interconnect.outbox.wake_at
    }

    /// The time of a wake-up of the fabric has come.
    #[inline]
    pub fn wake(&mut self, WakeToken(token): WakeToken, kernel: &mut Kernel<M>) {
        let Interconnect { fabric, outbox, .. } = &mut self.interconnect;
        outbox.lookahead_until = kernel.next_at();
        fabric.wake(token, kernel.now(), outbox);
    }

    /// What the fabric counts is read while the run goes on.
    pub fn catch_up(&mut self, now: Time) {
        let Interconnect { fabric, outbox, .. } = &mut self.interconnect;
        fabric.catch_up(now, outbox);
    }

    /// The probes are done: tells them of the uses of links that ended since the fabric was last asked for something.
    pub fn tell_rest(&mut self, kernel: &mut Kernel<M>) {
        self.catch_up(kernel.now());
        self.tell_link_uses(kernel);
    }

    /// The run is over: brings the counters of the fabric up to now.
    pub fn finish(&mut self, kernel: &mut Kernel<M>) {
        let Interconnect { fabric, outbox, .. } = &mut self.interconnect;
        fabric.finish(kernel.now(), outbox);
        self.tell_link_uses(kernel);
    }
}
