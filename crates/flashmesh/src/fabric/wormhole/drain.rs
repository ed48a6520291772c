//! Packets whose whole way is known: all that is left of them moves at once.

use crate::ids::LinkId;

use super::flow::Moved;
use super::link::Link;
use super::network::{NO_LINK, Network};
use super::packet::Outbox;
use super::parameters::{GrantRule, Parameters};
use super::stream::Run;

/// The most links on the way of a packet that is drained evenly.
const EVEN_LINKS: usize = 16;

/// What is left of a packet on one of its links.
#[derive(Clone, Copy, Debug)]
struct Rest {
    link: LinkId,
    /// When it will be over: one flit after the last one.
    end: u64,
    /// How many flits cross evenly at the end.
    even: u32,
    left: u32,
}

impl Rest {
    const NONE: Rest = Rest { link: NO_LINK, end: 0, even: 0, left: 0 };

    /// No flit of `run` crosses before its cycle there, and `left` flits are left at its first one.
    #[inline(always)]
    fn waits_for(&mut self, run: Run, left: u32, stride: u32) {
        self.waits_until(run.start + u64::from(left) * u64::from(stride), left);
    }

    /// It is over at `end` at the earliest, because of what happens when `left` flits are left.
    #[inline(always)]
    fn waits_until(&mut self, end: u64, left: u32) {
        if end > self.end {
            (self.end, self.even) = (end, left);
        }
    }
}

impl Network {
    /// The packet on `ejection` has its whole way: moves all that is left of it, in two passes over its links.
    ///
    /// [`settle`](Self::settle) would move a buffer of flits at a time back and forth. But with buffers that cover the
    /// round trip of a slot, a flit that waits for its slot waits no longer than one that follows the flit that frees
    /// it: going forth and back over a pair of links is never the longest way through the recurrence. So slots can be
    /// foretold, from the ejection link backwards, as if every flit were there in time, and then the flits follow them
    /// forwards.
    pub(super) fn drain_at_once(&mut self, ejection: LinkId, outbox: &mut Outbox) {
        if self.drain_evenly(ejection, outbox) {
            return;
        }
        let packet = self.links[ejection.index()].holder.packet;
        let mut link = ejection;
        loop {
            let feeder = self.links[link.index()].holder.source;
            if feeder == NO_LINK {
                break;
            }
            if !self.links[feeder.index()].holder.is_crossing_of(packet) {
                break;
            }
            self.foretell(link, feeder);
            link = feeder;
        }
        let first_feeder = self.links[link.index()].holder.source;
        loop {
            let next = self.links[link.index()].buffer.drain();
            self.extend(link, outbox);
            if link == ejection {
                break;
            }
            link = next;
        }
        if first_feeder != NO_LINK {
            self.enlist(first_feeder);
            self.settle(outbox);
        }
    }

