//! Start of collections: a plane is short of free pages, its die is idle, blocks are worn unevenly, or the SLC cache has full blocks.

use crate::controller::Context;
use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::ftl::{CollectionInProgress, Ftl, OpenBlockKind};
use crate::ids::{BlockId, DieId, PlaneId};
use crate::kernel::model::Model;
use crate::policies::PolicyEvent;

use super::{Collection, Collections, Erased, ask_dies_of_superblock};

/// Reason for a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Space,
    /// Background collection while the die is idle.
    Background,
    Wear,
    /// Full block of the SLC cache whose pages are moved to native blocks (fold) while the die is idle.
    Fold,
}

impl Collections {
    /// Returns whether a plane is being collected or needs collection. For plain drives only (compiled without optional features).
    #[inline]
    pub fn are_needed(&self, plane: PlaneId, ftl: &Ftl) -> bool {
        self.by_plane[plane.index()].is_some() || ftl.needs_collection(plane)
    }

    /// Starts the collection of a plane that is short of free pages, or promotes its background collection to the foreground.
    #[inline]
    pub fn collect_if_needed<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        if cx.has_superblocks() {
            return self.collect_superblock_if_needed(plane, cx);
        }
        match &mut self.by_plane[plane.index()] {
            Some(collection) => {
                if collection.background && is_wanted_at_once(plane, cx.shared) {
                    collection.background = false;
                    cx.shared.foreground.enter(cx.shared.geometry.die_of_plane(plane));
                }
            }
            None => {
                if cx.shared.slc_mut::<M>().is_some()
                    && let Some(blocks) = cx.shared.ftl.begin_fold_for_space(plane)
                {
                    return self.begin(&blocks, Need::Space, cx);
                }
                if cx.shared.ftl.needs_collection(plane)
                    && let Some(blocks) = cx.shared.ftl.begin_collection(plane)
                {
                    self.begin(&blocks, Need::Space, cx);
                }
            }
        }
    }

    fn collect_superblock_if_needed<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        let planes = cx.shared.ftl.blocks().superblocks().members(plane);
        if let Some(collection) = self.first_of(planes.clone()) {
            // The collections of a superblock are either all in the background, or all in the foreground.
            if collection.background && planes.clone().any(|plane| is_wanted_at_once(plane, cx.shared)) {
                for plane in planes {
                    if let Some(collection) = &mut self.by_plane[plane.index()]
                        && std::mem::take(&mut collection.background)
                    {
                        cx.shared.foreground.enter(cx.shared.geometry.die_of_plane(plane));
                    }
                }
                if self.pace.takes_turns() {
                    ask_dies_of_superblock(plane, cx);
                }
            }
        } else if cx.shared.slc.is_some()
            && let Some(blocks) = cx.shared.ftl.begin_fold_for_space(plane)
        {
            self.begin(&blocks, Need::Space, cx);
        } else if cx.shared.ftl.needs_collection(plane)
            && let Some(blocks) = cx.shared.ftl.begin_collection(plane)
        {
            self.begin(&blocks, Need::Space, cx);
        }
    }

    fn first_of(&self, mut planes: impl Iterator<Item = PlaneId>) -> Option<&Collection> {
        planes.find_map(|plane| self.by_plane[plane.index()].as_ref())
    }

    /// Starts the background work of an idle die: collections of its planes, and folds (moves of SLC cache blocks to native blocks).
    #[inline]
    pub fn idle<M: Model>(&mut self, die: DieId, cx: &mut Context<'_, M>) {
        if cx.shared.rules.collects_in_background {
            self.collect_in_background(die, cx);
        }
    }

    #[inline(never)]
    fn collect_in_background<M: Model>(&mut self, die: DieId, cx: &mut Context<'_, M>) {
        let first = cx.shared.geometry.first_plane(die);
        if cx.has_superblocks() {
            if self.first_of(cx.shared.ftl.blocks().superblocks().members(first)).is_none() {
                self.begin_in_background(first, cx);
            }
            return;
        }
        for plane in cx.shared.planes_of(die) {
            cx.push(FollowUp::CollectInBackground(plane));
        }
    }

    /// Starts background collection of a plane of an idle die, if needed. Otherwise moves a block of the SLC cache to native blocks (fold),
    /// if needed.
    pub fn collect_plane_in_background<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        if self.by_plane[plane.index()].is_none() {
            self.begin_in_background(plane, cx);
        }
    }

    /// Begins a background collection of a plane or its superblock if one is needed, otherwise a fold if one is needed. No collection may be in
    /// progress there.
    fn begin_in_background<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        if cx.shared.ftl.needs_background_collection(plane)
            && let Some(blocks) = cx.shared.ftl.begin_collection(plane)
        {
            self.begin(&blocks, Need::Background, cx);
        } else if cx.shared.slc_mut::<M>().is_some()
            && let Some(blocks) = cx.shared.ftl.begin_fold(plane)
        {
            self.begin(&blocks, Need::Fold, cx);
        }
    }

    /// Begins the collections of `blocks`: one block of a plane, or all blocks of a superblock. Registers all of them before the first one advances.
    fn begin<M: Model>(&mut self, blocks: &[BlockId], need: Need, cx: &mut Context<'_, M>) {
        let valid: Vec<u32> = blocks.iter().map(|&block| cx.shared.ftl.blocks().valid_pages(block)).collect();
        if need == Need::Space {
            self.begin_pace(blocks, &valid, cx.shared);
        }
        for &block in blocks {
            self.count(block, need, cx.shared);
        }
        self.begin_moves(blocks, &valid, need, cx);
    }

    /// Resumes a collection for free space that was in progress at the start of the run.
    pub fn resume<M: Model>(&mut self, begun: &CollectionInProgress, cx: &mut Context<'_, M>) {
        self.begin_pace(&begun.victims, &begun.valid_at_begin, cx.shared);
        for &block in &begun.victims {
            self.count(block, Need::Space, cx.shared);
        }
        self.begin_moves(&begun.victims, &begun.valid_at_begin, Need::Space, cx);
    }

    /// Begins to move the pages of `blocks`, which had `valid` valid pages at the start of their collection.
    fn begin_moves<M: Model>(&mut self, blocks: &[BlockId], valid: &[u32], need: Need, cx: &mut Context<'_, M>) {
        for (&block, &valid_at_begin) in blocks.iter().zip(valid) {
            let collection = Collection {
                block,
                valid_at_begin,
                cursor: 0,
                background: need != Need::Space,
                levels_wear: need == Need::Wear,
                is_drained: false,
                moving: 0,
                reading: 0,
                is_read: false,
                is_over: false,
            };
            let plane = self.enter(collection, cx.shared);
            cx.push(FollowUp::Advance(plane));
        }
        if self.pace.takes_turns() && cx.shared.ftl.blocks().has_twins() {
            let geometry = &cx.shared.geometry;
            self.short.changed(geometry.plane_of(geometry.ppn(blocks[0], 0)), &cx.shared.ftl);
        }
    }

    /// Sets the number of page moves that collections owe per written page (`gc.paced`), from the number of their valid pages: separately for each of
    /// `blocks`, or over all of them if collection and writes take turns.
    fn begin_pace(&mut self, blocks: &[BlockId], valid: &[u32], shared: &Shared) {
        let geometry = &shared.geometry;
        let pace_of = if self.pace.takes_turns() { blocks.len() } else { 1 };
        for (blocks, valid) in blocks.chunks(pace_of).zip(valid.chunks(pace_of)) {
            let plane = geometry.plane_of(geometry.ppn(blocks[0], 0));
            self.pace.begin(plane, valid.iter().sum(), blocks.len() as u32 * geometry.pages_per_block);
        }
    }

    /// Counts the start of the collection of `block`, by its reason and the content of the block.
    fn count(&self, block: BlockId, need: Need, shared: &mut Shared) {
        let gc = &mut shared.counters.gc;
        gc.collections += 1;
        gc.wear_moves += u64::from(need == Need::Wear);
        match shared.ftl.move_block_kind(shared.geometry.ppn(block, 0)) {
            OpenBlockKind::TranslationCollection => gc.translation_collections += 1,
            OpenBlockKind::Fold => shared.slc.iter_mut().for_each(|slc| slc.fold_began()),
            _ => {}
        }
    }

    fn enter(&mut self, collection: Collection, shared: &mut Shared) -> PlaneId {
        let plane = shared.geometry.plane_of(shared.geometry.ppn(collection.block, 0));
        if !collection.background {
            shared.foreground.enter(shared.geometry.die_of_plane(plane));
        }
        self.by_plane[plane.index()] = Some(collection);
        self.unread.victim_begins(plane, &shared.ftl);
        plane
    }

    /// Begins a wear move after an erase: the collection of a block with little wear, whose pages are cold.
    ///
    /// At most one wear move follows each collection; otherwise a plane with many cold blocks would move them all in one go. No wear move
    /// follows a collection of translation pages, because this might never end: moves of data cause programs of translation pages, which
    /// must be collected in turn, and each of these collections would move more data. Collections of data do end, because each needs a page
    /// that the host has invalidated.
    pub fn level_wear<M: Model>(&mut self, erased: Erased, cx: &mut Context<'_, M>) {
        cx.shared.notify_policy::<M>(PolicyEvent::DieIdle);
        let Erased { plane, levels_wear, held_translation } = erased;
        if self.by_plane[plane.index()].is_some() || levels_wear || held_translation {
            return;
        }
        if let Some(blocks) = cx.shared.ftl.begin_wear_move(plane) {
            self.begin(&blocks, Need::Wear, cx);
        }
    }
}

/// Returns whether collection of a plane cannot wait until its die is idle: free pages are short, or writes wait for a fold of the SLC
/// cache.
fn is_wanted_at_once(plane: PlaneId, shared: &Shared) -> bool {
    shared.ftl.is_short(plane) || shared.ftl.waits_for_fold(plane)
}
