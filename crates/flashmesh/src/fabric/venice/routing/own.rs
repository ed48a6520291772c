//! A routing algorithm of the caller's own.

use super::super::ports::Ports;
use super::RoutingAlgorithm;

/// Sets of ports towards other routers.
const SETS: usize = 1 << 4;

/// What an algorithm of the caller's own answers, asked once for every pair of sets. Ports that are not open are left out.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    answers: [Ports; SETS * SETS],
}

impl Own {
    /// The answers of `routing`.
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