    /// The usual case of [`drain_at_once`](Self::drain_at_once): the packet is on every link from its terminal to `ejection`, and so long that
    /// the last flits to leave each buffer, as many as it has slots, leave it one after the other. Tells whether it was so; if not, nothing
    /// has changed.
    ///
    /// Flits that follow one another at the pace of the links are late by the same time as the one before, or by more: what is left of a
    /// packet ends by as much later as the latest of all that its flits wait for. So the ends are found without going through the flits, and
    /// what comes before the even end, nobody sees.
    fn drain_evenly(&mut self, ejection: LinkId, outbox: &mut Outbox) -> bool {
        let Parameters { flit_cycles: stride, hop_cycles, buffer_flits, grant_rule, .. } = self.parameters;
        if grant_rule != GrantRule::Immediate {
            return false;
        }
        let buffer_cycles = u64::from(buffer_flits) * u64::from(stride);
        let packet = self.links[ejection.index()].holder.packet;
        let mut rests = [Rest::NONE; EVEN_LINKS];
        let mut count = 0;
        // Backwards: free slots, and those that come back, as if every flit were there in time.
        let mut link = ejection;
        while link != NO_LINK {
            let Link { holder, buffer, .. } = &self.links[link.index()];
            if count == EVEN_LINKS || !holder.is_crossing_of(packet) {
                return false;
            }
            let left = holder.left;
            let mut rest = Rest { link, end: holder.free + u64::from(left) * u64::from(stride), even: left, left };
            if count > 0 {
                let Some(slots) = buffer.slots().as_two(stride) else { return false };
                let Some(missing) = left.checked_sub(buffer.slots().len()) else { return false };
                rest.waits_for(slots[0], left, stride);
                if slots[1].count > 0 {
                    rest.waits_for(slots[1], left - slots[0].count, stride);
                }
                let ahead: &Rest = &rests[count - 1];
                if missing > 0 {
                    if ahead.even < buffer_flits {
                        return false;
                    }
                    let end = buffer.free_after(ahead.end - buffer_cycles);
                    rest.waits_until(end, missing.min(ahead.even - buffer_flits));
                }
            }
            rests[count] = rest;
            count += 1;
            link = holder.source;
        }
        // Forwards: the flits in the buffers, and those that follow them.
        let mut behind: Option<Rest> = None;
        for rest in rests[..count].iter_mut().rev() {
            if let Some(behind) = behind {
                let Some(arrivals) = self.links[behind.link.index()].buffer.arrivals().as_two(stride) else {
                    return false;
                };
                if arrivals[0].count > 0 {
                    rest.waits_for(arrivals[0], rest.left, stride);
                }
                if arrivals[1].count > 0 {
                    rest.waits_for(arrivals[1], rest.left - arrivals[0].count, stride);
                }
                rest.waits_until(behind.end + u64::from(hop_cycles), behind.even);
                if rest.even < buffer_flits {
                    return false;
                }
            }
            behind = Some(*rest);
        }
        let mut behind = NO_LINK;
        for &Rest { link, end, .. } in rests[..count].iter().rev() {
            if behind != NO_LINK {
                self.links[behind.index()].buffer.empty(Run {
                    start: end - buffer_cycles,
                    count: buffer_flits,
                    stride,
                });
            }
            let state = &mut self.links[link.index()];
            state.carry_until(0, end);
            if link == ejection {
                state.holder.head = self.agenda.now();
            }
            self.tail_crosses(link, end - u64::from(stride), outbox);
            behind = link;
        }
        true
    }

    /// Gives `feeder` the slots it still needs for its packet, from when `link` will have freed them.
    fn foretell(&mut self, link: LinkId, feeder: LinkId) {
        let stride = self.parameters.flit_cycles;
        let [state, feeder] =
            self.links.get_disjoint_mut([link.index(), feeder.index()]).expect("no link feeds its own port");
        let mut missing = feeder.holder.left.saturating_sub(feeder.buffer.slots().len());
        feeder.buffer.lend(missing);
        if missing == 0 {
            return;
        }
        if state.is_ejection {
            let run = Run { start: state.holder.free, count: missing, stride };
            return feeder.buffer.return_slots(run, &mut self.runs);
        }
        let mut free = state.holder.free;
        let mut known = state.buffer.slots().cursor();
        let mut moved = Moved::default();
        loop {
            let mut slots = known.run;
            while missing > 0 && slots.count > 0 {
                let run = Run::crossing(Run::UNLIMITED, slots, free, stride, missing);
                free = run.last() + u64::from(stride);
                missing -= run.count;
                slots = slots.skip(run.count);
                if let Some(run) = moved.add(run) {
                    feeder.buffer.return_slots(run, &mut self.runs);
                }
            }
            if missing == 0 || !known.advance(&self.runs) {
                break;
            }
        }
        if moved.run.count > 0 {
            feeder.buffer.return_slots(moved.run, &mut self.runs);
        }
    }
}
