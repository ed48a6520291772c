//! Custom routes as a table, with a check for freedom from deadlock.

use std::fmt;

use super::{GridDirection, RouterId, Topology};

/// Value in [`CustomRoutes::directions`] for a packet at its destination router.
const NONE: u8 = u8::MAX;

/// The coordinates of a router, in calls of a routing function and in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterCoord {
    /// Row, counted from 0 in the north.
    pub row: u32,
    /// Column, counted from 0 in the west.
    pub column: u32,
}

impl fmt::Display for RouterCoord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.row, self.column)
    }
}

/// A directed link between two routers, as named in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedLink {
    /// Router where the link starts.
    pub from: RouterCoord,
    /// Direction of the link, seen from router `from`.
    pub direction: GridDirection,
}

impl fmt::Display for NamedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.from, self.direction)
    }
}

/// A reason why custom routes are rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoutesError {
    /// The routing function returned no direction, or a direction without a link.
    #[error("at router {at}, for packets to {to}, no link is named that leads on from there")]
    NoLink {
        /// Router whose direction is missing or has no link.
        at: RouterCoord,
        /// Destination router of the packets.
        to: RouterCoord,
    },
    /// Packets for one destination return to a router that they have passed, so they never arrive.
    #[error("packets to router {to} go in a circle and never arrive: {}", listed(circle))]
    Cycle {
        /// Destination router of the packets.
        to: RouterCoord,
        /// Routers on the cycle, in the order in which packets pass them.
        circle: Vec<RouterCoord>,
    },
    /// Packets on a cycle of links could wait for each other for ever.
    #[error(
        "packets on these links could wait for each other for good, each for the next and the last for the first: {}",
        listed(links)
    )]
    Deadlock {
        /// Links on the cycle, in order. Packets on each link wait for the next one, on the last link for the first.
        links: Vec<NamedLink>,
    },
}

/// A function that chooses the direction in which a packet leaves a router. Its arguments are the current router, the destination router,
/// and the directions in which the current router has a link. If it returns `None`, the routes are rejected.
pub type ChooseDirection<'a> = dyn FnMut(RouterCoord, RouterCoord, &[GridDirection]) -> Option<GridDirection> + 'a;

