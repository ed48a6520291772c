//! A network of routers under wormhole switching, exact to the flit at the cost of packets. It knows nothing of drives.
//!
//! # Semantics
//!
//! Routers have a buffer at each input, no virtual channels and one packet at a time on each output (Design for
//! Scalability in Enterprise SSDs, PACT 2014, section 5.3; Network-on-SSD, CAL 2012, section 3.1). Terminals are attached to routers by links of their own, for injection and for ejection. A
//! terminal holds any number of packets that wait, and takes whatever is ejected at once.
//!
//! With n the number of a flit among all that ever cross link i, k its number in its packet, and T its crossing:
//!
//! - T(k, i) is the first cycle in which the link has been granted to the packet, the flit has arrived, the link has
//!   finished the flit before, and the buffer at the end of the link has a slot: max( grant, T(k, i - 1) +
//!   `hop_cycles`, T(k - 1, i) + `flit_cycles`, departure(n - `buffer_flits`) + `credit_cycles` ). Slots come back in
//!   one order, whichever packet was in them: so packets that share a buffer are exact, too.
//! - A head can be granted its next link `hop_cycles` + `head_cycles` after it has crossed the last one, and not before
//!   1 + `head_of_line_cycles` after the tail in front of it in the buffer has left. A packet asks for its injection
//!   link `interface_cycles` after its creation.
//! - A link is held until the tail has crossed it; it can be granted again `flit_cycles` + `gap_cycles` later (without
//!   the gap at injection). It is granted in the first cycle in which it is free and somebody can be granted it. Only
//!   who can be granted it in that cycle competes, under the rule of [`Arbitration`]; small packets before large ones
//!   where `small_first` says so (PACT 2014, rule 1). Under a [`GrantRule`] that asks for free slots the link waits
//!   until the best of the competitors has them.
//! - A *run* of packets that is kept together (PACT 2014, rule 2: after the tail of a large packet the output stays with
//!   its input for the next packet of the same message) is one packet here, as long as all of them. The heads
//!   inside it follow the one in front without arbitration, as flits do, and only the first one pays for its route.
//! - With half-duplex links the two directions between a pair of routers share one wire, which carries one packet at a
//!   time; when both could be granted it, the one not served last is (the transfer token of PACT 2014, section 5.3).
//!
//! With `credit_cycles` 0 a slot can be filled in the cycle in which the flit in it leaves, so that buffers of one flit let a flit pass every
//! cycle: the flits of a packet advance in lockstep (Network-on-SSD, CAL 2012, Table 1).
//!
//! BookSim 2 with one virtual channel (routing delay 0, allocators of 1 cycle, credit delay 1) is `hop_cycles` 3,
//! `head_cycles`, `head_of_line_cycles` and `gap_cycles` 1, `credit_cycles` 3, `injection_credit_cycles` 1,
//! `interface_cycles` 2.
//!
//! # Deadlock freedom
//!
//! A packet that waits holds links and buffers behind it and waits for a link or a slot ahead of it. Number the links
//! so that every packet takes links of rising numbers: then the holder of the highest link or slot that anybody waits
//! for does not wait itself, it moves on, and so in the end does everybody (Dally and Seitz, 1987). Ejection links come
//! last of all and terminals take what comes, whatever they have to send; injection links come first. What remains:
//!
//! - **Mesh.** Packets go along their row first and along their column then, in one direction each. Number the links
//!   that run east from west to east, those that run west from east to west, and then those of columns in the same way.
//! - **Ring and torus.** A link around an edge is only ever the *first* hop of a packet in its row or column: no link
//!   of that row or column leads into it, and it gets a number before all of them. The cycle that closed rows have
//!   under shortest paths, which takes virtual channels to break, is never there; the price is that only routers at an
//!   edge have the shorter way.
//! - **Other ways** ([`Topology::routed`]) are a table of the next link for each router and destination. Links wait for links that follow them
//!   on the way of a packet; a table in which they could do so in a circle is refused.
//! - **Half duplex.** A wire ties the links of both directions together, and eastward packets would wait for westward
//!   ones and the other way round: packets that held wires while they wait would deadlock. Hence [`GrantRule::WholePacket`]
//!   is demanded. A packet gets a wire only when the buffer behind it has room for all of it; its flits are in the
//!   buffer before or arrive over a wire it got in the same way, so it crosses in bounded time and never waits while it
//!   holds one. Only buffers are waited for while buffers are held, in the order of the links that feed them, which
//!   rises as above. A direction whose best packet lacks room does not keep the wire from the other. A packet longer
//!   than a buffer would wait for ever: [`InjectError::TooLong`].
//! - **Priorities** delay packets, and small ones that never cease would starve large ones under `small_first`; a halt
//!   they cannot cause, since the argument holds for any choice among competitors.
//!
//! Tests build the graph of links that wait for each other for every grid, and drive every combination of options to
//! saturation.
//!
//! # How packets cost what packets cost
//!
//! Flits are never looked at singly: arrivals and free slots are kept as runs of evenly spaced cycles, and the
//! recurrence above maps runs to runs. What a grant determines is computed at once, however far ahead it lies (flits
//! that nobody else can tell from where they are lag behind until it matters), so that the only events are "a wire may
//! be granted". A head whose next grant comes before any other event goes on without one, and a packet that is as a whole behind its head
//! goes on over as many links in one step. One that is granted its ejection link ends on all of its links at once. All that is found while cycle t is processed lies after t, where the network or anybody else can be
//! affected by it, so the order of events within a cycle makes no difference.

mod agenda;
mod arbitration;
mod buffer;
mod calendar;
mod drain;
mod flits;
mod flow;
mod glide;
mod link;
mod network;
mod packet;
mod parameters;
mod round_robin;
mod routes;
mod stream;
mod topology;

pub use flits::{FlitNetwork, Wires};
pub use network::Network;
pub use packet::{Class, Crossing, Outbox, Packet};
pub use parameters::{Arbitration, GrantRule, InjectError, ParameterError, Parameters};
pub use routes::{NamedLink, RouterPlace, RoutesError};
pub use topology::{Grid, ROUTERS_MAX, RouterId, TerminalId, Topology, TopologyError, Way};
