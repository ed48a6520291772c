//! Twin blocks: the planes of a [superblock](Superblocks) open, collect and erase the blocks at one position (index in the plane) together. With
//! superblocks of one die this is TBM (Twin Block Management Policy to Enhance the Utilization of Plane-Level Parallelism in SSDs, IEEE CAL 2016).
//!
//! - A block is opened in all planes at once, so that they write to blocks at the same position. If a plane has pages left when another
//!   plane has filled its block, these pages are skipped \[choice\].
//! - Each page, written or moved, goes to the plane that is furthest behind: the plane with the fewest whole programs in its open blocks. So write
//!   pointers stay together, and the valid pages of a victim are spread evenly.
//! - A victim consists of the blocks at one position in all planes, and its invalid pages are those of all these blocks. The blocks are freed once
//!   all of them are erased.
//!
//! So the planes together act like one plane with larger blocks and a larger reserve, and never run out of space, for the same reasons as a single
//! plane.
//!
//! If a program holds several mapping units, a die is programmed in rows: one program in each of its planes. Units that a row leaves unfilled are lost
//! until the erase. The reserve covers this loss:
//!
//! - A moved unit opens a new row of a die only after every unit of the earlier rows of all dies was assigned, and a row takes every queued unit that
//!   fits. So a victim leaves at most the last row of each die partly empty.
//! - Units also stay empty if the host overwrites a page while the page moves. Such a page needs no room any more.
//! - A collection takes only a superblock with as many invalid units as one row of each die has. A superblock whose units all are valid (static wear
//!   levelling) fills as many whole rows as the reserve has.

use super::{BlockManager, BlockState};
use crate::ftl::Superblocks;
use crate::ftl::division::superblocks::SuperblockPlanes;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::{BlockId, PlaneId};

/// Division of the planes into superblocks, and the progress of the erases of their victims.
#[derive(Clone, Debug)]
pub(super) struct Twins {
    superblocks: Superblocks,
    /// Number of blocks of the current victim that have been erased, indexed by set of planes that share superblocks.
    erased: Vec<u32>,
}

impl Twins {
    pub(super) fn new(superblocks: Superblocks) -> Twins {
        Twins { superblocks, erased: vec![0; superblocks.count() as usize] }
    }
}

impl BlockManager {
    /// Returns whether the drive has superblocks: sets of planes that open, collect and erase blocks together.
    #[inline]
    pub(crate) fn has_twins(&self) -> bool {
        self.twins.is_some()
    }

    /// Returns the division of the planes into superblocks; without superblocks, one set of planes for each die.
    #[inline]
    pub(crate) fn superblocks(&self) -> Superblocks {
        self.twins.as_ref().map_or_else(|| Superblocks::new(&self.accounts.geometry, 1), |twins| twins.superblocks)
    }

    /// Returns the planes that share superblocks with `plane`, including `plane`; without superblocks, the planes of its die.
    #[inline]
    pub(in super::super) fn twins_of(&self, plane: PlaneId) -> SuperblockPlanes {
        self.superblocks().members(plane)
    }

    /// Returns the blocks at `position` (index in the plane) in the planes that share superblocks with `plane`.
    fn twin_blocks(&self, plane: PlaneId, position: u32) -> impl Iterator<Item = BlockId> + use<> {
        let blocks_per_plane = self.accounts.geometry.blocks_per_plane;
        self.twins_of(plane).map(move |twin| BlockId(twin.0 * blocks_per_plane + position))
    }

    /// Returns the planes that open, collect and erase blocks together with `plane`; without superblocks, only `plane`.
    pub(crate) fn superblock_planes(&self, plane: PlaneId) -> impl Iterator<Item = PlaneId> + use<> {
        let has_twins = self.has_twins();
        self.twins_of(plane).filter(move |&twin| has_twins || twin == plane)
    }

    /// Returns whether two planes belong to the same superblocks; always false without superblocks.
    pub(crate) fn share_superblocks(&self, one: PlaneId, other: PlaneId) -> bool {
        let superblocks = self.superblocks();
        self.has_twins() && superblocks.index_of(one) == superblocks.index_of(other)
    }

    /// Returns the blocks that are opened, collected and erased together with `block`, in the order of their planes; without superblocks, only
    /// `block`.
    pub(in super::super) fn superblock_blocks(&self, block: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        let has_twins = self.has_twins();
        self.twins_of_block(block).filter(move |&twin| has_twins || twin == block)
    }

    /// Returns the blocks at the position (index in the plane) of `block`, one in each plane of the superblock, including `block`.
    pub(in super::super) fn twins_of_block(&self, block: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        self.twin_blocks(self.accounts.table.plane_of(block), self.accounts.position_of(block))
    }

