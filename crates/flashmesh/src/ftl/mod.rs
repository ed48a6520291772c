//! The flash translation layer: where a page lives.
//!
//! A pure state machine without time. The firmware asks where a page is or shall go, has the flash operations done, and
//! says when they have finished; a page becomes valid when its program finishes, not when it is allocated.
//! Each decision has one place: [`allocation`] the plane of a page, `blocks` the page in the plane, [`collection`] the victim. The map
//! and the replicas know which logical page lies where. [`FtlRules`] is what the firmware decides about it.
//!
//! # Why a plane never gets stuck
//!
//! Let a plane have B blocks of P pages. Its valid pages are at most (B - 4) P
//! ([`SPARE_BLOCKS_PER_PLANE_MIN`](crate::flash::geometry::SPARE_BLOCKS_PER_PLANE_MIN)): under static allocation they are a fixed
//! share of the pages of each namespace that has the plane; under dynamic allocation, and where pages move from chip to chip, each
//! namespace has a limit of its own on each of its planes, and planes without room are passed over. [`Partition`] bounds the sum of
//! all shares, or all limits, of a plane, and the configuration is checked for it. Collection and wear levelling stay in their
//! plane, or go to a plane of the same namespace that has room, so they change nothing about it.
//!
//! When the host stream is out of space and no collection is running, the plane has one free block (the reserve, which
//! only a collection may open and which comes back when its victim is erased) and at most one open block for collection. The
//! other B - 2 or more are full once the programs in flight have finished. Were they all fully valid, the plane would hold
//! (B - 2) P valid pages; so at least 2 P invalid pages lie in full blocks and [`Ftl::begin_collection`] finds a victim. A victim
//! with g invalid pages leaves g more pages to collection than it had before, and after at most P of them a block is free for the
//! host.
//!
//! When every full block is fully valid, there is nothing to gain: [`Ftl::wants_collection`] is false, so that
//! collection does not move the same pages round and round, however high its threshold.
//!
//! Each feature that keeps more blocks open, or pages allocated, has more blocks to spare (`spare_blocks`):
//!
//! - Where the map lies on flash, a plane has two more open blocks, for translation pages that are written and for those that are
//!   moved. Translation pages count as logical pages. So B - 4 or more blocks are full when the host, or the map, is out of space,
//!   while at most (B - 6) P pages are valid, and again 2 P invalid pages lie in full blocks. A victim of either kind has the pages
//!   left in the open block of its kind, and the reserve, to move to; each collection leaves more pages in one of the two than
//!   before, so that after at most 2 P invalid pages a block is free.
//! - Where pages move from chip to chip, a plane has one more open block, for those that arrive; [`Ftl::admit_copy`] says why
//!   nothing waits for it.
//! - Where writes get their pages early, at most P pages of a plane are allocated while their programs wait: a plane is as full as
//!   before when they are counted as valid beside their older versions. Their blocks are not full, so none is collected. A write that
//!   holds such a page waits for no other, so that it is programmed in the end, and its block is full. Where a program writes several mapping
//!   units, those that share one wait for each other's reads, which wait for no program, and what a program leaves empty is given up when it
//!   takes no more of them. A page that is moved to the block of writes gives up what is left of a program there: never of the reserve, which
//!   holds no such page until a victim is erased, so that collection finds as many pages as before.
//! - Where each stream of the host writes to an open block of its own, a plane has one more open block for each stream beyond the
//!   first that uses it: when one stream is out of space, those of the others are open at worst, and there is one full block fewer
//!   for each, as there is one of valid pages. Every stream counts, written or not, so that none waits for a block that another took
//!   without a collection being wanted. Pages that are moved share one open block whichever stream wrote them, like placement
//!   handles of NVMe that are initially isolated \[choice\]: keeping them apart would take as many blocks to spare again in each
//!   plane, and the owner of every block.

pub mod allocation;
mod arrival;
mod audit;
mod blocks;
pub mod collection;
mod commit;
mod homes;
mod initial_map;
mod mapping;
pub mod mapping_cache;
mod occupancy;
mod pages;
mod partition;
mod placement;
mod precondition;
mod prepared;
mod reclaim;
mod replicas;
mod replication;
mod rules;
mod slc;
mod spare_blocks;
mod stream;
mod superblocks;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod translation;
mod untimed;

