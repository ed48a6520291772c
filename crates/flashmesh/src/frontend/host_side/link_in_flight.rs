//! Commands and completions in flight on the link between host and drive.

use crate::engine::ring::Ring;
use crate::host::interface::HostEvent;
use crate::host::link::Direction;
use crate::ids::{Id, RequestId};

/// Requests whose command or completion is in flight on the link. Arrival events carry no request id: the link keeps the order of sending, so each
/// arrival is the oldest message of its direction.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkInFlight {
    /// Request ids in the order of sending, by direction.
    numbers: [Ring<u32>; 2],
}

impl LinkInFlight {
    /// Records that a command or completion was sent, whose arrival event is being scheduled. Ignores wake-ups.
    #[inline(always)]
    pub fn sent(&mut self, event: HostEvent) {
        match event {
            HostEvent::InDrive(request) => self.numbers[Direction::ToDrive as usize].push_back(request.as_u32()),
            HostEvent::AtHost(request) => self.numbers[Direction::ToHost as usize].push_back(request.as_u32()),
            HostEvent::Wake(_) => {}
        }
    }

    /// Returns whether no completion is in flight.
    #[inline(always)]
    pub fn has_no_completion(&self) -> bool {
        self.numbers[Direction::ToHost as usize].is_empty()
    }

    /// Removes and returns the request that arrives now: the oldest one of `direction`.
    #[inline(always)]
    pub fn arrived(&mut self, direction: Direction) -> RequestId {
        RequestId(self.numbers[direction as usize].take_first())
    }

    /// Returns the request that arrives `index` places after the next arrival; `None` if fewer are in flight.
    #[inline(always)]
    pub fn upcoming(&self, direction: Direction, index: usize) -> Option<RequestId> {
        self.numbers[direction as usize].get(index).copied().map(RequestId)
    }
}
