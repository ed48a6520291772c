//! The buffer at the end of a link: its slots, and the flits in them.

use crate::engine::arena::Arena;
use crate::ids::LinkId;

use super::network::NO_LINK;
use super::packet::{InFlight, PacketId, PacketQueue};
use super::stream::{Run, RunPool, Stream};

/// The slots of a buffer and what is in them; that at the end of an ejection link is never used.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    /// The slots that are free or will be, each from its cycle on.
    slots: Stream,
    /// The flits, each from when it may leave, and their packets.
    arrivals: Stream,
    queue: PacketQueue,
    /// From when a head that stood behind another packet may ask for its output.
    looked_at: u64,
    /// How many of the slots were foretold, and are not to be counted again when the flits in them leave.
    lent: u32,
    /// The output that the first packet holds.
    drain: LinkId,
    credit_cycles: u32,
}

impl Buffer {
    /// An empty buffer of so many slots, each of which is free again `credit_cycles` after the flit in it has left.
    pub(super) fn new(flits: u32, credit_cycles: u32) -> Buffer {
        Buffer {
            slots: Stream::new(Run { start: 0, count: flits, stride: 0 }),
            arrivals: Stream::new(Run::NONE),
            queue: PacketQueue::default(),
            looked_at: 0,
            lent: 0,
            drain: NO_LINK,
            credit_cycles,
        }
    }

    /// The slots that are free or will be, each from its cycle on.
    #[inline(always)]
    pub(super) fn slots(&self) -> &Stream {
        &self.slots
    }

    /// The flits that are there or will be, each from when it may leave.
    #[inline(always)]
    pub(super) fn arrivals(&self) -> &Stream {
        &self.arrivals
    }

    /// Whether no packet is in it.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether the first packet, if there is one, is the only one.
    #[inline(always)]
    pub(super) fn has_one_packet(&self) -> bool {
        self.queue.has_one()
    }

    /// From when a head that stood behind another packet may ask for its output.
    #[inline(always)]
    pub(super) fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// The output that the first packet holds.
    #[inline(always)]
    pub(super) fn drain(&self) -> LinkId {
        self.drain
    }

    /// The first packet holds the output `link` now.
    #[inline(always)]
    pub(super) fn drains_over(&mut self, link: LinkId) {
        self.drain = link;
    }

    /// Makes one run of the slots that are free by `now`; gives the first run.
    #[inline(always)]
    pub(super) fn merge_slots(&mut self, now: u64, runs: &mut RunPool) -> Run {
        self.slots.merge_until(now, runs);
        self.slots.front()
    }

    /// Whether so many flits find free slots, the first of them at `at` and the others one every `stride` cycles.
    #[inline(always)]
    pub(super) fn has_slots(&mut self, flits: u32, at: u64, stride: u32, runs: &mut RunPool) -> bool {
        let slots = self.merge_slots(at, runs);
        slots.count >= flits && slots.start <= at && slots.stride <= stride
    }

    /// So many flits are going to take the first slots.
    #[inline(always)]
    pub(super) fn take_slots(&mut self, flits: u32, runs: &mut RunPool) {
        self.slots.consume(flits, runs);
    }

    /// The flits of `run` may leave in its cycles.
    #[inline(always)]
    pub(super) fn arrive(&mut self, run: Run, runs: &mut RunPool) {
        self.arrivals.push(run, runs);
    }

    /// A packet has its head here; tells whether it is the first.
    #[inline(always)]
    pub(super) fn push(&mut self, packet: PacketId, packets: &mut Arena<PacketId, InFlight>) -> bool {
        self.queue.push(packet, packets)
    }

    /// The first flits leave, as many as that. Their slots [come back](Self::free_slots).
    #[inline(always)]
    pub(super) fn leave(&mut self, flits: u32, runs: &mut RunPool) {
        self.arrivals.consume(flits, runs);
    }

    /// The flits of `run` have left: tells whether a slot comes back that was not foretold.
    #[inline(always)]
    pub(super) fn free_slots(&mut self, run: Run, runs: &mut RunPool) -> bool {
        let foretold = self.lent.min(run.count);
        self.lent -= foretold;
        let has_freed = foretold < run.count;
        if has_freed {
            self.return_slots(run.skip(foretold), runs);
        }
        has_freed
    }

    /// The flits of `run` leave, none of whose slots was foretold.
    #[inline(always)]
    pub(super) fn give_back(&mut self, run: Run, runs: &mut RunPool) {
        self.leave(run.count, runs);
        self.return_slots(run, runs);
    }

    /// The slots come back that the flits of `run` leave or are going to leave.
    #[inline(always)]
    pub(super) fn return_slots(&mut self, run: Run, runs: &mut RunPool) {
        self.slots.push(run.after(self.credit_cycles), runs);
    }

    /// So many slots are going to be returned before the flits in them have left.
    #[inline(always)]
    pub(super) fn lend(&mut self, slots: u32) {
        self.lent = slots;
    }

    /// When the slot of a flit that leaves at `cycle` is free again.
    #[inline(always)]
    pub(super) fn free_after(&self, cycle: u64) -> u64 {
        cycle + u64::from(self.credit_cycles)
    }

    /// The flits of `run` are the last to leave, one for each slot, and nothing is in it behind them.
    #[inline(always)]
    pub(super) fn empty(&mut self, run: Run) {
        self.slots.reset(run.after(self.credit_cycles));
        self.arrivals.reset(Run::NONE);
    }

    /// The tail of the first packet leaves at `tail`: the head behind it is looked at `head_of_line_cycles` later than one that
    /// stood in front. [`pop`](Self::pop) gives its packet.
    #[inline(always)]
    pub(super) fn tail_leaves(&mut self, tail: u64, head_of_line_cycles: u32) {
        self.looked_at = tail + 1 + u64::from(head_of_line_cycles);
        self.drain = NO_LINK;
    }

    /// Takes the first packet away, whose tail has left; gives the next.
    #[inline(always)]
    pub(super) fn pop(&mut self, packets: &Arena<PacketId, InFlight>) -> Option<PacketId> {
        self.queue.pop(packets)
    }
}
