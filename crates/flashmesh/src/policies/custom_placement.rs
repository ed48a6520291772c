//! Custom placement of host writes, on top of a policy that makes all other decisions.

use std::ops::Range;

use crate::config::MovedPages;
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, OpenBlockKind};
use crate::ids::{PlaneId, TransactionId};
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::units::Bytes;

use super::{AnyPolicy, DispatchedWrites, FirmwarePolicy, PlacementStage, PolicyEvent, PolicyView};

/// A custom choice of planes for host writes, in place of [`FirmwarePolicy::place_write`].
///
/// # Contract
/// - `place_write` is called when a host write arrives, once for each of its pages. `plane` is the choice of the allocator; if planes share
///   superblocks, that of the configured policy. The page goes to the returned plane, into its open block for data of kind `stream`.
/// - The returned plane exists, and if planes share superblocks, it belongs to the same superblocks as `plane`. If it is full, or belongs to another
///   namespace, `plane` is used instead.
/// - The placer is deterministic: equal calls in equal order return equal results.
pub trait WritePlacer {
    /// Returns the plane for a page that would otherwise go to `plane`. `planes` shows the state of all planes.
    fn place_write(&mut self, plane: PlaneId, stream: OpenBlockKind, planes: &PlacementView<'_>) -> PlaneId;
}

/// State of the planes of a drive, as seen by a placer.
#[derive(Clone, Copy)]
pub struct PlacementView<'a> {
    ftl: &'a Ftl,
    geometry: &'a Geometry,
    /// Number of host writes and translation pages that are placed on each plane and have no physical page yet. `moves` counts moved pages in the
    /// same way.
    writes: &'a [u32],
    moves: &'a [u32],
}

impl PlacementView<'_> {
    /// Returns the dimensions of the flash array.
    pub fn geometry(&self) -> &Geometry {
        self.geometry
    }

    /// Returns the number of host writes and translation pages placed on `plane` that have no physical page yet.
    pub fn writes_waiting(&self, plane: PlaneId) -> u32 {
        self.writes[plane.index()]
    }

    /// Returns the number of pages that GC or wear levelling moves to `plane` and that have no physical page there yet.
    pub fn moves_waiting(&self, plane: PlaneId) -> u32 {
        self.moves[plane.index()]
    }

    /// Returns the number of pages allocated in the open block for data of kind `stream` in `plane`. For host writes and moved host pages, the open
    /// blocks of both kinds count together.
    pub fn open_block_pages(&self, plane: PlaneId, stream: OpenBlockKind) -> u32 {
        self.ftl.blocks().open_block_pages(plane, stream)
    }

    /// Returns the number of pages of `plane` that can be allocated, in free blocks (including the reserve of GC) and open blocks.
    pub fn free_pages(&self, plane: PlaneId) -> u32 {
        self.ftl.blocks().free_pages(plane)
    }

    /// Returns the number of valid pages of `plane`.
    pub fn valid_pages(&self, plane: PlaneId) -> u32 {
        self.ftl.blocks().valid_pages_of_plane(plane)
    }

    /// Returns whether a page placed on `plane` may go to `to` instead. Always true without superblocks; otherwise both planes must belong to the
    /// same superblocks.
    pub fn may_use(&self, to: PlaneId, plane: PlaneId) -> bool {
        !self.ftl.blocks().has_twins() || self.ftl.blocks().share_superblocks(to, plane)
    }
}

/// A policy whose placement of host writes is replaced by a custom placer.
pub struct CustomPlacement {
    policy: AnyPolicy,
    placer: Box<dyn WritePlacer + Send>,
    geometry: Geometry,
    /// Number of host writes and translation pages that are placed on each plane and have no physical page yet. `moves` counts moved pages in the
    /// same way.
    writes: Vec<u32>,
    moves: Vec<u32>,
}

impl CustomPlacement {
    /// Creates a policy in which `placer` places host writes, and `policy` makes all other decisions.
    pub fn new(policy: AnyPolicy, placer: Box<dyn WritePlacer + Send>, geometry: &Geometry) -> CustomPlacement {
        let none = vec![0; geometry.planes() as usize];
        CustomPlacement { policy, placer, geometry: geometry.clone(), writes: none.clone(), moves: none }
    }
}

impl FirmwarePolicy for CustomPlacement {
    fn moved_pages(&self) -> MovedPages {
        self.policy.moved_pages()
    }

    fn placement_stage(&self) -> PlacementStage {
        PlacementStage::AfterAllocator
    }

    fn place_write(&mut self, plane: PlaneId, stream: OpenBlockKind, ftl: &Ftl) -> PlaneId {
        let plane = match self.policy.placement_stage() {
            PlacementStage::AfterAllocator => self.policy.place_write(plane, stream, ftl),
            PlacementStage::Allocator | PlacementStage::AtDispatch => plane,
        };
        let CustomPlacement { geometry, writes, moves, .. } = self;
        self.placer.place_write(plane, stream, &PlacementView { ftl, geometry, writes, moves })
    }

    fn placed(&mut self, plane: PlaneId) {
        self.writes[plane.index()] += 1;
        self.policy.placed(plane);
    }

    fn place_move(&mut self, plane: PlaneId, stream: OpenBlockKind, ftl: &Ftl) -> PlaneId {
        let to = self.policy.place_move(plane, stream, ftl);
        self.moves[to.index()] += 1;
        to
    }

    fn plan_read(&mut self, pages: Range<u32>, bytes: Bytes, ftl: &Ftl) {
        self.policy.plan_read(pages, bytes, ftl);
    }

    fn try_hold(&mut self, id: TransactionId, transaction: &Transaction, ftl: &Ftl) -> bool {
        self.policy.try_hold(id, transaction, ftl)
    }

    fn may_dispatch(&self) -> bool {
        self.policy.may_dispatch()
    }

    fn dispatch_held(&mut self, drive: &mut PolicyView<'_>) -> DispatchedWrites {
        self.policy.dispatch_held(drive)
    }

    fn withdraw_held(&mut self, is_taken: &dyn Fn(TransactionId) -> bool) -> Vec<TransactionId> {
        self.policy.withdraw_held(is_taken)
    }

    fn rewrite_plane(&mut self, read: TransactionId) -> Option<PlaneId> {
        self.policy.rewrite_plane(read)
    }

    fn may_join(&self, lead: &Transaction, other: &Transaction) -> bool {
        self.policy.may_join(lead, other)
    }

    fn notify(&mut self, event: PolicyEvent<'_>) {
        if let PolicyEvent::PageAllocated(class, plane) = event {
            let waiting = match class {
                TransactionClass::CollectProgram => &mut self.moves,
                _ => &mut self.writes,
            };
            let waiting = &mut waiting[plane.index()];
            *waiting = waiting.saturating_sub(1);
        }
        self.policy.notify(event);
    }
}
