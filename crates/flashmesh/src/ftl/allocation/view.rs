//! Arguments of an allocator: the page to be written, its request, and the state of the drive.

use super::IdleDies;
use crate::flash::geometry::Geometry;
use crate::ftl::PlaneOccupancy;
use crate::ids::{ChannelId, DieId, Lpn, PlaneId, RequestId, StreamId};
use crate::schedule::load::LoadView;

/// Host request of a page, and the index of the page in this request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestPart {
    /// Host request that contains the page.
    pub request: RequestId,
    /// Number of logical pages of the whole request.
    pub pages: u32,
    /// Index of the page in the request, from 0.
    pub position: u32,
}

/// Write of a page, as seen by an allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWrite {
    /// Logical page number of the page that is written.
    pub lpn: Lpn,
    /// Host stream of the write; `None` for a translation page, and during preconditioning.
    pub stream: Option<StreamId>,
    /// Request that waits for the write; `None` for a destage, for a translation page, and during preconditioning.
    pub request: Option<RequestPart>,
}

impl PageWrite {
    /// Creates a write of `lpn` without a stream or a request.
    pub fn new(lpn: Lpn) -> PageWrite {
        PageWrite { lpn, stream: None, request: None }
    }
}

/// Read of a page by a request, as seen by an allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRead {
    /// Logical page number of the page that is read.
    pub lpn: Lpn,
    /// Plane of the mapped location of the page; while the page is unmapped, of its home (the address at which an unmapped page is read).
    pub plane: PlaneId,
    /// Host stream of the read.
    pub stream: StreamId,
    /// Host request that reads the page; `None` if the controller has not recorded the size of the request.
    pub request: Option<RequestPart>,
}

/// State of the drive as seen by an allocator: occupancy of the planes, activity and queues of the dies.
///
/// Without a running drive, as in preconditioning, no transactions are pending, and only [`idle_dies`](Self::idle_dies) shows which dies are idle.
#[derive(Clone, Copy)]
pub struct DriveView<'a> {
    pub(in super::super) geometry: &'a Geometry,
    pub(in super::super) occupancy: PlaneOccupancy<'a>,
    pub(in super::super) idle: &'a IdleDies,
    pub(in super::super) load: Option<LoadView<'a>>,
}

impl<'a> DriveView<'a> {
    /// Returns the dimensions of the flash array.
    pub fn geometry(&self) -> &'a Geometry {
        self.geometry
    }

    /// Returns the numbers of valid pages and of pages in flight of each plane.
    #[inline]
    pub fn occupancy(&self) -> &PlaneOccupancy<'a> {
        &self.occupancy
    }

    /// Returns the dies that execute nothing and have no pending transactions.
    #[inline]
    pub fn idle_dies(&self) -> &'a IdleDies {
        self.idle
    }

    /// Returns the queues and states of the dies; `None` before the drive runs, as in preconditioning.
    pub fn load(&self) -> Option<LoadView<'a>> {
        self.load
    }

    /// Returns the number of transactions queued for `die`; 0 without a running drive.
    pub fn waiting(&self, die: DieId) -> usize {
        self.load.map_or(0, |load| load.waiting(die))
    }

    /// Returns the number of transactions queued for `die` or executing on it; 0 without a running drive.
    pub fn outstanding(&self, die: DieId) -> usize {
        self.load.map_or(0, |load| load.outstanding(die))
    }

    /// Returns whether `die` executes nothing and has no pending transactions.
    pub fn is_idle(&self, die: DieId) -> bool {
        self.load.map_or_else(|| self.idle.contains(die), |load| load.is_idle(die))
    }

    /// Returns whether no die of `channel` transfers data or requests a path; true without a running drive.
    pub fn is_channel_free(&self, channel: ChannelId) -> bool {
        let Some(load) = self.load else { return true };
        let dies = self.geometry.chips_per_channel * self.geometry.dies_per_chip;
        (channel.0 * dies..(channel.0 + 1) * dies).all(|die| !load.states().uses_path(DieId(die)))
    }
}
