//! A custom routing algorithm.

use super::super::ports::PortSet;
use super::RoutingAlgorithm;

/// Number of sets of ports to other routers.
const SETS: usize = 1 << 4;

/// Results of a custom algorithm for every pair of sets, as a table. Ports that are not open are removed.
#[derive(Clone, Copy, Debug)]
pub struct CustomRouting {
    answers: [PortSet; SETS * SETS],
}

impl CustomRouting {
    /// Tabulates the results of `routing`.
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
