//! A custom routing algorithm.

use super::super::ports::Ports;
use super::RoutingAlgorithm;

/// Number of sets of ports to other routers.
const SETS: usize = 1 << 4;

/// Results of a custom algorithm for every pair of sets, as a table. Ports that are not open are removed.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    answers: [Ports; SETS * SETS],
}

impl Own {
    /// Tabulates the results of `routing`.
    pub fn new(routing: &dyn RoutingAlgorithm) -> Own {
        let ports = |set: usize| Ports::from_bits((set % SETS) as u8);
        let answer = |pair: usize| {
            let (nearer, open) = (ports(pair / SETS), ports(pair));
            routing.candidates(nearer, open).and(open)
        };
        Own { answers: std::array::from_fn(answer) }
    }
}

impl RoutingAlgorithm for Own {
    fn candidates(&self, nearer: Ports, open: Ports) -> Ports {
        let pair = usize::from(nearer.to_bits()) * SETS + usize::from(open.to_bits());
        self.answers.get(pair).copied().unwrap_or(Ports::NONE)
    }
}
