//! Garbage collection and wear levelling with timed flash operations: the valid pages of a victim block move one after
//! the other, each a read and a program (or one copyback) of the same die, or a read and a program on another chip, then the
//! block is erased.

use crate::datapath::Datapath;
use crate::flash::geometry::Geometry;
use crate::ftl::Stream;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::transaction::{Class, Transaction};

use super::Firmware;
use super::clean::Cleaning;

/// A victim block on its way to being free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collection {
    pub(super) block: BlockId,
    /// The first page that has not been looked at.
    pub(super) cursor: u32,
    /// User requests go first: it was begun because the die was idle, or to level wear, and space has not run out since.
    pub(super) background: bool,
    /// It moves cold pages out of a little worn block.
    pub(super) levels_wear: bool,
    /// All pages of its block have moved, and it waits for the other planes of the die.
    pub(super) is_drained: bool,
}

impl Collection {
    pub(super) fn new(block: BlockId) -> Collection {
        Collection { block, cursor: 0, background: false, levels_wear: false, is_drained: false }
    }
}

/// The collections in progress.
#[derive(Debug)]
pub(super) struct Collections {
    pub(super) by_plane: Vec<Option<Collection>>,
    /// Those on each die that are not in the background.
    pub(super) foreground: Vec<u32>,
    /// For each plane that a page is on its way to from another chip, the plane whose collection sent it; kept when pages move
    /// from chip to chip.
    pub(super) arrivals: Vec<Option<PlaneId>>,
    /// Those of blocks whose pages move by one packet.
    pub(super) cleaning: Cleaning,
}

impl Collections {
    /// No collection.
    pub(super) fn new(geometry: &Geometry, copies: bool, cleans: bool) -> Collections {
        let planes = geometry.planes() as usize;
        Collections {
            by_plane: vec![None; planes],
            foreground: vec![0; geometry.dies() as usize],
            arrivals: if copies { vec![None; planes] } else { Vec::new() },
            cleaning: Cleaning::new(geometry, cleans),
        }
    }

    /// Whether a plane has a collection that goes before user requests.
    pub(super) fn is_foreground(&self, plane: PlaneId) -> bool {
        self.by_plane[plane.index()].is_some_and(|collection| !collection.background)
    }
}

impl Firmware {
    /// Starts collecting a plane that is short of free pages; a collection in the background is promoted to foreground.
    #[inline]
    pub(super) fn collect_if_needed<M: Model>(
        &mut self,
        plane: PlaneId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if M::FULL && self.ftl.has_twins() {
            return self.collect_twins_if_needed(plane, datapath, kernel);
        }
        match &mut self.collections.by_plane[plane.index()] {
            Some(collection) => {
                if collection.background && self.ftl.is_short(plane) {
                    collection.background = false;
                    self.collections.foreground[self.geometry.die_of_plane(plane).index()] += 1;
                }
            }
            None => {
                if self.ftl.wants_collection(plane)
                    && let Some(block) = self.ftl.begin_collection(plane)
                {
                    let collection = Collection::new(block);
                    self.begin_collection(plane, collection, datapath, kernel);
                }
            }
        }
    }

