//! A wormhole-switched network of routers. The model is exact to the flit, at a cost per packet, and independent of drives.
//!
//! # Semantics
//!
//! Routers have a buffer at each input, no virtual channels, and one packet at a time on each output (Design for Scalability in Enterprise SSDs, PACT
//! 2014, section 5.3; Network-on-SSD, CAL 2012, section 3.1). Terminals are attached to routers by injection and ejection links of their own. A
//! terminal queues any number of packets, and accepts ejected packets at once.
//!
//! Let n be the number of a flit among all flits that cross link i, k its number in its packet, T(k, i) the cycle of its crossing, and departure(n)
//! the cycle in which flit n leaves the buffer at the end of the link:
//!
//! - T(k, i) is the first cycle in which the link has been granted to the packet, the flit has arrived, the link has finished the previous flit, and
//!   the buffer at its end has a free slot: max( grant, T(k, i - 1) + `hop_cycles`, T(k - 1, i) + `flit_cycles`, departure(n - `buffer_flits`) +
//!   `credit_cycles` ). Slots return in the order of departures, whichever packet used them, so packets that share a buffer are exact as well.
//! - A head can be granted its next link `hop_cycles` + `head_cycles` after it crossed the last one, and at least 1 + `head_of_line_cycles` after the
//!   tail ahead of it left the buffer. A packet requests its injection link `interface_cycles` after its creation.
//! - A link is held until the tail has crossed it, and can be granted again `flit_cycles` + `gap_cycles` later (without the gap at injection). The
//!   link is granted in the first cycle in which it is free and a request is grantable. Only requests that are grantable in that cycle compete, under
//!   the rule of [`Arbitration`]; with `small_first`, small packets go before large ones (PACT 2014, rule 1). Under a [`GrantRule`] that requires
//!   free slots, the link waits until the best competitor has them.
//! - A *run* of packets that is kept together (PACT 2014, rule 2: after the tail of a large packet the output stays with its input for the next
//!   packet of the same message) is modelled as one packet of their total length. The heads inside the run follow without arbitration, like other
//!   flits. Only the first head takes time for its route.
//! - With half-duplex links the two directions between a pair of routers share one wire, which carries one packet at a time. If both are grantable,
//!   the direction not served last is granted (the transfer token of PACT 2014, section 5.3).
//!
//! With `credit_cycles` 0 a slot can be refilled in the cycle in which its flit leaves, so buffers of one flit pass a flit every cycle, and the flits
//! of a packet advance in lockstep (Network-on-SSD, CAL 2012, Table 1).
//!
//! BookSim 2 with one virtual channel (routing delay 0, allocators of 1 cycle, credit delay 1) corresponds to `hop_cycles` 3, `head_cycles`,
//! `head_of_line_cycles` and `gap_cycles` 1, `credit_cycles` 3, `injection_credit_cycles` 1, `interface_cycles` 2.
//!
//! # Deadlock freedom
//!
//! A blocked packet holds links and buffers behind it and waits for a link or a slot ahead of it. Number the links so that every packet uses links of
//! increasing numbers. Consider the highest-numbered link or slot for which a packet waits. Its holder is not blocked and advances; so eventually
//! every packet advances (Dally and Seitz, 1987). Ejection links have the highest numbers, and terminals accept packets unconditionally; injection
//! links have the lowest. The other links are numbered as follows:
//!
//! - **Mesh.** Packets first follow their row and then their column, in one direction each. Number the eastward links from west to east, the westward
//!   links from east to west, and then the column links in the same way.
//! - **Ring and torus.** A wraparound link is used only as the *first* hop of a packet in its row or column. So no link of that row or column leads
//!   into it, and its number precedes theirs. Under shortest paths a closed row would have a cycle of waits, which needs virtual channels. Here there
//!   is no such cycle, but only routers at an edge have the shorter path.
//! - **Custom routes** ([`Topology::with_routes`]) are a table of the next link for each router and destination. A link waits for the links that
//!   follow it on any route; a table in which such waits form a cycle is rejected.
//! - **Half duplex.** A wire couples both directions: eastward packets would wait for westward ones and vice versa, and packets that hold wires while
//!   they wait would deadlock. Hence [`GrantRule::WholePacket`] is required: a packet is granted a wire only if the buffer at the end of the wire has
//!   space for the whole packet. The packet's flits are in the previous buffer, or arrive over a wire that was granted in the same way. So the packet
//!   crosses in bounded time, and never waits while it holds a wire. Packets that hold buffers wait only for buffers, in the increasing order of the
//!   links that feed them. A direction whose best packet lacks space leaves the wire to the other direction. A packet longer than a buffer would wait
//!   for ever: [`InjectError::TooLong`].
//! - **Priorities** delay packets: under `small_first`, an endless supply of small packets would starve large ones. But they cannot cause deadlock,
//!   because the argument holds for any choice among competitors.
//!
//! Tests build the graph of waiting links for every grid, and drive every combination of options to saturation.
//!
//! # Cost per packet
//!
//! Flits are not simulated one by one: arrivals and free slots are kept as runs of evenly spaced cycles, and the recurrence above maps runs to runs.
//! Everything that a grant determines is computed at once, however far ahead, so the only events are arbitrations of wires. Flits whose position is
//! not observable are moved later. A head whose next grant precedes all other events advances without an event, and a packet whose flits are all
//! behind its head advances over several links in one step. Once a packet is granted its ejection link, it is completed on all links at once. Results
//! of cycle t take effect after t, so they do not depend on the order of events within a cycle.

mod arbitration;
mod buffer;
mod flit_run;
mod flits;
mod link;
mod movement;
mod network;
mod packet;
mod parameters;
mod topology;

pub use flits::{FlitNetwork, WireSharing};
pub use network::WormholeNetwork;
pub use packet::{Crossing, NetworkReports, Packet, PacketClass};
pub use parameters::{Arbitration, GrantRule, InjectError, ParameterError, Parameters};
pub use topology::custom_routes::{NamedLink, RouterCoord, RoutesError};
pub use topology::{Grid, GridDirection, ROUTERS_MAX, RouterId, TerminalId, Topology, TopologyError};
