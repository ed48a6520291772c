//! Routing algorithms: where a scout may go next.

pub mod minimal_adaptive;
pub mod own;
pub mod random_dfs;
pub mod venice;
pub mod xy;

use enum_dispatch::enum_dispatch;

use crate::config;

use super::ports::Ports;

/// Chooses the ports that a scout may take.
///
/// # Contract
/// - The router asks for a scout that is not at its destination. `nearer` are its ports that lead nearer to that. `open` are its ports towards other routers that are free,
///   that this scout has neither come through nor tried here, and that do not lead to a router it holds.
/// - The answer is a subset of `open`. The router draws one of it by its tie-break; the empty set turns the scout back to the
///   router it came from, which asks again.
/// - The answer depends on nothing but the arguments: it is asked for once and looked up from then on.
///
/// Every algorithm ends and leaves nothing behind, whatever it answers: the network sees to that. It finds a path whenever
/// one exists if it never turns a scout back while a port is open that may lead there.
#[enum_dispatch]
pub trait RoutingAlgorithm {
    /// The ports, of those `open`, that lead a scout on whose destination those of `nearer` lead nearer to.
    fn candidates(&self, nearer: Ports, open: Ports) -> Ports;
}

/// The routing algorithms, one line each.
#[enum_dispatch(RoutingAlgorithm)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "each implementation carries its documentation")]
#[allow(clippy::large_enum_variant, reason = "a network has one")]
pub enum AnyRouting {
    Venice(venice::Venice),
    MinimalAdaptive(minimal_adaptive::MinimalAdaptive),
    Xy(xy::Xy),
    RandomDfs(random_dfs::RandomDfs),
    Own(own::Own),
}

impl AnyRouting {
    /// The algorithm that `name` stands for.
    pub fn new(name: config::Routing) -> AnyRouting {
        match name {
            config::Routing::Venice => AnyRouting::Venice(venice::Venice),
            config::Routing::MinimalAdaptive => AnyRouting::MinimalAdaptive(minimal_adaptive::MinimalAdaptive),
            config::Routing::Xy => AnyRouting::Xy(xy::Xy),
            config::Routing::RandomDfs => AnyRouting::RandomDfs(random_dfs::RandomDfs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::Place;
    use super::super::ports::Port;
    use super::*;

    const HERE: Place = Place { row: 4, column: 4 };
    const NORTH_EAST: Place = Place { row: 1, column: 7 };
    const SOUTH: Place = Place { row: 5, column: 4 };

    fn ports(ports: &[Port]) -> Ports {
        ports.iter().fold(Ports::NONE, |set, port| set.with(Ports::of(*port)))
    }

    /// What each algorithm answers: Venice, minimal adaptive, XY, random depth-first search.
    fn answers(target: Place, open: &[Port]) -> [Ports; 4] {
        let names = [config::Routing::Venice, config::Routing::MinimalAdaptive, config::Routing::Xy];
        let [venice, minimal, xy] =
            names.map(|name| AnyRouting::new(name).candidates(HERE.towards(target), ports(open)));
        [venice, minimal, xy, AnyRouting::new(config::Routing::RandomDfs).candidates(HERE.towards(target), ports(open))]
    }

    #[test]
    fn with_every_port_open_all_but_the_random_search_go_nearer() {
        let open = Port::MESH;
        let (both, east) = (ports(&[Port::North, Port::East]), ports(&[Port::East]));
        assert_eq!(answers(NORTH_EAST, &open), [both, both, east, Ports::MESH]);
        assert_eq!(
            answers(SOUTH, &open),
            [ports(&[Port::South]); 3].into_iter().chain([Ports::MESH]).collect::<Vec<_>>()[..]
        );
    }

    #[test]
    fn with_one_minimal_port_open_the_adaptive_ones_take_it_and_xy_turns_back() {
        let open = [Port::North, Port::South, Port::West];
        let north = ports(&[Port::North]);
        assert_eq!(answers(NORTH_EAST, &open), [north, north, Ports::NONE, ports(&open)]);
    }

    #[test]
    fn with_no_minimal_port_open_venice_misroutes() {
        let open = [Port::South, Port::West];
        assert_eq!(answers(NORTH_EAST, &open), [ports(&open), Ports::NONE, Ports::NONE, ports(&open)]);
    }
}
