//! Requests that cross the link between host and drive.

use crate::engine::ring::Ring;
use crate::host::interface::HostEvent;
use crate::host::link::Direction;
use crate::ids::{Id, RequestId};

/// Requests whose command, or completion, is on its way. The link keeps the order of sending, so that the events of their arrivals need not say which
/// they are, and those of one time come in this order.
#[derive(Clone, Debug, Default)]
pub(super) struct Crossing {
    /// Numbers of requests, by direction.
    numbers: [Ring<u32>; 2],
}

impl Crossing {
    /// An event of the interface has been scheduled.
    #[inline(always)]
    pub fn sent(&mut self, event: HostEvent) {
        match event {
            HostEvent::InDrive(request) => self.numbers[Direction::ToDrive as usize].push_back(request.as_u32()),
            HostEvent::AtHost(request) => self.numbers[Direction::ToHost as usize].push_back(request.as_u32()),
            HostEvent::Wake(_) => {}
        }
    }

    /// Whether no completion is on its way.
    #[inline(always)]
    pub fn has_no_completion(&self) -> bool {
        self.numbers[Direction::ToHost as usize].is_empty()
    }

    /// Takes the request that has arrived: the one that was sent first.
    #[inline(always)]
    pub fn arrived(&mut self, direction: Direction) -> RequestId {
        RequestId(self.numbers[direction as usize].take_first())
    }

    /// The request that arrives so many behind the next one.
    #[inline(always)]
    pub fn upcoming(&self, direction: Direction, index: usize) -> Option<RequestId> {
        self.numbers[direction as usize].get(index).copied().map(RequestId)
    }
}
