//! A custom routing algorithm of scouts (packets that search for a path), as a table of its results.

use super::super::mesh::ports::PortSet;
use super::RoutingAlgorithm;

/// Number of sets of ports to other routers.
const SETS: usize = 1 << 4;

/// A custom algorithm, as a table of its results for every pair of a set of nearer ports and a set of open ports. Results include open ports only.
#[derive(Clone, Copy, Debug)]
pub struct CustomRouting {
    answers: [PortSet; SETS * SETS],
}

impl CustomRouting {
    /// Tabulates the results of `routing`, which is called once for each pair of a set of nearer ports and a set of open ports.
    pub fn new(routing: &dyn RoutingAlgorithm) -> CustomRouting {
        let ports = |set: usize| PortSet::from_bits((set % SETS) as u8);
        let answer = |pair: usize| {
            let (nearer, open) = (ports(pair / SETS), ports(pair));
            routing.candidates(nearer, open).intersection(open)
        };
        CustomRouting { answers: std::array::from_fn(answer) }
    }
}

impl RoutingAlgorithm for CustomRouting {
    fn candidates(&self, nearer: PortSet, open: PortSet) -> PortSet {
        let pair = usize::from(nearer.to_bits()) * SETS + usize::from(open.to_bits());
        self.answers.get(pair).copied().unwrap_or(PortSet::NONE)
    }
}