pub use allocation::{DriveView, IdleDies, PageRead, PageWrite, RequestPart};
pub use blocks::BlockState;
pub use occupancy::Occupancy;
pub use partition::Partition;
pub(crate) use precondition::BegunCollection;
#[cfg(feature = "internals")]
pub use precondition::PreconditionReport;
pub use precondition::{Watch, computed_map_bytes};
pub use prepared::PreparedDrives;
pub use rules::FtlRules;
pub use spare_blocks::{blocks_for_gathering, spare_blocks_min};
pub use stream::Stream;
pub use superblocks::Superblocks;
pub use translation::TranslationPages;

use blocks::BlockManager;
use collection::Collector;
use mapping::Mapping;
use replicas::Replicas;

use crate::config::{Config, ExpectedWrites};
use crate::flash::geometry::Geometry;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::states::StateFolder;
use crate::units::Bytes;

/// A page-level flash translation layer.
///
/// Two things are expected of its user. A page allocated is programmed and committed ([`Ftl::commit_write`],
/// [`Ftl::commit_move`]) whatever happens meanwhile. And a plane has one program in flight at a time for each stream,
/// as a die does one thing at a time, but for pages that are preallocated.
#[derive(Clone, Debug)]
pub struct Ftl {
    geometry: Geometry,
    rules: FtlRules,
    mapping: Mapping,
    blocks: BlockManager,
    allocation: allocation::Policy,
    collector: Collector,
    slc: slc::Rules,
    translation: Option<TranslationPages>,
    partition: Partition,
    /// Where replication makes any.
    replicas: Option<Box<Replicas>>,
    /// Whether the allocator is told of every page that comes to a plane or leaves it.
    counts_parts: bool,
    /// Whether preconditioning has drawn the state from the steady state of uniform random writes.
    is_stationary: bool,
    /// Collections in progress when the run begins.
    begun: Vec<precondition::BegunCollection>,
}

impl Ftl {
    /// The translation layer of a drive that was never written. Takes no time and memory that grows with the number of
    /// pages, but for translation pages: tables are touched when pages are written.
    ///
    /// # Panics
    /// When the namespaces of `config` do not fit the drive: [`Partition::new`] says so before.
    pub fn new(geometry: &Geometry, config: &Config, rules: FtlRules) -> Ftl {
        let partition = Partition::new(geometry, config).unwrap_or_else(|error| panic!("{error}"));
        Ftl::divided(geometry, config, rules, partition, TranslationPages::new(geometry, config))
    }

    /// Returns the translation layer after the preconditioning of `config`. `folder` caches computed states, and `watch` receives the progress.
    /// If `writes` are none, a run begins with no collection in progress; their sizes determine which pages lie together.
    ///
    /// # Panics
    /// As [`Ftl::new`].
    pub(crate) fn prepared(
        geometry: &Geometry,
        config: &Config,
        rules: FtlRules,
        writes: &ExpectedWrites,
        folder: Option<&StateFolder>,
        watch: Watch<'_>,
    ) -> Ftl {
        let mut ftl = Ftl::new(geometry, config, rules);
        let keeping = folder.map(|folder| precondition::Keeping { folder, config, capacity: geometry.capacity() });
        let is_computed = computed_map_bytes(geometry, config, rules).is_some();
        let start = precondition::Start { is_computed, writes };
        ftl.precondition_watched(&config.precondition, config.seed, start, keeping, watch);
        ftl.blocks.align_programs();
        ftl
    }

    fn divided(
        geometry: &Geometry,
        config: &Config,
        rules: FtlRules,
        partition: Partition,
        translation: Option<TranslationPages>,
    ) -> Ftl {
        let translation_end = translation.map_or(0, |translation| translation.all().end);
        let logical_pages = geometry.logical_pages.max(partition.end()).max(translation_end);
        let has_map = translation.is_some();
        let allocation = allocation::Policy::new(geometry, &partition, &rules);
        let mut ftl = Ftl {
            mapping: Mapping::new(logical_pages, geometry.pages()),
            blocks: BlockManager::new(geometry, &partition, &rules, has_map, config.wear.dynamic),
            counts_parts: allocation.counts_parts(),
            allocation,
            collector: Collector::new(geometry, config, rules.superblock_dies, has_map),
            slc: slc::Rules::new(&config.slc),
            translation,
            replicas: config.replication.enabled.then(|| Box::new(Replicas::new(geometry, &partition))),
            geometry: geometry.clone(),
            rules,
            partition,
            is_stationary: false,
            begun: Vec::new(),
        };
        ftl.limit_lending();
        precondition::lay_out_translation(&mut ftl);
        ftl.count_parts(translation.map_or(0..0, |translation| translation.all()));
        ftl
    }

