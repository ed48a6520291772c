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
//! only a collection may open and which comes back when its victim is erased) and at most one open block for collection. The
//! other B - 2 or more are full once the programs in flight have finished. Were they all fully valid, the plane would hold
//! (B - 2) P valid pages; so at least 2 P invalid pages lie in full blocks and [`Ftl::begin_collection`] finds a victim. A victim with g invalid pages leaves g more pages to collection than it had
//! before, and after at most P of them a block is free for the host.
//!
//! When every full block is fully valid, there is nothing to gain: [`Ftl::wants_collection`] is false, so that
//! collection does not move the same pages round and round, however high its threshold.
//!
//! Where the map lies on flash, translation pages have two open blocks of their own in each plane, one for those that are
//! written and one for those that are moved, and two more blocks to spare ([`TRANSLATION_BLOCKS`]); they count as logical pages,
//! spread over the planes as all of them are. So B - 4 or more blocks are full when the host, or the map, is out of space, while
//! at most (B - 6) P pages are valid, and again 2 P invalid pages lie in full blocks. A victim of either kind has the pages left
//! in the open block of its kind, and the reserve, to move to; each collection leaves more pages in one of the two than
//! before, so that after at most 2 P invalid pages a block is free.
//!
//! Where pages move from chip to chip, a plane has one more open block, for those that arrive, and one more block to spare;
//! [`Ftl::admit_copy`] says why nothing waits for it.
//!
//! Where writes get their pages early, at most P pages of a plane are handed out while their programs wait, and one more block
//! is to spare ([`PREALLOCATED_BLOCKS`]): a plane is as full as before when they are counted as valid beside their older versions.
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
mod blocks;
pub mod collection;
mod commit;
mod mapping;
pub mod mapping_cache;
mod moved;
mod occupancy;
mod open_blocks;
mod partition;
mod placement;
mod plane;
mod preallocation;
mod precondition;
mod prepared;
mod reclaim;
mod replicas;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod translation;
mod twins;
mod wear;

pub use allocation::{DriveView, IdleDies, PageRead, PageWrite, RequestPart};
pub use blocks::BlockState;
pub use occupancy::Occupancy;
pub use partition::{Partition, spare_blocks_min};
pub use precondition::{PreconditionReport, Watch};
pub use prepared::PreparedDrives;
pub use translation::{TRANSLATION_BLOCKS, TranslationPages};

use allocation::Allocator;
use blocks::Blocks;
use collection::VictimSelector;
use mapping::Mapping;
use open_blocks::OpenBlock;
use plane::{Frontier, Plane};
use replicas::Replicas;

use crate::config::{Allocation, Config, FirmwarePolicy, MovedPages};
use crate::flash::geometry::Geometry;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn, StreamId};
use crate::schedule::load::Load;
use crate::units::Bytes;

/// Which open block of a plane a program goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Pages the host writes; each stream of the host has an open block of its own, or all use that of the first.
    Host(StreamId),
    /// Pages moved by garbage collection or wear levelling.
    Collection,
    /// Pages that they moved here from another chip.
    Arrival,
    /// Copies of pages of other dies. A block of their own takes them, so that the planes of a die keep equal write pointers
    /// and host writes go on to join \[choice\].
    Replica,
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
            Stream::Replica => Frontier::Replica,
            Stream::Translation => Frontier::Translation,
            Stream::TranslationCollection => Frontier::TranslationCollection,
        }
    }
}

/// A page-level flash translation layer.
///
/// Two things are expected of its user. A page allocated is programmed and committed ([`Ftl::commit_write`],
/// [`Ftl::commit_move`]) whatever happens meanwhile. And a plane has one program in flight at a time for each stream,
/// as a die does one thing at a time, but for what [`Ftl::preallocate`] allows.
#[derive(Clone, Debug)]
pub struct Ftl {
    geometry: Geometry,
    mapping: Mapping,
    blocks: Blocks,
    planes: Vec<Plane>,
    allocation: allocation::Policy,
    collection: collection::Rules,
    translation: Option<TranslationPages>,
    partition: Partition,
    rules: Rules,
    /// Kept where the planes of a die use the same blocks together.
    twins: Option<twins::Twins>,
    /// Second homes of pages, where replication makes any.
    replicas: Option<Box<Replicas>>,
}

/// What the configuration says beside the policies.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// Whether the allocator is told of every page that comes to a plane or leaves it.
    counts_parts: bool,
    /// Whether moved pages go to the block that is written.
    shares_moves: bool,
    /// Whether the planes of a die begin with equal write pointers.
    keeps_equal_pointers: bool,
}

impl Ftl {
    /// The translation layer of a drive that was never written. Takes no time and memory that grows with the number of
    /// pages, but for translation pages: tables are touched when pages are written.
    ///
    /// # Panics
    /// When the namespaces of `config` do not fit the drive: [`Partition::new`] says so before.
    pub fn new(geometry: &Geometry, config: &Config) -> Ftl {
        let partition = Partition::new(geometry, config).unwrap_or_else(|error| panic!("{error}"));
        Ftl::divided(geometry, config, partition, TranslationPages::new(geometry, config))
    }

