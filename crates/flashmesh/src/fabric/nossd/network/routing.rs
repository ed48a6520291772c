//! Custom routing of packets, by a function of the caller.

use crate::fabric::FabricError;
use crate::fabric::venice::{Port, PortSet};
use crate::fabric::wormhole::{GridDirection, RouterCoord, RoutesError, Topology};

/// The routing of NoSSD packets, in place of XY routing.
///
/// # Contract
/// - `next_hop` is called before the run, once for each pair of a router and a different destination router. So a route depends only on these two, as
///   in XY routing.
/// - The returned port is one of `open`, the ports of router `at` that lead to other routers. All packets must reach their destinations, and the
///   network must be free of deadlock; other routings are rejected.
pub trait PacketRouting {
    /// Returns the port by which a packet for the router `to` leaves router `at`. `open` are the ports of `at` with a link.
    fn next_hop(&self, at: RouterCoord, to: RouterCoord, open: PortSet) -> Port;
}

/// A reason why a custom packet routing is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketRoutingError {
    /// The interconnect has no packet network, or the network cannot be built.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// A route uses a missing link or never ends, or packets could deadlock.
    #[error(transparent)]
    Routes(#[from] RoutesError),
}

fn port(way: GridDirection) -> Port {
    match way {
        GridDirection::East => Port::East,
        GridDirection::West => Port::West,
        GridDirection::South => Port::South,
        GridDirection::North => Port::North,
    }
}

/// Returns `topology` with the routes chosen by `routing` in place of XY routes.
///
/// # Errors
/// If `routing` returns a port without a link, if packets would not arrive, or if the network could deadlock.
pub(in super::super) fn with_routing(topology: Topology, routing: &dyn PacketRouting) -> Result<Topology, RoutesError> {
    topology.with_routes(&mut |at, to, ways| {
        let open = ways.iter().fold(PortSet::NONE, |open, way| open.union(PortSet::from_port(port(*way))));
        let answer = routing.next_hop(at, to, open);
        GridDirection::ALL.into_iter().find(|way| port(*way) == answer)
    })
}
