//! The flash translation layer: where a page lives.
//!
//! A pure state machine without time. The simulation asks where a page is or shall go, runs the flash operations, and
//! says when they have finished; a page becomes valid when its program finishes, not when its place is handed out.
//! Who decides what: [`allocation`] the plane, [`Ftl::allocate`] the page in it, [`collection`] the victim.
//!
//! # Why a plane never gets stuck
//!
//! Let a plane have B blocks of P pages. Its valid pages are at most (B - 4) P
//! ([`SPARE_BLOCKS_PER_PLANE_MIN`](crate::flash::geometry::SPARE_BLOCKS_PER_PLANE_MIN)): under static allocation they are a fixed
//! share of the pages of each namespace that has the plane, under dynamic allocation, and where pages move from chip to chip, each
//! namespace has a limit of its own on each of its planes, and planes without room are passed over. All shares, or all limits, of a
//! plane together are what [`Partition`] bounds, and the configuration is checked for; collection and wear levelling stay in their
//! plane, or go to a plane of the same namespace that has room, so they change nothing about it.
//!
//! When the host stream is out of space and no collection is running, the plane has one free block (the reserve, which
//! only a collection may open and which comes back when its victim is erased), at most one open block for collection and
//! one for placement. The other B - 3 or more are full once the programs in flight have finished. Were they all fully
//! valid, the plane would hold (B - 3) P valid pages; so at least P invalid pages lie in full blocks and
//! [`Ftl::begin_collection`] finds a victim. A victim with g invalid pages leaves g more pages to collection than it had
//! before, and after at most P of them a block is free for the host.
//!
//! When every full block is fully valid, there is nothing to gain: [`Ftl::wants_collection`] is false, so that
//! collection does not move the same pages round and round, however high its threshold.
//!
//! Where the map lies on flash, translation pages have two open blocks of their own in each plane, one for those that are
//! written and one for those that are moved, and two more blocks to spare ([`TRANSLATION_BLOCKS`]); they count as logical pages,
//! spread over the planes as all of them are. So B - 5 or more blocks are full when the host, or the map, is out of space, while
//! at most (B - 6) P pages are valid, and again P invalid pages lie in full blocks. A victim of either kind has the pages left
//! in the open block of its kind, and the reserve, to move to; each collection leaves more pages in one of the two than
//! before, so that after at most 2 P invalid pages a block is free.
//!
//! Where pages move from chip to chip, a plane has one more open block, for those that arrive, and one more block to spare;
//! [`Ftl::admit_copy`] says why nothing waits for it.
//!
//! Where writes get their pages early, at most P pages of a plane are handed out while their programs wait, and one more block
//! is to spare ([`BOUND_BLOCKS`]): a plane is as full as before when they are counted as valid beside their older versions.
//! Their blocks are not full, so none is collected; and what holds such a page waits for no other, so that
//! it is programmed in the end, and its block is full.
//!
//! Where each stream of the host writes to an open block of its own, a plane has one more open block for each stream beyond the
//! first that uses it, and as many more blocks to spare: when one stream is out of space, those of the others are open at worst,
//! and there is one full block fewer for each, as there is one of valid pages. Every stream counts, written or not, so that
//! none waits for a block that another took without a collection being wanted. Pages that are moved share one open
//! block whichever stream wrote them, like placement handles of NVMe that are initially isolated \[choice\]: keeping them apart would take as
//! many blocks to spare again in each plane, and a mark on every block of whose it is.

pub mod allocation;
mod arrival;
mod audit;
mod binding;
mod blocks;
pub mod collection;
mod commit;
mod mapping;
pub mod mapping_cache;
mod partition;
mod placement;
mod plane;
mod precondition;
mod reclaim;
#[cfg(test)]
mod testing;
mod translation;
mod wear;

pub use allocation::IdleDies;
pub use blocks::BlockState;
pub use partition::{Partition, spare_blocks_min};
pub use precondition::PreconditionReport;
pub use translation::{TRANSLATION_BLOCKS, TranslationPages};

use std::hint::black_box;

use allocation::Allocator;
use blocks::Blocks;
use mapping::Mapping;
use plane::{Frontier, Plane};

use crate::config::{self, Config};
use crate::engine::random::SimRng;
use crate::flash::geometry::Geometry;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn, StreamId};

/// Which open block of a plane a program goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Pages the host writes; each stream of the host has an open block of its own, or all use that of the first.
    Host(StreamId),
    /// Pages moved by garbage collection or wear levelling.
    Collection,
    /// Pages that they moved here from another chip.
    Arrival,
    /// Translation pages written back.
    Translation,
    /// Translation pages moved by garbage collection or wear levelling.
    TranslationCollection,
}

