//! Grids of routers: their links, and the routes of packets.

pub(super) mod custom_routes;

use std::fmt;

use crate::ids::{LinkId, id};

use custom_routes::{ChooseDirection, CustomRoutes, RouterCoord, RoutesError};

id!(
    /// Id of a router: row x number of columns + column.
    RouterId
);
id!(
    /// Id of a terminal, where packets enter and leave the network: its index in the list passed to [`Topology::new`].
    TerminalId
);

/// Maximum number of routers of a topology.
pub const ROUTERS_MAX: u32 = 1 << 12;

/// Maximum number of terminals of a topology, over all routers.
pub const TERMINALS_MAX: u32 = 1 << 16;

/// A grid of routers. Meshes, tori and rings differ in their wraparound links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Number of rows, from north to south.
    pub rows: u32,
    /// Number of columns, from west to east.
    pub columns: u32,
    /// Whether a wraparound link connects the first and the last router of each row. Without effect on rows of up to two routers.
    pub wraps_rows: bool,
    /// Whether a wraparound link connects the first and the last router of each column. Without effect on columns of up to two routers.
    pub wraps_columns: bool,
}

impl Grid {
    /// Creates a grid without wraparound links.
    pub fn mesh(rows: u32, columns: u32) -> Grid {
        Grid { rows, columns, wraps_rows: false, wraps_columns: false }
    }

    /// Creates a grid whose rows and columns all have a wraparound link.
    pub fn torus(rows: u32, columns: u32) -> Grid {
        Grid { rows, columns, wraps_rows: true, wraps_columns: true }
    }

    /// Creates a grid of a single row with a wraparound link.
    pub fn ring(routers: u32) -> Grid {
        Grid { rows: 1, columns: routers, wraps_rows: true, wraps_columns: false }
    }
}

/// A reason why a topology cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// The network has no router or no terminal, or more than the maximum of either.
    #[error(
        "a network has 1 to {ROUTERS_MAX} routers and 1 to {TERMINALS_MAX} terminals, \
         this one has {routers} routers and {terminals} terminals"
    )]
    Size {
        /// Number of routers.
        routers: u64,
        /// Number of terminals.
        terminals: u64,
    },
    /// A terminal is attached to a router that does not exist.
    #[error("terminal {0:?} is attached to a router outside the grid")]
    NoRouter(TerminalId),
}

/// Direction in which a link leads from router to router; over a wraparound link, the first row or column follows the last. The number of a
/// direction, 0 to 3, is also the input number of its links at the router where they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridDirection {
    /// Direction to the next column.
    East,
    /// Direction to the previous column.
    West,
    /// Direction to the next row.
    South,
    /// Direction to the previous row.
    North,
}

const WAYS: [GridDirection; 4] = GridDirection::ALL;

impl fmt::Display for GridDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GridDirection::East => "east",
            GridDirection::West => "west",
            GridDirection::South => "south",
            GridDirection::North => "north",
        })
    }
}

impl GridDirection {
    /// All directions, in the order of their numbers 0 to 3.
    pub const ALL: [GridDirection; 4] =
        [GridDirection::East, GridDirection::West, GridDirection::South, GridDirection::North];

    fn opposite(self) -> GridDirection {
        match self {
            GridDirection::East => GridDirection::West,
            GridDirection::West => GridDirection::East,
            GridDirection::South => GridDirection::North,
            GridDirection::North => GridDirection::South,
        }
    }
}

/// Placeholder for no link: at the edge of the grid, and as the reverse of injection and ejection links.
const NO_LINK: LinkId = LinkId(u32::MAX);

/// A router with its coordinates, which are stored because computing them for each route would need divisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlacedRouter {
    router: RouterId,
    row: u32,
    column: u32,
}

/// The end of a link: the router, and the number of the link among its inputs.
#[derive(Clone, Copy, Debug)]
struct LinkEnd {
    /// Router where the link ends; for an ejection link, the router where it starts.
    place: PlacedRouter,
    /// Number of the link among the inputs of this router.
    input: u32,
    /// Link in the other direction between the same routers; [`NO_LINK`] for injection and ejection links.
    reverse: LinkId,
}

