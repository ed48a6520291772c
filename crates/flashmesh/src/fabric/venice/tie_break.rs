//! Which of several ports a router takes.

use crate::config;
use crate::engine::random::SimRng;

use super::ports::{Port, Ports};
use super::routes::Routes;

/// The 2-bit linear-feedback shift register of a router (Venice, ISCA 2023, section 4.3): polynomial x^2 + x + 1, so its state runs
/// through 1, 3, 2 and never is 0.
///
/// It is clocked once for each draw among two or more ports, and its new state says which: of two the one at the position
/// of its low bit, of three the one at the position state - 1 [choice]. Three states cannot be fair to two ports: the second
/// is drawn two times out of three. Of three ports each is drawn once in three draws. The bias is part of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lfsr(u8);

impl Lfsr {
    /// The register that starts in state 1 + `number` mod 3.
    pub const fn new(number: u32) -> Lfsr {
        Lfsr(1 + (number % 3) as u8)
    }

    /// How many values [`state`](Lfsr::state) may have.
    pub(super) const STATES: usize = 4;

    /// The register in `state`.
    pub(super) const fn in_state(state: u8) -> Lfsr {
        Lfsr(state)
    }

    /// Its state.
    #[inline(always)]
    pub(super) const fn state(self) -> u8 {
        self.0
    }

    /// One of the mesh ports `ports`, the only one without a draw.
    pub(super) const fn draw(self, ports: Ports) -> Drawn {
        /// The position of the port drawn, by how many there are and the new state. No router has four: the scout came by one of them.
        const POSITIONS: [[u32; Lfsr::STATES]; 5] = [[0; 4], [0; 4], [0, 1, 0, 1], [0, 0, 1, 2], [0; 4]];
        let register = if ports.len() < 2 { self } else { self.clocked() };
        let position = POSITIONS[ports.len() as usize][register.0 as usize];
        Drawn { port: ports.nth(position), register, is_detour: false }
    }

    /// The state after a clock.
    const fn clocked(self) -> Lfsr {
        Lfsr((self.0 << 1 | (self.0 >> 1 ^ self.0) & 1) & 0b11)
    }
}

/// What a draw gives: the port, `None` when there is none to draw, and the register after it.
#[derive(Clone, Copy, Debug)]
#[repr(align(4))]
pub(super) struct Drawn {
    pub port: Option<Port>,
    pub register: Lfsr,
    /// Whether the port does not lead nearer.
    pub is_detour: bool,
}

impl Drawn {
    /// The same, where `nearer` are the ports that lead nearer.
    pub const fn among(self, nearer: Ports) -> Drawn {
        let is_detour = matches!(self.port, Some(port) if !nearer.contains(port));
        Drawn { is_detour, ..self }
    }
}

/// How a router draws one port among several.
#[derive(Clone, Debug)]
pub enum TieBreaker {
    /// By the register of the router.
    Lfsr,
    /// Each with the same probability.
    Uniform(SimRng),
}

impl TieBreaker {
    /// The tie-break that `kind` names; `seed` starts what is random about it.
    pub fn new(kind: config::TieBreak, seed: u64) -> TieBreaker {
        match kind {
            config::TieBreak::Lfsr => TieBreaker::Lfsr,
            config::TieBreak::Uniform => TieBreaker::Uniform(SimRng::new(seed)),
        }
    }
}

/// Draws one port among several.
pub(super) trait Draw {
    /// One of those that `routes` names as candidates, the only one without a draw, in the router whose register is `register`.
    fn choose(&mut self, routes: &Routes, register: Lfsr, nearer: Ports, open: Ports) -> Drawn;
}

/// What [`TieBreaker::Lfsr`] does, for a loop of its own.
pub(super) struct ByRegister;

impl Draw for ByRegister {
    #[inline(always)]
    fn choose(&mut self, routes: &Routes, register: Lfsr, nearer: Ports, open: Ports) -> Drawn {
        routes.draw(register, nearer, open)
    }
}

impl Draw for TieBreaker {
    #[inline]
    fn choose(&mut self, routes: &Routes, register: Lfsr, nearer: Ports, open: Ports) -> Drawn {
        match self {
            TieBreaker::Lfsr => ByRegister.choose(routes, register, nearer, open),
            TieBreaker::Uniform(random) => {
                let ports = routes.candidates(nearer, open);
                let count = ports.len();
                let port = ports.nth(if count < 2 { 0 } else { random.below(count) });
                Drawn { port, register, is_detour: false }.among(nearer)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::routing::AnyRouting;
    use super::*;

    const TWO: Ports = Ports::of(Port::East).with(Ports::of(Port::South));
    const THREE: Ports = TWO.with(Ports::of(Port::West));

    /// How often each mesh port is drawn in 3000 draws.
    fn drawn(mut tie_break: TieBreaker, ports: Ports) -> [u32; 4] {
        let routes = Routes::new(AnyRouting::new(config::Routing::RandomDfs));
        let mut register = Lfsr::new(0);
        let mut counts = [0; 4];
        for _ in 0..3000 {
            let drawn = tie_break.choose(&routes, register, Ports::NONE, ports);
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
        // Five standard deviations of a binomial count around 1500 and 1000.
        assert!(drawn(uniform(), TWO)[1].abs_diff(1500) < 137);
        assert!(drawn(uniform(), THREE)[1..].iter().all(|count| count.abs_diff(1000) < 129));
    }

    #[test]
    fn the_only_port_is_taken_without_a_draw() {
        let register = Lfsr::new(1);
        for (ports, port) in [(Ports::of(Port::West), Some(Port::West)), (Ports::NONE, None)] {
            let drawn = register.draw(ports);
            assert_eq!((drawn.port, drawn.register), (port, register));
        }
    }
}
