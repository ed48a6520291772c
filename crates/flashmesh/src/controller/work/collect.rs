//! Garbage collection and wear levelling with timed flash operations: the valid pages of a victim block move one after
//! the other, each a read and a program (or one copyback) of the same die, or a read and a program on another chip, then the
//! block is erased.
//!
//! Where planes use the same blocks together (a superblock), they are collected at once, and erased when all have been emptied.

use crate::config::Config;
use crate::controller::Context;
use crate::controller::shared::Shared;
use crate::controller::steps::Step;
use crate::flash::geometry::Geometry;
use crate::ftl::{BlockState, Ftl, Superblocks};
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, Origin};
use crate::persistence::Programmed;
use crate::policies::{self, FirmwarePolicy};
use crate::schedule::transaction::Transaction;
use crate::schedule::work::{Route, Work};

mod begin;
pub mod in_plane;
mod take_turns;
mod unread;

use super::map::CachedMap;
use super::moves::Moves;
use super::pace::Pace;
use take_turns::ShortOfSpace;
use unread::Unread;

/// A victim block on its way to being free.
#[derive(Clone, Copy, Debug)]
struct Collection {
    block: BlockId,
    /// The first page that has not been looked at.
    cursor: u32,
    /// User requests go first: it was begun because the die was idle, to fold, or to level wear, and space has not run out since.
    background: bool,
    /// It moves cold pages out of a little worn block.
    levels_wear: bool,
    /// All pages of its block have moved, and it waits for the other planes of the die.
    is_drained: bool,
    /// Pages on their way, read or not: one at a time, several where programs gather.
    moving: u32,
    /// Of them those that have not been read.
    reading: u32,
    /// Whether all of its valid pages are on their way, or have moved; told where programs gather.
    is_read: bool,
    /// Whether all of them have moved; likewise.
    is_over: bool,
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
    /// What planes that are collected together have still to read; told where programs gather.
    unread: Unread,
    short: ShortOfSpace,
    pub pace: Pace,
}

impl Collections {
    pub fn new(config: &Config, geometry: &Geometry) -> Collections {
        Collections {
            by_plane: vec![None; geometry.planes() as usize],
            unread: Unread::new(geometry),
            short: ShortOfSpace::new(config, geometry),
            pace: Pace::new(
                config,
                geometry,
                policies::ftl_rules(config).superblock_dies.map(|dies| Superblocks::new(geometry, dies)),
            ),
        }
    }

    /// Whether a plane has a collection that goes before user requests.
    pub fn is_foreground(&self, plane: PlaneId) -> bool {
        self.by_plane[plane.index()].is_some_and(|collection| !collection.background)
    }

    /// Whether collection goes before user requests on this die: always when it cannot be preempted, else when space is
    /// nearly out.
    #[inline(always)]
    pub fn goes_first(&self, die: DieId, shared: &Shared) -> bool {
        shared.foreground.is_on(die) && (!shared.rules.preemptible || is_urgent(die, shared))
    }

    /// Whether this die collects since its space is nearly out.
    pub fn is_out_of_space(&self, die: DieId, shared: &Shared) -> bool {
        shared.foreground.is_on(die) && is_urgent(die, shared)
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
        if M::ALL_FEATURES && cx.shared.rules.cleans && collection.moving == 0 {
            if moves.cleaning.is_under_way(plane) {
                return;
            }
            if let Some(read) = moves.cleaning.begin(plane, block, collection.cursor, cx) {
                return cx.then(Step::Enqueue(read));
            }
        }
        if M::ALL_FEATURES && cx.shared.geometry.gathers() {
            if !self.move_several(plane, cx) {
                return;
            }
        } else if let Some((page, lpn)) = cx.shared.ftl.next_valid_page(block, collection.cursor) {
            collection.cursor = page + 1;
            return move_page(plane, cx.shared.geometry.ppn(block, page), lpn, cx);
        }
        if map.is_some_and(|map| map.write_back_moves(plane)) {
            cx.then(Step::SettleMap);
        }
        if M::ALL_FEATURES && cx.shared.ftl.has_twins() {
            cx.then(Step::Drained(plane));
        } else {
            self.moved_all(plane, cx);
            let from = cx.shared.geometry.ppn(block, 0);
            cx.then(Step::Own { work: Work::Erase, lpn: Lpn(0), from, plane });
        }
    }

