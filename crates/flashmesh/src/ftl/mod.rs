//! The flash translation layer (FTL): mapping, allocation and reclaim of flash pages.
//!
//! The FTL is a pure state machine without time. The firmware looks up and allocates pages here, issues the flash operations, and reports their ends.
//! A page becomes valid when its program ends, not when it is allocated. Each decision is made in one place: [`allocation`] chooses the plane of a
//! page, `blocks` the page in the plane, [`collection`] the victim. The map and the replicas hold the location of each logical page. [`FtlRules`] are
//! the settings of the firmware.
//!
//! # Terms
//!
//! - *Kind* ([`OpenBlockKind`]): data that shares an open block in each plane, such as host writes or moved pages. Parameters named `stream` hold a
//!   kind, unless their type is `StreamId`.
//! - *Position*: index of a block in its plane, from 0.
//! - *Reserve*: the last free block of a plane, which only garbage collection may open.
//! - *Part*: range of logical pages with the same set of planes. Each namespace bound to planes has its own.
//! - *Load* of a plane: its number of pages if all logical pages are mapped and spread evenly.
//! - *Home*: address at which an unmapped page is read.
//! - *Twins*: blocks at the same position in all planes of a superblock, which are opened, collected and erased together.
//! - *Guest*: valid page that replication has put on a plane.
//! - *Gain* of a collection: the invalid pages of its victims, which become free.
//!
//! # Why a plane never runs out of space
//!
//! Let a plane have B blocks of P pages. At most (B - 4) P pages are valid
//! ([`SPARE_BLOCKS_PER_PLANE_MIN`](crate::flash::geometry::SPARE_BLOCKS_PER_PLANE_MIN)). Under static allocation they are a fixed share of the pages
//! of each namespace on the plane. Under dynamic allocation, and if pages move between chips, each namespace has a limit on each of its planes, and
//! planes without room are skipped. [`Partition`] bounds the sum of the shares or limits of a plane, and the configuration is checked against it.
//! Garbage collection and wear levelling stay in their plane, or move pages to a plane of the same namespace with room, so they do not change these
//! bounds.
//!
//! If host writes are out of space and no collection is running, the plane has one free block, the reserve, and at most one open block for
//! collection. The reserve is opened only by a collection, and is replaced when its victim is erased. The other B - 2 or more blocks are full once
//! the programs in flight have ended. If all of their pages were valid, the plane would hold (B - 2) P valid pages. So at least 2 P pages in full
//! blocks are invalid, and [`Ftl::begin_collection`] finds a victim. A victim with g invalid pages leaves g more pages for collection than before. So
//! a block is free for the host once the collected victims had P invalid pages in total.
//!
//! If all pages of all full blocks are valid, there is nothing to gain. Then [`Ftl::needs_collection`] is false, so that collection does not move the
//! same pages in circles, however high its threshold.
//!
//! Each feature that keeps more blocks open, or more pages allocated, has more spare blocks (`spare_blocks`):
//!
//! - If the map is stored on flash, a plane has two more open blocks, for translation pages written and for translation pages moved. Translation
//!   pages count as logical pages. So at least B - 4 blocks are full when the host or the map is out of space, while at most (B - 6) P pages are
//!   valid, and again 2 P pages in full blocks are invalid. Pages of a victim go to the remaining pages of the open block of their kind, and to the
//!   reserve. Each collection leaves more pages in one of the two than before, so that after at most 2 P invalid pages a block is free.
//! - If pages move between chips, a plane has one more open block, for arriving pages; `IncomingPages::admit` explains why nothing waits for it.
//! - With early binding, at most P pages of a plane are allocated to writes that are not programmed yet. One spare block makes up for them: even if
//!   they count as valid beside their older versions, the plane is no fuller than before. Their blocks are not full, so no such block is a victim. A
//!   write that holds such a page waits for no other write, so it is programmed in the end, and its block becomes full. If a program writes several
//!   mapping units, these wait for each other's reads, which wait for no program. When no more units are added to a program, its remaining units are
//!   skipped. A moved page that goes to the block of host writes skips the remaining units of the program there. The reserve holds no host writes
//!   until a victim is erased, so collection finds as many pages as before.
//! - If each host stream has an open block of its own, a plane has one more for each stream beyond the first that uses it. When one stream is out of
//!   space, the blocks of the others may be open. For each of these blocks the plane has one full block fewer, and one block of valid pages fewer.
//!   Every stream counts, even if it has never written. So no stream waits for a block that another stream took without requesting a collection.
//!   Moved pages of all streams share one open block, like initially isolated placement handles of NVMe \[choice\]. To isolate moved pages as well
//!   would double these spare blocks in each plane, and require the owner of every block.

