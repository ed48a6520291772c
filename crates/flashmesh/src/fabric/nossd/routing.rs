//! Ways of packets of the caller's own.

use crate::fabric::FabricError;
use crate::fabric::venice::{Port, Ports};
use crate::fabric::wormhole::{RouterPlace, RoutesError, Topology, Way};

/// Says which link a packet of NoSSD takes next, in place of XY routing.
///
/// # Contract
/// - It is asked before the run, once for every router and every other one that may be the destination of a packet. So the way of a packet
///   depends on where it is and where it goes, as XY does.
/// - The answer is one of the ports that are open: those with a link. All packets arrive, and the links cannot wait for each other in a
///   circle; other answers are refused.
pub trait PacketRouting {
    /// The port by which a packet for the router `to` leaves the router `at`.
    fn next_hop(&self, at: RouterPlace, to: RouterPlace, open: Ports) -> Port;
}

/// Why packets cannot be led by a routing of the caller's own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketRoutingError {
    /// There is no network of packets, or it cannot be built.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The ways that it names.
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

/// `topology` with the ways of packets that `routing` names.
///
/// # Errors
/// When packets would not arrive, or the network could deadlock.
pub(super) fn routed(topology: Topology, routing: &dyn PacketRouting) -> Result<Topology, RoutesError> {
    topology.routed(&mut |at, to, ways| {
        let open = ways.iter().fold(Ports::NONE, |open, way| open.with(Ports::of(port(*way))));
        let answer = routing.next_hop(at, to, open);
        Way::ALL.into_iter().find(|way| port(*way) == answer)
    })
}
