//! Round-robin state of an output port.

use crate::engine::round_robin::round_robin_rank;
use crate::ids::LinkId;

use super::topology::Topology;

/// The inputs of a link, with the one served last.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundRobin {
    inputs: u32,
    served: u32,
}

impl RoundRobin {
    /// Creates the state for the inputs of the port to `link`. The first input is served first.
    pub(super) fn new(link: LinkId, topology: &Topology) -> RoundRobin {
        let inputs = match topology.reverse(link) {
            // A link starts at the router where its reverse ends.
            Some(reverse) => topology.inputs(topology.router_at_end(reverse)),
            // The inputs of an injection link are the two queues of its terminal.
            None if topology.is_injection(link) => 2,
            None => topology.inputs(topology.router_at_end(link)),
        };
        RoundRobin { inputs, served: inputs - 1 }
    }

    /// Returns the position of `input` in the cyclic order that starts after the last input served.
    #[inline(always)]
    pub(super) fn turns_before(self, input: u32) -> u32 {
        round_robin_rank(input, self.served, self.inputs)
    }

    /// Records that `input` was served.
    #[inline(always)]
    pub(super) fn serve(&mut self, input: u32) {
        self.served = input;
    }
}
