//! TBM, twin block management (IEEE CAL 2016; a baseline of Maximizing Bandwidth Management FTL, section V): the planes of a die
//! use, collect and erase the same blocks together. [`crate::ftl`] says how blocks are used; here is when.
//!
//! - A write goes to the die that allocation gives, and in it to the plane that is furthest behind, counting what waits there \[choice\].
//! - The planes of a die are collected at once. A page read from one of them is programmed in the plane that is furthest behind, so
//!   that valid pages are spread evenly; when all have moved, one erase takes the blocks of all planes.

use crate::datapath::Datapath;
use crate::flash::geometry::Geometry;
use crate::ftl::Stream;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::transaction::Class;

use super::Firmware;
use super::collect::Collection;
use super::policy::AnyPolicy;

/// Programs that wait for planes.
///
/// Moved pages are spread by themselves: while they go to the reserve, writes wait that take none of it.
#[derive(Debug)]
pub(super) struct Tbm {
    /// By plane: writes that have not got their page.
    writes: Vec<u32>,
    /// By plane: moved pages that have not got theirs.
    moves: Vec<u32>,
}

impl Tbm {
    pub(super) fn new(geometry: &Geometry) -> Tbm {
        let none = vec![0; geometry.planes() as usize];
        Tbm { writes: none.clone(), moves: none }
    }

    /// A program that waited for `plane` has its page, or is dropped.
    pub(super) fn page_taken(&mut self, class: Class, plane: PlaneId) {
        let waiting = if class == Class::CollectProgram { &mut self.moves } else { &mut self.writes };
        let waiting = &mut waiting[plane.index()];
        *waiting = waiting.saturating_sub(1);
    }
}

impl Firmware {
    /// The plane that a write goes to.
    #[inline]
    pub(super) fn place_write<M: Model>(&mut self, id: TransactionId, datapath: &Datapath<M>) -> PlaneId {
        let lpn = datapath.transaction(id).lpn;
        if M::FULL && matches!(self.policy, AnyPolicy::Mbm(_)) {
            // It is placed when it leaves the queue of waiting writes.
            return self.ftl.static_plane(lpn);
        }
        let plane = self.ask_allocator(id, datapath);
        if M::FULL && self.ftl.has_twins() {
            return self.place_beside(lpn, plane, self.ftl.host_stream(plane, None));
        }
        plane
    }

    /// The plane that a translation page goes to.
    pub(super) fn place_map_write<M: Model>(&mut self, page: Lpn, datapath: &Datapath<M>) -> PlaneId {
        let plane = self.ask_allocator_of_map(page, datapath);
        if self.ftl.has_twins() { self.place_beside(page, plane, Stream::Translation) } else { plane }
    }

    /// A page placed on `plane` goes to the plane of its die that is furthest behind.
    fn place_beside(&mut self, lpn: Lpn, plane: PlaneId, stream: Stream) -> PlaneId {
        let behind = self.take_behind(plane, stream);
        self.ftl.unplace_write(lpn, plane);
        self.ftl.place_write_on(lpn, behind);
        behind
    }

    fn take_behind(&mut self, plane: PlaneId, stream: Stream) -> PlaneId {
        let AnyPolicy::Tbm(Tbm { writes, moves }) = &mut self.policy else { return plane };
        if matches!(stream, Stream::Collection | Stream::TranslationCollection) {
            let behind = self.ftl.twin_behind(plane, stream, |twin| moves[twin.index()]);
            moves[behind.index()] += 1;
            return behind;
        }
        let behind = self.ftl.twin_behind(plane, stream, |twin| writes[twin.index()] + moves[twin.index()]);
        writes[behind.index()] += 1;
        behind
    }

    /// A page that was read from a victim is programmed in the plane of the die that is furthest behind.
    pub(super) fn spread_move<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>) {
        let transaction = datapath.transaction(id);
        let (from, plane) = (transaction.from, transaction.plane);
        let behind = self.take_behind(plane, self.ftl.stream_of_move(from));
        datapath.transaction_mut(id).plane = behind;
    }

    /// Starts collecting the die of a plane that is short of free pages; a collection in the background is promoted to foreground.
    pub(super) fn collect_twins_if_needed<M: Model>(
        &mut self,
        plane: PlaneId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let die = self.geometry.die_of_plane(plane);
        if self.is_collected(die) {
            if self.planes_of(die).any(|plane| self.ftl.is_short(plane)) {
                for plane in self.planes_of(die) {
                    if let Some(collection) = &mut self.collections.by_plane[plane.index()]
                        && std::mem::take(&mut collection.background)
                    {
                        self.collections.foreground[die.index()] += 1;
                    }
                }
            }
        } else if self.ftl.wants_twin_collection(plane)
            && let Some(blocks) = self.ftl.begin_twin_collection(plane)
        {
            self.begin_twin_collection(&blocks, Collection::new, datapath, kernel);
        }
    }

    fn is_collected(&self, die: DieId) -> bool {
        self.planes_of(die).any(|plane| self.collections.by_plane[plane.index()].is_some())
    }

    /// Starts collecting an idle die that background collection wants.
    pub(super) fn collect_twins_in_background<M: Model>(
        &mut self,
        die: DieId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let plane = self.geometry.first_plane(die);
        if !self.is_collected(die)
            && self.ftl.wants_background_twin_collection(plane)
            && let Some(blocks) = self.ftl.begin_twin_collection(plane)
        {
            let in_background = |block| Collection { background: true, ..Collection::new(block) };
            self.begin_twin_collection(&blocks, in_background, datapath, kernel);
        }
    }

    /// Empties the blocks at the position of `block`, which wear levelling has chosen.
    pub(super) fn level_wear_of_twins<M: Model>(
        &mut self,
        block: BlockId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let blocks = self.ftl.twins_of_victim(block);
        let for_wear = |block| Collection { background: true, levels_wear: true, ..Collection::new(block) };
        self.begin_twin_collection(&blocks, for_wear, datapath, kernel);
    }

    fn begin_twin_collection<M: Model>(
        &mut self,
        blocks: &[BlockId],
        collection: impl Fn(BlockId) -> Collection,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        // All are under way before the first of them moves on, which may want to know.
        let plane_of = |block: BlockId| self.geometry.plane_of(self.geometry.ppn(block, 0));
        let planes: Vec<PlaneId> = blocks.iter().map(|&block| plane_of(block)).collect();
        for (&plane, &block) in planes.iter().zip(blocks) {
            self.enter_collection(plane, collection(block));
        }
        for plane in planes {
            self.advance(plane, datapath, kernel);
        }
    }

    /// All pages of a plane's victim have moved: when those of the whole die have, the blocks are erased.
    pub(super) fn drained<M: Model>(&mut self, plane: PlaneId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if let Some(collection) = &mut self.collections.by_plane[plane.index()] {
            collection.is_drained = true;
        }
        self.write_back_moves(plane, datapath, kernel);
        let die = self.geometry.die_of_plane(plane);
        let victims: Vec<(PlaneId, BlockId)> = self
            .planes_of(die)
            .filter_map(|plane| self.collections.by_plane[plane.index()].map(|collection| (plane, collection)))
            .filter(|(_, collection)| collection.is_drained)
            .map(|(plane, collection)| (plane, collection.block))
            .collect();
        if victims.len() < self.geometry.planes_per_die as usize {
            return;
        }
        for (plane, block) in victims {
            self.enqueue_own(Class::Erase, Lpn(0), self.geometry.ppn(block, 0), plane, datapath, kernel);
        }
    }
}
