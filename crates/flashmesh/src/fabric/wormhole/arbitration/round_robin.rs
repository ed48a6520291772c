//! Round-robin state of the output port of a link.

use crate::engine::round_robin::round_robin_rank;
use crate::fabric::wormhole::topology::Topology;
use crate::ids::LinkId;

/// Number of inputs that can request a link, and the input served last.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct RoundRobin {
    inputs: u32,
    served: u32,
}

impl RoundRobin {
    /// Creates the round-robin state for the inputs that can request `link`. Input 0 is first in the order.
    pub(in super::super) fn new(link: LinkId, topology: &Topology) -> RoundRobin {
        let inputs = match topology.reverse(link) {
            // A link starts at the router where its reverse ends.
            Some(reverse) => topology.inputs(topology.router_at_end(reverse)),
            // The inputs of an injection link are the two queues of its terminal.
            None if topology.is_injection(link) => 2,
            None => topology.inputs(topology.router_at_end(link)),
        };
        RoundRobin { inputs, served: inputs - 1 }
    }

    /// Returns the number of inputs before `input`, in the cyclic order that starts after the input served last.
    #[inline(always)]
    pub(in super::super) fn turns_before(self, input: u32) -> u32 {
        round_robin_rank(input, self.served, self.inputs)
    }

    /// Records that the link was granted to a packet from `input`.
    #[inline(always)]
    pub(in super::super) fn serve(&mut self, input: u32) {
        self.served = input;
    }
}
