//! The buffer at the end of a link: its slots, and the flits in them.

use crate::engine::arena::Arena;
use crate::ids::LinkId;

use super::flit_run::{FlitQueue, FlitRun, RunPool};
use super::network::NO_LINK;
use super::packet::{PacketId, PacketInFlight, PacketQueue};

/// The buffer at the end of a link: free slots, flits, and packets. Unused for ejection links, because terminals accept flits at once.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    /// Free slots, each with the cycle from which it can be used. The cycle may be in the future.
    slots: FlitQueue,
    /// Flits in order, each with the cycle from which it can leave. Includes flits that have still to arrive.
    arrivals: FlitQueue,
    queue: PacketQueue,
    /// First cycle in which the head of the first packet can be granted its next link, if it was queued behind another packet.
    considered_from: u64,
    /// Number of slots that [`return_slots`](Self::return_slots) freed ahead of time, before their flits left. They must not be freed again when the
    /// flits leave.
    returned_early: u32,
    /// Next link of the first packet, if the packet holds that link; otherwise [`NO_LINK`].
    drain: LinkId,
    credit_cycles: u32,
}

impl Buffer {
    /// Creates an empty buffer of `flits` slots. A slot is free again `credit_cycles` after its flit has left.
    pub(super) fn new(flits: u32, credit_cycles: u32) -> Buffer {
        Buffer {
            slots: FlitQueue::new(FlitRun { start: 0, count: flits, stride: 0 }),
            arrivals: FlitQueue::new(FlitRun::NONE),
            queue: PacketQueue::default(),
            considered_from: 0,
            returned_early: 0,
            drain: NO_LINK,
            credit_cycles,
        }
    }

    /// Returns the free slots, each with the cycle from which it can be used. The cycle may be in the future.
    #[inline(always)]
    pub(super) fn slots(&self) -> &FlitQueue {
        &self.slots
    }

    /// Returns the flits in order, each with the cycle from which it can leave. Includes flits that have still to arrive.
    #[inline(always)]
    pub(super) fn arrivals(&self) -> &FlitQueue {
        &self.arrivals
    }

    /// Returns whether no packet is in the queue of the buffer.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns whether the buffer, which must not be empty, has flits of exactly one packet.
    #[inline(always)]
    pub(super) fn has_one_packet(&self) -> bool {
        self.queue.has_one()
    }

    /// Returns the first cycle in which the head of the first packet can be granted its next link, if it was queued behind another packet.
    #[inline(always)]
    pub(super) fn head_requests_from(&self) -> u64 {
        self.considered_from
    }

    /// Returns the next link of the first packet, if the packet holds that link; otherwise [`NO_LINK`].
    #[inline(always)]
    pub(super) fn output_link(&self) -> LinkId {
        self.drain
    }

    /// Records that the first packet holds its next link, `link`.
    #[inline(always)]
    pub(super) fn set_output_link(&mut self, link: LinkId) {
        self.drain = link;
    }

    /// Merges the slots that are free by cycle `now` into one run (evenly spaced cycles), and returns it; empty if it is not known when a slot
    /// becomes free.
    #[inline(always)]
    pub(super) fn merge_slots(&mut self, now: u64, runs: &mut RunPool) -> FlitRun {
        self.slots.merge_until(now, runs);
        self.slots.front()
    }

    /// Returns whether the first run of free slots (evenly spaced cycles) suffices for `flits` flits that enter from cycle `at` on, `stride` cycles
    /// apart. First merges the slots that are free by cycle `at` into one run.
    #[inline(always)]
    pub(super) fn has_slots(&mut self, flits: u32, at: u64, stride: u32, runs: &mut RunPool) -> bool {
        let slots = self.merge_slots(at, runs);
        slots.count >= flits && slots.start <= at && slots.stride <= stride
    }

    /// Reserves the first `flits` free slots, which must be in the first run (evenly spaced cycles) of free slots.
    #[inline(always)]
    pub(super) fn reserve_slots(&mut self, flits: u32, runs: &mut RunPool) {
        self.slots.consume(flits, runs);
    }

    /// Adds flits behind those in the buffer. `run` has, for each added flit, the first cycle in which the flit can leave.
    #[inline(always)]
    pub(super) fn arrive(&mut self, run: FlitRun, runs: &mut RunPool) {
        self.arrivals.push(run, runs);
    }

    /// Enqueues `packet`, whose head has crossed to the buffer. Returns whether it is the first packet; if so, the caller must request its
    /// next link.
    #[inline(always)]
    pub(super) fn push(&mut self, packet: PacketId, packets: &mut Arena<PacketId, PacketInFlight>) -> bool {
        self.queue.push(packet, packets)
    }

    /// Removes the first `flits` flits, whose slots the caller must free by [`free_slots`](Self::free_slots).
    #[inline(always)]
    pub(super) fn leave(&mut self, flits: u32, runs: &mut RunPool) {
        self.arrivals.consume(flits, runs);
    }

    /// Frees the slots of the flits that left in the cycles of `run`, except slots already freed ahead of time. Returns whether a slot was freed.
    #[inline(always)]
    pub(super) fn free_slots(&mut self, run: FlitRun, runs: &mut RunPool) -> bool {
        let early = self.returned_early.min(run.count);
        self.returned_early -= early;
        let has_freed = early < run.count;
        if has_freed {
            self.return_slots(run.skip(early), runs);
        }
        has_freed
    }

    /// Removes a flit in each cycle of `run`, and frees its slot. None of these slots may have been freed ahead of time.
    #[inline(always)]
    pub(super) fn remove_and_return(&mut self, run: FlitRun, runs: &mut RunPool) {
        self.leave(run.count, runs);
        self.return_slots(run, runs);
    }

    /// Frees the slots of flits that leave in the cycles of `run`. A slot can be reused `credit_cycles` after its flit has left.
    #[inline(always)]
    pub(super) fn return_slots(&mut self, run: FlitRun, runs: &mut RunPool) {
        self.slots.push(run.delayed_by(self.credit_cycles), runs);
    }

    /// Sets the number of slots that are freed ahead of time, before their flits leave.
    #[inline(always)]
    pub(super) fn set_returned_early(&mut self, slots: u32) {
        self.returned_early = slots;
    }

    /// Returns the cycle from which the slot of a flit that leaves at `cycle` is free again.
    #[inline(always)]
    pub(super) fn free_after(&self, cycle: u64) -> u64 {
        cycle + u64::from(self.credit_cycles)
    }

    /// Empties the buffer, except for its packet queue, and frees all slots. `run` has the departure of the last flit of each slot.
    #[inline(always)]
    pub(super) fn clear(&mut self, run: FlitRun) {
        self.slots.reset(run.delayed_by(self.credit_cycles));
        self.arrivals.reset(FlitRun::NONE);
    }

    /// Records that the tail of the first packet leaves at `tail`, after which the caller must remove the packet by [`pop`](Self::pop). The head of
    /// the next packet can be granted its link from cycle `tail` + 1 + `head_of_line_cycles` on.
    #[inline(always)]
    pub(super) fn tail_leaves(&mut self, tail: u64, head_of_line_cycles: u32) {
        self.considered_from = tail + 1 + u64::from(head_of_line_cycles);
        self.drain = NO_LINK;
    }

    /// Removes the first packet, whose tail has left. Returns the new first packet, for which the caller must request the next link; `None`
    /// if there is none.
    #[inline(always)]
    pub(super) fn pop(&mut self, packets: &Arena<PacketId, PacketInFlight>) -> Option<PacketId> {
        self.queue.pop(packets)
    }
}