    /// Moves as many pages of the plane's victim at a time as fill programs; gives whether all have moved.
    fn move_several<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) -> bool {
        loop {
            let may_move = self.may_move_another(plane, cx);
            let collection = self.by_plane[plane.index()].as_mut();
            // Of several pages that turn out to be superseded at once, each has it go on.
            let Some(collection) = collection.filter(|collection| !collection.is_over) else { return false };
            let Some((page, lpn)) = cx.shared.ftl.next_valid_page(collection.block, collection.cursor) else {
                let (is_first, has_moved) = (!collection.is_read, collection.moving == 0);
                collection.is_read = true;
                collection.is_over = has_moved;
                if is_first {
                    self.unread.victim_is_read(plane, &cx.shared.ftl);
                }
                if is_first && cx.shared.ftl.has_twins() {
                    for other in cx.shared.ftl.superblocks().members(plane) {
                        if self.by_plane[other.index()].is_some_and(|collection| !collection.is_read) {
                            cx.then(Step::Advance(other));
                        }
                    }
                }
                if !has_moved {
                    all_read(plane, cx);
                }
                return has_moved;
            };
            if !may_move {
                return false;
            }
            if self.move_in_plane(plane, page, cx) {
                continue;
            }
            let Some(collection) = self.by_plane[plane.index()].as_mut() else { return false };
            collection.cursor = page + 1;
            collection.moving += 1;
            collection.reading += 1;
            self.unread.read_begins(plane, &cx.shared.ftl);
            let from = cx.shared.geometry.ppn(collection.block, page);
            move_page(plane, from, lpn, cx);
        }
    }

    /// Whether another page of a plane's victim may be on its way, where programs gather: twice as many as fill a program may be. Planes that
    /// are collected together share what fills a program over all of them, so that with one left it alone fills programs. The next ones may
    /// go by a Clean, which begins when none is on its way: then as many as fill a program are.
    fn may_move_another<M: Model>(&self, plane: PlaneId, cx: &Context<'_, M>) -> bool {
        let shared = &*cx.shared;
        let Some(collection) = &self.by_plane[plane.index()] else { return false };
        let program = shared.geometry.units_per_program;
        if shared.rules.cleans {
            let gather = collection.reading + cx.datapath.moves_that_gather(plane);
            return collection.moving == 0 || !gather.is_multiple_of(program);
        }
        let mut limit = 2 * program;
        if shared.ftl.has_twins() {
            limit = limit * shared.ftl.superblocks().planes() / self.unread.victims(plane, &shared.ftl).max(1);
        }
        collection.moving < limit
    }

    /// Whether victims whose pages may move to `plane` have valid pages that have not been read.
    pub fn moves_more(&self, plane: PlaneId, ftl: &Ftl) -> bool {
        self.unread.has_any(plane, ftl)
    }

    /// A page of the victim of `plane` has been programmed, or has not to be any more.
    pub fn moved<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        self.pace.moved(plane);
        self.end_turn(cx);
        if let Some(collection) = &mut self.by_plane[plane.index()] {
            collection.moving = collection.moving.saturating_sub(1);
        }
    }

    /// The same of one that has been read; gives whether it was the last, for which programs may have waited.
    fn read(&mut self, plane: PlaneId, ftl: &Ftl) -> bool {
        let Some(collection) = &mut self.by_plane[plane.index()] else { return false };
        if collection.reading > 0 {
            collection.reading -= 1;
            self.unread.read_ended(plane, ftl);
        }
        collection.is_read && collection.reading == 0 && !self.moves_more(plane, ftl)
    }

    /// A page of a victim is not needed any more.
    pub fn dropped<M: Model>(&mut self, work: Work, from: PlaneId, cx: &mut Context<'_, M>) {
        self.moved(from, cx);
        if let Work::CollectRead(_) = work
            && self.read(from, &cx.shared.ftl)
        {
            all_read(from, cx);
        }
    }

    /// All pages of a plane's victim have moved: when those of the whole superblock have, its blocks are erased.
    pub fn drained<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        if let Some(collection) = &mut self.by_plane[plane.index()] {
            collection.is_drained = true;
        }
        let superblocks = cx.shared.ftl.superblocks();
        let drained = |plane: PlaneId| {
            let collection = self.by_plane[plane.index()].filter(|collection| collection.is_drained)?;
            Some((plane, collection.block))
        };
        let victims: Vec<(PlaneId, BlockId)> = superblocks.members(plane).filter_map(drained).collect();
        if victims.len() < superblocks.planes() as usize {
            return;
        }
        self.moved_all(plane, cx);
        for (plane, block) in victims {
            let from = cx.shared.geometry.ppn(block, 0);
            cx.then(Step::Own { work: Work::Erase, lpn: Lpn(0), from, plane });
        }
    }

    /// The data of a page has left its victim: it is programmed in its plane, or in one that the policy chooses, or on another chip.
    pub fn read_done<M: Model>(&mut self, id: TransactionId, route: Route, moves: &mut Moves, cx: &mut Context<'_, M>) {
        let Context { shared, datapath, .. } = cx;
        let transaction = datapath.transaction_mut(id);
        let from = shared.geometry.plane_of(transaction.from);
        let is_last = M::ALL_FEATURES && shared.geometry.gathers() && self.read(from, &shared.ftl);
        transaction.work = Work::CollectProgram(route);
        if M::ALL_FEATURES && route == Route::Controller {
            let stream = shared.ftl.stream_of_move(transaction.from);
            transaction.plane = shared.policy.place_move(transaction.plane, stream, &shared.ftl);
        }
        if M::ALL_FEATURES && route == Route::Chip && shared.geometry.gathers() {
            moves.gathered(id, cx);
        } else {
            cx.then(Step::Enqueue(id));
        }
        if is_last {
            all_read(from, cx);
        }
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
        if M::ALL_FEATURES
            && let Some(slc) = shared.slc.as_mut().filter(|_| shared.geometry.is_slc_page(from))
        {
            slc.page_folded();
        }
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
        if route.leaves_chip() {
            shared.counters.gc.pages_copied += 1;
            moves.programmed(route, lpn, plane, from, to, is_wanted, shared);
        }
    }

    /// The plane's victim is erased: its pages are free.
    pub fn erased<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        let shared = &mut *cx.shared;
        let collection = self.by_plane[plane.index()].take().expect("only a collection erases");
        if !collection.background {
            shared.foreground.leave(shared.geometry.die_of_plane(plane));
        }
        shared.counters.gc.erases += 1;
        let held_translation = shared.ftl.holds_translation(collection.block);
        shared.ftl.finish_erase(collection.block);
        self.pace.end(plane);
        self.end_turn(cx);
        if cx.shared.rules.preallocates {
            cx.then(Step::Unblock(plane));
        }
        cx.then(Step::Collect(plane));
        // The last block to be erased frees those of all planes, whose dies may have nothing else to come.
        let is_free = M::ALL_FEATURES && cx.shared.ftl.block_state(collection.block) == BlockState::Free;
        if is_free && cx.shared.ftl.has_twins() {
            self.short.changed(plane, &cx.shared.ftl);
            ask_dies_of_superblock(plane, cx);
        }
        let was_folded = M::ALL_FEATURES && cx.shared.geometry.is_slc(collection.block);
        if let Some(slc) = cx.shared.slc.as_mut().filter(|_| was_folded) {
            slc.erased();
            if is_free {
                cx.shared.ftl.set_of(plane).for_each(|plane| slc.has_room(plane, cx.kernel.now()));
            }
        }
        // No wear move follows a fold: they follow collections, one each.
        let levels_wear = collection.levels_wear || was_folded;
        cx.then(Step::Erased(Erased { plane, levels_wear, held_translation }));
    }
}

