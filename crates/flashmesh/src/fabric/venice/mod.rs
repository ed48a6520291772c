//! Venice (Venice, ISCA 2023, section 4): a mesh of routers in which a controller reserves a circuit to a chip by a scout packet.
//!
//! # The search
//! A scout goes from router to router and reserves the links it takes. At each router the routing algorithm ([`routing`]) says
//! which of the open ports lead on; where none does, the scout goes back to the router it came from, which frees the link
//! and tries another port. At its destination it reserves the pins of the chip, and the circuit stands; back at its controller
//! it has failed.
//!
//! The paper leaves three things open, settled here so that the search ends and finds a path whenever the algorithm
//! could (`tests/fabrics/venice_scouts` proves it by exhaustion against a breadth-first search):
//!
//! - *A port is tried once.* A router remembers by which ports a scout has come in or gone out until the search is over, and
//!   never sends it over one of them again, not even when the scout comes anew after having backtracked out of the router.
//!   Footnote 5 then holds: each link brings a scout to a router at most once, coming forward or coming back, so
//!   four ports mean the first visit and three more. It is more than the footnote asks for, which has a scout "reserve each output
//!   port of a router only once": with `revisits = "three-times"`, as in the presets, the ports by which it came in may be tried later. A
//!   router could then see a scout up to eight times; it counts, the third time that the scout is back it sends it back the way it
//!   came, and no other router sends it there again. Were the ports forgotten when a scout backtracks out, there would be no bound short
//!   of the number of paths.
//! - *A scout enters no router that it holds* (one row of the table per packet). Such a port is not tried: it is open
//!   again once the scout has backtracked out of that router.
//! - *Nothing is lost by it.* A scout leaves a router backwards only when each free port there has been used or leads to a
//!   router it holds, so when it is back at its controller every router that free links lead to has been visited, and the
//!   destination was none of them.
//!
//! A scout under way between circuits and other scouts sees links come and go. It still ends, for the bound does not depend on
//! them, but it may miss a path that was not there all the time.
//!
//! The pins of a chip are a link like any other: a scout that finds them taken searches on in vain, as Algorithm 1 has it.
//!
//! # Circuits for dies
//! - *Controller.* That of the chip's row if it is free, else the nearest free one, the upper of two [choice]. A read reserves a
//!   circuit for its command and another, from any controller, for the data of each plane; a program or an erase reserves one
//!   [choice]. With `fabric.hold-path` a circuit is released at the end of its transaction.
//! - *Pins.* No scout is sent to a chip that has a circuit or a scout on its way: the controllers know whom they serve. The other
//!   dies of the chip wait for its pins [choice].
//! - *Requests.* Each transfer reserves a circuit of its own [choice: "for each I/O request", section 4.2, is said of a request to one chip].
//!   With `circuits-per-request` the transactions of one request share so many, in the order of asking (`shares`).
//! - *Waiting for a controller.* A controller that gets free serves the longest waiting die of its own row, and when there is none
//!   the longest waiting of all [choice]: the rule for choosing a controller, seen from the other side. `service = "longest-first"`
//!   lets all controllers serve all rows in the order of asking; under saturation the circuits then cross, most scouts
//!   fail, and uniform reads of the `venice-z-nand` preset fall from 7.9 to 6.7 GB/s.
//! - *After a failure* the controller is free for others, and the die waits until a circuit is torn down [choice: the paper sends
//!   the scout again at once, which is `retry = "immediate"`, but with nothing changed it must fail again]. A die whose scout saw that happen under way tries
//!   again at once. Reservations of other scouts are not waited for: dies that wake each other by failing can go on so for ever,
//!   three are enough. No wake-up is lost: where scouts met nothing but each other and all failed, and nothing is
//!   under way any more, the longest waiting die sends its scout alone, which finds a path in an empty mesh.
//!   `retry = "next-controller"` first tries the other free controllers in turn. With `retry = "immediate"` a controller keeps its die
//!   and sends scout after scout while any circuit stands; where none does, only the scout of the die that has waited longest
//!   leaves again, and the others wait as above, so that scouts cannot block each other for ever.
//! - *Time.* A scout has as many flits as the ids of chips and controllers need, two up to 64 chips ([`Mesh::scout_flits`]), so it crosses a
//!   link in as many link cycles, forward, backtracking, and on the way back to its controller
//!   [choice]. A transfer takes (distance + size / link width) link cycles (Equation 1), the distance being all links of the circuit: that
//!   of the controller, those between routers, and that of the chip. A command takes the time it has on a shared channel and the
//!   distance [choice]: its cycles are those of the chip, not of the link.
//! - *Order.* Of what happens at one time, scouts take their steps first, then circuits are granted, by the number of the controller, then
//!   everything else follows [choice].
//! - *Conflicts.* Waiting for the pins of the chip counts as cause `channel`, for a controller as `controller`, and from the leaving of a
//!   scout that fails to that of the next one as `link`: each with its time, one after the other. The time of the scout that
//!   finds its path is no conflict.

mod bearing;
mod chips;
mod controller;
mod controllers;
mod counters;
mod fabric;
mod facts;
mod free;
mod layout;
mod mesh;
mod network;
mod ports;
mod progress;
mod router;
mod routes;
pub mod routing;
mod scout;
mod serve;
mod shares;
mod tie_break;
mod timing;
mod trace;
mod traffic;
mod turns;
mod verdict;
mod waiting;
mod waits;

pub use counters::Counters;
pub use fabric::Venice;
pub use facts::FACTS;
pub use mesh::Place;
pub use ports::{Port, Ports};

// For tests of the scouts alone.
#[cfg(feature = "internals")]
pub use {
    mesh::Mesh,
    network::{Network, Step},
    tie_break::TieBreaker,
};
