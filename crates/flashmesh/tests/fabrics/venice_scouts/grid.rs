//! Reference model of paths in a mesh (simple searches over coordinates), and checks of a single scout.

use flashmesh::config::{Revisits, Routing, TieBreak};
use flashmesh::fabric::venice::routing::AnyRouting;
use flashmesh::fabric::venice::{CircuitNetwork, Mesh, ScoutAction, TieBreaker};
use flashmesh::ids::{ChannelId, ChipId, LinkId};

/// Maximum number of visits of a scout to a router: its first arrival, and at most three more (Venice, ISCA 2023, section 4.3, footnote 5).
pub const SIGHTINGS_MAX: u32 = 4;

pub fn network(rows: u32, columns: u32, routing: Routing, tie_break: TieBreak, revisits: Revisits) -> CircuitNetwork {
    CircuitNetwork::new(Mesh::new(rows, columns), AnyRouting::new(routing), TieBreaker::new(tie_break, 1), revisits)
}

/// Mesh links by the chips at their two ends, with the links that are out of service.
pub struct Grid {
    pub rows: u32,
    pub columns: u32,
    /// Ends `(chip, chip)` of the link at each position; the upper or left chip first.
    pub ends: Vec<(u32, u32)>,
    pub out: Vec<bool>,
}

impl Grid {
    /// Creates the grid with links in the numbering of `mesh`.
    pub fn new(mesh: &Mesh) -> Grid {
        let (rows, columns) = (mesh.rows(), mesh.columns());
        let horizontal = (0..rows)
            .flat_map(|row| (1..columns).map(move |column| (row * columns + column - 1, row * columns + column)));
        let vertical = (0..(rows - 1) * columns).map(|chip| (chip, chip + columns));
        let ends: Vec<(u32, u32)> = horizontal.chain(vertical).collect();
        let out = vec![false; ends.len()];
        Grid { rows, columns, ends, out }
    }

    pub fn link(&self, position: usize) -> LinkId {
        LinkId(self.rows + position as u32)
    }

    fn is_free(&self, from: u32, to: u32) -> bool {
        let ends = (from.min(to), from.max(to));
        let position = if ends.1 - ends.0 == 1 && self.columns > 1 {
            let (row, column) = (ends.0 / self.columns, ends.0 % self.columns);
            row * (self.columns - 1) + column
        } else {
            self.rows * (self.columns - 1) + ends.0
        };
        debug_assert_eq!(self.ends[position as usize], ends);
        !self.out[position as usize]
    }

    /// Returns for each chip whether it can be reached from `start` over links in service, by breadth-first search.
    pub fn reachable(&self, start: u32) -> Vec<bool> {
        let chips = self.rows * self.columns;
        let mut neighbours = vec![Vec::new(); chips as usize];
        for (&(a, b), _) in self.ends.iter().zip(&self.out).filter(|&(_, out)| !out) {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        let mut reached = vec![false; chips as usize];
        reached[start as usize] = true;
        let mut wave = vec![start];
        while !wave.is_empty() {
            let mut next = Vec::new();
            for chip in wave {
                for &other in &neighbours[chip as usize] {
                    if !std::mem::replace(&mut reached[other as usize], true) {
                        next.push(other);
                    }
                }
            }
            wave = next;
        }
        reached
    }

    /// Returns the rows and the columns on the way from chip `from` to chip `to`, in order of travel.
    fn way(&self, from: u32, to: u32) -> (Vec<u32>, Vec<u32>) {
        let between = |from: u32, to: u32| -> Vec<u32> {
            if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() }
        };
        (between(from / self.columns, to / self.columns), between(from % self.columns, to % self.columns))
    }

    /// Returns whether links in service join the chips by a path that gets closer to `to` with every hop.
    pub fn has_minimal_path(&self, from: u32, to: u32) -> bool {
        let (rows, columns) = self.way(from, to);
        let chip = |row: usize, column: usize| rows[row] * self.columns + columns[column];
        let mut reached = vec![vec![false; columns.len()]; rows.len()];
        for row in 0..rows.len() {
            for column in 0..columns.len() {
                reached[row][column] = (row == 0 && column == 0)
                    || row > 0 && reached[row - 1][column] && self.is_free(chip(row - 1, column), chip(row, column))
                    || column > 0 && reached[row][column - 1] && self.is_free(chip(row, column - 1), chip(row, column));
            }
        }
        reached[rows.len() - 1][columns.len() - 1]
    }

