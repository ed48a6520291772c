//! Routing algorithms of scouts.

pub mod custom;
pub mod minimal_adaptive;
pub mod random_dfs;
pub mod venice;
pub mod xy;

use enum_dispatch::enum_dispatch;

use crate::config;

use super::mesh::ports::PortSet;

/// An algorithm that selects the ports through which a scout may leave a router.
///
/// # Contract
/// - `candidates` is called for a scout that is not at its destination. `nearer` are the ports of the router that lead nearer to the destination.
///   `open` are the free ports to other routers, except ports by which this scout has entered, ports that it has tried here, and ports to routers
///   that it holds.
/// - The result is a subset of `open`, from which the router draws one port by its tie-break. The empty set makes the scout backtrack to the previous
///   router, where `candidates` is called again.
/// - The result depends only on the two arguments: each pair of sets is evaluated once, and the result is then read from a table.
///
/// The network guarantees that every search ends and releases its links, whatever the algorithm returns. An algorithm finds every existing path if it
/// lets a scout backtrack only when no open port can lead to the destination.
#[enum_dispatch]
pub trait RoutingAlgorithm {
    /// Returns the ports among `open` from which the next port of the scout is drawn. `nearer` are the ports that lead nearer to the destination.
    fn candidates(&self, nearer: PortSet, open: PortSet) -> PortSet;
}

/// The routing algorithms of `venice.routing`, and a custom one.
#[enum_dispatch(RoutingAlgorithm)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "each implementation carries its documentation")]
#[allow(clippy::large_enum_variant, reason = "a network has one")]
pub enum AnyRouting {
    Venice(venice::VeniceRouting),
    MinimalAdaptive(minimal_adaptive::MinimalAdaptive),
    Xy(xy::Xy),
    RandomDfs(random_dfs::RandomDfs),
    Custom(custom::CustomRouting),
}

impl AnyRouting {
    /// Returns the algorithm for `name`, a value of `venice.routing`.
    pub fn new(name: config::Routing) -> AnyRouting {
        match name {
            config::Routing::Venice => AnyRouting::Venice(venice::VeniceRouting),
            config::Routing::MinimalAdaptive => AnyRouting::MinimalAdaptive(minimal_adaptive::MinimalAdaptive),
            config::Routing::Xy => AnyRouting::Xy(xy::Xy),
            config::Routing::RandomDfs => AnyRouting::RandomDfs(random_dfs::RandomDfs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::MeshCoord;
    use super::super::mesh::ports::Port;
    use super::*;

    const HERE: MeshCoord = MeshCoord { row: 4, column: 4 };
    const NORTH_EAST: MeshCoord = MeshCoord { row: 1, column: 7 };
    const SOUTH: MeshCoord = MeshCoord { row: 5, column: 4 };

    fn ports(ports: &[Port]) -> PortSet {
        ports.iter().fold(PortSet::NONE, |set, port| set.union(PortSet::from_port(*port)))
    }

    /// Returns the candidate ports at [`HERE`], among the `open` ones, under Venice, minimal adaptive, XY, and random depth-first routing.
    fn answers(target: MeshCoord, open: &[Port]) -> [PortSet; 4] {
        let names = [config::Routing::Venice, config::Routing::MinimalAdaptive, config::Routing::Xy];
        let [venice, minimal, xy] =
            names.map(|name| AnyRouting::new(name).candidates(HERE.productive_ports(target), ports(open)));
        [
            venice,
            minimal,
            xy,
            AnyRouting::new(config::Routing::RandomDfs).candidates(HERE.productive_ports(target), ports(open)),
        ]
    }

    #[test]
    fn with_every_port_open_all_but_the_random_search_go_nearer() {
        let open = Port::MESH;
        let (both, east) = (ports(&[Port::North, Port::East]), ports(&[Port::East]));
        assert_eq!(answers(NORTH_EAST, &open), [both, both, east, PortSet::MESH]);
        assert_eq!(
            answers(SOUTH, &open),
            [ports(&[Port::South]); 3].into_iter().chain([PortSet::MESH]).collect::<Vec<_>>()[..]
        );
    }

    #[test]
    fn with_one_minimal_port_open_the_adaptive_ones_take_it_and_xy_turns_back() {
        let open = [Port::North, Port::South, Port::West];
        let north = ports(&[Port::North]);
        assert_eq!(answers(NORTH_EAST, &open), [north, north, PortSet::NONE, ports(&open)]);
    }

    #[test]
    fn with_no_minimal_port_open_venice_misroutes() {
        let open = [Port::South, Port::West];
        assert_eq!(answers(NORTH_EAST, &open), [ports(&open), PortSet::NONE, PortSet::NONE, ports(&open)]);
    }
}