    /// Where `lpn` is; `None` when it holds nothing: it was never written, or deallocated. [`Ftl::location`] says where it is read.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.mapping.get(lpn)
    }

    /// Stores the whole map in tables, where a part of it is computed: faster for who looks at most pages.
    pub(crate) fn store_map(&mut self) {
        self.mapping.store_all();
    }

    /// Whether `lpn` is mapped; faster than [`Ftl::lookup`] where the map is computed.
    pub fn is_mapped(&self, lpn: Lpn) -> bool {
        self.mapping.is_mapped(lpn)
    }

    /// How often the map has changed: what [`Ftl::lookup`] and [`Ftl::read_home`] gave holds while this stays the same.
    #[inline(always)]
    pub(crate) fn map_changes(&self) -> u64 {
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
        if let Some(older) = self.mapping.stored(lpn) {
            self.blocks.table().prefetch(older);
        }
    }

    /// Which logical pages hold the map; `None` when the whole map is in DRAM.
    #[inline]
    pub fn translation_pages(&self) -> Option<TranslationPages> {
        self.translation
    }

    /// Pages of `plane` that can be allocated, those of the reserve included.
    #[inline]
    pub fn free_pages(&self, plane: PlaneId) -> u32 {
        self.blocks.plane(plane).free_pages
    }

    /// Returns the reads of pages that hold nothing.
    pub(crate) fn unwritten_reads(&self) -> u64 {
        self.mapping.unmapped_reads()
    }

    /// Returns the free pages of all planes.
    pub(crate) fn free_pages_of_drive(&self) -> u64 {
        self.blocks.planes().iter().map(|plane| u64::from(plane.free_pages)).sum()
    }

    /// Returns the pages that writes can take on all planes before a collection begins.
    pub(crate) fn pages_before_collection(&self) -> u64 {
        let kept = self.collector.pages_kept_free();
        self.blocks.planes().iter().map(|plane| u64::from(plane.free_pages.saturating_sub(kept))).sum()
    }

    /// Returns how many planes collect their blocks together.
    pub(crate) fn planes_collected_together(&self) -> u32 {
        if self.has_twins() { self.superblocks().planes() } else { 1 }
    }

    /// Whether the drive began in a draw from the steady state of uniform random writes.
    pub(crate) fn is_stationary(&self) -> bool {
        self.is_stationary
    }

    /// Valid pages of `plane`.
    #[inline]
    pub(crate) fn valid_pages_of_plane(&self, plane: PlaneId) -> u32 {
        self.blocks.plane(plane).valid_pages
    }

    /// Valid pages of `block`.
    #[inline]
    pub fn valid_pages(&self, block: BlockId) -> u32 {
        self.blocks.table().valid_pages(block)
    }

    /// How often `block` was erased.
    #[inline]
    pub fn erase_count(&self, block: BlockId) -> u32 {
        self.blocks.table().erase_count(block)
    }

    /// Pages of `block` that were programmed since it was erased.
    pub(crate) fn programmed_pages(&self, block: BlockId) -> u32 {
        self.blocks.table().programmed_pages(block)
    }

    /// Whether a block that is not free holds translation pages.
    pub(crate) fn holds_translation(&self, block: BlockId) -> bool {
        self.blocks.table().holds_translation(block)
    }

    /// What `block` is being used for.
    pub fn block_state(&self, block: BlockId) -> BlockState {
        self.blocks.table().state(block)
    }

    /// How much of the forward map was written: what it takes of memory.
    pub fn map_written(&self) -> Bytes {
        self.mapping.written()
    }

    /// Logical pages that are somewhere on the drive, translation pages among them; one with a replica counts twice.
    pub fn mapped_pages(&self) -> u64 {
        self.blocks.planes().iter().map(|plane| u64::from(plane.valid_pages)).sum()
    }
}
