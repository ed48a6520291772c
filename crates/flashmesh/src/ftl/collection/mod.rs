//! Garbage collection: the conditions under which collections begin, the selection of victims, and the steps of a collection.

mod chip_to_chip_destination;
mod collector;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod random_p;
mod random_pp;
mod reclaim;

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

/// Policy that selects the victim of a collection among the full blocks of a plane.
///
/// # Contract
///
/// - The choice is a candidate ([`Candidates::contains`]), or `None` if there is none.
/// - The policy is called only if some candidate has an invalid page. The policy may choose a candidate without invalid pages, as long as repeated
///   calls eventually choose one with invalid pages.
/// - The choice depends only on the arguments and earlier calls; `random` is the only source of randomness.
pub trait VictimSelector {
    /// Returns the position of the victim: its index in its plane, from 0. Returns `None` if there is no candidate.
    fn select(&mut self, candidates: &Candidates<'_>, random: &mut SimRng) -> Option<u32>;
}

/// Victim selector supplied by the caller, to try a policy that the configuration does not offer.
pub(super) struct Custom(pub(super) Box<dyn VictimSelector + Send>);

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Custom").finish_non_exhaustive()
    }
}

impl Clone for Custom {
    /// Panics, because drives are cloned only before a caller sets a victim selector.
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

/// Generator of the enum of all victim policies. Each entry consists of a name, which is both a type and a variant of
/// [`config::VictimPolicy`], and a constructor.
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

/// Blocks of one plane, as seen by a victim selector. Only full blocks are candidates, not blocks that are open, free or being collected.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    plane: PlaneId,
    invalid_pages: &'a [u16],
    filled: &'a [u32],
}

impl<'a> Candidates<'a> {
    /// Creates the candidates of `plane` from two tables, indexed by position (index of the block in its plane), with zeroes for blocks that are not
    /// candidates. `invalid_pages` is the number of invalid pages of each candidate, in units of 2, 4 or more pages if a superblock has more than
    /// 65,535 of them. `filled` is the order in which the candidates were filled, as a sequence number from 1.
    pub fn new(plane: PlaneId, invalid_pages: &'a [u16], filled: &'a [u32]) -> Candidates<'a> {
        debug_assert_eq!(invalid_pages.len(), filled.len());
        Candidates { plane, invalid_pages, filled }
    }

    /// Returns the plane of the candidates; if several planes are collected together (superblocks), one of them.
    pub fn plane(&self) -> PlaneId {
        self.plane
    }

    /// Returns the number of invalid pages of each block of the plane, by position; 0 for blocks that are not candidates. Scaled for large
    /// superblocks, as in [`Candidates::new`].
    pub fn invalid_by_position(&self) -> &'a [u16] {
        self.invalid_pages
    }

    /// Returns the sequence number, from 1, at which each block of the plane was filled, by position; 0 for blocks that are not candidates.
    pub fn filled_by_position(&self) -> &'a [u32] {
        self.filled
    }

    /// Returns whether the block at `position` is a candidate: full, and not being collected.
    #[inline]
    pub fn contains(&self, position: u32) -> bool {
        self.filled[position as usize] != 0
    }

    /// Returns the positions of all candidates in ascending order.
    pub fn positions(&self) -> impl Iterator<Item = u32> + use<'a> {
        let this = *self;
        (0..this.filled.len() as u32).filter(move |&position| this.contains(position))
    }

    /// Returns the number of invalid pages of the block at `position`; 0 if it is not a candidate. Scaled for large superblocks, as in
    /// [`Candidates::new`].
    #[inline]
    pub fn invalid_pages(&self, position: u32) -> u32 {
        u32::from(self.invalid_pages[position as usize])
    }

    /// Returns the position of the candidate with the most invalid pages, on a tie the lowest; `None` if no candidate has an invalid page.
    pub fn most_invalid(&self) -> Option<u32> {
        // The maximum of a chunk compiles to vector instructions; only the best chunk is searched block by block.
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

    /// Returns the position of the candidate that was filled first; `None` if there is no candidate.
    pub fn first_filled(&self) -> Option<u32> {
        // Subtract 1, so that the zeroes of blocks that are not candidates wrap around to the largest number.
        let first = self.filled.iter().fold(u32::MAX, |first, &filled| first.min(filled.wrapping_sub(1)));
        if first == u32::MAX {
            return None;
        }
        self.filled.iter().position(|&filled| filled == first + 1).map(|position| position as u32)
    }

    /// Returns the position of a uniformly random candidate for which `qualifies` holds; `None` if there is none.
    pub fn draw(&self, random: &mut SimRng, qualifies: impl Fn(&Candidates<'_>, u32) -> bool) -> Option<u32> {
        // Nearly all blocks of a plane in use are candidates, so a few draws usually find one. Otherwise count the blocks that qualify and draw among
        // them. Both ways are uniform, and so is their combination.
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

    /// Victim selection state of a plane, by block: invalid pages and fill order. Both are zero for blocks that are not candidates.
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

        /// Creates a random plane of `blocks` blocks. About a quarter of them are not candidates; the others have 0 to `invalid_pages_max` invalid
        /// pages.
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

    /// Asserts on many random planes that `selector` chooses uniformly among the blocks of `allowed`.
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
