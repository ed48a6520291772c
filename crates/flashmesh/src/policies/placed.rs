//! Placement of writes of the caller's own, beside a policy that does the rest.

use std::ops::Range;

use crate::config::MovedPages;
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, Stream};
use crate::ids::{PlaneId, TransactionId};
use crate::schedule::transaction::{Class, Transaction};
use crate::units::Bytes;

use super::{AnyPolicy, Due, FirmwarePolicy, Placing, PolicyEvent, PolicyView};

/// Chooses the planes of pages that requests write, in place of [`FirmwarePolicy::place_write`].
///
/// # Contract
/// - Asked of every page that is written, when its write arrives: the allocator has placed it on `plane`, for an open block of `stream`.
/// - The answer is a plane of the drive; where planes use the same blocks, one of these. One that is full, or of another
///   namespace, stands for `plane`.
/// - It is deterministic: the same calls in the same order give the same answers.
pub trait WritePlacer {
    /// The plane that the page goes to.
    fn place_write(&mut self, plane: PlaneId, stream: Stream, planes: &PlacingView<'_>) -> PlaneId;
}

/// The planes, as who places writes sees them.
#[derive(Clone, Copy)]
pub struct PlacingView<'a> {
    ftl: &'a Ftl,
    geometry: &'a Geometry,
    /// By plane.
    writes: &'a [u32],
    moves: &'a [u32],
}

impl PlacingView<'_> {
    /// The shape of the array.
    pub fn geometry(&self) -> &Geometry {
        self.geometry
    }

    /// Writes that were placed on a plane and have not got their page.
    pub fn writes_waiting(&self, plane: PlaneId) -> u32 {
        self.writes[plane.index()]
    }

    /// Pages moved to a plane, by garbage collection or wear levelling, that have not got theirs.
    pub fn moves_waiting(&self, plane: PlaneId) -> u32 {
        self.moves[plane.index()]
    }

    /// Pages used of the open blocks of a plane that take what `stream` writes there, and what is moved there.
    pub fn pages_open(&self, plane: PlaneId, stream: Stream) -> u32 {
        self.ftl.pages_open(plane, stream)
    }

    /// Pages of a plane that nothing was written to.
    pub fn free_pages(&self, plane: PlaneId) -> u32 {
        self.ftl.free_pages(plane)
    }

    /// Valid pages of a plane.
    pub fn valid_pages(&self, plane: PlaneId) -> u32 {
        self.ftl.valid_pages_of_plane(plane)
    }

    /// Whether a page placed on `plane` may go to plane `to` as far as blocks are concerned: where planes use the same blocks, to one of these.
    pub fn may_take(&self, to: PlaneId, plane: PlaneId) -> bool {
        !self.ftl.has_twins() || self.ftl.share_superblocks(to, plane)
    }
}

/// A policy whose writes somebody else places.
pub struct Placed {
    policy: AnyPolicy,
    placer: Box<dyn WritePlacer + Send>,
    geometry: Geometry,
    /// By plane: writes, and moved pages, that have not got their page.
    writes: Vec<u32>,
    moves: Vec<u32>,
}

impl Placed {
    /// `placer` beside `policy`.
    pub fn new(policy: AnyPolicy, placer: Box<dyn WritePlacer + Send>, geometry: &Geometry) -> Placed {
        let none = vec![0; geometry.planes() as usize];
        Placed { policy, placer, geometry: geometry.clone(), writes: none.clone(), moves: none }
    }
}

impl FirmwarePolicy for Placed {
    fn moved_pages(&self) -> MovedPages {
        self.policy.moved_pages()
    }

    fn placing(&self) -> Placing {
        Placing::Beside
    }

    fn place_write(&mut self, plane: PlaneId, stream: Stream, ftl: &Ftl) -> PlaneId {
        let Placed { geometry, writes, moves, .. } = self;
        self.placer.place_write(plane, stream, &PlacingView { ftl, geometry, writes, moves })
    }

    fn placed(&mut self, plane: PlaneId) {
        self.writes[plane.index()] += 1;
    }

    fn place_move(&mut self, plane: PlaneId, stream: Stream, ftl: &Ftl) -> PlaneId {
        let to = self.policy.place_move(plane, stream, ftl);
        self.moves[to.index()] += 1;
        to
    }

    fn plan_read(&mut self, pages: Range<u32>, bytes: Bytes, ftl: &Ftl) {
        self.policy.plan_read(pages, bytes, ftl);
    }

    fn hold(&mut self, id: TransactionId, transaction: &Transaction, ftl: &Ftl) -> bool {
        self.policy.hold(id, transaction, ftl)
    }

    fn is_due(&self) -> bool {
        self.policy.is_due()
    }

    fn due(&mut self, drive: &mut PolicyView<'_>) -> Due {
        self.policy.due(drive)
    }

    fn take_held(&mut self, is_taken: &dyn Fn(TransactionId) -> bool) -> Vec<TransactionId> {
        self.policy.take_held(is_taken)
    }

    fn rewrites(&mut self, read: TransactionId) -> Option<PlaneId> {
        self.policy.rewrites(read)
    }

    fn joins(&self, lead: &Transaction, other: &Transaction) -> bool {
        self.policy.joins(lead, other)
    }

    fn tell(&mut self, event: PolicyEvent<'_>) {
        if let PolicyEvent::PageTaken(class, plane) = event {
            let waiting = match class {
                Class::CollectProgram => &mut self.moves,
                _ => &mut self.writes,
            };
            let waiting = &mut waiting[plane.index()];
            *waiting = waiting.saturating_sub(1);
        }
        self.policy.tell(event);
    }
}
