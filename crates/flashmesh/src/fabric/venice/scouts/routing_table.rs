//! Precomputed routing decisions at a router.

use super::tie_break::{Lfsr, PortDraw};
use crate::fabric::venice::mesh::ports::{Port, PortSet};
use crate::fabric::venice::routing::{AnyRouting, RoutingAlgorithm};

const SETS: usize = 1 << Port::MESH.len();
/// Number of pairs of a set of nearer ports and a set of open ports.
const PAIRS: usize = SETS * SETS;

/// Routing decisions of one algorithm as tables, which replace branches: the port that a scout takes is unpredictable for the CPU.
#[derive(Clone, Debug)]
pub(in super::super) struct RoutingTable {
    /// Candidate ports, indexed by set of nearer ports and set of open ports.
    candidates: Box<[PortSet; PAIRS]>,
    /// Port drawn among the candidates, indexed by state of the shift register, set of nearer ports and set of open ports.
    draws: Box<[PortDraw; Lfsr::STATES * PAIRS]>,
}

impl RoutingTable {
    /// Tabulates the decisions of `routing` for all sets of ports and all states of the shift register.
    pub fn new(routing: AnyRouting) -> RoutingTable {
        let ports = |set: usize| PortSet::from_bits((set % SETS) as u8);
        let candidates = |pair: usize| routing.candidates(ports(pair / SETS), ports(pair));
        let draw = |entry: usize| {
            let pair = entry % PAIRS;
            Lfsr::in_state((entry / PAIRS) as u8).draw(candidates(pair)).with_detour(ports(pair / SETS))
        };
        RoutingTable {
            candidates: Box::new(std::array::from_fn(candidates)),
            draws: Box::new(std::array::from_fn(draw)),
        }
    }

    #[inline(always)]
    fn pair(nearer: PortSet, open: PortSet) -> usize {
        (usize::from(nearer.to_bits()) * SETS) | usize::from(open.to_bits())
    }

    /// Returns the candidates among the `open` ports, from which one is then drawn; may be empty. `nearer` are the ports that lead nearer to the
    /// destination.
    #[inline(always)]
    pub fn candidates(&self, nearer: PortSet, open: PortSet) -> PortSet {
        self.candidates[RoutingTable::pair(nearer, open) % PAIRS]
    }

    /// Draws one of the [candidates](RoutingTable::candidates) with the shift register of a router, whose state before the draw is `register`.
    #[inline(always)]
    pub fn draw(&self, register: Lfsr, nearer: PortSet, open: PortSet) -> PortDraw {
        let entry = (usize::from(register.state()) * PAIRS) | RoutingTable::pair(nearer, open);
        // Copy field by field: a struct loaded as a whole would be split by shifts.
        let PortDraw { port, register, is_detour } = &self.draws[entry % self.draws.len()];
        PortDraw { port: *port, register: *register, is_detour: *is_detour }
    }
}