impl Stream {
    #[inline]
    fn frontier(self) -> Frontier {
        match self {
            Stream::Host(stream) => Frontier::Host(stream),
            Stream::Collection => Frontier::Collection,
            Stream::Arrival => Frontier::Arrival,
            Stream::Translation => Frontier::Translation,
            Stream::TranslationCollection => Frontier::TranslationCollection,
        }
    }
}

/// A page-level flash translation layer.
///
/// Two things are expected of its user. A page allocated is programmed and committed ([`Ftl::commit_write`],
/// [`Ftl::commit_move`]) whatever happens meanwhile. And a plane has one program in flight at a time for each stream,
/// as a die does one thing at a time, but for what [`Ftl::bind`] allows; more of them work too, but then a drive at its smallest spare area may run out of
/// pages to place unwritten data on.
#[derive(Debug)]
pub struct Ftl {
    geometry: Geometry,
    mapping: Mapping,
    blocks: Blocks,
    planes: Vec<Plane>,
    allocation: allocation::Policy,
    victim: collection::Policy,
    random: SimRng,
    limits: Limits,
    gc: config::Gc,
    wear: config::Wear,
    translation: Option<TranslationPages>,
    /// Where pages read before they were written are placed.
    first_touch: config::FirstTouch,
    partition: Partition,
    /// Whether the allocator is told of every page that comes to a plane or leaves it.
    counts_parts: bool,
}

/// Limits of every plane, in pages.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Fewer free pages than this ask for collection.
    collection: u32,
    /// Fewer free pages than this ask for it urgently.
    urgent: u32,
    /// Fewer free pages than this ask for it when the die is idle.
    background: u32,
}

impl Limits {
    fn new(geometry: &Geometry, gc: &config::Gc) -> Limits {
        let pages = geometry.pages_per_plane();
        let share = |share: f64| (f64::from(pages) * share).ceil() as u32;
        // Even a plane of few blocks is collected while the host still has a block to write to.
        let reserve = plane::RESERVE_BLOCKS * geometry.pages_per_block;
        Limits {
            collection: share(gc.threshold).max(reserve + geometry.pages_per_block),
            urgent: share(gc.hard_threshold).max(reserve),
            background: share(gc.background_threshold),
        }
    }
}

/// How full the planes are, as [`Allocator`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Occupancy<'a> {
    planes: &'a [Plane],
    mapping: &'a Mapping,
    pages_per_plane: u32,
}

impl<'a> Occupancy<'a> {
    #[inline]
    fn new(planes: &'a [Plane], mapping: &'a Mapping, geometry: &Geometry) -> Occupancy<'a> {
        Occupancy { planes, mapping, pages_per_plane: geometry.pages_per_plane() }
    }

    /// Pages that `plane` awaits from other chips: one or none.
    #[inline]
    pub fn awaited(&self, plane: PlaneId) -> u32 {
        u32::from(self.planes[plane.index()].awaits_arrival)
    }

    /// The valid pages of `plane`.
    #[inline]
    pub fn valid_pages(&self, plane: PlaneId) -> u32 {
        self.planes[plane.index()].valid_pages
    }

    /// The plane that holds `lpn` now.
    pub fn current_plane(&self, lpn: Lpn) -> Option<PlaneId> {
        self.mapping.get(lpn).map(|ppn| PlaneId(ppn.0 / self.pages_per_plane))
    }
}

impl Ftl {
    /// The translation layer of a drive that was never written. Takes no time and memory that grows with the number of
    /// pages, but for translation pages: tables are touched when their pages are.
    ///
    /// # Panics
    /// When the namespaces of `config` do not fit the drive: [`Partition::new`] says so before.
    pub fn new(geometry: &Geometry, config: &Config) -> Ftl {
        let partition = Partition::new(geometry, config).unwrap_or_else(|error| panic!("{error}"));
        Ftl::divided(geometry, config, partition, TranslationPages::new(geometry, &config.mapping))
    }