pub mod allocation;
mod audit;
mod blocks;
pub mod collection;
mod division;
mod interleaving;
mod map;
pub mod mapping_cache;
mod open_block_kind;
mod precondition;
mod replicas;
mod replication;
mod rules;
mod slc;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod writes;

pub use allocation::{DriveView, IdleDies, PageRead, PageWrite, RequestPart};
pub use blocks::{BlockManager, BlockState};
pub use division::occupancy::PlaneOccupancy;
pub use division::partition::Partition;
pub use division::spare_blocks::{blocks_for_gathering, spare_blocks_min};
pub use division::superblocks::Superblocks;
pub use map::mapping::Mapping;
pub use map::translation::TranslationPages;
pub use open_block_kind::OpenBlockKind;
pub(crate) use precondition::CollectionInProgress;
#[cfg(feature = "internals")]
pub use precondition::PreconditionReport;
pub use precondition::{PreparedDrives, ProgressCallback, computed_map_bytes};
pub use rules::FtlRules;
pub use writes::untimed::UntimedWrites;

use collection::Collector;
use replicas::Replicas;

use crate::config::{Config, ExpectedWrites};
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, Ppn};
use crate::states::StateFolder;

/// A page-level flash translation layer.
///
/// The caller must program and commit every page that it allocates ([`Ftl::commit_write`], [`Ftl::commit_move`]), even if the page was superseded
/// meanwhile. Apart from preallocated pages (early binding), each plane may have one program in flight for each kind of open block, because a die
/// executes one operation at a time.
#[derive(Clone, Debug)]
pub struct Ftl {
    geometry: Geometry,
    rules: FtlRules,
    mapping: Mapping,
    blocks: BlockManager,
    allocation: allocation::AnyAllocator,
    collector: Collector,
    slc: slc::FoldRules,
    translation: Option<TranslationPages>,
    partition: Partition,
    /// Locations and counts of the replicas of pages; `None` unless `replication.enabled`.
    replicas: Option<Box<Replicas>>,
    /// Whether the allocator counts the pages of each part (range of logical pages with the same set of planes) on each plane. The allocator is then
    /// notified whenever the location of a page changes.
    counts_parts: bool,
    /// Whether preconditioning put the drive into a steady state of uniform random writes.
    is_stationary: bool,
    /// Collections that were in progress when preconditioning ended, for the run to continue.
    initial_collections: Vec<precondition::CollectionInProgress>,
}

impl Ftl {
    /// Creates the translation layer of a drive that was never written. Except for translation pages, time and memory do not grow with the number of
    /// pages: memory of the tables is touched only when pages are written.
    ///
    /// # Panics
    /// If the namespaces of `config` do not fit the drive, so that [`Partition::new`] fails.
    pub fn new(geometry: &Geometry, config: &Config, rules: FtlRules) -> Ftl {
        let partition = Partition::new(geometry, config).unwrap_or_else(|error| panic!("{error}"));
        Ftl::with_partition(geometry, config, rules, partition, TranslationPages::new(geometry, config))
    }

    /// Returns the translation layer after the preconditioning of `config`. `folder` caches computed states (`None`: every state is computed), and
    /// `watch` receives the progress. `writes` are the writes that the run is expected to issue; their sizes determine which mapping units are stored
    /// together in one physical page. If the run issues no writes, it begins with no collection in progress.
    ///
    /// # Panics
    /// As [`Ftl::new`].
    pub(crate) fn preconditioned(
        geometry: &Geometry,
        config: &Config,
        rules: FtlRules,
        writes: &ExpectedWrites,
        folder: Option<&StateFolder>,
        watch: ProgressCallback<'_>,
    ) -> Ftl {
        let mut ftl = Ftl::new(geometry, config, rules);
        let keeping = folder.map(|folder| precondition::StateStore { folder, config, capacity: geometry.capacity() });
        let is_computed = computed_map_bytes(geometry, config, rules).is_some();
        let start = precondition::InitialConditions { is_computed, writes };
        precondition::apply(&mut ftl, &config.precondition, config.seed, start, keeping, watch);
        ftl.blocks.align_programs();
        ftl
    }