/// All units of a victim may have been read: programs that waited for more of them do no longer.
fn all_read<M: Model>(plane: PlaneId, cx: &mut Context<'_, M>) {
    ask_dies_of_superblock(plane, cx);
    if cx.shared.rules.copies {
        cx.then(Step::AllRead(plane));
    }
}

/// Asks each die with planes of the superblocks of `plane`: programs may have gathered there, or pages become free.
fn ask_dies_of_superblock<M: Model>(plane: PlaneId, cx: &mut Context<'_, M>) {
    let geometry = &cx.shared.geometry;
    let dies = cx.shared.ftl.superblocks().members(plane).step_by(geometry.planes_per_die as usize);
    let dies: Vec<DieId> = dies.map(|plane| geometry.die_of_plane(plane)).collect();
    dies.into_iter().for_each(|die| cx.then(Step::TryIssue(die)));
}

/// A valid page at `from` leaves its victim.
#[inline]
fn move_page<M: Model>(plane: PlaneId, from: Ppn, lpn: Lpn, cx: &mut Context<'_, M>) {
    // Of several units that gather those that move within their plane have gone.
    let copyback = cx.shared.rules.copyback && !(M::ALL_FEATURES && cx.shared.geometry.gathers());
    let work = if copyback { Work::CollectProgram(Route::Plane) } else { Work::CollectRead(Route::Controller) };
    let id = cx.begin_own(work, lpn, from, plane);
    cx.then(Step::Enqueue(id));
}

/// Whether collection of a die goes before reads: its space is nearly out, or writes wait for a fold.
#[inline(never)]
fn is_urgent(die: DieId, shared: &Shared) -> bool {
    shared.planes_of(die).any(|plane| shared.ftl.is_urgent(plane) || shared.ftl.waits_for_fold(plane))
}
