//! When collection and wear levelling begin, and with which block.

use super::{Candidates, Custom, Policy, VictimSelector};
use crate::config::{self, Config};
use crate::engine::random::SimRng;
use crate::flash::geometry::Geometry;
use crate::ftl::plane::RESERVE_BLOCKS;

/// Keeps the random choices of victims apart from all others that grow from the seed of a run.
const SEED_OF_VICTIMS: u64 = 0x6674_6c2d_7669_6374;

/// The rules of every plane.
#[derive(Clone, Debug)]
pub(in crate::ftl) struct Rules {
    gc: config::Gc,
    wear: config::Wear,
    limits: Limits,
    victim: Policy,
    random: SimRng,
}

/// Limits of every plane, in pages.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct Limits {
    /// Fewer free pages than this ask for collection.
    pub(in crate::ftl) collection: u32,
    /// Fewer free pages than this ask for it urgently.
    pub(in crate::ftl) urgent: u32,
    /// Fewer free pages than this ask for it when the die is idle.
    pub(in crate::ftl) background: u32,
}

impl Limits {
    fn new(geometry: &Geometry, gc: &config::Gc) -> Limits {
        let pages = geometry.pages_per_plane();
        let share = |share: f64| (f64::from(pages) * share).ceil() as u32;
        // Even a plane of few blocks is collected while the host still has a block to write to.
        let reserve = RESERVE_BLOCKS * geometry.pages_per_block;
        Limits {
            collection: share(gc.threshold).max(reserve + geometry.pages_per_block),
            urgent: share(gc.hard_threshold).max(reserve),
            background: share(gc.background_threshold),
        }
    }
}

impl Rules {
    /// Those of `config`; where a victim is a block of each plane of a die, `has_twins` says so.
    pub(in crate::ftl) fn new(geometry: &Geometry, config: &Config, has_twins: bool) -> Rules {
        let mut of_victims = geometry.clone();
        if has_twins {
            of_victims.pages_per_block *= std::mem::replace(&mut of_victims.planes_per_die, 1);
        }
        Rules {
            gc: config.gc.clone(),
            wear: config.wear.clone(),
            limits: Limits::new(geometry, &config.gc),
            victim: Policy::new(&of_victims, &config.gc),
            random: SimRng::new(config.seed ^ SEED_OF_VICTIMS),
        }
    }

    /// What the configuration says of collection.
    pub(in crate::ftl) fn gc(&self) -> &config::Gc {
        &self.gc
    }

    /// What the configuration says of wear levelling.
    pub(in crate::ftl) fn wear(&self) -> &config::Wear {
        &self.wear
    }

    /// When a plane is short of free pages.
    #[inline]
    pub(in crate::ftl) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The victim among `candidates`, as a position in its plane.
    #[inline]
    pub(in crate::ftl) fn choose_victim(&mut self, candidates: &Candidates<'_>) -> Option<u32> {
        self.victim.select(candidates, &mut self.random)
    }

    /// Chooses victims by a policy of the caller's own from now on.
    pub(in crate::ftl) fn set_victim_selector(&mut self, selector: Box<dyn VictimSelector + Send>) {
        self.victim = Policy::Custom(Custom(selector));
    }

    /// How many more erases than the least erased full block of its plane a block may have; any number where cold data stays.
    pub(in crate::ftl) fn wear_threshold(&self) -> Option<u32> {
        self.wear.static_levelling.then_some(self.wear.static_threshold)
    }
}