    fn with_partition(
        geometry: &Geometry,
        config: &Config,
        rules: FtlRules,
        partition: Partition,
        translation: Option<TranslationPages>,
    ) -> Ftl {
        let translation_end = translation.map_or(0, |translation| translation.all().end);
        let logical_pages = geometry.logical_pages.max(partition.end()).max(translation_end);
        let has_map = translation.is_some();
        let allocation = allocation::AnyAllocator::new(geometry, &partition, &rules);
        let mut ftl = Ftl {
            mapping: Mapping::new(logical_pages, geometry.pages()),
            blocks: BlockManager::new(geometry, &partition, &rules, has_map, config.wear.dynamic),
            counts_parts: allocation.counts_parts(),
            allocation,
            collector: Collector::new(geometry, config, rules.superblock_dies, has_map),
            slc: slc::FoldRules::new(&config.slc),
            translation,
            replicas: config.replication.enabled.then(|| Box::new(Replicas::new(geometry, &partition))),
            geometry: geometry.clone(),
            rules,
            partition,
            is_stationary: false,
            initial_collections: Vec::new(),
        };
        ftl.limit_lending();
        precondition::lay_out_translation(&mut ftl);
        ftl.notify_filled(translation.map_or(0..0, |translation| translation.all()));
        ftl
    }

    /// Returns the blocks of the drive, to read their states and the pages of the planes.
    #[inline(always)]
    pub fn blocks(&self) -> &BlockManager {
        &self.blocks
    }

    /// Returns access for allocations and programs that concern no logical page.
    #[inline]
    pub(crate) fn blocks_mut(&mut self) -> &mut BlockManager {
        &mut self.blocks
    }

    /// Returns the map.
    #[inline(always)]
    pub fn map(&self) -> &Mapping {
        &self.mapping
    }

    /// Returns the physical page of `lpn`; `None` if `lpn` is unmapped: never written, or deallocated. [`Ftl::location`] returns where an unmapped
    /// page is read.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.mapping.get(lpn)
    }

    /// Returns an interface that writes pages without simulated time.
    pub fn untimed(&mut self) -> UntimedWrites<'_> {
        UntimedWrites(self)
    }

    /// Stores in tables the map entries that so far are computed at each lookup, to speed up lookups.
    pub(crate) fn materialize_map(&mut self) {
        self.mapping.materialize_all();
    }

    /// Prefetches the table entry of the block that holds the current version of `lpn` into the CPU cache, because the commit of a newer version will
    /// invalidate it there.
    #[inline]
    pub fn prefetch_older(&self, lpn: Lpn) {
        if let Some(older) = self.mapping.stored(lpn) {
            self.blocks.accounts.table().prefetch(older);
        }
    }

    /// Returns the ranges of the logical pages that hold the map on flash; `None` if the map is not stored on flash.
    #[inline]
    pub fn translation_pages(&self) -> Option<TranslationPages> {
        self.translation
    }

    /// Returns the number of pages that can be written before a collection begins, summed over the planes: the free pages of each plane
    /// above the collection threshold.
    pub(crate) fn pages_before_collection(&self) -> u64 {
        let kept = self.collector.collection_threshold();
        self.blocks.accounts.planes().iter().map(|plane| u64::from(plane.free_pages.saturating_sub(kept))).sum()
    }

    /// Returns the number of planes that collect their blocks together: those of a superblock, or 1 without superblocks.
    pub(crate) fn planes_collected_together(&self) -> u32 {
        if self.blocks.has_twins() { self.blocks.superblocks().planes() } else { 1 }
    }

    /// Returns whether preconditioning put the drive into a steady state of uniform random writes.
    pub(crate) fn is_stationary(&self) -> bool {
        self.is_stationary
    }
}
