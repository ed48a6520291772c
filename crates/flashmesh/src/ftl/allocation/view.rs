//! What an allocator is told: the page to be written, the request it belongs to, and how the drive is doing.

use super::IdleDies;
use crate::flash::geometry::Geometry;
use crate::ftl::Occupancy;
use crate::ids::{ChannelId, DieId, Lpn, PlaneId, RequestId, StreamId};
use crate::schedule::load::Load;

/// A page of a request among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestPart {
    /// The request.
    pub request: RequestId,
    /// How many pages it touches.
    pub pages: u32,
    /// Which of them this is, from 0.
    pub position: u32,
}

/// A page that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWrite {
    /// The page.
    pub lpn: Lpn,
    /// The stream of the host that wrote it; `None` for a translation page, and where no host is, as in preconditioning.
    pub stream: Option<StreamId>,
    /// The request that waits for it; `None` for what the device cache or the map writes.
    pub request: Option<RequestPart>,
}

impl PageWrite {
    /// A page that is written for nobody in particular.
    pub fn of(lpn: Lpn) -> PageWrite {
        PageWrite { lpn, stream: None, request: None }
    }
}

/// A page that a request reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRead {
    /// The page.
    pub lpn: Lpn,
    /// Where it is read.
    pub plane: PlaneId,
    /// The stream of the host that reads it.
    pub stream: StreamId,
    /// The request that reads it.
    pub request: Option<RequestPart>,
}

/// The drive, as an allocator sees it: how full its planes are, what its dies do and what waits for them.
///
/// Without a running drive, as in preconditioning, nothing waits and all dies do as they are said to.
#[derive(Clone, Copy)]
pub struct DriveView<'a> {
    pub(in super::super) geometry: &'a Geometry,
    pub(in super::super) occupancy: Occupancy<'a>,
    pub(in super::super) idle: &'a IdleDies,
    pub(in super::super) load: Option<Load<'a>>,
}

impl<'a> DriveView<'a> {
    /// The shape of the array.
    pub fn geometry(&self) -> &'a Geometry {
        self.geometry
    }

    /// How full the planes are.
    #[inline]
    pub fn occupancy(&self) -> &Occupancy<'a> {
        &self.occupancy
    }

    /// The dies that do nothing and for which nothing waits.
    #[inline]
    pub fn idle_dies(&self) -> &'a IdleDies {
        self.idle
    }

    /// The queues and states of the dies, while the drive runs.
    pub fn load(&self) -> Option<Load<'a>> {
        self.load
    }

    /// Transactions that wait for a die.
    pub fn waiting(&self, die: DieId) -> usize {
        self.load.map_or(0, |load| load.waiting(die))
    }

    /// Transactions that wait for a die, and those that it works on.
    pub fn outstanding(&self, die: DieId) -> usize {
        self.load.map_or(0, |load| load.outstanding(die))
    }

    /// Whether a die does nothing and nothing waits for it.
    pub fn is_idle(&self, die: DieId) -> bool {
        self.load.map_or_else(|| self.idle.contains(die), |load| load.is_idle(die))
    }

    /// Whether no die of a channel moves anything, or waits to move something.
    pub fn is_channel_free(&self, channel: ChannelId) -> bool {
        let Some(load) = self.load else { return true };
        let dies = self.geometry.chips_per_channel * self.geometry.dies_per_chip;
        (channel.0 * dies..(channel.0 + 1) * dies).all(|die| !load.states().uses_path(DieId(die)))
    }
}
