//! Twin blocks (TBM: Twin Block Management Policy to Enhance the Utilization of Plane-Level Parallelism in SSDs, IEEE CAL 2016):
//! the planes of a die use, collect and erase the blocks of one position together.
//!
//! - A block is opened in all planes of a die at once, so that they have one active block index. A plane that is behind when another one
//!   has filled its block gives up what it has left \[choice\]; it is behind by as many pages as programs went to other planes alone.
//! - Each page, written or moved, goes to the plane of its die that is furthest behind. So write pointers stay together, and the
//!   valid pages of a victim are spread evenly.
//! - A victim is a position. What its blocks have invalid together counts; they are free again when all of them are erased.
//!
//! A die so is one plane whose blocks and reserve are as many times as large, and never gets stuck for the same reasons.

use super::collection::Candidates;
use super::plane::Frontier;
use super::{BlockState, Ftl, Stream};
use crate::ids::{BlockId, PlaneId};

/// Twin blocks that are being erased.
#[derive(Clone, Debug)]
pub(super) struct Twins {
    /// By die: planes whose block of the victim is erased.
    erased: Vec<u32>,
}

impl Twins {
    pub(super) fn new(dies: u32) -> Twins {
        Twins { erased: vec![0; dies as usize] }
    }
}

impl Ftl {
    /// Whether the planes of a die use the same blocks together.
    #[inline]
    pub fn has_twins(&self) -> bool {
        self.twins.is_some()
    }

    fn twins_of(&self, plane: PlaneId) -> impl Iterator<Item = PlaneId> + use<> {
        let planes = self.geometry.planes_per_die;
        let first = plane.0 / planes * planes;
        (first..first + planes).map(PlaneId)
    }

    /// The blocks at `position` of the planes beside `plane`, that of `plane` among them.
    fn twin_blocks(&self, plane: PlaneId, position: u32) -> impl Iterator<Item = BlockId> + use<> {
        let blocks_per_plane = self.geometry.blocks_per_plane;
        self.twins_of(plane).map(move |twin| BlockId(twin.0 * blocks_per_plane + position))
    }

    fn position_of(&self, block: BlockId) -> u32 {
        block.0 % self.geometry.blocks_per_plane
    }

    /// Opens another block for `frontier` in all planes of a die.
    pub(super) fn open_twins(&mut self, plane: PlaneId, frontier: Frontier) -> Option<()> {
        if !self.planes[plane.index()].can_open(frontier) {
            return None;
        }
        for twin in self.twins_of(plane) {
            self.skip_open_pages(twin, frontier);
            self.open_alone(twin, frontier)?;
        }
        Some(())
    }

    /// The plane of the die of `plane` that takes the next page of `stream`: the one furthest behind, counting the pages that wait
    /// for it.
    pub fn twin_behind(&self, plane: PlaneId, stream: Stream, waiting: impl Fn(PlaneId) -> u32) -> PlaneId {
        let progress = |twin: PlaneId| {
            let account = &self.planes[twin.index()];
            let written = |frontier| account.open.get(frontier).next_page;
            let pointer = match stream {
                Stream::Translation | Stream::TranslationCollection => written(stream.frontier()),
                _ => written(account.open.of_host()) + written(Frontier::Collection),
            };
            pointer + waiting(twin)
        };
        self.twins_of(plane).min_by_key(|&twin| progress(twin)).unwrap_or(plane)
    }

    /// Whether the die of `plane` should be collected: a plane of it is short, none is being collected, and something can be gained.
    pub fn wants_twin_collection(&self, plane: PlaneId) -> bool {
        self.can_begin_twins(plane) && self.twins_of(plane).any(|twin| self.is_short(twin))
    }

    /// Whether the die of `plane` should be collected when it has nothing else to do.
    pub fn wants_background_twin_collection(&self, plane: PlaneId) -> bool {
        let is_low = |twin: PlaneId| self.planes[twin.index()].free_pages < self.collection.limits().background;
        self.can_begin_twins(plane) && self.twins_of(plane).any(is_low)
    }

    fn can_begin_twins(&self, plane: PlaneId) -> bool {
        let accounts = || self.twins_of(plane).map(|twin| &self.planes[twin.index()]);
        accounts().all(|account| account.collecting == 0) && accounts().any(|account| account.invalid_pages > 0)
    }

