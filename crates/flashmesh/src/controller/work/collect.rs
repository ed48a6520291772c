//! Garbage collection and wear levelling with timed flash operations: the valid pages of a victim block move one after
//! the other, each a read and a program (or one copyback) of the same die, or a read and a program on another chip, then the
//! block is erased.
//!
//! Where the planes of a die use the same blocks together, they are collected at once, and erased when all have been emptied.

use crate::controller::Context;
use crate::controller::shared::Shared;
use crate::controller::steps::Step;
use crate::flash::geometry::Geometry;
use crate::ftl::Stream;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, Origin};
use crate::persistence::Programmed;
use crate::policies::PolicyEvent;
use crate::schedule::transaction::Transaction;
use crate::schedule::work::{Route, Work};

use super::map::CachedMap;
use super::moves::Moves;

/// A victim block on its way to being free.
#[derive(Clone, Copy, Debug)]
struct Collection {
    block: BlockId,
    /// The first page that has not been looked at.
    cursor: u32,
    /// User requests go first: it was begun because the die was idle, or to level wear, and space has not run out since.
    background: bool,
    /// It moves cold pages out of a little worn block.
    levels_wear: bool,
    /// All pages of its block have moved, and it waits for the other planes of the die.
    is_drained: bool,
}

/// Why a block is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Space,
    /// The die is idle.
    Background,
    Wear,
}

/// A block that has been erased.
#[derive(Clone, Copy, Debug)]
pub struct Erased {
    plane: PlaneId,
    levels_wear: bool,
    held_translation: bool,
}

/// The collections in progress.
#[derive(Clone, Debug)]
pub struct Collections {
    by_plane: Vec<Option<Collection>>,
    /// Those on each die that are not in the background.
    foreground: Vec<u32>,
}

impl Collections {
    pub fn new(geometry: &Geometry) -> Collections {
        Collections { by_plane: vec![None; geometry.planes() as usize], foreground: vec![0; geometry.dies() as usize] }
    }

    /// Whether a plane has a collection that goes before user requests.
    pub fn is_foreground(&self, plane: PlaneId) -> bool {
        self.by_plane[plane.index()].is_some_and(|collection| !collection.background)
    }

    /// Whether collection goes before user requests on this die: always when it cannot be preempted, else when space is
    /// nearly out.
    #[inline(always)]
    pub fn goes_first(&self, die: DieId, shared: &Shared) -> bool {
        self.foreground[die.index()] > 0 && (!shared.rules.preemptible || is_urgent(die, shared))
    }

    /// Whether this die collects since its space is nearly out.
    pub fn is_out_of_space(&self, die: DieId, shared: &Shared) -> bool {
        self.foreground[die.index()] > 0 && is_urgent(die, shared)
    }