    /// Returns whether all links of the path along the row of `from` and then along the column of `to` are in service.
    pub fn has_xy_path(&self, from: u32, to: u32) -> bool {
        let (rows, columns) = self.way(from, to);
        let first = columns.iter().map(|column| rows[0] * self.columns + column);
        let second = rows[1..].iter().map(|row| row * self.columns + columns[columns.len() - 1]);
        let path: Vec<u32> = first.chain(second).collect();
        path.windows(2).all(|pair| self.is_free(pair[0], pair[1]))
    }

    /// Returns whether a scout with `routing` must reach `target` from `controller`. `reachable` marks the chips that any path reaches.
    pub fn has_path(&self, routing: Routing, controller: u32, target: u32, reachable: &[bool]) -> bool {
        let start = controller * self.columns;
        match routing {
            Routing::Venice | Routing::RandomDfs => reachable[target as usize],
            Routing::MinimalAdaptive => self.has_minimal_path(start, target),
            Routing::Xy => self.has_xy_path(start, target),
        }
    }

    /// Asserts that nothing is reserved in `network` but the links out of service.
    pub fn assert_nothing_else_is_taken(&self, network: &CircuitNetwork) {
        assert!(network.is_empty(), "a router still has a table row");
        for (position, out) in self.out.iter().enumerate() {
            assert_eq!(network.is_reserved(self.link(position)), *out, "{:?}", self.ends[position]);
        }
        let mesh = network.mesh();
        for chip in 0..self.rows * self.columns {
            assert!(!network.is_reserved(LinkId(mesh.links() - mesh.routers() + chip)), "the link of chip {chip}");
        }
    }

    /// Asserts that the links held by `controller` form a path to `target` that passes no router twice and uses no link out of service.
    pub fn assert_is_circuit(&self, network: &CircuitNetwork, controller: u32, target: u32, hops: u32) {
        let held: Vec<u32> = network.held_links(ChannelId(controller)).map(|link| link.0).collect();
        let chip_link = network.mesh().links() - network.mesh().routers() + target;
        assert_eq!(held.first(), Some(&controller));
        assert_eq!(held.last(), Some(&chip_link));
        assert_eq!(held.len() as u32, hops + 1);
        let mut here = controller * self.columns;
        let mut passed = vec![here];
        for link in &held[1..held.len() - 1] {
            let position = (link - self.rows) as usize;
            assert!(!self.out[position], "{:?} is out of service", self.ends[position]);
            let (a, b) = self.ends[position];
            assert!(here == a || here == b, "{:?} does not continue from {here}", self.ends[position]);
            here = a + b - here;
            assert!(!passed.contains(&here), "chip {here} is passed twice");
            passed.push(here);
        }
        assert_eq!(here, target);
    }
}

/// Counts the steps of a scout and its visits to each router ("sightings"), and asserts their limits.
#[derive(Clone)]
pub struct Watch {
    sightings: Vec<u32>,
    steps: u32,
    steps_max: u32,
}

impl Watch {
    pub fn new(grid: &Grid, revisits: Revisits) -> Watch {
        // A scout crosses the link of its controller, and each mesh link in each permitted direction, at most twice: forward and back.
        let directions = if revisits == Revisits::ThreeTimes { 2 } else { 1 };
        let steps_max = 2 * (directions * grid.ends.len() as u32 + 1);
        Watch { sightings: vec![0; (grid.rows * grid.columns) as usize], steps: 0, steps_max }
    }

    pub fn restart(&mut self) {
        self.sightings.fill(0);
        self.steps = 0;
    }

    pub fn sightings_most(&self) -> u32 {
        self.sightings.iter().copied().max().unwrap_or(0)
    }

    /// Executes one step of the scout of `controller`, and counts it. Returns what the scout did.
    pub fn step(&mut self, network: &mut CircuitNetwork, controller: u32) -> ScoutAction {
        if let Some(ChipId(chip)) = network.position(ChannelId(controller)) {
            let sightings = &mut self.sightings[chip as usize];
            *sightings += 1;
            assert!(*sightings <= SIGHTINGS_MAX, "router {chip} sees the scout too often");
        }
        self.steps += 1;
        assert!(self.steps <= self.steps_max, "the scout does not end");
        network.step(ChannelId(controller))
    }

    /// Runs the scout of `controller` alone in search of `target`. Returns the hops of the path, or `None` if it finds none.
    pub fn search(&mut self, network: &mut CircuitNetwork, controller: u32, target: u32) -> Option<u32> {
        self.restart();
        network.launch(ChannelId(controller), ChipId(target));
        loop {
            match self.step(network, controller) {
                ScoutAction::Forward | ScoutAction::Back => {}
                ScoutAction::Reached { hops } => return Some(hops),
                ScoutAction::Failed => return None,
            }
        }
    }
}
