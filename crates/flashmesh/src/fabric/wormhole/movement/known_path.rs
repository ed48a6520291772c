//! Fast path for packets that hold every link of their path: all remaining flits move at once.

use crate::fabric::wormhole::flit_run::FlitRun;
use crate::fabric::wormhole::link::LinkState;
use crate::fabric::wormhole::network::{NO_LINK, WormholeNetwork};
use crate::fabric::wormhole::packet::NetworkReports;
use crate::fabric::wormhole::parameters::{GrantRule, Parameters};
use crate::ids::LinkId;

use super::run_movement::CrossedRuns;

/// Maximum number of links of a path that [`drain_evenly`](WormholeNetwork::drain_evenly) handles. Injection and ejection link are
/// included.
const EVEN_LINKS: usize = 16;

/// The flits of a packet that have not crossed a given link of its path yet.
#[derive(Clone, Copy, Debug)]
struct RemainingFlits {
    link: LinkId,
    /// End of the crossing of the tail, one flit time after it starts.
    end: u64,
    /// Number of flits, counted back from the tail, that cross without a gap between them.
    even: u32,
    left: u32,
}

impl RemainingFlits {
    const NONE: RemainingFlits = RemainingFlits { link: NO_LINK, end: 0, even: 0, left: 0 };

    /// Delays the end of the tail, if necessary, so that the last `left` flits cross no earlier than the first cycle of `run`. These flits cross
    /// `stride` cycles apart; the cycles of `run` are at most `stride` apart. The empty run, in cycle 0, delays nothing.
    #[inline(always)]
    fn delay_by_run(&mut self, run: FlitRun, left: u32, stride: u32) {
        self.delay_to(run.start + u64::from(left) * u64::from(stride), left);
    }

    /// Delays the end of the tail to `end`, if this is later. The last `left` flits cause the delay, and then cross without a gap.
    #[inline(always)]
    fn delay_to(&mut self, end: u64, left: u32) {
        if end > self.end {
            (self.end, self.even) = (end, left);
        }
    }
}