    /// Begins a collection of the die of `plane`: picks a position, and gives its blocks, one in each plane.
    ///
    /// `None` when no position that is full in all planes has an invalid page, or a collection of the die is under way.
    pub fn begin_twin_collection(&mut self, plane: PlaneId) -> Option<Vec<BlockId>> {
        if !self.can_begin_twins(plane) {
            return None;
        }
        let blocks_per_plane = self.geometry.blocks_per_plane;
        let is_full = |block: BlockId| self.blocks.state(block) == BlockState::Full;
        let candidate = |position: u32| {
            let blocks = || self.twin_blocks(plane, position);
            if !blocks().all(is_full) {
                return (0, 0);
            }
            let invalid: u32 = blocks().map(|block| self.blocks.invalid_pages(block)).sum();
            let filled = blocks().map(|block| self.blocks.filled(block)).max().unwrap_or(0);
            (invalid.min(u32::from(u16::MAX)) as u16, filled)
        };
        let (invalid, filled): (Vec<u16>, Vec<u32>) = (0..blocks_per_plane).map(candidate).unzip();
        let candidates = Candidates::new(&invalid, &filled);
        let most_invalid = candidates.most_invalid()?;
        let chosen = self.collection.choose_victim(&candidates);
        let fits = |&position: &u32| {
            let gains = u32::from(invalid[position as usize]) > 0 || self.translation.is_none();
            gains && self.twins_fit(plane, position)
        };
        let position = [chosen, Some(most_invalid)].into_iter().flatten().find(fits)?;
        Some(self.mark_twins(plane, position))
    }

    /// Whether a collection finds room for all valid pages at `position`.
    pub(super) fn twins_fit(&self, plane: PlaneId, position: u32) -> bool {
        let blocks = || self.twin_blocks(plane, position);
        let valid: u64 = blocks().map(|block| u64::from(self.valid_pages(block))).sum();
        let room = |(block, twin): (BlockId, PlaneId)| self.planes[twin.index()].collection_pages(self.moved_to(block));
        valid <= blocks().zip(self.twins_of(plane)).map(room).sum()
    }

    /// Whether the blocks at the position of `block` are full in all planes of the die.
    pub(super) fn twins_are_full(&self, block: BlockId) -> bool {
        let plane = self.blocks.plane_of(block);
        self.twin_blocks(plane, self.position_of(block)).all(|twin| self.blocks.state(twin) == BlockState::Full)
            && self.twins_of(plane).all(|twin| self.planes[twin.index()].collecting == 0)
    }

    /// Marks the blocks at the position of `block` as victims.
    pub(super) fn mark_twins_of(&mut self, block: BlockId) {
        self.mark_twins(self.blocks.plane_of(block), self.position_of(block));
    }

    /// The victims at the position of `victim`, one in each plane of the die.
    pub fn twins_of_victim(&self, victim: BlockId) -> Vec<BlockId> {
        self.twin_blocks(self.blocks.plane_of(victim), self.position_of(victim)).collect()
    }

    fn mark_twins(&mut self, plane: PlaneId, position: u32) -> Vec<BlockId> {
        let blocks: Vec<BlockId> = self.twin_blocks(plane, position).collect();
        blocks.iter().for_each(|&block| self.mark_victim(block));
        blocks
    }

    /// One block of a victim is erased: when all are, they are free.
    pub(super) fn twin_erased(&mut self, block: BlockId) {
        let plane = self.blocks.plane_of(block);
        let die = self.geometry.die_of_plane(plane).index();
        let Some(twins) = &mut self.twins else { return };
        twins.erased[die] += 1;
        if twins.erased[die] < self.geometry.planes_per_die {
            return;
        }
        twins.erased[die] = 0;
        let position = self.position_of(block);
        for twin in self.twin_blocks(plane, position) {
            self.free_erased(twin);
        }
        // All planes go on in the reserve as soon as one of them has come to it.
        let in_reserve = |twin: PlaneId| self.planes[twin.index()].open.pages_left(Frontier::Collection) > 0;
        if self.twins_of(plane).any(in_reserve) {
            for twin in self.twins_of(plane) {
                let written = self.planes[twin.index()].open.of_host();
                self.skip_open_pages(twin, written);
                self.take_over_reserve(twin);
            }
        }
    }

    /// Has the planes of each die use as many blocks, after each was filled by itself: those behind open others for `frontier`.
    pub(super) fn level_twins(&mut self, frontier: Frontier) {
        if !self.has_twins() {
            return;
        }
        for plane in (0..self.geometry.planes()).step_by(self.geometry.planes_per_die as usize).map(PlaneId) {
            let free = |ftl: &Ftl, twin: PlaneId| ftl.planes[twin.index()].free.len();
            let least = self.twins_of(plane).map(|twin| free(self, twin)).min().unwrap_or(0);
            for twin in self.twins_of(plane) {
                while free(self, twin) > least {
                    self.skip_open_pages(twin, frontier);
                    if self.open_alone(twin, frontier).is_none() {
                        break;
                    }
                }
            }
        }
    }