    fn divided(
        geometry: &Geometry,
        config: &Config,
        partition: Partition,
        translation: Option<TranslationPages>,
    ) -> Ftl {
        let planes = (0..geometry.planes()).map(|plane| {
            let plane = PlaneId(plane);
            let first = geometry.first_block(plane);
            let mut account =
                Plane::new(first, geometry.blocks_per_plane, geometry.pages_per_block, config.wear.dynamic);
            account.translates = translation.is_some();
            account.admit_writers(partition.writers(plane));
            account
        });
        let pages_leave = config.gc.r#move == config::Move::ChipToChip;
        let translation_end = translation.map_or(0, |translation| translation.all().end);
        let logical_pages = geometry.logical_pages.max(partition.end()).max(translation_end);
        let mut ftl = Ftl {
            mapping: Mapping::new(logical_pages, geometry.pages()),
            blocks: Blocks::new(geometry),
            planes: planes.collect(),
            allocation: allocation::Policy::new(geometry, &partition, config.ftl.allocation, pages_leave),
            victim: collection::Policy::new(geometry, &config.gc),
            random: SimRng::new(config.seed ^ SEED_OF_VICTIMS),
            limits: Limits::new(geometry, &config.gc),
            gc: config.gc.clone(),
            wear: config.wear.clone(),
            translation,
            first_touch: config.ftl.first_touch,
            geometry: geometry.clone(),
            counts_parts: partition.parts.len() > 1
                && (pages_leave || config.ftl.allocation == config::Allocation::Dynamic),
            partition,
        };
        ftl.lay_out_translation();
        ftl.count_parts(translation.map_or(0..0, |translation| translation.all()));
        ftl
    }

    /// Where `lpn` is; `None` when it was never written, or deallocated.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.mapping.get(lpn)
    }

    /// Loads the map entries of `lpns` into the cache, all misses at once. Changes nothing else: worth calling on the
    /// pages of requests that are about to be translated.
    #[inline]
    pub fn touch(&self, lpns: impl Iterator<Item = Lpn>) {
        self.mapping.touch(lpns);
    }

    /// As [`Ftl::touch`], for pages about to be written: loads what tells of their older versions too.
    #[inline]
    pub fn touch_writes(&self, lpns: &[Lpn]) {
        self.mapping.touch(lpns.iter().copied());
        black_box(lpns.iter().fold(0, |sum, &lpn| match self.mapping.get(lpn) {
            Some(ppn) => sum ^ self.blocks.touch(ppn),
            None => sum,
        }));
    }

    /// The plane that the next version of `lpn` goes to. Every page placed is to be allocated and committed there.
    #[inline]
    pub fn place_write(&mut self, lpn: Lpn, idle: &IdleDies) -> PlaneId {
        let occupancy = Occupancy::new(&self.planes, &self.mapping, &self.geometry);
        self.allocation.place(lpn, &occupancy, idle)
    }

    /// Which open block of `plane` takes what `stream` of the host writes there: its own where streams are kept apart. Of a stream
    /// that uses no namespace with this plane, or of none, that of the first which does.
    #[inline]
    pub fn host_stream(&self, plane: PlaneId, stream: Option<StreamId>) -> Stream {
        Stream::Host(self.planes[plane.index()].writer(stream))
    }

    /// What [`Ftl::allocate`] would give: the block and the page in it.
    #[inline]
    pub fn next_page_offset(&self, plane: PlaneId, stream: Stream) -> Option<(BlockId, u32)> {
        let account = &self.planes[plane.index()];
        let frontier = stream.frontier();
        if account.open_pages(frontier) > 0 {
            let open = account.open_block(frontier);
            return Some((open.block, open.next_page));
        }
        if account.can_open(frontier) { account.free.peek().map(|block| (block, 0)) } else { None }
    }

    /// The next page of the open block of `stream`, opening another block when it is full.
    ///
    /// `None` for the host when only the reserve of collection is left; for collection only when that is used up too,
    /// which one collection at a time cannot do.
    #[inline]
    pub fn allocate(&mut self, plane: PlaneId, stream: Stream) -> Option<Ppn> {
        self.allocate_from(plane, stream.frontier())
    }

    #[inline]
    fn allocate_from(&mut self, plane: PlaneId, frontier: Frontier) -> Option<Ppn> {
        if self.planes[plane.index()].open_pages(frontier) == 0 {
            self.open_block(plane, frontier)?;
        }
        let account = &mut self.planes[plane.index()];
        let open = account.open_block_mut(frontier);
        let ppn = self.geometry.ppn(open.block, open.next_page);
        open.next_page += 1;
        account.free_pages -= 1;
        Some(ppn)
    }

    /// Opens another block for `frontier`; `None` when it has to leave those that are free.
    fn open_block(&mut self, plane: PlaneId, frontier: Frontier) -> Option<()> {
        let account = &mut self.planes[plane.index()];
        if !account.can_open(frontier) {
            return None;
        }
        let block = account.free.pop()?;
        self.blocks.open(block, frontier.is_translation());
        *account.open_block_mut(frontier) = plane::OpenBlock { block, next_page: 0 };
        Some(())
    }

    /// Pages of `plane` that can be allocated, those of the reserve included.
    #[inline]
    pub fn free_pages(&self, plane: PlaneId) -> u32 {
        self.planes[plane.index()].free_pages
    }

    /// Valid pages of `block`.
    #[inline]
    pub fn valid_pages(&self, block: BlockId) -> u32 {
        self.blocks.valid_pages(block)
    }

    /// How often `block` was erased.
    #[inline]
    pub fn erase_count(&self, block: BlockId) -> u32 {
        self.blocks.erase_count(block)
    }

    /// What `block` is being used for.
    pub fn block_state(&self, block: BlockId) -> BlockState {
        self.blocks.state(block)
    }

    /// Logical pages that are somewhere on the drive, translation pages among them.
    pub fn mapped_pages(&self) -> u64 {
        self.planes.iter().map(|plane| u64::from(plane.valid_pages)).sum()
    }
}

