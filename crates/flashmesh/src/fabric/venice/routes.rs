//! What the routers answer to scouts, looked up.

use super::ports::{Port, Ports};
use super::routing::{AnyRouting, RoutingAlgorithm};
use super::tie_break::{Drawn, Lfsr};

/// Sets of mesh ports.
const SETS: usize = 1 << Port::MESH.len();
/// Sets of ports that lead nearer, times sets of open ones.
const PAIRS: usize = SETS * SETS;

/// The answers of one routing algorithm. Looked up: no branch predictor foresees which port a scout takes.
#[derive(Clone, Debug)]
pub(super) struct Routes {
    /// The candidates, by the ports that lead nearer and the open ones.
    candidates: Box<[Ports; PAIRS]>,
    /// What a register gives of them, by its state as well.
    draws: Box<[Drawn; Lfsr::STATES * PAIRS]>,
}

impl Routes {
    /// Those of `routing`.
    pub fn new(routing: AnyRouting) -> Routes {
        let ports = |set: usize| Ports::from_bits((set % SETS) as u8);
        let candidates = |pair: usize| routing.candidates(ports(pair / SETS), ports(pair));
        let draw = |entry: usize| {
            let pair = entry % PAIRS;
            Lfsr::in_state((entry / PAIRS) as u8).draw(candidates(pair)).among(ports(pair / SETS))
        };
        Routes { candidates: Box::new(std::array::from_fn(candidates)), draws: Box::new(std::array::from_fn(draw)) }
    }

    #[inline(always)]
    fn pair(nearer: Ports, open: Ports) -> usize {
        (usize::from(nearer.to_bits()) * SETS) | usize::from(open.to_bits())
    }

    /// The candidates among `open`, of which `nearer` lead nearer.
    #[inline(always)]
    pub fn candidates(&self, nearer: Ports, open: Ports) -> Ports {
        self.candidates[Routes::pair(nearer, open) % PAIRS]
    }

    /// One of the [candidates](Routes::candidates) as `register` draws it.
    #[inline(always)]
    pub fn draw(&self, register: Lfsr, nearer: Ports, open: Ports) -> Drawn {
        let entry = (usize::from(register.state()) * PAIRS) | Routes::pair(nearer, open);
        // Field by field: what is loaded as a whole is taken to pieces by shifts.
        let Drawn { port, register, is_detour } = &self.draws[entry % self.draws.len()];
        Drawn { port: *port, register: *register, is_detour: *is_detour }
    }
}