/// Routers, links and terminals, and the routes of packets: first along the row, then along the column (XY), unless
/// [replaced](Topology::with_routes).
///
/// A wraparound link is used only as the first hop of a packet in its row or column, and only if the route over it is shorter. The [module](super)
/// shows why this keeps the network free of deadlock.
#[derive(Clone, Debug)]
pub struct Topology {
    grid: Grid,
    terminals: Vec<RouterId>,
    /// Outgoing links of each router, one for each direction in the order of [`GridDirection::ALL`]; [`NO_LINK`] at the edge.
    outgoing: Vec<[LinkId; 4]>,
    ends: Vec<LinkEnd>,
    router_links: u32,
    inputs: Vec<u32>,
    places: Vec<PlacedRouter>,
    /// First direction of the route from column `from` to column `to`, at index `from * columns + to`; meaningless for equal columns.
    along_row: Vec<GridDirection>,
    /// First direction of the route from row `from` to row `to`, at index `from * rows + to`; meaningless for equal rows.
    along_column: Vec<GridDirection>,
    /// Custom routes; `None` for XY routes.
    routes: Option<Box<CustomRoutes>>,
}

impl Topology {
    /// Creates the links of `grid`, and one terminal for each entry of `terminals`. An entry is the router of the terminal; a router may
    /// occur any number of times.
    ///
    /// # Errors
    /// If there are too many or too few routers or terminals, or if a terminal is attached to a router that is not in the grid.
    pub fn new(grid: Grid, terminals: Vec<RouterId>) -> Result<Topology, TopologyError> {
        let routers = u64::from(grid.rows) * u64::from(grid.columns);
        let count = terminals.len() as u64;
        if !(1..=u64::from(ROUTERS_MAX)).contains(&routers) || !(1..=u64::from(TERMINALS_MAX)).contains(&count) {
            return Err(TopologyError::Size { routers, terminals: count });
        }
        if let Some(lost) = terminals.iter().position(|router| u64::from(router.0) >= routers) {
            return Err(TopologyError::NoRouter(TerminalId(lost as u32)));
        }
        let mut topology = Topology {
            grid,
            outgoing: vec![[NO_LINK; 4]; routers as usize],
            ends: Vec::new(),
            router_links: 0,
            inputs: vec![WAYS.len() as u32; routers as usize],
            places: (0..routers as u32)
                .map(|router| PlacedRouter {
                    router: RouterId(router),
                    row: router / grid.columns,
                    column: router % grid.columns,
                })
                .collect(),
            along_row: direction_table(grid.columns, grid.wraps_rows, GridDirection::East),
            along_column: direction_table(grid.rows, grid.wraps_columns, GridDirection::South),
            routes: None,
            terminals,
        };
        topology.connect();
        Ok(topology)
    }

    /// Replaces the XY routes by the routes that `choose` returns. `choose` is called once for each pair of a router and a different router
    /// as destination.
    ///
    /// # Errors
    /// If a returned direction has no link, if packets would not arrive, or if the network could deadlock.
    pub fn with_routes(mut self, choose: &mut ChooseDirection<'_>) -> Result<Topology, RoutesError> {
        self.routes = Some(Box::new(CustomRoutes::new(&self, choose)?));
        Ok(self)
    }

    pub(super) fn routers(&self) -> Vec<RouterId> {
        self.places.iter().map(|place| place.router).collect()
    }

    pub(super) fn router_coord(&self, router: RouterId) -> RouterCoord {
        let PlacedRouter { row, column, .. } = self.places[router.index()];
        RouterCoord { row, column }
    }

    /// Returns the router at the end of the link of `router` in direction `way`; `None` at the edge of the grid.
    pub(super) fn adjacent(&self, router: RouterId, way: GridDirection) -> Option<RouterId> {
        let link = self.outgoing[router.index()][way as usize];
        (link != NO_LINK).then(|| self.router_at_end(link))
    }

