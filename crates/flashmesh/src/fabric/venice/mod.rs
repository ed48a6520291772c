//! Venice (Venice, ISCA 2023, section 4): a mesh of routers in which a controller reserves a circuit to a chip with a scout packet.
//!
//! # The search
//! A scout moves from router to router and reserves the links that it crosses. At each router the routing algorithm ([`routing`]) selects candidates
//! among the open ports, and one candidate is drawn. Without a candidate the scout backtracks to the previous router, which releases the link between
//! the two routers and tries another port. At its destination the scout reserves the pins of the chip, which completes the circuit. A scout that has
//! backtracked to its controller has failed.
//!
//! The paper leaves three points of the search open. They are decided so that every search ends, and finds a path if the algorithm allows one
//! (`tests/fabrics/venice_scouts` proves it by exhaustion against a breadth-first search):
//!
//! - *A port is tried once.* Until the search ends, a router records the ports by which the scout entered or left, and never sends the scout over
//!   these ports again. This holds even when the scout returns after it has backtracked out of the router. The rule satisfies footnote 5: each link
//!   brings a scout to a router at most once, forward or back, so four ports allow the first visit and three more. The rule is stricter than the
//!   footnote, under which a scout may "reserve each output port of a router only once". With `revisits = "three-times"`, as in the presets, ports of
//!   entry may be tried later, so that a scout could visit a router up to eight times. So the router counts visits: on its third return, a scout
//!   backtracks, and does not enter the router again. If a router forgot the used ports when a scout backtracks out of it, only the number of paths
//!   would bound the search.
//! - *A scout enters no router that it holds*, because the reservation table of a router has one row per packet. A port that leads to a held router
//!   is skipped. The port is open again after the scout has backtracked out of that router.
//! - *No path is missed.* A scout backtracks out of a router only when each free port there has been used or leads to a router that the scout holds.
//!   So a failed scout has visited every router that free links lead to, and the destination was none of them.
//!
//! Other scouts reserve and release links during a search. The search still ends, because its bound does not depend on other scouts, but it can miss
//! a path that did not exist during the whole search.
//!
//! Chip pins are a link like any other. A scout that finds the pins busy continues its search, which will fail, as in Algorithm 1.
//!
//! # Circuits for dies
//! Decisions that the paper does not state are marked \[choice\].
//!
//! - *Controller.* A request is served by the controller of the chip's row if it is free, otherwise by the nearest free controller; of two equally
//!   near ones, by the upper \[choice\]. A read reserves one circuit for its command, and one from any controller for the data of each plane; a
//!   program or an erase reserves one \[choice\]. With `fabric.hold-path` a circuit is released at the end of its transaction.
//! - *Pins.* No scout is sent to a chip that has a circuit or is the destination of a scout: controllers track which chips are being served. Requests
//!   of the other dies of the chip wait for the pins \[choice\].
//! - *Requests.* Each transfer reserves a circuit of its own [choice: "for each I/O request", section 4.2, refers to a request to one chip].
//!   `circuits-per-request` limits the circuits that the transactions of one host request hold at a time, in order of arrival (`circuit_quota`).
//! - *Waiting for a controller.* A controller that becomes free serves the oldest request of its own row; if there is none, the oldest request of all
//!   rows \[choice\]. This agrees with the rule by which a request chooses a controller. With `service = "longest-first"` all controllers serve all
//!   rows in order of arrival. Under saturation the circuits then cross, most scouts fail, and uniform reads of the `venice-z-nand` preset drop from
//!   7.9 to 6.7 GB/s.
//! - *After a failure* the controller is free for other requests, and the failed request waits until a circuit is torn down [choice: the paper
//!   retries at once, which is `retry = "immediate"`, but a retry without a change must fail again]. If a circuit was torn down during the search,
//!   the retry is immediate. Links released by other scouts trigger no retry: three requests that wake each other by failing can already livelock. No
//!   request is forgotten: if all scouts failed by blocking only each other and nothing is in flight, the scout of the oldest request is sent alone
//!   and finds a path in the empty mesh. `retry = "next-controller"` first tries the other free controllers in turn. With `retry = "immediate"` a
//!   controller keeps its request and sends scout after scout while any circuit exists. Without a circuit only the scout of the oldest request leaves
//!   again, and the others wait as described above, so that scouts cannot block each other for ever.
//! - *Time.* A scout has as many flits as the ids of chips and controllers need, two up to 64 chips ([`Mesh::scout_flits`](mesh::Mesh::scout_flits)).
//!   A link takes a scout that many link cycles: forward, backtracking, and on the return to the controller \[choice\]. A transfer takes (distance +
//!   size / link width) link cycles (Equation 1); the distance is the number of links of the circuit, with the controller link and the chip link. A
//!   command takes its time on a shared channel plus the distance \[choice\], because the chip, not the link, times the cycles of a command.
//! - *Order.* At equal times scouts step first, then circuits are granted, in the order of controller numbers, then everything else follows
//!   \[choice\].
//! - *Conflicts.* A wait for chip pins counts as cause `channel`, a wait for a controller as `controller`, and the time from the launch of a failed
//!   scout to the next launch as `link`. These waits of a request follow one another and are measured separately. The time of the successful scout is
//!   not counted as a conflict.

mod controllers;
mod fabric;
mod info;
mod link_use_recorder;
mod mesh;
pub mod routing;
mod scouts;
mod timing;
mod traffic;
mod wait_stats;

pub use fabric::Venice;
pub use info::INFO;
pub use mesh::ports::{Port, PortSet};
pub use scouts::counters::Counters;

// Public for tests that run scouts without a drive.
#[cfg(feature = "internals")]
pub use {
    mesh::{Mesh, MeshCoord},
    scouts::network::{CircuitNetwork, ScoutAction},
    scouts::tie_break::TieBreaker,
};