    /// Starts collecting a plane that is short of free pages; a collection in the background is promoted to foreground.
    #[inline]
    pub fn collect_if_needed<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        if M::ALL_FEATURES && cx.shared.ftl.has_twins() {
            return self.collect_die_if_needed(plane, cx);
        }
        match &mut self.by_plane[plane.index()] {
            Some(collection) => {
                if collection.background && cx.shared.ftl.is_short(plane) {
                    collection.background = false;
                    self.foreground[cx.shared.geometry.die_of_plane(plane).index()] += 1;
                }
            }
            None => {
                if cx.shared.ftl.wants_collection(plane)
                    && let Some(block) = cx.shared.ftl.begin_collection(plane)
                {
                    self.begin(&[block], Need::Space, cx);
                }
            }
        }
    }

    fn collect_die_if_needed<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        let die = cx.shared.geometry.die_of_plane(plane);
        if self.is_collected(die, cx.shared) {
            if cx.shared.planes_of(die).any(|plane| cx.shared.ftl.is_short(plane)) {
                for plane in cx.shared.planes_of(die) {
                    if let Some(collection) = &mut self.by_plane[plane.index()]
                        && std::mem::take(&mut collection.background)
                    {
                        self.foreground[die.index()] += 1;
                    }
                }
            }
        } else if cx.shared.ftl.wants_twin_collection(plane)
            && let Some(blocks) = cx.shared.ftl.begin_twin_collection(plane)
        {
            self.begin(&blocks, Need::Space, cx);
        }
    }

    fn is_collected(&self, die: DieId, shared: &Shared) -> bool {
        shared.planes_of(die).any(|plane| self.by_plane[plane.index()].is_some())
    }

    /// Starts collecting the planes of an idle die that background collection wants.
    #[inline]
    pub fn idle<M: Model>(&mut self, die: DieId, cx: &mut Context<'_, M>) {
        if cx.shared.rules.collects_in_background {
            self.collect_in_background(die, cx);
        }
    }

    #[inline(never)]
    fn collect_in_background<M: Model>(&mut self, die: DieId, cx: &mut Context<'_, M>) {
        let first = cx.shared.geometry.first_plane(die);
        if M::ALL_FEATURES && cx.shared.ftl.has_twins() {
            if !self.is_collected(die, cx.shared)
                && cx.shared.ftl.wants_background_twin_collection(first)
                && let Some(blocks) = cx.shared.ftl.begin_twin_collection(first)
            {
                self.begin(&blocks, Need::Background, cx);
            }
            return;
        }
        for plane in cx.shared.planes_of(die) {
            cx.then(Step::CollectInBackground(plane));
        }
    }

    /// Starts collecting a plane of an idle die, if background collection wants it.
    pub fn collect_plane_in_background<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        if self.by_plane[plane.index()].is_none()
            && cx.shared.ftl.wants_background_collection(plane)
            && let Some(block) = cx.shared.ftl.begin_collection(plane)
        {
            self.begin(&[block], Need::Background, cx);
        }
    }

    /// Blocks are on their way to being free; those of a die all are before the first of them moves on.
    fn begin<M: Model>(&mut self, blocks: &[BlockId], need: Need, cx: &mut Context<'_, M>) {
        for &block in blocks {
            let collection = Collection {
                block,
                cursor: 0,
                background: need != Need::Space,
                levels_wear: need == Need::Wear,
                is_drained: false,
            };
            let plane = self.enter(collection, cx.shared);
            cx.then(Step::Advance(plane));
        }
    }

    fn enter(&mut self, collection: Collection, shared: &mut Shared) -> PlaneId {
        let first = shared.geometry.ppn(collection.block, 0);
        let plane = shared.geometry.plane_of(first);
        let gc = &mut shared.counters.gc;
        gc.collections += 1;
        gc.wear_moves += u64::from(collection.levels_wear);
        gc.translation_collections += u64::from(shared.ftl.stream_of_move(first) != Stream::Collection);
        if !collection.background {
            self.foreground[shared.geometry.die_of_plane(plane).index()] += 1;
        }
        self.by_plane[plane.index()] = Some(collection);
        plane
    }

    /// Moves the next valid page of the plane's victim, or erases the block when none is left.
    pub fn advance<M: Model>(
        &mut self,
        plane: PlaneId,
        moves: &mut Moves,
        map: Option<&mut CachedMap>,
        cx: &mut Context<'_, M>,
    ) {
        let Some(collection) = &mut self.by_plane[plane.index()] else { return };
        let block = collection.block;
        if M::ALL_FEATURES
            && cx.shared.rules.cleans
            && let Some(read) = moves.cleaning.begin(plane, block, collection.cursor, cx)
        {
            return cx.then(Step::Enqueue(read));
        }
        let shared = &cx.shared;
        if let Some((page, lpn)) = shared.ftl.next_valid_page(block, collection.cursor) {
            collection.cursor = page + 1;
            let copyback = shared.rules.copyback;
            let work =
                if copyback { Work::CollectProgram(Route::Controller) } else { Work::CollectRead(Route::Controller) };
            let from = shared.geometry.ppn(block, page);
            let id = cx.begin_own(work, lpn, from, plane);
            return cx.then(Step::Enqueue(id));
        }
        if map.is_some_and(|map| map.write_back_moves(plane)) {
            cx.then(Step::SettleMap);
        }
        if M::ALL_FEATURES && cx.shared.ftl.has_twins() {
            collection.is_drained = true;
            cx.then(Step::Drained(plane));
        } else {
            let from = cx.shared.geometry.ppn(block, 0);
            cx.then(Step::Own { work: Work::Erase, lpn: Lpn(0), from, plane });
        }
    }

    /// All pages of a plane's victim have moved: when those of the whole die have, the blocks are erased.
    pub fn drained<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        let die = cx.shared.geometry.die_of_plane(plane);
        let drained = |plane: PlaneId| {
            let collection = self.by_plane[plane.index()].filter(|collection| collection.is_drained)?;
            Some((plane, collection.block))
        };
        let victims: Vec<(PlaneId, BlockId)> = cx.shared.planes_of(die).filter_map(drained).collect();
        if victims.len() < cx.shared.geometry.planes_per_die as usize {
            return;
        }
        for (plane, block) in victims {
            let from = cx.shared.geometry.ppn(block, 0);
            cx.then(Step::Own { work: Work::Erase, lpn: Lpn(0), from, plane });
        }
    }

    /// The data of a page has left its victim: it is programmed in the same die, where the policy may choose another plane.
    pub fn read_done<M: Model>(&mut self, id: TransactionId, route: Route, cx: &mut Context<'_, M>) {
        let Context { shared, datapath, .. } = cx;
        let transaction = datapath.transaction_mut(id);
        transaction.work = Work::CollectProgram(route);
        if M::ALL_FEATURES && route == Route::Controller {
            let stream = shared.ftl.stream_of_move(transaction.from);
            transaction.plane = shared.policy.place_move(transaction.plane, stream, &shared.ftl);
        }
        cx.then(Step::Enqueue(id));
    }

    /// The array has programmed a page that moved.
    pub fn programmed<M: Model>(
        &mut self,
        id: TransactionId,
        route: Route,
        moves: &mut Moves,
        map: Option<&mut CachedMap>,
        cx: &mut Context<'_, M>,
    ) {
        let Transaction { lpn, plane, from, to, .. } = *cx.datapath.transaction(id);
        let shared = &mut *cx.shared;
        shared.counters.gc.pages_moved += 1;
        cx.kernel.tell(|| Notice::PageProgrammed(to, lpn, Origin::Moved(from)));
        // A replica is in no entry of the map.
        let is_original = shared.ftl.lookup(lpn) == Some(from);
        let is_wanted = shared.ftl.commit_move(lpn, from, to);
        if M::ALL_FEATURES {
            let moved = if is_original { Programmed::Moved } else { Programmed::Copied };
            shared.persist_program(lpn, to, if is_wanted { moved } else { Programmed::Superseded });
        }
        if is_wanted
            && is_original
            && let Some(map) = map
        {
            map.moved(lpn, shared.geometry.plane_of(from), cx.kernel);
        }
        if route != Route::Controller {
            shared.counters.gc.pages_copied += 1;
            moves.programmed(route, lpn, plane, from, to, is_wanted, shared);
        }
    }

    /// The plane's victim is erased: its pages are free.
    pub fn erased<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        let shared = &mut *cx.shared;
        let collection = self.by_plane[plane.index()].take().expect("only a collection erases");
        if !collection.background {
            self.foreground[shared.geometry.die_of_plane(plane).index()] -= 1;
        }
        shared.counters.gc.erases += 1;
        let held_translation = shared.ftl.holds_translation(collection.block);
        shared.ftl.finish_erase(collection.block);
        if shared.rules.preallocates {
            cx.then(Step::Unblock(plane));
        }
        cx.then(Step::Collect(plane));
        cx.then(Step::Erased(Erased { plane, levels_wear: collection.levels_wear, held_translation }));
    }

    /// Moves cold pages out of a little worn block, after an erase.
    ///
    /// At most one wear move for each collection, or a plane of many cold blocks would move them all in one go; and none for one of
    /// translation pages. Moves of data have translation pages programmed, which are collected, and where each of these
    /// collections let more data move, it would go on for ever. Those of data come to an end: each needs a page
    /// that the host has made invalid.
    pub fn level_wear<M: Model>(&mut self, erased: Erased, cx: &mut Context<'_, M>) {
        if M::ALL_FEATURES {
            cx.shared.policy.tell(PolicyEvent::DieIdle);
        }
        let Erased { plane, levels_wear, held_translation } = erased;
        if self.by_plane[plane.index()].is_some() || levels_wear || held_translation {
            return;
        }
        let Some(block) = cx.shared.ftl.wants_wear_move(plane) else { return };
        if M::ALL_FEATURES && cx.shared.ftl.has_twins() {
            let blocks = cx.shared.ftl.twins_of_victim(block);
            self.begin(&blocks, Need::Wear, cx);
        } else {
            self.begin(&[block], Need::Wear, cx);
        }
    }
}

#[inline(never)]
fn is_urgent(die: DieId, shared: &Shared) -> bool {
    shared.planes_of(die).any(|plane| shared.ftl.is_urgent(plane))
}