    fn connect(&mut self) {
        let routers = self.outgoing.len() as u32;
        for (router, way) in (0..routers).flat_map(|router| WAYS.map(|way| (router, way))) {
            if let Some(to) = self.neighbour(RouterId(router), way) {
                self.outgoing[router as usize][way as usize] = LinkId(self.ends.len() as u32);
                let place = self.places[to.index()];
                self.ends.push(LinkEnd { place, input: way as u32, reverse: NO_LINK });
            }
        }
        self.router_links = self.ends.len() as u32;
        for (router, way) in (0..routers as usize).flat_map(|router| WAYS.map(|way| (router, way))) {
            let link = self.outgoing[router][way as usize];
            if link != NO_LINK {
                let far = self.ends[link.index()].place.router;
                self.ends[link.index()].reverse = self.outgoing[far.index()][way.opposite() as usize];
            }
        }
        for &router in &self.terminals {
            let (place, input) = (self.places[router.index()], &mut self.inputs[router.index()]);
            self.ends.push(LinkEnd { place, input: *input, reverse: NO_LINK });
            *input += 1;
        }
        let place = |router: &RouterId| self.places[router.index()];
        let ejections =
            self.terminals.iter().map(|router| LinkEnd { place: place(router), input: 0, reverse: NO_LINK });
        self.ends.extend(ejections);
    }

    fn neighbour(&self, router: RouterId, way: GridDirection) -> Option<RouterId> {
        let PlacedRouter { row, column, .. } = self.places[router.index()];
        let Grid { rows, columns, .. } = self.grid;
        let wraps = |length, wraps| wraps && length > 2;
        let (row, column) = match way {
            GridDirection::East => {
                (row, adjacent_position(column, columns, true, wraps(columns, self.grid.wraps_rows))?)
            }
            GridDirection::West => {
                (row, adjacent_position(column, columns, false, wraps(columns, self.grid.wraps_rows))?)
            }
            GridDirection::South => (adjacent_position(row, rows, true, wraps(rows, self.grid.wraps_columns))?, column),
            GridDirection::North => {
                (adjacent_position(row, rows, false, wraps(rows, self.grid.wraps_columns))?, column)
            }
        };
        Some(RouterId(row * columns + column))
    }

    /// Returns the grid from which the topology was created.
    #[cfg(feature = "internals")]
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Returns the number of terminals, over all routers.
    pub fn terminals(&self) -> u32 {
        self.terminals.len() as u32
    }

