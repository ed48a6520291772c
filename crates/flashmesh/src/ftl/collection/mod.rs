//! Which block garbage collection empties next.

mod collector;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod random_p;
mod random_pp;

pub(super) use collector::Collector;
pub use d_choices::DChoices;
pub use fifo::Fifo;
pub use greedy::Greedy;
pub use random::Random;
pub use random_p::RandomP;
pub use random_pp::RandomPp;

use std::fmt;

use crate::config;
use crate::engine::random::SimRng;
use crate::flash::geometry::Geometry;
use crate::ids::PlaneId;

/// Chooses the victim of a collection among the full blocks of a plane.
///
/// # Contract
///
/// - The choice is a candidate ([`Candidates::contains`]), or `None` when there is none.
/// - It is called only while some candidate has an invalid page. It may still choose one without (some policies are
///   blind to it), as long as repeated calls choose one that has in the end.
/// - The choice depends on nothing but the arguments and the earlier calls; chance comes from `random` alone.
pub trait VictimSelector {
    /// The victim, as a position in its plane.
    fn select(&mut self, candidates: &Candidates<'_>, random: &mut SimRng) -> Option<u32>;
}

/// A policy of the caller's own, for trying one out before it has a name in the configuration.
pub(super) struct Custom(pub(super) Box<dyn VictimSelector + Send>);

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Custom").finish_non_exhaustive()
    }
}

impl Clone for Custom {
    /// Never called: drives are prepared before they get a selector of the caller's own, and only prepared ones are cloned.
    fn clone(&self) -> Custom {
        unreachable!("a drive with a victim selector of the caller's own is not cloned")
    }
}

impl VictimSelector for Custom {
    fn select(&mut self, candidates: &Candidates<'_>, random: &mut SimRng) -> Option<u32> {
        let chosen = self.0.select(candidates, random);
        assert!(
            chosen.is_none_or(|position| candidates.contains(position)),
            "a victim selector chose block {chosen:?} of a plane, which is no candidate"
        );
        chosen
    }
}

/// The registry: name in the configuration, implementation, how it is built.
macro_rules! victim_selectors {
    ($($name:ident => $build:expr),+ $(,)?) => {
        #[derive(Clone, Debug)]
        pub(super) enum Policy {
            $($name($name),)+
            Custom(Custom),
        }

        impl Policy {
            pub(super) fn new(geometry: &Geometry, config: &config::Gc) -> Policy {
                match config.victim {
                    $(config::VictimPolicy::$name => {
                        let build: fn(&Geometry, &config::Gc) -> $name = $build;
                        Policy::$name(build(geometry, config))
                    }),+
                }
            }
        }

        impl VictimSelector for Policy {
            fn select(&mut self, candidates: &Candidates<'_>, random: &mut SimRng) -> Option<u32> {
                match self {
                    $(Policy::$name(selector) => selector.select(candidates, random),)+
                    Policy::Custom(selector) => selector.select(candidates, random),
                }
            }
        }
    };
}

victim_selectors! {
    Greedy => |_, _| Greedy,
    DChoices => |_, config| DChoices::new(config.d),
    Random => |_, _| Random,
    RandomP => |_, _| RandomP,
    RandomPp => |geometry, _| RandomPp::new(geometry),
    Fifo => |_, _| Fifo,
}

/// The blocks of one plane, as a victim selector sees them. Only full blocks are candidates: none that is open, free,
/// or being collected.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    plane: PlaneId,
    invalid_pages: &'a [u16],
    filled: &'a [u32],
}

