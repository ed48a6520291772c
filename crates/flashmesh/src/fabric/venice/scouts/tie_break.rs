//! Tie-break among the candidate ports of a router: one of them is drawn.

use crate::config;
use crate::engine::random::SimRng;
use crate::fabric::venice::mesh::ports::{Port, PortSet};

use super::routing_table::RoutingTable;

/// The 2-bit linear-feedback shift register of a router (Venice, ISCA 2023, section 4.3): polynomial x^2 + x + 1, so that its state cycles through 1,
/// 3, 2 and is never 0.
///
/// The register is clocked once for each draw among two or more ports. The new state selects the port. Of two ports, the low bit of the state is the
/// index; of three, the index is state - 1 (\[choice\]: the paper does not state it). Three states cannot be fair to two ports: the second one is
/// drawn two times out of three. Of three ports, each is drawn once in three draws. The bias is part of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lfsr(u8);

impl Lfsr {
    /// Creates the register of router `number`, in state 1 + `number` mod 3.
    pub const fn new(number: u32) -> Lfsr {
        Lfsr(1 + (number % 3) as u8)
    }

    /// Number of values of [`state`](Lfsr::state), including 0, which never occurs.
    pub(super) const STATES: usize = 4;

    pub(super) const fn in_state(state: u8) -> Lfsr {
        Lfsr(state)
    }

    #[inline(always)]
    pub(in super::super) const fn state(self) -> u8 {
        self.0
    }

    /// Draws one of the mesh ports `ports`; `None` if `ports` is empty. Clocks the register only if there are several ports. Does not set
    /// `is_detour`.
    pub(super) const fn draw(self, ports: PortSet) -> PortDraw {
        /// Index of the drawn port, by number of ports and new state. Four ports never occur, because the scout entered by one of them.
        const POSITIONS: [[u32; Lfsr::STATES]; 5] = [[0; 4], [0; 4], [0, 1, 0, 1], [0, 0, 1, 2], [0; 4]];
        let register = if ports.len() < 2 { self } else { self.clocked() };
        let position = POSITIONS[ports.len() as usize][register.0 as usize];
        PortDraw { port: ports.nth(position), register, is_detour: false }
    }

    /// Returns the register after one clock cycle.
    const fn clocked(self) -> Lfsr {
        Lfsr((self.0 << 1 | (self.0 >> 1 ^ self.0) & 1) & 0b11)
    }
}

/// Result of a draw: the port, and the register after the draw. Without candidates, the port is `None`, and the scout backtracks.
#[derive(Clone, Copy, Debug)]
#[repr(align(4))]
pub(in super::super) struct PortDraw {
    pub port: Option<Port>,
    pub register: Lfsr,
    /// Whether the drawn port does not lead nearer to the destination.
    pub is_detour: bool,
}

impl PortDraw {
    /// Returns this result with `is_detour` computed: whether a port was drawn that is not in `nearer`, the ports that lead nearer to the
    /// destination.
    pub const fn with_detour(self, nearer: PortSet) -> PortDraw {
        let is_detour = matches!(self.port, Some(port) if !nearer.contains(port));
        PortDraw { is_detour, ..self }
    }
}

/// Rule by which one of several ports is drawn (`venice.tie-break`).
#[derive(Clone, Debug)]
pub enum TieBreaker {
    /// Draw by the shift register of the router.
    Lfsr,
    /// Draw with equal probabilities, by random numbers.
    Uniform(SimRng),
}

impl TieBreaker {
    /// Creates the tie-break that `kind` selects. `seed` is the seed of its random numbers, if it uses any.
    pub fn new(kind: config::TieBreak, seed: u64) -> TieBreaker {
        match kind {
            config::TieBreak::Lfsr => TieBreaker::Lfsr,
            config::TieBreak::Uniform => TieBreaker::Uniform(SimRng::new(seed)),
        }
    }
}

/// A rule that draws one of the candidate ports of a router.
pub(in super::super) trait TieBreakRule {
    /// Draws one of the candidates for the ports `nearer` and `open` in the table `routes`, at a router with shift register `register`. A single
    /// candidate is returned without a draw.
    fn choose(&mut self, routes: &RoutingTable, register: Lfsr, nearer: PortSet, open: PortSet) -> PortDraw;
}

/// The rule [`TieBreaker::Lfsr`] as a type, so that loops can be compiled for it alone.
pub(in super::super) struct LfsrTieBreak;

impl TieBreakRule for LfsrTieBreak {
    #[inline(always)]
    fn choose(&mut self, routes: &RoutingTable, register: Lfsr, nearer: PortSet, open: PortSet) -> PortDraw {
        routes.draw(register, nearer, open)
    }
}

impl TieBreakRule for TieBreaker {
    #[inline]
    fn choose(&mut self, routes: &RoutingTable, register: Lfsr, nearer: PortSet, open: PortSet) -> PortDraw {
        match self {
            TieBreaker::Lfsr => LfsrTieBreak.choose(routes, register, nearer, open),
            TieBreaker::Uniform(random) => {
                let ports = routes.candidates(nearer, open);
                let count = ports.len();
                let port = ports.nth(if count < 2 { 0 } else { random.below(count) });
                PortDraw { port, register, is_detour: false }.with_detour(nearer)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::venice::routing::AnyRouting;

    const TWO: PortSet = PortSet::from_port(Port::East).union(PortSet::from_port(Port::South));
    const THREE: PortSet = TWO.union(PortSet::from_port(Port::West));

    /// Returns how often each mesh port is drawn from `ports` in 3000 draws.
    fn drawn(mut tie_break: TieBreaker, ports: PortSet) -> [u32; 4] {
        let routes = RoutingTable::new(AnyRouting::new(config::Routing::RandomDfs));
        let mut register = Lfsr::new(0);
        let mut counts = [0; 4];
        for _ in 0..3000 {
            let drawn = tie_break.choose(&routes, register, PortSet::NONE, ports);
            register = drawn.register;
            counts[drawn.port.unwrap() as usize] += 1;
        }
        counts
    }

    #[test]
    fn the_register_runs_through_its_three_states() {
        for number in 0..7 {
            let mut register = Lfsr::new(number);
            let states = [(); 4].map(|()| {
                register = register.draw(TWO).register;
                register.0
            });
            assert_eq!(states[0], states[3]);
            assert!([[1, 3, 2], [3, 2, 1], [2, 1, 3]].contains(&[states[0], states[1], states[2]]));
        }
    }

    #[test]
    fn the_register_prefers_the_second_of_two_ports_and_is_fair_to_three() {
        assert_eq!(drawn(TieBreaker::Lfsr, TWO), [0, 1000, 2000, 0]);
        assert_eq!(drawn(TieBreaker::Lfsr, THREE), [0, 1000, 1000, 1000]);
    }

    #[test]
    fn a_uniform_tie_break_is_fair_to_any_number_of_ports() {
        let uniform = || TieBreaker::new(config::TieBreak::Uniform, 3);
        // The expected counts are 3000 / 2 and 3000 / 3. The tolerances are five standard deviations of a binomial count.
        assert!(drawn(uniform(), TWO)[1].abs_diff(1500) < 137);
        assert!(drawn(uniform(), THREE)[1..].iter().all(|count| count.abs_diff(1000) < 129));
    }

    #[test]
    fn the_only_port_is_taken_without_a_draw() {
        let register = Lfsr::new(1);
        for (ports, port) in [(PortSet::from_port(Port::West), Some(Port::West)), (PortSet::NONE, None)] {
            let drawn = register.draw(ports);
            assert_eq!((drawn.port, drawn.register), (port, register));
        }
    }
}