    /// Returns the number of directed links, including injection and ejection links.
    pub fn links(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Returns the router to which a terminal is attached.
    #[inline]
    pub fn router_of(&self, terminal: TerminalId) -> RouterId {
        self.terminals[terminal.index()]
    }

    /// Returns the injection link of `terminal`: from the terminal to its router.
    #[inline]
    pub fn injection(&self, terminal: TerminalId) -> LinkId {
        LinkId(self.router_links + terminal.0)
    }

    /// Returns the ejection link of `terminal`: from its router to the terminal.
    #[inline]
    pub fn ejection(&self, terminal: TerminalId) -> LinkId {
        LinkId(self.router_links + self.terminals() + terminal.0)
    }

    /// Returns whether `link` is an injection link, from a terminal to its router.
    #[inline]
    pub(super) fn is_injection(&self, link: LinkId) -> bool {
        link >= self.injection(TerminalId(0)) && !self.is_ejection(link)
    }

    /// Returns whether `link` is an ejection link, from a router to a terminal.
    #[inline]
    pub fn is_ejection(&self, link: LinkId) -> bool {
        link.0 >= self.router_links + self.terminals()
    }

    /// Returns the router where a link ends; for an ejection link, the router where it starts.
    #[inline]
    pub fn router_at_end(&self, link: LinkId) -> RouterId {
        self.placed_router_at_end(link).router
    }

    /// Like [`router_at_end`](Self::router_at_end), but with the coordinates of the router.
    #[inline]
    pub(super) fn placed_router_at_end(&self, link: LinkId) -> PlacedRouter {
        self.ends[link.index()].place
    }

    /// Returns the input number of `link` at the router where it ends; 0 for ejection links. Eastward, westward, southward and northward links have
    /// numbers 0 to 3; the injection links of the router's terminals follow.
    #[inline]
    pub fn input(&self, link: LinkId) -> u32 {
        self.ends[link.index()].input
    }

    /// Returns the number of inputs of `router`: four for links from other routers, even at the edge, and one for each terminal.
    #[inline]
    pub fn inputs(&self, router: RouterId) -> u32 {
        self.inputs[router.index()]
    }

    /// Returns the link in the other direction between the same two routers; `None` for injection and ejection links.
    pub fn reverse(&self, link: LinkId) -> Option<LinkId> {
        Some(self.ends[link.index()].reverse).filter(|&reverse| reverse != NO_LINK)
    }

    #[inline]
    pub(super) fn placed_router(&self, router: RouterId) -> PlacedRouter {
        self.places[router.index()]
    }

    /// Returns the link over which a packet for `destination` leaves `router`: a link to the next router, or the ejection link of `destination`.
    #[inline]
    pub fn next_link(&self, router: RouterId, destination: TerminalId) -> LinkId {
        self.next_link_from(self.placed_router(router), self.placed_router(self.router_of(destination)), destination)
    }

    /// Like [`next_link`](Self::next_link), but for callers that already have the coordinates of the routers. `from` is the router of the packet,
    /// `to` the router of `destination`.
    #[inline]
    pub(super) fn next_link_from(&self, from: PlacedRouter, to: PlacedRouter, destination: TerminalId) -> LinkId {
        let way = if let Some(routes) = &self.routes {
            if from.router == to.router {
                return self.ejection(destination);
            }
            routes.direction(from.router, to.router)
        } else if from.column != to.column {
            self.along_row[(from.column * self.grid.columns + to.column) as usize]
        } else if from.row != to.row {
            self.along_column[(from.row * self.grid.rows + to.row) as usize]
        } else {
            return self.ejection(destination);
        };
        self.outgoing[from.router.index()][way as usize]
    }

    /// Returns the number of links between routers on the route from `source` to `destination`; 0 if both are at one router.
    pub fn hops(&self, source: TerminalId, destination: TerminalId) -> u32 {
        let (from, to) = (self.placed_router(self.router_of(source)), self.placed_router(self.router_of(destination)));
        if let Some(routes) = &self.routes {
            return routes.hops(from.router, to.router);
        }
        let Grid { rows, columns, wraps_rows, wraps_columns } = self.grid;
        distance(from.column, to.column, columns, wraps_rows).0 + distance(from.row, to.row, rows, wraps_columns).0
    }

    /// Calls `visit` for every link on the route from `source` to `destination`, from the injection link to the ejection link.
    #[inline]
    pub fn for_each_link(&self, source: TerminalId, destination: TerminalId, mut visit: impl FnMut(LinkId)) {
        visit(self.injection(source));
        let (mut from, to) =
            (self.placed_router(self.router_of(source)), self.placed_router(self.router_of(destination)));
        while from.router != to.router {
            let link = self.next_link_from(from, to, destination);
            visit(link);
            from = self.placed_router_at_end(link);
        }
        visit(self.ejection(destination));
    }

    /// Returns every link on the route from `source` to `destination`, from the injection link to the ejection link.
    #[cfg(feature = "internals")]
    pub fn path(&self, source: TerminalId, destination: TerminalId) -> impl Iterator<Item = LinkId> {
        let after = move |&link: &LinkId| {
            (!self.is_ejection(link)).then(|| self.next_link(self.router_at_end(link), destination))
        };
        std::iter::successors(Some(self.injection(source)), after)
    }
}

/// Returns the index after `place` (if `forward`) or before it in a row of `length`. At the edge, this is the index at the other end if the row
/// `wraps`, otherwise `None`.
fn adjacent_position(place: u32, length: u32, forward: bool, wraps: bool) -> Option<u32> {
    match (forward, wraps) {
        (true, _) if place + 1 < length => Some(place + 1),
        (false, _) if place > 0 => Some(place - 1),
        (true, true) => Some(0),
        (false, true) => Some(length - 1),
        _ => None,
    }
}

/// Returns the number of links from index `from` to index `to` in a row of `length`, and whether the route uses the wraparound link.
fn distance(from: u32, to: u32, length: u32, wraps: bool) -> (u32, bool) {
    let direct = from.abs_diff(to);
    let around = match from {
        0 => length - to,
        _ if from == length - 1 => to + 1,
        _ => u32::MAX,
    };
    if wraps && around < direct { (around, true) } else { (direct, false) }
}

/// Creates a table of the first direction from index `from` to index `to` in a row of `length`, at index `from * length + to`. `forward` is the
/// direction of increasing indices.
fn direction_table(length: u32, wraps: bool, forward: GridDirection) -> Vec<GridDirection> {
    let way = |from: u32, to: u32| {
        let (_, is_around) = distance(from, to, length, wraps);
        if (to > from) != is_around { forward } else { forward.opposite() }
    };
    (0..length).flat_map(|from| (0..length).map(move |to| way(from, to))).collect()
}

#[cfg(test)]
mod tests;