    /// The translation layer in the state in which a run of `config` begins. `watch` is told how far preconditioning is.
    ///
    /// # Panics
    /// As [`Ftl::new`].
    pub fn prepared(geometry: &Geometry, config: &Config, watch: Watch<'_>) -> Ftl {
        let mut ftl = Ftl::new(geometry, config);
        ftl.precondition_watched(&config.precondition, config.seed, watch);
        ftl
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
            account.open.admit_writers(partition.writers(plane));
            account
        });
        let places_writes = config.ftl.policy == FirmwarePolicy::Mbm;
        let pages_leave = config.gc.r#move.leaves_the_chip() || places_writes;
        let allocation = if places_writes { Allocation::Static(partition.order()) } else { config.ftl.allocation };
        let has_twins = config.ftl.policy == FirmwarePolicy::Tbm;
        let translation_end = translation.map_or(0, |translation| translation.all().end);
        let logical_pages = geometry.logical_pages.max(partition.end()).max(translation_end);
        let mut ftl = Ftl {
            mapping: Mapping::new(logical_pages, geometry.pages()),
            blocks: Blocks::new(geometry),
            planes: planes.collect(),
            allocation: allocation::Policy::new(geometry, &partition, allocation, pages_leave),
            collection: collection::Rules::new(geometry, config, has_twins),
            translation,
            geometry: geometry.clone(),
            rules: Rules {
                counts_parts: partition.parts.len() > 1 && (pages_leave || allocation.is_dynamic()),
                shares_moves: match config.ftl.policy {
                    FirmwarePolicy::Page | FirmwarePolicy::Sprinkler => config.gc.moved_pages == MovedPages::WriteBlock,
                    FirmwarePolicy::Tbm => true,
                    FirmwarePolicy::Mbm => !config.mbm.ws,
                },
                keeps_equal_pointers: config.ftl.policy == FirmwarePolicy::Mbm && config.mbm.ws,
            },
            replicas: config.replication.enabled.then(|| Box::new(Replicas::new(geometry, &partition))),
            partition,
            twins: has_twins.then(|| twins::Twins::new(geometry.dies())),
        };
        ftl.lay_out_translation();
        ftl.count_parts(translation.map_or(0..0, |translation| translation.all()));
        ftl
    }

    /// Where `lpn` is; `None` when it holds nothing: it was never written, or deallocated. [`Ftl::location`] says where it is read.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.mapping.get(lpn)
    }

    /// How often the place of any logical page has changed: what [`Ftl::location`] said holds while this stays the same.
    #[inline(always)]
    pub fn map_changes(&self) -> u64 {
        self.mapping.changes()
    }

    /// Prefetches the map entry of `lpn`.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        self.mapping.prefetch(lpn);
    }

    /// Prefetches what the commit of a program of `lpn` changes of the older version.
    #[inline]
    pub fn prefetch_older(&self, lpn: Lpn) {
        if let Some(older) = self.mapping.get(lpn) {
            self.blocks.prefetch(older);
        }
    }

    /// The plane that the next version of a page goes to. Every page placed is to be allocated and committed there, or
    /// [taken back](Ftl::unplace_write).
    #[inline]
    pub fn place(&mut self, write: &PageWrite, idle: &IdleDies, load: Option<Load<'_>>) -> PlaneId {
        let occupancy = Occupancy::new(&self.planes, &self.mapping, &self.geometry);
        let drive = DriveView { geometry: &self.geometry, occupancy, idle, load };
        self.allocation.place(write, &drive)
    }

    /// [`Ftl::place`] of a page that is written for nobody in particular, where nothing waits.
    #[inline]
    pub fn place_write(&mut self, lpn: Lpn, idle: &IdleDies) -> PlaneId {
        self.place(&PageWrite::of(lpn), idle, None)
    }

    /// Whether a write placed on `plane` is programmed there, now that it could be.
    pub fn stays(&self, write: &PageWrite, plane: PlaneId, idle: &IdleDies, load: Load<'_>) -> bool {
        let occupancy = Occupancy::new(&self.planes, &self.mapping, &self.geometry);
        let drive = DriveView { geometry: &self.geometry, occupancy, idle, load: Some(load) };
        self.allocation.stays(write, plane, &drive)
    }

    /// Tells the allocator that a request reads a page.
    pub fn tell_read(&mut self, read: &PageRead) {
        self.allocation.read(read);
    }

    /// Places pages by an allocator of the caller's own in place of the configured one.
    ///
    /// # Panics
    /// When a page was placed before.
    pub fn set_allocator(&mut self, allocator: Box<dyn Allocator + Send>) {
        assert!(self.allocation.is_unused(), "an allocator is set before anything is written");
        let custom = allocation::Custom::new(allocator, &self.geometry, &self.partition);
        self.allocation = allocation::Policy::Custom(custom);
        self.rules.counts_parts = self.partition.parts.len() > 1;
        self.count_parts(0..self.mapping.logical_pages());
    }

    /// Chooses victims by a policy of the caller's own in place of the configured one.
    pub fn set_victim_selector(&mut self, selector: Box<dyn VictimSelector + Send>) {
        self.collection.set_victim_selector(selector);
    }

    /// Whether `plane` has room for a page that holds `lpn`, where pages are placed with regard to how full planes are.
    #[inline]
    pub fn has_room(&self, lpn: Lpn, plane: PlaneId) -> bool {
        self.allocation.admits(lpn, plane, &Occupancy::new(&self.planes, &self.mapping, &self.geometry)) > 0
    }

    /// The next version of `lpn` goes to `plane`, which [has room](Ftl::has_room) for it.
    #[inline]
    pub fn place_write_on(&mut self, lpn: Lpn, plane: PlaneId) {
        self.allocation.placed(lpn, plane);
    }

    /// A page placed on `plane` does not come, or came by other ways than a write.
    #[inline]
    pub fn unplace_write(&mut self, lpn: Lpn, plane: PlaneId) {
        self.allocation.withdrawn(lpn, plane);
    }

    /// The plane that the static order has for `lpn`.
    #[inline]
    pub fn static_plane(&self, lpn: Lpn) -> PlaneId {
        self.allocation.static_order().plane_of(lpn)
    }

    /// Which open block of `plane` takes what `stream` of the host writes there: its own where streams are kept apart. Of a stream
    /// that uses no namespace with this plane, or of none, that of the first which does.
    #[inline]
    pub fn host_stream(&self, plane: PlaneId, stream: Option<StreamId>) -> Stream {
        Stream::Host(self.planes[plane.index()].open.writer(stream))
    }

    /// What [`Ftl::allocate`] would give: the block and the page in it.
    #[inline]
    pub fn next_page_offset(&self, plane: PlaneId, stream: Stream) -> Option<(BlockId, u32)> {
        self.next_offset(plane, stream.frontier())
    }

    /// Whether [`Ftl::allocate`] would give a page to the host where all its streams write to one block.
    #[inline(always)]
    pub fn has_shared_page(&self, plane: PlaneId) -> bool {
        let account = &self.planes[plane.index()];
        account.open.pages_left(Frontier::SHARED) > 0 || account.can_open(Frontier::SHARED)
    }

    #[inline]
    fn next_offset(&self, plane: PlaneId, frontier: Frontier) -> Option<(BlockId, u32)> {
        let account = &self.planes[plane.index()];
        if account.open.pages_left(frontier) > 0 {
            let open = account.open.get(frontier);
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
        if self.planes[plane.index()].open.pages_left(frontier) == 0 {
            self.open_block(plane, frontier)?;
        }
        let account = &mut self.planes[plane.index()];
        let open = account.open.get_mut(frontier);
        let ppn = self.geometry.ppn(open.block, open.next_page);
        open.next_page += 1;
        account.free_pages -= 1;
        Some(ppn)
    }

    /// Opens another block for `frontier`; `None` when it has to leave those that are free.
    fn open_block(&mut self, plane: PlaneId, frontier: Frontier) -> Option<()> {
        if self.has_twins() {
            return self.open_twins(plane, frontier);
        }
        if !self.planes[plane.index()].can_open(frontier) {
            return None;
        }
        self.open_alone(plane, frontier)
    }

    /// Opens the next free block of one plane for `frontier`.
    fn open_alone(&mut self, plane: PlaneId, frontier: Frontier) -> Option<()> {
        let account = &mut self.planes[plane.index()];
        let block = account.free.pop()?;
        self.blocks.open(block, frontier.is_translation());
        *account.open.get_mut(frontier) = OpenBlock { block, next_page: 0 };
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

    /// Pages of `block` that were programmed since it was erased.
    pub fn programmed_pages(&self, block: BlockId) -> u32 {
        self.blocks.programmed_pages(block)
    }

    /// Whether a block that is not free holds translation pages.
    pub fn holds_translation(&self, block: BlockId) -> bool {
        self.blocks.holds_translation(block)
    }

    /// What `block` is being used for.
    pub fn block_state(&self, block: BlockId) -> BlockState {
        self.blocks.state(block)
    }

    /// How much of the forward map was written: what it takes of memory.
    pub fn map_written(&self) -> Bytes {
        self.mapping.written()
    }

    /// Logical pages that are somewhere on the drive, translation pages among them; one with a replica counts twice.
    pub fn mapped_pages(&self) -> u64 {
        self.planes.iter().map(|plane| u64::from(plane.valid_pages)).sum()
    }
}