    /// Opens the next free block for data of kind `stream` in all planes that share superblocks with `plane`, after skipping the pages left in their
    /// open blocks of this kind. Returns `None` if one of the planes has no free block.
    pub(super) fn open_twins(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<()> {
        for twin in self.twins_of(plane) {
            self.accounts.skip_open_pages(twin, stream);
            self.accounts.open(twin, stream)?;
        }
        Some(())
    }

    /// Returns the number of pages allocated in the open block of kind `stream` in `plane`. If moved pages go to the open block of host writes, the
    /// open blocks of both kinds count together.
    #[inline]
    pub(crate) fn open_block_pages(&self, plane: PlaneId, stream: OpenBlockKind) -> u32 {
        let open = &self.accounts.planes[plane.index()].open;
        let written = |stream| open.get(stream).next_page;
        match stream {
            OpenBlockKind::Host(_) | OpenBlockKind::Collection if self.moves_share_write_block => {
                written(open.host_block_kind(None)) + written(OpenBlockKind::Collection)
            }
            _ => written(stream),
        }
    }

    /// Returns how many whole programs the open blocks for `stream` (a kind of data) in `plane` will contain after `waiting` more pages. Partly
    /// filled programs do not count, so that the units of one program go to one plane.
    #[inline]
    pub(crate) fn twin_progress(&self, plane: PlaneId, stream: OpenBlockKind, waiting: u32) -> u32 {
        self.accounts.geometry.programs_of(self.open_block_pages(plane, stream) + waiting, stream == OpenBlockKind::Slc)
    }

    /// Returns the plane whose open blocks contain the fewest whole programs of kind `stream`, among the planes that share superblocks with `plane`,
    /// and the number of pages missing to complete its next program. Unless pages are pending, the next page of this kind goes to that plane, and so
    /// do the following ones until the program is complete or a block is opened.
    pub(in super::super) fn twin_behind(&self, plane: PlaneId, stream: OpenBlockKind) -> (PlaneId, u32) {
        let in_slc = stream == OpenBlockKind::Slc;
        let program =
            if in_slc { self.accounts.geometry.units_per_page } else { self.accounts.geometry.units_per_program };
        // A plane with `programmed` or more pages cannot have fewer programs, so skip the division for it.
        let (mut behind, mut lacks, mut programmed) = (plane, program, u32::MAX);
        for twin in self.twins_of(plane) {
            let pages = self.open_block_pages(twin, stream);
            if pages < programmed {
                programmed = self.accounts.geometry.programs_of(pages, in_slc) * program;
                (behind, lacks) = (twin, programmed + program - pages);
            }
        }
        (behind, lacks)
    }

    /// Returns whether a collection of the planes that share superblocks with `plane` may begin: no collection of these planes is in
    /// progress, and a full block in one of them has invalid pages.
    pub(in super::super) fn can_collect_twins(&self, plane: PlaneId) -> bool {
        let accounts = || self.twins_of(plane).map(|twin| &self.accounts.planes[twin.index()]);
        accounts().all(|account| account.collecting == 0) && accounts().any(|account| account.invalid_pages > 0)
    }

    /// Returns two tables, indexed by position (index of a block in its plane), over the blocks at this position in all planes that share superblocks
    /// with `plane`: the sum of their invalid pages, and the sequence number at which the last of them was filled. Both are 0 for positions at which
    /// any block is not full.
    pub(in super::super) fn twin_candidates(&self, plane: PlaneId) -> (Vec<u32>, Vec<u32>) {
        let positions = self.accounts.geometry.blocks_per_plane as usize;
        let (mut invalid, mut last) = (vec![0; positions], vec![0; positions]);
        // For each position, the sequence number at which the first of its blocks was filled; 0 if one of the blocks is not full.
        let mut first = vec![u32::MAX; positions];
        for twin in self.twins_of(plane) {
            let (invalid_pages, filled) = self.accounts.table.full_blocks(twin);
            invalid.iter_mut().zip(invalid_pages).for_each(|(sum, &pages)| *sum += u32::from(pages));
            last.iter_mut().zip(filled).for_each(|(last, &filled)| *last = filled.max(*last));
            first.iter_mut().zip(filled).for_each(|(first, &filled)| *first = filled.min(*first));
        }
        for (position, _) in first.iter().enumerate().filter(|&(_, &first)| first == 0) {
            (invalid[position], last[position]) = (0, 0);
        }
        (invalid, last)
    }

    /// Returns whether the planes of the superblock together have enough free pages for all valid pages of the superblock that contains `block`, and
    /// for `margin` more.
    pub(in super::super) fn twins_fit(&self, block: BlockId, margin: u64) -> bool {
        let blocks = || self.twins_of_block(block);
        let valid: u64 = blocks().map(|twin| u64::from(self.accounts.table.valid_pages(twin))).sum();
        let room = |twin: BlockId| {
            let account = &self.accounts.planes[self.accounts.table.plane_of(twin).index()];
            account.collection_pages(self.accounts.move_block_kind(twin))
        };
        valid + margin <= blocks().map(room).sum()
    }

    /// Returns whether all blocks of the superblock that contains `block` are full, and none of its planes is being collected.
    pub(in super::super) fn twins_are_full(&self, block: BlockId) -> bool {
        self.twins_of_block(block).all(|twin| self.accounts.table.state(twin) == BlockState::Full)
            && self
                .twins_of(self.accounts.table.plane_of(block))
                .all(|twin| self.accounts.planes[twin.index()].collecting == 0)
    }

    /// Marks all blocks of the superblock that contains `block` as victims.
    pub(in super::super) fn mark_twins(&mut self, block: BlockId) {
        self.twins_of_block(block).for_each(|twin| self.accounts.mark_victim(twin));
    }

    /// Records the erase of `block`, one of the victims of a superblock. Once all of them are erased, frees them.
    pub(super) fn twin_erased(&mut self, block: BlockId) {
        let plane = self.accounts.table.plane_of(block);
        let Some(Twins { superblocks, erased }) = &mut self.twins else { return };
        let erased = &mut erased[superblocks.index_of(plane) as usize];
        *erased += 1;
        if *erased < superblocks.planes() {
            return;
        }
        *erased = 0;
        if self.accounts.geometry.is_slc(block) {
            return self.twins_of_block(block).for_each(|twin| self.accounts.free_folded(twin));
        }
        self.twins_of_block(block).for_each(|twin| self.accounts.free_erased(twin));
        if !self.moves_share_write_block {
            return;
        }
        // If collection has opened the reserve (last free block) and left pages in it in any plane, host writes of all planes continue in
        // these blocks.
        let in_reserve =
            |twin: PlaneId| self.accounts.planes[twin.index()].open.pages_left(OpenBlockKind::Collection) > 0;
        if self.twins_of(plane).any(in_reserve) {
            for twin in self.twins_of(plane) {
                let written = self.accounts.planes[twin.index()].open.host_block_kind(None);
                self.accounts.skip_open_pages(twin, written);
                self.accounts.take_over_reserve(twin);
            }
        }
    }

    /// Makes planes that share superblocks use the same number of blocks, after each plane was filled alone. Planes that use fewer blocks than others
    /// open further blocks for data of kind `stream`, and skip the pages left in their previous open block of this kind.
    pub(in super::super) fn level_twins(&mut self, stream: OpenBlockKind) {
        if !self.has_twins() {
            return;
        }
        for set in 0..self.superblocks().count() {
            let plane = PlaneId(set * self.accounts.geometry.planes_per_die);
            let free = |blocks: &BlockManager, twin: PlaneId| blocks.accounts.planes[twin.index()].free.len();
            let least = self.twins_of(plane).map(|twin| free(self, twin)).min().unwrap_or(0);
            for twin in self.twins_of(plane) {
                while free(self, twin) > least {
                    self.accounts.skip_open_pages(twin, stream);
                    if self.accounts.open(twin, stream).is_none() {
                        break;
                    }
                }
            }
        }
    }

    /// Checks that the blocks of one superblock are either all free or all in use, and have equal erase counts. Returns a description of the first
    /// fault.
    pub(super) fn audit_twins(&self) -> Result<(), String> {
        if !self.has_twins() {
            return Ok(());
        }
        for block in (0..self.accounts.geometry.blocks()).map(BlockId) {
            for twin in self.twins_of_block(block) {
                let use_of = |block| {
                    (self.accounts.table.state(block) == BlockState::Free, self.accounts.table.erase_count(block))
                };
                if use_of(block) != use_of(twin) {
                    return Err(format!(
                        "{block:?} is {:?} after {} erases, and its twin {twin:?} {:?} after {}",
                        self.accounts.table.state(block),
                        self.accounts.table.erase_count(block),
                        self.accounts.table.state(twin),
                        self.accounts.table.erase_count(twin)
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
    use crate::config::{self, Config};
    use crate::engine::random::SimRng;
    use crate::flash::geometry::Geometry;
    use crate::ftl::{Ftl, FtlRules, IdleDies};
    use crate::ids::Lpn;
    use crate::units::Bytes;

    const PAGES: u32 = 3 * 10 * 8;

    /// Creates a die of three planes with 16 blocks of 8 pages each; the capacity is 10 blocks per plane.
    fn die(victim: config::VictimPolicy, moves_share_write_block: bool) -> Ftl {
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
        config.gc.victim = victim;
        let rules = FtlRules { superblock_dies: Some(1), moves_share_write_block, ..FtlRules::new(&config) };
        Ftl::new(&Geometry::new(&config.geometry).expect("the geometry is valid"), &config, rules)
    }

    fn written(victim: config::VictimPolicy, moves_share_write_block: bool, writes: u32) -> Ftl {
        let mut ftl = die(victim, moves_share_write_block);
        let (idle, mut random) = (IdleDies::new(1), SimRng::new(5));
        for lpn in 0..PAGES {
            ftl.untimed().write(Lpn(lpn), &idle);
        }
        for _ in 0..writes {
            ftl.untimed().write(Lpn(random.below(PAGES)), &idle);
        }
        ftl
    }

    #[test]
    fn planes_use_and_erase_the_same_blocks_under_every_victim_policy() {
        for (&victim, shares) in config::VictimPolicy::ALL.iter().flat_map(|victim| [(victim, true), (victim, false)]) {
            let ftl = written(victim, shares, 20_000);
            ftl.audit().expect("the tables agree, those of twins too");
            assert_eq!(ftl.blocks.valid_pages_of_drive(), u64::from(PAGES));
            let erases: u32 = (0..48).map(|block| ftl.blocks.erase_count(BlockId(block))).sum();
            assert!(erases > 1_000 && erases.is_multiple_of(3), "{victim:?}, shared {shares}: {erases}");
        }
    }

    #[test]
    fn write_pointers_of_the_planes_differ_by_at_most_one_page() {
        let mut ftl = die(config::VictimPolicy::Greedy, true);
        let idle = IdleDies::new(1);
        for lpn in 0..PAGES {
            // Write only pages that the static order puts on plane 0. Nevertheless all three planes must be written evenly.
            ftl.untimed().write(Lpn(lpn / 3 * 3), &idle);
            let pointers =
                [0, 1, 2].map(|plane| ftl.blocks.accounts.planes[plane].open.get(OpenBlockKind::SHARED).next_page % 8);
            let is_level =
                pointers.iter().max().zip(pointers.iter().min()).is_some_and(|(most, least)| most - least <= 1);
            assert!(is_level || pointers.contains(&0), "{pointers:?}");
        }
    }

    #[test]
    fn moved_pages_in_blocks_of_their_own_are_spread_evenly_whatever_the_host_writes() {
        let mut ftl = die(config::VictimPolicy::Greedy, false);
        let (idle, mut random) = (IdleDies::new(1), SimRng::new(5));
        for lpn in 0..PAGES {
            ftl.untimed().write(Lpn(lpn), &idle);
        }
        let (mut written, mut moved) = (0, 0);
        for _ in 0..5_000 {
            ftl.untimed().write(Lpn(random.below(PAGES)), &idle);
            let open = |plane: usize, stream| *ftl.blocks.accounts.planes[plane].open.get(stream);
            let spread = |stream| {
                let pages = [0, 1, 2].map(|plane| open(plane, stream).next_page);
                pages.iter().max().zip(pages.iter().min()).map_or(0, |(most, least)| most - least)
            };
            assert!(spread(OpenBlockKind::SHARED) <= 1 && spread(OpenBlockKind::Collection) <= 1);
            let [host, moving] = [OpenBlockKind::SHARED, OpenBlockKind::Collection].map(|stream| open(0, stream));
            let are_open = host.next_page < 8 && moving.next_page < 8;
            assert!(!are_open || host.block != moving.block, "host writes and moved pages share no block");
            (written, moved) =
                (written + u32::from(spread(OpenBlockKind::SHARED) == 1), moved + spread(OpenBlockKind::Collection));
        }
        assert!(written > 1_000 && moved > 1_000, "pointers differed by a page {written} and {moved} times");
    }

    #[test]
    fn a_block_opened_in_one_plane_alone_is_detected() {
        let mut ftl = written(config::VictimPolicy::Greedy, true, 0);
        let account = &mut ftl.blocks.accounts.planes[1];
        let block = account.free.pop().expect("there are free blocks");
        account.free_pages -= 8;
        ftl.blocks.accounts.table.open(block, false);
        let found = ftl.audit().expect_err("the block has no twin");
        assert!(found.contains("its twin"), "{found}");
    }
}
