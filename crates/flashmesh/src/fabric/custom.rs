//! An interconnect of the caller's own, for trying one out before it has a name in the configuration.

use std::fmt;

use crate::ids::{AcknowledgementId, DieId, LinkId};
use crate::units::Time;

use super::layout::{Addition, Layout, Passage};
use super::{Cause, DataOf, Fabric, Grant, Held, LinkUsage, Outbox, Payload, Sent, TransferPhase, venice};

/// An interconnect that is not in the registry. Only the full instance of a drive knows it: the others pay nothing for it.
pub struct Custom(pub Box<dyn Fabric + Send>);

impl fmt::Debug for Custom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Custom").field(self.0.layout()).finish()
    }
}

impl Fabric for Custom {
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        self.0.acquire(die, phase, now, outbox);
    }

    fn acquire_for(&mut self, die: DieId, data: DataOf, now: Time, outbox: &mut Outbox) {
        self.0.acquire_for(die, data, now, outbox);
    }

    fn copies(&self, from: DieId, to: DieId) -> bool {
        self.0.copies(from, to)
    }

    fn acquire_copy(&mut self, from: DieId, to: DieId, now: Time, outbox: &mut Outbox) {
        self.0.acquire_copy(from, to, now, outbox);
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, outbox: &mut Outbox) -> Sent {
        self.0.send(grant, payload, now, outbox)
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        self.0.release(grant, now, outbox);
    }

    fn is_behind(&self, die: DieId, phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        self.0.is_behind(die, phase, is_another)
    }

    fn waited_for(&self, grant: Grant) -> Option<[Time; Cause::ALL.len()]> {
        self.0.waited_for(grant)
    }

    fn stalled(&self, grant: Grant) -> Time {
        self.0.stalled(grant)
    }

    fn acknowledges(&self) -> bool {
        self.0.acknowledges()
    }

    fn acknowledge(&mut self, die: DieId, id: AcknowledgementId, now: Time, outbox: &mut Outbox) {
        self.0.acknowledge(die, id, now, outbox);
    }

    fn answers_for(&mut self, die: DieId, by: DieId) {
        self.0.answers_for(die, by);
    }

    fn wake(&mut self, token: u32, now: Time, outbox: &mut Outbox) {
        self.0.wake(token, now, outbox);
    }

    fn finish(&mut self, now: Time, outbox: &mut Outbox) {
        self.0.finish(now, outbox);
    }

    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn passages(&self) -> Vec<Passage> {
        self.0.passages()
    }

    fn addition(&self) -> Addition {
        self.0.addition()
    }

    fn usage(&self) -> &[LinkUsage] {
        self.0.usage()
    }

    fn controllers_busy(&self, now: Time) -> Vec<Time> {
        self.0.controllers_busy(now)
    }

    fn hops(&self) -> u64 {
        self.0.hops()
    }

    fn links_held(&self) -> Held<Time> {
        self.0.links_held()
    }

    fn scouts(&self) -> Option<&venice::Counters> {
        self.0.scouts()
    }

    fn held(&self) -> Vec<(LinkId, DieId)> {
        self.0.held()
    }
}