/// Keeps the random choices of victims apart from all others that grow from the seed of a run.
const SEED_OF_VICTIMS: u64 = 0x6674_6c2d_7669_6374;

#[cfg(test)]
mod tests {
    use super::testing::one_plane;
    use super::*;

    fn drive(threshold: f64) -> Ftl {
        let mut config = Config::default();
        config.gc.threshold = threshold;
        one_plane(config)
    }

    const PLANE: PlaneId = PlaneId(0);
    const HOST: Stream = Stream::Host(StreamId(0));

    fn write(ftl: &mut Ftl, lpn: u32) {
        let ppn = ftl.allocate(PLANE, HOST).unwrap();
        ftl.commit_write(Lpn(lpn), ppn);
    }

    #[test]
    fn a_block_is_full_when_all_its_programs_have_finished_in_whatever_order() {
        let mut ftl = drive(0.02);
        let allocated: Vec<Ppn> = (0..20).map(|_| ftl.allocate(PLANE, HOST).unwrap()).collect();
        for (lpn, &ppn) in allocated.iter().enumerate().rev() {
            assert_eq!(ftl.block_state(BlockId(0)), BlockState::Open);
            assert_eq!(ftl.lookup(Lpn(lpn as u32)), None, "a page is not valid before its program has finished");
            ftl.commit_write(Lpn(lpn as u32), ppn);
            assert_eq!(ftl.block_state(BlockId(1)) == BlockState::Full, lpn <= 8);
            ftl.audit().unwrap();
        }
        assert_eq!(ftl.block_state(BlockId(0)), BlockState::Full);
    }

    #[test]
    fn a_small_plane_is_collected_while_the_host_still_has_pages() {
        // 2 % of 128 pages are less than a block.
        let mut ftl = drive(0.02);
        (0..13 * 8).for_each(|i| write(&mut ftl, i % 80));
        assert!(!ftl.wants_collection(PLANE));
        (0..9).for_each(|i| write(&mut ftl, i));
        assert!(ftl.wants_collection(PLANE) && !ftl.is_urgent(PLANE));
        (9..16).for_each(|i| write(&mut ftl, i));
        assert_eq!(ftl.free_pages(PLANE), 8, "only the reserve is left");
        assert!(ftl.wants_collection(PLANE) && ftl.is_urgent(PLANE));
        assert_eq!(ftl.allocate(PLANE, HOST), None);
        assert!(ftl.allocate(PLANE, Stream::Collection).is_some());
    }

    #[test]
    fn nothing_is_collected_while_every_full_block_is_fully_valid() {
        // A threshold that the drive cannot reach: collection must not move the same pages round and round.
        let mut ftl = drive(0.5);
        (0..80).for_each(|lpn| write(&mut ftl, lpn));
        assert!(ftl.free_pages(PLANE) < 64);
        assert!(!ftl.wants_collection(PLANE));
        assert_eq!(ftl.begin_collection(PLANE), None);
        assert!(ftl.deallocate(Lpn(17)) && !ftl.deallocate(Lpn(17)));
        assert!(ftl.wants_collection(PLANE));
        assert_eq!(ftl.begin_collection(PLANE), Some(BlockId(2)));
    }

    #[test]
    fn a_page_rewritten_while_it_is_moved_is_dead_on_arrival() {
        let mut ftl = drive(0.5);
        (0..80).for_each(|lpn| write(&mut ftl, lpn));
        ftl.deallocate(Lpn(0));
        let victim = ftl.begin_collection(PLANE).unwrap();
        let (page, lpn) = ftl.next_valid_page(victim, 0).unwrap();
        let (from, to) = (Ppn(page), ftl.allocate(PLANE, Stream::Collection).unwrap());
        write(&mut ftl, lpn.0);
        let newest = ftl.lookup(lpn);
        assert!(!ftl.commit_move(lpn, from, to));
        assert_eq!(ftl.lookup(lpn), newest);
        ftl.audit().unwrap();
    }
}
