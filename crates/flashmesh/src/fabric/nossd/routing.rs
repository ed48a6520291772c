//! Extension point for custom routing of packets.

use crate::fabric::FabricError;
use crate::fabric::venice::{Port, Ports};
use crate::fabric::wormhole::{RouterPlace, RoutesError, Topology, Way};

/// The routing of NoSSD packets, in place of XY routing.
///
/// # Contract
/// - Called before the run, once for each pair of a router and a router where packets can be destined. So routing depends only on the current router
///   and the destination, as in XY routing.
/// - The returned port is one of `open`, the ports with a link. All packets reach their destinations, and no cycle of links waits for itself; other
///   routings are rejected.
pub trait PacketRouting {
    /// Returns the port by which a packet for the router `to` leaves the router `at`.
    fn next_hop(&self, at: RouterPlace, to: RouterPlace, open: Ports) -> Port;
}

/// A reason why a custom packet routing is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketRoutingError {
    /// No packet network, or one that cannot be built.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Invalid routes.
    #[error(transparent)]
    Routes(#[from] RoutesError),
}

fn port(way: Way) -> Port {
    match way {
        Way::East => Port::East,
        Way::West => Port::West,
        Way::South => Port::South,
        Way::North => Port::North,
    }
}

/// Returns `topology` with the routes chosen by `routing`.
///
/// # Errors
/// If packets would not arrive, or the network could deadlock.
pub(super) fn routed(topology: Topology, routing: &dyn PacketRouting) -> Result<Topology, RoutesError> {
    topology.routed(&mut |at, to, ways| {
        let open = ways.iter().fold(Ports::NONE, |open, way| open.with(Ports::of(port(*way))));
        let answer = routing.next_hop(at, to, open);
        Way::ALL.into_iter().find(|way| port(*way) == answer)
    })
}
