//! Triggers of garbage collection and wear levelling, and the choice of the victim.

use super::{Candidates, Custom, Policy, VictimSelector};
use crate::config::{self, Config};
use crate::engine::random::SimRng;
use crate::flash::geometry::Geometry;
use crate::ftl::Superblocks;
use crate::ftl::blocks::{BlockManager, BlockState};
use crate::ftl::open_block_kind::RESERVE_BLOCKS;
use crate::ids::{BlockId, PlaneId};

/// Modifier XORed to the configured seed, so that random choices of victims are independent of other random choices with the same seed.
const SEED_OF_VICTIMS: u64 = 0x6674_6c2d_7669_6374;

/// Garbage collector: conditions under which a collection or a static wear-levelling move begins in a plane, and selection of the victim.
#[derive(Clone, Debug)]
pub(in super::super) struct Collector {
    gc: config::Gc,
    wear: config::Wear,
    limits: FreePageThresholds,
    victim: Policy,
    random: SimRng,
    /// Minimum number of invalid pages of a victim; with superblocks, of its blocks in all planes together.
    gain_min: u32,
}

/// Thresholds of the free pages of a plane. Below `collection`, a collection begins even if the die is busy; below `urgent`, it precedes user
/// requests; below `background`, it begins if the die is idle.
#[derive(Clone, Copy, Debug)]
struct FreePageThresholds {
    collection: u32,
    urgent: u32,
    background: u32,
}

impl FreePageThresholds {
    fn new(geometry: &Geometry, gc: &config::Gc) -> FreePageThresholds {
        let pages = geometry.native_pages_per_plane();
        let share = |share: f64| (f64::from(pages) * share).ceil() as u32;
        // Keep the threshold at two blocks or more, the reserve (last free block) and one other, so that a collection begins while host writes still
        // have free pages outside the reserve.
        let reserve = RESERVE_BLOCKS * geometry.pages_per_block;
        FreePageThresholds {
            collection: share(gc.threshold).max(reserve + geometry.pages_per_block),
            urgent: share(gc.hard_threshold).max(reserve),
            background: share(gc.background_threshold),
        }
    }
}

impl Collector {
    /// Creates the collector. A victim is one block, or a superblock over the planes of `superblock_dies` dies.
    ///
    /// With `has_map` (the map is on flash), moved pages invalidate translation pages. The collection of a victim without invalid pages would then
    /// gain nothing, and trigger the next one endlessly. Therefore victims need at least one invalid page \[choice\].
    pub(in super::super) fn new(
        geometry: &Geometry,
        config: &Config,
        superblock_dies: Option<u32>,
        has_map: bool,
    ) -> Collector {
        let mut of_victims = geometry.clone();
        // A collection can leave its last program partly empty, so a victim with fewer invalid pages than one program may gain nothing.
        let planes = superblock_dies.map_or(1, |dies| Superblocks::new(geometry, dies).planes());
        let program = geometry.units_per_program * planes;
        if superblock_dies.is_some() {
            (of_victims.channels, of_victims.chips_per_channel, of_victims.dies_per_chip) = (1, 1, 1);
            of_victims.planes_per_die = geometry.planes() / planes;
            of_victims.pages_per_block *= planes;
        }
        Collector {
            gc: config.gc.clone(),
            wear: config.wear.clone(),
            limits: FreePageThresholds::new(geometry, &config.gc),
            victim: Policy::new(&of_victims, &config.gc),
            random: SimRng::new(config.seed ^ SEED_OF_VICTIMS),
            gain_min: if geometry.gathers_units() { program } else { u32::from(has_map) },
        }
    }

    pub(in super::super) fn gc(&self) -> &config::Gc {
        &self.gc
    }

    pub(in super::super) fn wear(&self) -> &config::Wear {
        &self.wear
    }

    /// Returns the number of free pages of a plane below which a collection begins even if the die is busy.
    pub(in super::super) fn collection_threshold(&self) -> u32 {
        self.limits.collection
    }

    pub(in super::super) fn set_victim_selector(&mut self, selector: Box<dyn VictimSelector + Send>) {
        self.victim = Policy::Custom(Custom(selector));
    }

    #[inline]
    pub(in super::super) fn is_short(&self, blocks: &BlockManager, plane: PlaneId) -> bool {
        let account = blocks.accounts.plane(plane);
        account.free_pages < self.limits.collection || account.is_out_of_space()
    }

    /// Returns how many pages of `plane` must be allocated for its free pages to fall below the collection threshold; 0 if they already are.
    #[inline]
    pub(in super::super) fn pages_until_short(&self, blocks: &BlockManager, plane: PlaneId) -> u32 {
        (blocks.accounts.plane(plane).free_pages + 1).saturating_sub(self.limits.collection)
    }

