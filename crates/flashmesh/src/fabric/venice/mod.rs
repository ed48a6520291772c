//! Venice (paper 000, section 4): a mesh of routers in which a controller reserves a circuit to a chip by a scout packet.
//!
//! # The search
//! A scout goes from router to router and reserves the links it takes. At each router the routing algorithm ([`routing`]) says
//! which of the open ports lead on; where none does, the scout goes back to the router it came from, which frees the link
//! and tries another port. At its destination it reserves the pins of the chip, and the circuit stands; back at its controller
//! it has failed.
//!
//! The paper leaves three things open, settled here so that the search ends and finds a path whenever the algorithm
//! could (`tests/venice_scouts` proves it by exhaustion against a breadth-first search):
//!
//! - *A port is tried once.* A router remembers by which ports a scout has come in or gone out until the search is over, and
//!   never sends it over one of them again, not even when the scout comes anew after having backtracked out of the router.
//!   Footnote 5 then holds as it stands: each link brings a scout to a router at most once, coming forward or coming back, so
//!   four ports mean the first visit and three more. Were only the ports remembered by which it has gone out, a router could see
//!   a scout more often than that; were they forgotten when it backtracks out, there would be no bound short of the
//!   number of paths.
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

mod counters;
mod mesh;
mod network;
mod ports;
mod router;
pub mod routing;
mod tie_break;

pub use counters::Counters;
pub use mesh::{Mesh, Place};
pub use network::{Network, Step};
pub use ports::{Port, Ports};
pub use tie_break::{Lfsr, TieBreaker};