    /// Moves the valid pages of twin victims and erases them, at once. Gives how many pages it moved.
    pub(super) fn empty_twins_untimed(&mut self, victims: &[BlockId]) -> u64 {
        let mut moved = 0;
        for &victim in victims {
            let plane = self.blocks.plane_of(victim);
            let mut from_page = 0;
            while let Some((page, lpn)) = self.next_valid_page(victim, from_page) {
                let from = self.geometry.ppn(victim, page);
                let stream = self.stream_of_move(from);
                let to = self.twin_behind(plane, stream, |_| 0);
                let to = self.allocate_move(to, stream).expect("the reserve has room for a victim");
                self.commit_move(lpn, from, to);
                moved += 1;
                from_page = page + 1;
            }
        }
        victims.iter().for_each(|&victim| self.finish_erase(victim));
        moved
    }

    /// Checks that the planes of each die use the same blocks.
    pub(super) fn audit_twins(&self) -> Result<(), String> {
        if !self.has_twins() {
            return Ok(());
        }
        for block in (0..self.geometry.blocks()).map(BlockId) {
            let plane = self.blocks.plane_of(block);
            for twin in self.twin_blocks(plane, self.position_of(block)) {
                let is_free = |block| self.blocks.state(block) == BlockState::Free;
                if is_free(block) != is_free(twin) || self.erase_count(block) != self.erase_count(twin) {
                    return Err(format!(
                        "{block:?} is {:?} after {} erases, and its twin {twin:?} {:?} after {}",
                        self.blocks.state(block),
                        self.erase_count(block),
                        self.blocks.state(twin),
                        self.erase_count(twin)
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Config, FirmwarePolicy, MovedPages};
    use crate::engine::random::SimRng;
    use crate::flash::geometry::Geometry;
    use crate::ftl::IdleDies;
    use crate::ids::Lpn;
    use crate::units::Bytes;

    const PAGES: u32 = 3 * 10 * 8;

    /// A die of three planes, each of 16 blocks of 8 pages, of which the host sees 10.
    fn die(victim: config::VictimPolicy) -> Ftl {
        let mut config = Config::default();
        config.geometry = config::Geometry {
            channels: 1,
            chips_per_channel: 1,
            planes_per_die: 3,
            blocks_per_plane: 16,
            pages_per_block: 8,
            capacity: Some(Bytes::from_kib(4) * u64::from(PAGES)),
            ..config::Geometry::default()
        };
        config.ftl.policy = FirmwarePolicy::Tbm;
        config.gc.victim = victim;
        assert_eq!(config.gc.moved_pages, MovedPages::OwnBlock, "it says nothing under this policy");
        Ftl::new(&Geometry::new(&config.geometry).expect("the geometry is possible"), &config)
    }

    fn written(victim: config::VictimPolicy, writes: u32) -> Ftl {
        let mut ftl = die(victim);
        let (idle, mut random) = (IdleDies::new(1), SimRng::new(5));
        for lpn in 0..PAGES {
            ftl.write_untimed(Lpn(lpn), &idle);
        }
        for _ in 0..writes {
            ftl.write_untimed(Lpn(random.below(PAGES)), &idle);
        }
        ftl
    }

    #[test]
    fn planes_use_and_erase_the_same_blocks_under_every_choice_of_victims() {
        for &victim in config::VictimPolicy::ALL {
            let ftl = written(victim, 20_000);
            ftl.audit().expect("the tables agree, those of twins too");
            assert_eq!(ftl.mapped_pages(), u64::from(PAGES));
            let erases: u32 = (0..48).map(|block| ftl.erase_count(BlockId(block))).sum();
            assert!(erases > 1_000 && erases.is_multiple_of(3), "{victim:?}: {erases}");
        }
    }

    #[test]
    fn pages_go_round_the_planes_so_that_none_is_behind_by_more_than_one() {
        let mut ftl = die(config::VictimPolicy::Greedy);
        let idle = IdleDies::new(1);
        for lpn in 0..PAGES {
            // The pages of one plane only, by the static order.
            ftl.write_untimed(Lpn(lpn / 3 * 3), &idle);
            let pointers = [0, 1, 2].map(|plane| ftl.planes[plane].open.get(Frontier::SHARED).next_page % 8);
            let is_level =
                pointers.iter().max().zip(pointers.iter().min()).is_some_and(|(most, least)| most - least <= 1);
            assert!(is_level || pointers.contains(&0), "{pointers:?}");
        }
    }

    #[test]
    fn a_block_opened_in_one_plane_alone_is_found() {
        let mut ftl = written(config::VictimPolicy::Greedy, 0);
        let account = &mut ftl.planes[1];
        let block = account.free.pop().expect("there are free blocks");
        account.free_pages -= 8;
        ftl.blocks.open(block, false);
        let found = ftl.audit().expect_err("it has no twin");
        assert!(found.contains("its twin"), "{found}");
    }
}