    #[inline]
    pub(in super::super) fn is_urgent(&self, blocks: &BlockManager, plane: PlaneId) -> bool {
        let account = blocks.accounts.plane(plane);
        account.free_pages < self.limits.urgent || account.is_out_of_space()
    }

    /// Returns whether to collect `plane` even if its die is busy: free pages are short in `plane`, or in a plane that is collected together with it,
    /// no collection of these planes is in progress, and a collection would gain pages.
    #[inline]
    pub(in super::super) fn needs_collection(&self, blocks: &BlockManager, plane: PlaneId) -> bool {
        if blocks.has_twins() {
            // Test the free pages first: planes are rarely short, so the second test rarely runs.
            return blocks.twins_of(plane).any(|twin| self.is_short(blocks, twin)) && blocks.can_collect_twins(plane);
        }
        blocks.accounts.plane(plane).can_collect() && self.is_short(blocks, plane)
    }

    /// Like [`needs_collection`](Self::needs_collection), but while the die is idle: the free pages are below the background threshold.
    #[inline]
    pub(in super::super) fn needs_background_collection(&self, blocks: &BlockManager, plane: PlaneId) -> bool {
        if blocks.has_twins() {
            return blocks.twins_of(plane).any(|twin| self.is_low(blocks, twin)) && blocks.can_collect_twins(plane);
        }
        blocks.accounts.plane(plane).can_collect() && self.is_low(blocks, plane)
    }

    #[inline]
    fn is_low(&self, blocks: &BlockManager, plane: PlaneId) -> bool {
        blocks.accounts.plane(plane).free_pages < self.limits.background
    }

    /// Begins a collection of `plane`, and of the planes that collect together with it. Marks the victims and returns them, one for each plane.
    /// Returns `None` if the planes are being collected, or if no block has both enough invalid pages and free pages to which its valid pages can
    /// move.
    pub(in super::super) fn begin(&mut self, blocks: &mut BlockManager, plane: PlaneId) -> Option<Vec<BlockId>> {
        if blocks.has_twins() { self.begin_twins(blocks, plane) } else { Some(vec![self.begin_plane(blocks, plane)?]) }
    }

    /// Selects a victim among the full blocks of `plane`, marks it and returns it.
    fn begin_plane(&mut self, blocks: &mut BlockManager, plane: PlaneId) -> Option<BlockId> {
        if !blocks.accounts.plane(plane).can_collect() {
            return None;
        }
        let first = blocks.accounts.table().first_of_plane(plane);
        let candidates = blocks.accounts.table().candidates(plane);
        let chosen = self.victim.select(&candidates, &mut self.random);
        // A policy that ignores invalid pages may choose a block with too few of them. Then take the block with the most invalid pages, if they are
        // enough.
        let victim = [chosen, candidates.most_invalid()]
            .into_iter()
            .flatten()
            .map(|position| BlockId(first.0 + position))
            .find(|&block| {
                blocks.accounts.table().invalid_pages(block) >= self.gain_min && blocks.accounts.fits(block)
            })?;
        blocks.accounts.mark_victim(victim);
        Some(victim)
    }

    /// Selects an index at which all planes that share superblocks with `plane` have a full block. Marks these blocks as victims and
    /// returns them, one for each plane. The invalid pages of all blocks with one index count together.
    fn begin_twins(&mut self, blocks: &mut BlockManager, plane: PlaneId) -> Option<Vec<BlockId>> {
        if !blocks.can_collect_twins(plane) {
            return None;
        }
        let (invalid, filled) = blocks.twin_candidates(plane);
        let counts = scale_to_u16(&invalid);
        let candidates = Candidates::new(plane, &counts, &filled);
        let most_invalid = candidates.most_invalid()?;
        let chosen = self.victim.select(&candidates, &mut self.random);
        let first = blocks.accounts.table().first_of_plane(plane);
        let victim = [chosen, Some(most_invalid)]
            .into_iter()
            .flatten()
            .filter(|&position| invalid[position as usize] >= self.gain_min)
            .map(|position| BlockId(first.0 + position))
            .find(|&block| blocks.twins_fit(block, 0))?;
        blocks.mark_twins(victim);
        Some(blocks.twins_of_block(victim).collect())
    }

