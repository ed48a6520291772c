//! Garbage collection and wear levelling with timed flash operations: the valid pages of a victim block move one after
//! the other, each a read and a program (or one copyback) of the same die, or a read and a program on another chip, then the
//! block is erased.

use crate::ftl::Stream;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn};
use crate::schedule::transaction::Class;

use super::Simulation;

/// A victim block on its way to being free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collection {
    block: BlockId,
    /// The first page that has not been looked at.
    cursor: u32,
    /// User requests go first: it was begun because the die was idle, or to level wear, and space has not run out since.
    pub(super) background: bool,
    /// It moves cold pages out of a little worn block.
    levels_wear: bool,
}

impl Simulation {
    /// Starts collecting a plane that is short of free pages; a collection in the background comes to the fore.
    pub(super) fn collect_if_needed(&mut self, plane: PlaneId) {
        match &mut self.collections[plane.index()] {
            Some(collection) => {
                if collection.background && self.ftl.is_short(plane) {
                    collection.background = false;
                    self.foreground_collections[self.geometry.die_of_plane(plane).index()] += 1;
                }
            }
            None => {
                if self.ftl.wants_collection(plane)
                    && let Some(block) = self.ftl.begin_collection(plane)
                {
                    self.begin(plane, Collection { block, cursor: 0, background: false, levels_wear: false });
                }
            }
        }
    }

    /// Starts collecting the idle dies that background collection wants.
    pub(super) fn collect_idle_dies(&mut self) {
        if self.config.gc.background_threshold == 0.0 {
            return;
        }
        for die in (0..self.geometry.dies()).map(DieId) {
            if !self.queues.has_work(die) && self.dies[die.index()].is_idle() {
                self.collect_in_background(die);
            }
        }
    }

    /// Starts collecting the planes of an idle die that background collection wants.
    #[inline]
    pub(super) fn collect_in_background(&mut self, die: DieId) {
        if self.config.gc.background_threshold != 0.0 {
            self.collect_planes_in_background(die);
        }
    }

    #[inline(never)]
    fn collect_planes_in_background(&mut self, die: DieId) {
        let first = self.geometry.first_plane(die).0;
        for plane in (first..first + self.geometry.planes_per_die).map(PlaneId) {
            if self.collections[plane.index()].is_none()
                && self.ftl.wants_background_collection(plane)
                && let Some(block) = self.ftl.begin_collection(plane)
            {
                self.begin(plane, Collection { block, cursor: 0, background: true, levels_wear: false });
            }
        }
    }

    fn begin(&mut self, plane: PlaneId, collection: Collection) {
        self.measures.gc.collections += 1;
        self.measures.gc.wear_moves += u64::from(collection.levels_wear);
        let is_translation = self.ftl.stream_of_move(self.geometry.ppn(collection.block, 0)) != Stream::Collection;
        self.measures.gc.translation_collections += u64::from(is_translation);
        if !collection.background {
            self.foreground_collections[self.geometry.die_of_plane(plane).index()] += 1;
        }
        self.collections[plane.index()] = Some(collection);
        self.advance(plane);
    }

    /// Moves the next valid page, or erases the block when none is left.
    fn advance(&mut self, plane: PlaneId) {
        let Some(collection) = &mut self.collections[plane.index()] else { return };
        let block = collection.block;
        let id = match self.ftl.next_valid_page(block, collection.cursor) {
            Some((page, lpn)) => {
                collection.cursor = page + 1;
                let class = if self.config.gc.copyback { Class::CollectProgram } else { Class::CollectRead };
                let from = self.geometry.ppn(block, page);
                self.insert_transaction(class, None, lpn, from, self.geometry.page_size)
            }
            None => {
                self.write_back_moves(plane);
                let first: Ppn = self.geometry.ppn(block, 0);
                self.insert_transaction(Class::Erase, None, Lpn(0), first, self.geometry.page_size)
            }
        };
        self.enqueue(id);
    }

    /// A page of the plane's victim has moved, or was overwritten before it could.
    pub(super) fn page_moved(&mut self, plane: PlaneId) {
        self.advance(plane);
    }

    /// The plane's victim is erased: its pages are free.
    pub(super) fn block_erased(&mut self, plane: PlaneId) {
        let collection = self.collections[plane.index()].take().expect("only a collection erases");
        if !collection.background {
            self.foreground_collections[self.geometry.die_of_plane(plane).index()] -= 1;
        }
        self.measures.gc.erases += 1;
        self.ftl.finish_erase(collection.block);
        if self.binds_early {
            self.bind_held_back(plane);
        }
        self.collect_if_needed(plane);
        // At most one wear move for each collection, or a plane of many cold blocks would move them all in one go.
        if self.collections[plane.index()].is_none()
            && !collection.levels_wear
            && let Some(block) = self.ftl.wants_wear_move(plane)
        {
            self.begin(plane, Collection { block, cursor: 0, background: true, levels_wear: true });
        }
    }

    /// Whether collection goes before user requests on this die: always when it cannot be preempted, else when space is
    /// nearly out, here or where the pages come from.
    #[inline]
    pub(super) fn collection_first(&self, die: DieId) -> bool {
        let has_to_go_on = || !self.config.gc.preemptible || self.is_urgent(die);
        (self.foreground_collections[die.index()] > 0 && has_to_go_on()) || self.arrival_first(die)
    }

    /// Whether this die collects since its space is nearly out.
    pub(super) fn collects_for_space(&self, die: DieId) -> bool {
        self.foreground_collections[die.index()] > 0 && self.is_urgent(die)
    }

    #[inline(never)]
    fn is_urgent(&self, die: DieId) -> bool {
        self.planes_of(die).any(|plane| self.ftl.is_urgent(plane))
    }
}
