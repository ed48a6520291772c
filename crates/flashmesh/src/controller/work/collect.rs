//! Garbage collection and wear levelling with timed flash operations. The valid pages of a victim block are moved one after the other: by a read and
//! a program of the same die, by a copyback, or by a read and a program on another chip. Then the block is erased.
//!
//! The planes of a superblock are collected together. Their blocks are erased when all of them are empty.

use crate::config::Config;
use crate::controller::Context;
use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::flash::geometry::Geometry;
use crate::ftl::{BlockState, Ftl, OpenBlockKind, Superblocks};
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, Origin};
use crate::persistence::ProgramReason;
use crate::policies::{self, FirmwarePolicy};
use crate::schedule::purpose::{MoveRoute, Purpose};
use crate::schedule::transaction::Transaction;

mod begin;
pub mod foreground;
mod gc_rate_control;
mod gc_turns;
mod in_plane;
mod steps;
mod unread_pages;

use super::chip_to_chip::ChipToChipMoves;
use super::map::CachedMap;
use gc_rate_control::GcRateControl;
use gc_turns::ShortOfSpace;
use unread_pages::UnreadPages;

/// The collection of a victim block.
#[derive(Clone, Copy, Debug)]
struct Collection {
    block: BlockId,
    /// Number of valid pages at the start of the collection.
    valid_at_begin: u32,
    /// Index, within the block, of the next page to check for validity.
    cursor: u32,
    /// Whether the collection runs in the background, so that user requests have precedence. True for collections begun on an idle die
    /// (including folds) or for wear levelling, until they are promoted to the foreground for lack of space.
    background: bool,
    /// Whether the collection moves cold pages out of a block with little wear.
    levels_wear: bool,
    /// Whether all pages have moved, and the block waits until the other blocks of its superblock are empty too.
    is_drained: bool,
    /// Number of pages that have begun to move and are not programmed; counted only with several mapping units per program.
    moving: u32,
    /// Number of pages in `moving` that are not read yet.
    reading: u32,
    /// Whether all valid pages have begun to move; maintained only with several mapping units per program.
    is_read: bool,
    /// Whether all valid pages have moved; maintained only with several mapping units per program.
    is_over: bool,
}

/// Progress of the collections of all planes at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct CollectionLevels {
    pub victims: u64,
    /// Reclaimed pages, summed over the victims: for each victim, the number of its pages times the fraction of its valid pages that have moved.
    pub reclaimed_pages: u64,
}

/// A victim block that has just been erased: its plane, whether it was collected for wear levelling or as a block of the SLC cache, and
/// whether it held translation pages.
#[derive(Clone, Copy, Debug)]
pub struct Erased {
    plane: PlaneId,
    levels_wear: bool,
    held_translation: bool,
}

/// The collections in progress, by plane.
#[derive(Clone, Debug)]
pub struct Collections {
    by_plane: Vec<Option<Collection>>,
    /// Unread pages of victims; maintained only with several mapping units per program.
    unread: UnreadPages,
    short: ShortOfSpace,
    pub pace: GcRateControl,
}

impl Collections {
    pub fn new(config: &Config, geometry: &Geometry) -> Collections {
        Collections {
            by_plane: vec![None; geometry.planes() as usize],
            unread: UnreadPages::new(geometry),
            short: ShortOfSpace::new(config, geometry),
            pace: GcRateControl::new(
                config,
                geometry,
                policies::ftl_rules(config).superblock_dies.map(|dies| Superblocks::new(geometry, dies)),
            ),
        }
    }

    /// Returns the number of victims and of reclaimed pages over all planes. Folds of the SLC cache do not count, because they reclaim no
    /// pages of the flash array.
    pub fn progress(&self, shared: &Shared) -> CollectionLevels {
        let pages = u64::from(shared.geometry.pages_per_block);
        let mut levels = CollectionLevels::default();
        for victim in self.by_plane.iter().flatten() {
            if shared.ftl.move_block_kind(shared.geometry.ppn(victim.block, 0)) == OpenBlockKind::Fold {
                continue;
            }
            let begin = u64::from(victim.valid_at_begin);
            let left = u64::from(shared.ftl.blocks().valid_pages(victim.block)).min(begin);
            levels.victims += 1;
            levels.reclaimed_pages += (pages * (begin - left)).checked_div(begin).unwrap_or(pages);
        }
        levels
    }