    /// Begins static wear levelling of `plane` if the erase counts of its most erased block and of its least erased full block differ by more than
    /// the threshold. Marks the least erased full block as victim, with superblocks all blocks of its superblock, and returns the victims. The
    /// victims probably hold cold data; after their erase, they take new data and wear like other blocks.
    ///
    /// Returns `None` if static wear levelling is off, the difference is not larger, the plane is being collected, the valid pages have no room, a
    /// block of the superblock is not full, or the bounds of the erase counts have not changed since the last search.
    pub(in super::super) fn begin_wear_move(&self, blocks: &mut BlockManager, plane: PlaneId) -> Option<Vec<BlockId>> {
        if !self.wear.static_levelling {
            return None;
        }
        let threshold = self.wear.static_threshold;
        let account = blocks.accounts.plane(plane);
        if account.collecting > 0 || !account.wear.may_exceed(threshold) {
            return None;
        }
        let table = blocks.accounts.table();
        let least = table
            .blocks_of_plane(plane)
            .filter(|&block| table.state(block) == BlockState::Full)
            .min_by_key(|&block| table.erase_count(block))?;
        let erase_count_min = table.erase_count(least);
        let fits = match blocks.has_twins() {
            true => blocks.twins_are_full(least) && blocks.twins_fit(least, self.wear_margin(blocks)),
            false => blocks.accounts.fits(least),
        };
        let spread = blocks.accounts.plane_mut(plane).wear.set_min_erases(erase_count_min);
        if spread <= threshold || !fits {
            return None;
        }
        match blocks.has_twins() {
            true => blocks.mark_twins(least),
            false => blocks.accounts.mark_victim(least),
        }
        Some(blocks.superblock_blocks(least).collect())
    }

    /// Returns the number of pages that must stay free after static wear levelling of a superblock whose pages all are valid. Moved pages in blocks of
    /// their own find no room in those of host writes, and the last programs of the planes of a die leave units empty.
    fn wear_margin(&self, blocks: &BlockManager) -> u64 {
        if blocks.are_moves_shared() { 0 } else { u64::from(PARTIAL_PROGRAMS * self.gain_min) }
    }
}

/// Programs of a plane that the moves of one victim may leave partly empty: three in a random search of small drives, and one as a margin \[choice\].
const PARTIAL_PROGRAMS: u32 = 4;

/// Scales the numbers of invalid pages of superblocks to 16 bits: divides all of them by the smallest sufficient power of two.
fn scale_to_u16(counts: &[u32]) -> Vec<u16> {
    let most = counts.iter().copied().max().unwrap_or(0);
    let bits = (u32::BITS - most.leading_zeros()).saturating_sub(u16::BITS);
    counts.iter().map(|count| (count >> bits) as u16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::{Ftl, FtlRules, IdleDies};
    use crate::ids::Lpn;

    /// Returns the difference between the highest and the lowest erase count of a plane, after nearly all writes went to a tenth of the logical
    /// pages.
    fn spread(dynamic: bool, static_levelling: bool) -> u32 {
        let mut config = Config::default();
        config.geometry = config::Geometry {
            channels: 1,
            chips_per_channel: 1,
            planes_per_die: 1,
            blocks_per_plane: 64,
            pages_per_block: 16,
            over_provisioning: 0.2,
            ..config::Geometry::default()
        };
        config.wear = config::Wear { dynamic, static_levelling, static_threshold: THRESHOLD };
        let geometry = Geometry::new(&config.geometry).unwrap();
        let mut ftl = Ftl::new(&geometry, &config, FtlRules::new(&config));
        let idle = IdleDies::new(1);
        let mut random = SimRng::new(1);
        for lpn in 0..geometry.logical_pages {
            ftl.untimed().write(Lpn(lpn), &idle);
        }
        for _ in 0..100_000 {
            ftl.untimed().write(Lpn(random.below(geometry.logical_pages / 10)), &idle);
        }
        ftl.audit().unwrap();
        let erase_counts = || (0..geometry.blocks()).map(|block| ftl.blocks.erase_count(BlockId(block)));
        erase_counts().max().unwrap() - erase_counts().min().unwrap()
    }

    const THRESHOLD: u32 = 10;

    #[test]
    fn static_wear_levelling_keeps_erase_counts_together() {
        // A write moves at most one block, so a few erases can come before the move of the least erased block.
        assert!(spread(true, true) <= THRESHOLD + 3, "{}", spread(true, true));
        let unlevelled = spread(true, false);
        assert!(unlevelled > 10 * THRESHOLD, "the workload does not wear blocks unevenly: {unlevelled}");
    }

    #[test]
    fn no_block_is_moved_if_static_wear_levelling_is_off() {
        let config = Config::default();
        let geometry = Geometry::new(&config.geometry).unwrap();
        let mut ftl = Ftl::new(&geometry, &config, FtlRules::new(&config));
        ftl.blocks.accounts.plane_mut(PlaneId(0)).wear.erased(1000);
        assert_eq!(ftl.begin_wear_move(PlaneId(0)), None);
    }
}