    /// Starts collecting the idle dies that background collection wants.
    pub fn collect_idle_dies<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if !self.rules.collects_in_background {
            return;
        }
        for die in (0..self.geometry.dies()).map(DieId) {
            if datapath.is_idle(die) {
                self.collect_in_background(die, datapath, kernel);
            }
        }
    }

    /// Starts collecting the planes of an idle die that background collection wants.
    #[inline]
    pub(super) fn collect_in_background<M: Model>(
        &mut self,
        die: DieId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if self.rules.collects_in_background {
            self.collect_planes_in_background(die, datapath, kernel);
        }
    }

    #[inline(never)]
    fn collect_planes_in_background<M: Model>(
        &mut self,
        die: DieId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if M::FULL && self.ftl.has_twins() {
            return self.collect_twins_in_background(die, datapath, kernel);
        }
        for plane in self.planes_of(die) {
            if self.collections.by_plane[plane.index()].is_none()
                && self.ftl.wants_background_collection(plane)
                && let Some(block) = self.ftl.begin_collection(plane)
            {
                let collection = Collection { background: true, ..Collection::new(block) };
                self.begin_collection(plane, collection, datapath, kernel);
            }
        }
    }

    pub(super) fn begin_collection<M: Model>(
        &mut self,
        plane: PlaneId,
        collection: Collection,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        self.enter_collection(plane, collection);
        self.advance(plane, datapath, kernel);
    }

    /// A victim of `plane` is on its way to being free.
    pub(super) fn enter_collection(&mut self, plane: PlaneId, collection: Collection) {
        self.counters.gc.collections += 1;
        self.counters.gc.wear_moves += u64::from(collection.levels_wear);
        let is_translation = self.ftl.stream_of_move(self.geometry.ppn(collection.block, 0)) != Stream::Collection;
        self.counters.gc.translation_collections += u64::from(is_translation);
        if !collection.background {
            self.collections.foreground[self.geometry.die_of_plane(plane).index()] += 1;
        }
        self.collections.by_plane[plane.index()] = Some(collection);
    }

    /// Moves the next valid page of the plane's victim, or erases the block when none is left.
    pub(super) fn advance<M: Model>(&mut self, plane: PlaneId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Some(collection) = &mut self.collections.by_plane[plane.index()] else { return };
        let (block, cursor) = (collection.block, collection.cursor);
        if M::FULL && self.rules.cleans && self.cleans(plane, block, cursor, datapath, kernel) {
            return;
        }
        let Some(collection) = &mut self.collections.by_plane[plane.index()] else { return };
        let (class, lpn, from) = match self.ftl.next_valid_page(block, collection.cursor) {
            Some((page, lpn)) => {
                collection.cursor = page + 1;
                let class = if self.rules.copyback { Class::CollectProgram } else { Class::CollectRead };
                (class, lpn, self.geometry.ppn(block, page))
            }
            None if M::FULL && self.ftl.has_twins() => return self.drained(plane, datapath, kernel),
            None => {
                self.write_back_moves(plane, datapath, kernel);
                (Class::Erase, Lpn(0), self.geometry.ppn(block, 0))
            }
        };
        self.enqueue_own(class, lpn, from, plane, datapath, kernel);
    }

    /// Puts a transaction of the firmware's own into a queue of `plane`.
    #[inline]
    pub(super) fn enqueue_own<M: Model>(
        &mut self,
        class: Class,
        lpn: Lpn,
        from: Ppn,
        plane: PlaneId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let mut transaction = Transaction::new(class, None, lpn, plane, from, self.geometry.page_size);
        transaction.account.begin(kernel.now());
        let id = datapath.insert(transaction);
        self.enqueue(id, datapath, kernel);
    }

    /// The plane's victim is erased: its pages are free.
    pub(super) fn block_erased<M: Model>(
        &mut self,
        plane: PlaneId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let collection = self.collections.by_plane[plane.index()].take().expect("only a collection erases");
        if !collection.background {
            self.collections.foreground[self.geometry.die_of_plane(plane).index()] -= 1;
        }
        self.counters.gc.erases += 1;
        let held_translation = self.ftl.holds_translation(collection.block);
        self.ftl.finish_erase(collection.block);
        if M::PREALLOCATES && self.rules.preallocates {
            self.start_blocked(plane, datapath, kernel);
        }
        self.collect_if_needed(plane, datapath, kernel);
        if M::FULL {
            self.policy.die_idle();
        }
        // At most one wear move for each collection, or a plane of many cold blocks would move them all in one go; and none for one of
        // translation pages. Moves of data have translation pages programmed, which are collected, and where each of these
        // collections let more data move, it would go on for ever. Those of data come to an end: each needs a page
        // that the host has made invalid.
        if self.collections.by_plane[plane.index()].is_none()
            && !collection.levels_wear
            && !held_translation
            && let Some(block) = self.ftl.wants_wear_move(plane)
        {
            if M::FULL && self.ftl.has_twins() {
                return self.level_wear_of_twins(block, datapath, kernel);
            }
            let collection = Collection { background: true, levels_wear: true, ..Collection::new(block) };
            self.begin_collection(plane, collection, datapath, kernel);
        }
    }

    /// Whether collection goes before user requests on this die: always when it cannot be preempted, else when space is
    /// nearly out, here or where the pages come from.
    #[inline(always)]
    pub(super) fn goes_first(&self, die: DieId) -> bool {
        let has_to_go_on = || !self.rules.preemptible || self.is_urgent(die);
        (self.collections.foreground[die.index()] > 0 && has_to_go_on()) || self.arrival_first(die)
    }

    /// Whether this die collects since its space is nearly out.
    pub(super) fn is_out_of_space(&self, die: DieId) -> bool {
        self.collections.foreground[die.index()] > 0 && self.is_urgent(die)
    }

    #[inline(never)]
    fn is_urgent(&self, die: DieId) -> bool {
        self.planes_of(die).any(|plane| self.ftl.is_urgent(plane))
    }
}