impl<'a> Candidates<'a> {
    /// The blocks of `plane` by their position: `invalid_pages` counts those of a candidate, for a superblock of more than 65,535 pages in
    /// units of 2, 4 or more pages, and is 0 for any other block,
    /// `filled` is the sequence number, from 1, at which a candidate was filled, and 0 for any other block.
    pub fn new(plane: PlaneId, invalid_pages: &'a [u16], filled: &'a [u32]) -> Candidates<'a> {
        debug_assert_eq!(invalid_pages.len(), filled.len());
        Candidates { plane, invalid_pages, filled }
    }

    /// The plane; where planes are collected together, one of them.
    pub fn plane(&self) -> PlaneId {
        self.plane
    }

    /// The invalid pages of every block of the plane, by its position: 0 for what is no candidate.
    pub fn invalid_by_position(&self) -> &'a [u16] {
        self.invalid_pages
    }

    /// The sequence number, from 1, at which every block of the plane was filled, by its position: 0 for what is no candidate.
    pub fn filled_by_position(&self) -> &'a [u32] {
        self.filled
    }

    /// Whether the block at `position` is a candidate.
    #[inline]
    pub fn contains(&self, position: u32) -> bool {
        self.filled[position as usize] != 0
    }

    /// All candidates, by their positions.
    pub fn positions(&self) -> impl Iterator<Item = u32> + use<'a> {
        let this = *self;
        (0..this.filled.len() as u32).filter(move |&position| this.contains(position))
    }

    /// The invalid pages of the candidate at `position`.
    #[inline]
    pub fn invalid_pages(&self, position: u32) -> u32 {
        u32::from(self.invalid_pages[position as usize])
    }

    /// The candidate with the most invalid pages, the first of equals; `None` when all are fully valid.
    pub fn most_invalid(&self) -> Option<u32> {
        // Maxima of whole chunks are found many blocks at a time; only the best chunk is searched one by one.
        const CHUNK: usize = 64;
        let mut best = (0, 0);
        for (index, chunk) in self.invalid_pages.chunks(CHUNK).enumerate() {
            let invalid_pages = chunk.iter().fold(0, |most, &invalid| most.max(invalid));
            if invalid_pages > best.0 {
                best = (invalid_pages, index * CHUNK);
            }
        }
        let (invalid_pages, start) = best;
        if invalid_pages == 0 {
            return None;
        }
        self.invalid_pages[start..]
            .iter()
            .position(|&other| other == invalid_pages)
            .map(|offset| (start + offset) as u32)
    }

    /// The candidate that was filled first.
    pub fn first_filled(&self) -> Option<u32> {
        // Those that are no candidates wrap around to the largest number.
        let first = self.filled.iter().fold(u32::MAX, |first, &filled| first.min(filled.wrapping_sub(1)));
        if first == u32::MAX {
            return None;
        }
        self.filled.iter().position(|&filled| filled == first + 1).map(|position| position as u32)
    }

    /// A random one of the candidates that qualify, each with the same probability.
    pub fn draw(&self, random: &mut SimRng, qualifies: impl Fn(&Candidates<'_>, u32) -> bool) -> Option<u32> {
        // Nearly all blocks of a plane in use are candidates, so a few throws find one; where few blocks qualify they
        // are counted. Both ways are uniform, so going over from one to the other is too.
        const THROWS: usize = 8;
        let blocks = self.filled.len() as u32;
        let qualifies = |position: &u32| self.contains(*position) && qualifies(self, *position);
        for _ in 0..THROWS {
            let position = random.below(blocks);
            if qualifies(&position) {
                return Some(position);
            }
        }
        let count = (0..blocks).filter(qualifies).count() as u32;
        (0..blocks).filter(qualifies).nth(random.below(count) as usize)
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// A plane by its blocks: `None` is no candidate, else (invalid pages, place in the order of filling).
    #[derive(Clone, Debug)]
    pub struct Blocks {
        pub invalid_pages: Vec<u16>,
        pub filled: Vec<u32>,
    }

    impl Blocks {
        pub fn candidates(&self) -> Candidates<'_> {
            Candidates::new(PlaneId(0), &self.invalid_pages, &self.filled)
        }

        pub fn positions(&self) -> impl Iterator<Item = u32> + '_ {
            (0..self.filled.len() as u32).filter(|&position| self.filled[position as usize] != 0)
        }

        /// A random plane of `blocks` blocks, of which about a quarter are no candidates.
        pub fn random(blocks: u32, invalid_pages_max: u32, random: &mut SimRng) -> Blocks {
            let mut order: Vec<u32> = (1..=blocks).collect();
            for i in (1..blocks as usize).rev() {
                order.swap(i, random.below(i as u32 + 1) as usize);
            }
            let mut planes = Blocks { invalid_pages: Vec::new(), filled: Vec::new() };
            for filled in order {
                let candidate = random.below(4) != 0;
                planes.filled.push(if candidate { filled } else { 0 });
                planes.invalid_pages.push(if candidate { random.below(invalid_pages_max + 1) as u16 } else { 0 });
            }
            planes
        }
    }

    /// Every selection over many random planes lies in what `allowed` says, each member of it is chosen sometimes, and
    /// about equally often when there are no more than two.
    pub fn assert_uniform_over(selector: &mut impl VictimSelector, allowed: impl Fn(&Blocks) -> Vec<u32>) {
        let mut random = SimRng::new(3);
        for blocks in [1, 2, 3, 7, 70] {
            for invalid_pages_max in [0, 1, 8, 60] {
                let plane = Blocks::random(blocks, invalid_pages_max, &mut random);
                let allowed = allowed(&plane);
                let mut chosen = vec![0u32; blocks as usize];
                let draws = 100 * blocks;
                for _ in 0..draws {
                    match selector.select(&plane.candidates(), &mut random) {
                        Some(position) => chosen[position as usize] += 1,
                        None => assert!(allowed.is_empty()),
                    }
                }
                for position in 0..blocks {
                    let count = f64::from(chosen[position as usize]);
                    if allowed.contains(&position) {
                        let expected = f64::from(draws) / allowed.len() as f64;
                        assert!((count - expected).abs() < 6.0 * expected.sqrt(), "{plane:?} {chosen:?}");
                    } else {
                        assert_eq!(count, 0.0, "{plane:?} {chosen:?}");
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Blocks;
    use super::*;

    #[test]
    fn a_plane_without_candidates_has_no_victim() {
        let geometry = Geometry::new(&config::Geometry::default()).unwrap();
        for victim in [
            config::VictimPolicy::Greedy,
            config::VictimPolicy::DChoices,
            config::VictimPolicy::Random,
            config::VictimPolicy::RandomP,
            config::VictimPolicy::RandomPp,
            config::VictimPolicy::Fifo,
        ] {
            let mut policy = Policy::new(&geometry, &config::Gc { victim, ..config::Gc::default() });
            let plane = Blocks { invalid_pages: vec![0; 9], filled: vec![0; 9] };
            assert_eq!(policy.select(&plane.candidates(), &mut SimRng::new(1)), None, "{victim:?}");
        }
    }
}