impl WormholeNetwork {
    /// Moves all remaining flits of the packet that crosses the link `ejection`, in two passes over the links of its path. The packet must
    /// hold its whole path. Adds the delivery of the packet to `outbox`, and its injection if the time of the injection becomes final.
    ///
    /// [`settle`](Self::settle) would move one buffer of flits at a time, back and forth over the links. Two passes suffice because buffers cover the
    /// credit round trip: a flit never waits longer for its slot than for the flit ahead of it, so the longest chain of waits in the recurrence of
    /// the [module](crate::fabric::wormhole) never goes back and forth between two links. The first pass, backwards from the ejection link, computes
    /// the cycles of free slots as if every flit arrived in time. The second pass moves the flits forwards, from the last link that has flits.
    pub(in super::super) fn drain_at_once(&mut self, ejection: LinkId, outbox: &mut NetworkReports) {
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
            self.return_slots_early(link, feeder);
            link = feeder;
        }
        let first_feeder = self.links[link.index()].holder.source;
        loop {
            let next = self.links[link.index()].buffer.output_link();
            self.extend(link, outbox);
            if link == ejection {
                break;
            }
            link = next;
        }
        if first_feeder != NO_LINK {
            self.add_to_worklist(first_feeder);
            self.settle(outbox);
        }
    }

    /// Handles the usual case of [`drain_at_once`](Self::drain_at_once). The packet holds every link from its terminal to `ejection`, and is so long
    /// that its last flits, as many as a buffer has slots, cross every link evenly spaced. Returns whether the flits were moved; otherwise nothing
    /// has changed.
    ///
    /// Flits follow each other at the rate of the links, so a delay of one flit delays all later ones at least as much. The longest delay thus
    /// determines when the packet ends on a link, and single flits need not be simulated: other packets cannot observe them.
    fn drain_evenly(&mut self, ejection: LinkId, outbox: &mut NetworkReports) -> bool {
        let Parameters { flit_cycles: stride, hop_cycles, buffer_flits, grant_rule, .. } = self.parameters;
        if grant_rule != GrantRule::Immediate {
            return false;
        }
        let buffer_cycles = u64::from(buffer_flits) * u64::from(stride);
        let packet = self.links[ejection.index()].holder.packet;
        let mut rests = [RemainingFlits::NONE; EVEN_LINKS];
        let mut count = 0;
        // Backward pass: the waits for slots, as if every flit arrived in time.
        let mut link = ejection;
        while link != NO_LINK {
            let LinkState { holder, buffer, .. } = &self.links[link.index()];
            if count == EVEN_LINKS || !holder.is_crossing_of(packet) {
                return false;
            }
            let left = holder.remaining_flits;
            let mut rest =
                RemainingFlits { link, end: holder.free + u64::from(left) * u64::from(stride), even: left, left };
            if count > 0 {
                let Some(slots) = buffer.slots().as_two(stride) else { return false };
                let Some(missing) = left.checked_sub(buffer.slots().len()) else { return false };
                rest.delay_by_run(slots[0], left, stride);
                rest.delay_by_run(slots[1], left - slots[0].count, stride);
                let ahead: &RemainingFlits = &rests[count - 1];
                if missing > 0 {
                    if ahead.even < buffer_flits {
                        return false;
                    }
                    let end = buffer.free_after(ahead.end - buffer_cycles);
                    rest.delay_to(end, missing.min(ahead.even - buffer_flits));
                }
            }
            rests[count] = rest;
            count += 1;
            link = holder.source;
        }
        // Forward pass: the waits for flits, both those in the buffer before a link and those that follow over the previous link.
        let mut behind: Option<RemainingFlits> = None;
        for rest in rests[..count].iter_mut().rev() {
            if let Some(behind) = behind {
                let Some(arrivals) = self.links[behind.link.index()].buffer.arrivals().as_two(stride) else {
                    return false;
                };
                rest.delay_by_run(arrivals[0], rest.left, stride);
                rest.delay_by_run(arrivals[1], rest.left - arrivals[0].count, stride);
                rest.delay_to(behind.end + u64::from(hop_cycles), behind.even);
                if rest.even < buffer_flits {
                    return false;
                }
            }
            behind = Some(*rest);
        }
        let mut behind = NO_LINK;
        for &RemainingFlits { link, end, .. } in rests[..count].iter().rev() {
            if behind != NO_LINK {
                self.links[behind.index()].buffer.clear(FlitRun {
                    start: end - buffer_cycles,
                    count: buffer_flits,
                    stride,
                });
            }
            let state = &mut self.links[link.index()];
            state.carry_until(0, end);
            if link == ejection {
                state.holder.head = self.events.now();
            }
            self.tail_crosses(link, end - u64::from(stride), outbox);
            behind = link;
        }
        true
    }

    /// Frees as many slots of the buffer at the end of `feeder` ahead of time as the packet still needs there. A slot becomes free `credit_cycles`
    /// after its flit will leave over `link`, if all flits arrive in time.
    fn return_slots_early(&mut self, link: LinkId, feeder: LinkId) {
        let stride = self.parameters.flit_cycles;
        let [state, feeder] =
            self.links.get_disjoint_mut([link.index(), feeder.index()]).expect("no link feeds its own port");
        let mut missing = feeder.holder.remaining_flits.saturating_sub(feeder.buffer.slots().len());
        feeder.buffer.set_returned_early(missing);
        if missing == 0 {
            return;
        }
        if state.is_ejection {
            let run = FlitRun { start: state.holder.free, count: missing, stride };
            return feeder.buffer.return_slots(run, &mut self.runs);
        }
        let mut free = state.holder.free;
        let mut known = state.buffer.slots().cursor();
        let mut moved = CrossedRuns::default();
        loop {
            let mut slots = known.run;
            while missing > 0 && slots.count > 0 {
                let run = FlitRun::crossing(FlitRun::UNLIMITED, slots, free, stride, missing);
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