    /// Returns whether `plane` has a foreground collection, which was begun or promoted for lack of space.
    pub fn is_foreground(&self, plane: PlaneId) -> bool {
        self.by_plane[plane.index()].is_some_and(|collection| !collection.background)
    }

    /// Returns whether a foreground collection of `die` has precedence over user requests: always if collection cannot be preempted, otherwise only
    /// if the die is nearly out of space, or if writes wait for a fold of the SLC cache.
    #[inline(always)]
    pub fn goes_first(&self, die: DieId, shared: &Shared) -> bool {
        shared.foreground.is_on(die) && (!shared.rules.preemptible || is_urgent(die, shared))
    }

    /// Returns whether `die` is collected because it is nearly out of space, or because writes wait for a fold of the SLC cache.
    pub fn is_out_of_space(&self, die: DieId, shared: &Shared) -> bool {
        shared.foreground.is_on(die) && is_urgent(die, shared)
    }

    /// Continues the collection of `plane`: begins to move the next valid pages of its victim. Once all have moved, begins the erase of the victim;
    /// in a superblock, once all its victims are empty.
    pub fn advance<M: Model>(
        &mut self,
        plane: PlaneId,
        moves: &mut ChipToChipMoves,
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
                return cx.push(FollowUp::Enqueue(read));
            }
        }
        if cx.datapath.queues.gathers() {
            if !self.move_several(plane, cx) {
                return;
            }
        } else if let Some((page, lpn)) = cx.shared.ftl.next_valid_page(block, collection.cursor) {
            collection.cursor = page + 1;
            return move_page(plane, cx.shared.geometry.ppn(block, page), lpn, cx);
        }
        if map.is_some_and(|map| map.write_back_moves(plane)) {
            cx.push(FollowUp::SettleMap);
        }
        if cx.has_superblocks() {
            cx.push(FollowUp::Drained(plane));
        } else {
            self.moved_all(plane, cx);
            let from = cx.shared.geometry.ppn(block, 0);
            cx.push(FollowUp::Own { work: Purpose::Erase, lpn: Lpn(0), from, plane });
        }
    }

    /// Begins to move pages of the victim of `plane`, up to the limit of [`may_move_another`](Self::may_move_another). Returns whether all valid
    /// pages have moved.
    fn move_several<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) -> bool {
        loop {
            let may_move = self.may_move_another(plane, cx);
            let collection = self.by_plane[plane.index()].as_mut();
            // Each page that was superseded during its move pushes an `Advance` step. An earlier one of these steps may have found that all pages
            // have moved.
            let Some(collection) = collection.filter(|collection| !collection.is_over) else { return false };
            let Some((page, lpn)) = cx.shared.ftl.next_valid_page(collection.block, collection.cursor) else {
                let (is_first, has_moved) = (!collection.is_read, collection.moving == 0);
                collection.is_read = true;
                collection.is_over = has_moved;
                if is_first {
                    self.unread.victim_is_read(plane, &cx.shared.ftl);
                }
                if is_first && cx.shared.ftl.blocks().has_twins() {
                    for other in cx.shared.ftl.blocks().superblocks().members(plane) {
                        if self.by_plane[other.index()].is_some_and(|collection| !collection.is_read) {
                            cx.push(FollowUp::Advance(other));
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

    /// Returns whether another page of the victim of `plane` may begin to move, if programs write several mapping units. The limit is two programs of
    /// pages in flight. In a superblock, the limits of all planes are divided among the victims with unread pages, so that the last victim can fill
    /// programs alone. With Cleans the limit is one program, because the next pages may move by a Clean, which begins only when no page is moving.
    fn may_move_another<M: Model>(&self, plane: PlaneId, cx: &Context<'_, M>) -> bool {
        let shared = &*cx.shared;
        let Some(collection) = &self.by_plane[plane.index()] else { return false };
        let program = shared.geometry.units_per_program;
        if shared.rules.cleans {
            let gather = collection.reading + cx.datapath.queues.gather.moves_at(plane);
            return collection.moving == 0 || !gather.is_multiple_of(program);
        }
        let mut limit = 2 * program;
        if shared.ftl.blocks().has_twins() {
            limit = limit * shared.ftl.blocks().superblocks().planes() / self.unread.victims(plane, &shared.ftl).max(1);
        }
        collection.moving < limit
    }

    /// Returns whether victims of `plane`, or of planes that share its superblocks, have valid pages that are not read yet. Always false with one
    /// mapping unit per program, because unread pages are then not counted.
    pub fn moves_more(&self, plane: PlaneId, ftl: &Ftl) -> bool {
        self.unread.has_any(plane, ftl)
    }

    /// Counts a page of the victim of `plane` as moved: the page was programmed, or is no longer needed.
    fn moved<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        if !M::ALL_FEATURES {
            return;
        }
        self.pace.moved(plane);
        self.end_turn(cx);
        if let Some(collection) = &mut self.by_plane[plane.index()] {
            collection.moving = collection.moving.saturating_sub(1);
        }
    }

    /// Counts a page of the victim of `plane` as read. Returns whether no more pages will be read, so that partly filled programs can run.
    fn read(&mut self, plane: PlaneId, ftl: &Ftl) -> bool {
        let Some(collection) = &mut self.by_plane[plane.index()] else { return false };
        if collection.reading > 0 {
            collection.reading -= 1;
            self.unread.read_ended(plane, ftl);
        }
        collection.is_read && collection.reading == 0 && !self.moves_more(plane, ftl)
    }

    /// Counts a page of the victim of plane `from` as moved, because its move was dropped at step `work`: the page is no longer needed.
    fn move_dropped<M: Model>(&mut self, work: Purpose, from: PlaneId, cx: &mut Context<'_, M>) {
        self.moved(from, cx);
        if let Purpose::CollectRead(_) = work
            && self.read(from, &cx.shared.ftl)
        {
            all_read(from, cx);
        }
    }

    /// Marks the victim of `plane` as empty. Once all victims of the superblock are empty, erases their blocks.
    pub fn drained<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        if let Some(collection) = &mut self.by_plane[plane.index()] {
            collection.is_drained = true;
        }
        let superblocks = cx.shared.ftl.blocks().superblocks();
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
            cx.push(FollowUp::Own { work: Purpose::Erase, lpn: Lpn(0), from, plane });
        }
    }

    /// Continues the move of a page that has been read out of its victim. The page is then programmed in its plane, in a plane that the
    /// policy chooses, or on another chip.
    pub fn page_read<M: Model>(
        &mut self,
        id: TransactionId,
        route: MoveRoute,
        moves: &mut ChipToChipMoves,
        cx: &mut Context<'_, M>,
    ) {
        let Context { shared, datapath, .. } = cx;
        let gathers = datapath.queues.gathers();
        let transaction = datapath.queues.transaction_mut(id);
        let from = shared.geometry.plane_of(transaction.from);
        let is_last = gathers && self.read(from, &shared.ftl);
        transaction.purpose = Purpose::CollectProgram(route);
        if M::ALL_FEATURES && route == MoveRoute::Controller {
            let stream = shared.ftl.move_block_kind(transaction.from);
            transaction.plane = shared.policy.place_move(transaction.plane, stream, &shared.ftl);
        }
        if route == MoveRoute::Chip && gathers {
            moves.gathered(id, cx);
        } else {
            cx.push(FollowUp::Enqueue(id));
        }
        if is_last {
            all_read(from, cx);
        }
    }

    /// Commits the new location of a moved page that the array has programmed.
    fn commit<M: Model>(
        &mut self,
        id: TransactionId,
        route: MoveRoute,
        moves: &mut ChipToChipMoves,
        map: Option<&mut CachedMap>,
        cx: &mut Context<'_, M>,
    ) {
        let Transaction { lpn, plane, from, to, .. } = *cx.datapath.queues.transaction(id);
        let shared = &mut *cx.shared;
        shared.counters.gc.pages_moved += 1;
        let is_of_slc = shared.geometry.is_slc_page(from);
        if let Some(slc) = shared.slc_mut::<M>().filter(|_| is_of_slc) {
            slc.page_folded();
        }
        cx.kernel.notify(|| Notice::PageProgrammed(to, lpn, Origin::Moved(from)));
        // Only the original of a page has a mapping entry, not its replica.
        let is_original = shared.ftl.lookup(lpn) == Some(from);
        let is_wanted = shared.ftl.commit_move(lpn, from, to);
        let moved = if is_original { ProgramReason::Moved } else { ProgramReason::Replicated };
        shared.persist_program(lpn, to, if is_wanted { moved } else { ProgramReason::Superseded });
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

    /// Ends the collection of `plane`, whose victim has been erased.
    fn erased<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        let shared = &mut *cx.shared;
        let collection = self.by_plane[plane.index()].take().expect("only a collection erases");
        if !collection.background {
            shared.foreground.leave(shared.geometry.die_of_plane(plane));
        }
        shared.counters.gc.erases += 1;
        let held_translation = shared.ftl.blocks().holds_translation(collection.block);
        shared.ftl.finish_erase(collection.block);
        self.pace.end(plane);
        self.end_turn(cx);
        if cx.shared.rules.preallocates {
            cx.push(FollowUp::Unblock(plane));
        }
        cx.push(FollowUp::Collect(plane));
        // The last erase of a superblock frees the blocks of all its planes. Let their dies try to issue, because no other event may trigger this.
        let is_free = cx.shared.ftl.blocks().state(collection.block) == BlockState::Free;
        if is_free && cx.has_superblocks() {
            self.short.changed(plane, &cx.shared.ftl);
            ask_dies_of_superblock(plane, cx);
        }
        let was_folded = cx.shared.geometry.is_slc(collection.block);
        if let Some(slc) = cx.shared.slc.as_mut().filter(|_| was_folded) {
            slc.erased();
            if is_free {
                cx.shared.ftl.blocks().superblock_planes(plane).for_each(|plane| slc.has_room(plane, cx.kernel.now()));
            }
        }
        // At most one wear move follows a collection, and none follows a fold.
        let levels_wear = collection.levels_wear || was_folded;
        cx.push(FollowUp::Erased(Erased { plane, levels_wear, held_translation }));
    }
}

/// Lets partly filled programs run that wait for more mapping units of the victim of `plane`, if all units may have been read.
fn all_read<M: Model>(plane: PlaneId, cx: &mut Context<'_, M>) {
    ask_dies_of_superblock(plane, cx);
    if cx.shared.rules.moves_chip_to_chip {
        cx.push(FollowUp::AllRead(plane));
    }
}

/// Lets all dies of the superblock of `plane` try to issue, because partly filled programs may run now, or pages may be free.
fn ask_dies_of_superblock<M: Model>(plane: PlaneId, cx: &mut Context<'_, M>) {
    let geometry = &cx.shared.geometry;
    let dies = cx.shared.ftl.blocks().superblocks().members(plane).step_by(geometry.planes_per_die as usize);
    let dies: Vec<DieId> = dies.map(|plane| geometry.die_of_plane(plane)).collect();
    dies.into_iter().for_each(|die| cx.push(FollowUp::TryIssue(die)));
}

/// Begins to move the valid page at `from` out of its victim.
#[inline]
fn move_page<M: Model>(plane: PlaneId, from: Ppn, lpn: Lpn, cx: &mut Context<'_, M>) {
    // With several mapping units per program, `move_in_plane` has already begun the copybacks.
    let copyback = cx.shared.rules.copyback && !cx.datapath.queues.gathers();
    let work =
        if copyback { Purpose::CollectProgram(MoveRoute::Plane) } else { Purpose::CollectRead(MoveRoute::Controller) };
    let id = cx.begin_internal(work, lpn, from, plane);
    cx.push(FollowUp::Enqueue(id));
}

/// Returns whether foreground collection of `die` has precedence even if it is preemptible: the die is nearly out of space, or writes wait
/// for a fold of the SLC cache.
#[inline(never)]
fn is_urgent(die: DieId, shared: &Shared) -> bool {
    shared.planes_of(die).any(|plane| shared.ftl.is_urgent(plane) || shared.ftl.waits_for_fold(plane))
}