fn listed(parts: &[impl fmt::Display]) -> String {
    parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Custom routes as a table: the direction in which a packet leaves each router, for each other destination router.
#[derive(Clone, Debug)]
pub(super) struct CustomRoutes {
    routers: usize,
    /// Number of the direction, indexed by router x number of routers + destination.
    directions: Vec<u8>,
    /// Number of links to the destination, indexed by router x number of routers + destination.
    hops: Vec<u32>,
}

impl CustomRoutes {
    /// Returns the direction in which a packet for router `to` leaves router `at`, a different router.
    #[inline]
    pub(super) fn direction(&self, at: RouterId, to: RouterId) -> GridDirection {
        GridDirection::ALL[usize::from(self.directions[at.index() * self.routers + to.index()])]
    }

    /// Returns the number of links of the route from router `at` to router `to`; 0 for equal routers.
    pub(super) fn hops(&self, at: RouterId, to: RouterId) -> u32 {
        self.hops[at.index() * self.routers + to.index()]
    }

    /// Creates a table of the directions that `choose` returns for every pair of routers.
    ///
    /// # Errors
    /// If a direction has no link, if packets would not arrive, or if the network could deadlock: each link waits for the links that follow it on any
    /// route, and these waits must not form a cycle (Dally and Seitz, 1987). Every router is a source and a destination, because each has a chip.
    pub(super) fn new(topology: &Topology, choose: &mut ChooseDirection<'_>) -> Result<CustomRoutes, RoutesError> {
        let routers = topology.routers();
        let count = routers.len();
        let mut routes =
            CustomRoutes { routers: count, directions: vec![NONE; count * count], hops: vec![0; count * count] };
        for &at in &routers {
            let ways: Vec<GridDirection> =
                GridDirection::ALL.into_iter().filter(|way| topology.adjacent(at, *way).is_some()).collect();
            for &to in routers.iter().filter(|to| **to != at) {
                let (here, there) = (topology.router_coord(at), topology.router_coord(to));
                let Some(way) = choose(here, there, &ways).filter(|way| ways.contains(way)) else {
                    return Err(RoutesError::NoLink { at: here, to: there });
                };
                routes.directions[at.index() * count + to.index()] = way as u8;
            }
        }
        for &to in &routers {
            routes.measure(topology, to)?;
        }
        match routes.wait_graph(topology).find_cycle() {
            Some(links) => {
                Err(RoutesError::Deadlock { links: links.into_iter().map(|at| named(topology, at)).collect() })
            }
            None => Ok(routes),
        }
    }

    fn next(&self, topology: &Topology, at: RouterId, to: RouterId) -> RouterId {
        topology.adjacent(at, self.direction(at, to)).expect("only ways that lead somewhere are kept")
    }

    /// Stores the number of links from every router to `to` in `hops`. Returns an error if packets from some router never arrive.
    fn measure(&mut self, topology: &Topology, to: RouterId) -> Result<(), RoutesError> {
        for from in topology.routers() {
            let mut passed = Vec::new();
            let mut at = from;
            while at != to && self.hops(at, to) == 0 {
                if passed.len() == self.routers {
                    // A packet that has crossed as many links as there are routers has passed a router twice: it is on a cycle.
                    let mut circle = vec![topology.router_coord(at)];
                    let mut next = self.next(topology, at, to);
                    while next != at {
                        circle.push(topology.router_coord(next));
                        next = self.next(topology, next, to);
                    }
                    return Err(RoutesError::Cycle { to: topology.router_coord(to), circle });
                }
                passed.push(at);
                at = self.next(topology, at, to);
            }
            let known = self.hops(at, to);
            for (behind, &router) in passed.iter().rev().enumerate() {
                self.hops[router.index() * self.routers + to.index()] = known + behind as u32 + 1;
            }
        }
        Ok(())
    }

    /// Returns the graph of waits: a link waits for each link that follows it on a route.
    fn wait_graph(&self, topology: &Topology) -> WaitGraph {
        let mut waits = WaitGraph { next: vec![0; self.routers * GridDirection::ALL.len()], to: Vec::new() };
        for at in topology.routers() {
            waits.to.extend(GridDirection::ALL.map(|way| topology.adjacent(at, way)));
            for to in topology.routers().into_iter().filter(|to| *to != at) {
                let next = self.next(topology, at, to);
                if next != to {
                    waits.next[link(at, self.direction(at, to))] |= 1 << self.direction(next, to) as u8;
                }
            }
        }
        waits
    }
}

fn link(at: RouterId, way: GridDirection) -> usize {
    at.index() * GridDirection::ALL.len() + way as usize
}

fn named(topology: &Topology, link: usize) -> NamedLink {
    let router = RouterId((link / GridDirection::ALL.len()) as u32);
    NamedLink { from: topology.router_coord(router), direction: GridDirection::ALL[link % GridDirection::ALL.len()] }
}

/// Graph of waits between links, indexed by link: router x 4 + direction. `to` has the router at the end of the link (`None` without a link), `next`
/// the directions in which packets continue from there, as a bit mask.
struct WaitGraph {
    next: Vec<u8>,
    to: Vec<Option<RouterId>>,
}

impl WaitGraph {
    fn after(&self, from: usize, way: usize) -> Option<usize> {
        let is_next = self.next[from] >> way & 1 != 0;
        self.to[from].filter(|_| is_next).map(|router| link(router, GridDirection::ALL[way]))
    }

    /// Returns a cycle of links, each of which waits for the next and the last for the first; `None` if there is no cycle.
    fn find_cycle(&self) -> Option<Vec<usize>> {
        /// State of a link in the depth-first search: not visited, on the current path, or finished without finding a cycle.
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Seen {
            No,
            Now,
            Done,
        }
        let mut seen = vec![Seen::No; self.next.len()];
        for first in 0..self.next.len() {
            let mut path: Vec<(usize, usize)> = Vec::new();
            if seen[first] == Seen::No {
                seen[first] = Seen::Now;
                path.push((first, 0));
            }
            while let Some((at, way)) = path.last_mut() {
                let (from, tried) = (*at, *way);
                if tried == GridDirection::ALL.len() {
                    seen[from] = Seen::Done;
                    path.pop();
                    continue;
                }
                *way += 1;
                let Some(next) = self.after(from, tried) else { continue };
                match seen[next] {
                    Seen::No => {
                        seen[next] = Seen::Now;
                        path.push((next, 0));
                    }
                    Seen::Now => {
                        let links = path.iter().map(|(link, _)| *link);
                        return Some(links.skip_while(|link| *link != next).collect());
                    }
                    Seen::Done => {}
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Grid, TerminalId};
    use super::*;

    fn topology(grid: Grid) -> Topology {
        Topology::new(grid, (0..grid.rows * grid.columns).map(RouterId).collect()).expect("the grid is small")
    }

    fn xy(at: RouterCoord, to: RouterCoord) -> GridDirection {
        match (to.column.cmp(&at.column), to.row < at.row) {
            (std::cmp::Ordering::Greater, _) => GridDirection::East,
            (std::cmp::Ordering::Less, _) => GridDirection::West,
            (_, true) => GridDirection::North,
            _ => GridDirection::South,
        }
    }

    #[test]
    fn xy_as_a_table_gives_the_ways_of_the_built_in_one() {
        let plain = topology(Grid::mesh(4, 5));
        let routed = plain.clone().with_routes(&mut |at, to, _| Some(xy(at, to))).expect("XY is free of deadlock");
        for (from, to) in (0..20).flat_map(|from| (0..20).map(move |to| (TerminalId(from), TerminalId(to)))) {
            let links = |topology: &Topology| {
                let mut links = Vec::new();
                topology.for_each_link(from, to, |link| links.push(link));
                links
            };
            assert_eq!(links(&plain), links(&routed));
            assert_eq!(plain.hops(from, to), routed.hops(from, to));
        }
    }

    #[test]
    fn ways_that_are_longer_are_counted() {
        // If the column changes, these routes lead north to row 0, along it, and then down the destination column. So the route from router 6 (row 2)
        // to 8 has 2 + 2 + 2 links.
        let detour = |at: RouterCoord, to: RouterCoord| match (at.column == to.column, at.row) {
            (false, 0) | (true, _) => xy(at, to),
            (false, _) => GridDirection::North,
        };
        let routed = topology(Grid::mesh(3, 3))
            .with_routes(&mut |at, to, _| Some(detour(at, to)))
            .expect("the routes are free of deadlock");
        assert_eq!(routed.hops(TerminalId(6), TerminalId(8)), 6);
        assert_eq!(routed.hops(TerminalId(6), TerminalId(6)), 0);
    }

    #[test]
    fn a_way_without_a_link_is_refused() {
        let found = topology(Grid::mesh(2, 2)).with_routes(&mut |_, _, _| Some(GridDirection::West)).map(|_| ());
        let place = |row, column| RouterCoord { row, column };
        assert_eq!(found, Err(RoutesError::NoLink { at: place(0, 0), to: place(0, 1) }));
    }

    #[test]
    fn packets_that_go_in_a_circle_are_refused() {
        let lost = |at: RouterCoord, to: RouterCoord| match (at.column, to.column) {
            (0, 2) => GridDirection::East,
            (1, 2) => GridDirection::West,
            _ => xy(at, to),
        };
        let error =
            topology(Grid::mesh(1, 3)).with_routes(&mut |at, to, _| Some(lost(at, to))).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), "packets to router (0, 2) go in a circle and never arrive: (0, 1), (0, 0)");
    }

    #[test]
    fn ways_that_could_deadlock_are_refused_with_the_links() {
        // If packets always go east around a ring, every eastward link waits for the next one, in a cycle of four.
        let error =
            topology(Grid::ring(4)).with_routes(&mut |_, _, _| Some(GridDirection::East)).map(|_| ()).unwrap_err();
        let RoutesError::Deadlock { links } = &error else { panic!("{error}") };
        assert_eq!(links.len(), 4);
        assert!(error.to_string().ends_with("(0, 0) east, (0, 1) east, (0, 2) east, (0, 3) east"), "{error}");
        // If routers of a mesh alternate between XY and YX, as on a checkerboard, packets make all turns, and links wait for each other in a cycle.
        let mixed = |at: RouterCoord, to: RouterCoord| {
            let is_yx = (at.row + at.column).is_multiple_of(2) && at.row != to.row;
            if is_yx { xy(RouterCoord { column: to.column, ..at }, to) } else { xy(at, to) }
        };
        let error =
            topology(Grid::mesh(4, 4)).with_routes(&mut |at, to, _| Some(mixed(at, to))).map(|_| ()).unwrap_err();
        assert!(matches!(error, RoutesError::Deadlock { .. }), "{error}");
    }
}
