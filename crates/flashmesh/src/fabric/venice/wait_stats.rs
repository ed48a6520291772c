//! Wait times of path requests up to the launch of the successful scout, by cause: pins, controllers, or links on which a scout failed.

use crate::fabric::{Cause, TransferPhase};
use crate::units::Time;

use super::controllers::path_queue::PathRequest;

/// Wait of one path request, by cause.
#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    /// Current cause of the wait, and the time up to which the wait was charged; `None` while the request does not wait, as when its scout is in
    /// flight.
    cause: Option<(Cause, Time)>,
    by_cause: [Time; Cause::ALL.len()],
    /// Whether a scout for the request has failed.
    has_failed: bool,
}

/// Wait of the last path request of each die and phase, indexed by die and phase.
#[derive(Clone, Debug)]
pub(super) struct WaitStats(Vec<[Wait; TransferPhase::ALL.len()]>);

impl WaitStats {
    pub fn new(dies: u32) -> WaitStats {
        WaitStats(vec![Default::default(); dies as usize])
    }

    #[inline]
    fn wait_mut(&mut self, request: &PathRequest) -> &mut Wait {
        &mut self.0[request.die.index()][request.phase.index()]
    }

    /// Resets the wait for `request`, a new request of its die and phase.
    #[inline]
    pub fn begin(&mut self, request: &PathRequest) {
        *self.wait_mut(request) = Wait::default();
    }

    /// Charges the wait of `request` up to `since` to its current cause, if there is one. From then on, its cause is `cause`.
    #[inline]
    pub fn set_cause(&mut self, request: &PathRequest, cause: Cause, since: Time) {
        self.end(request, since);
        self.wait_mut(request).cause = Some((cause, since));
    }

    /// Ends the wait of `request` at `now`, and charges it to its current cause, if there is one.
    #[inline]
    pub fn end(&mut self, request: &PathRequest, now: Time) {
        let wait = self.wait_mut(request);
        if let Some((cause, since)) = wait.cause.take() {
            wait.by_cause[cause.index()] += now - since;
        }
    }

    /// Records that a scout for `request`, launched at `since`, has failed: from `since` on, the cause of the wait is [`Cause::Link`]. Returns
    /// whether this was the first scout of the request to fail.
    #[inline]
    pub fn record_failure(&mut self, request: &PathRequest, since: Time) -> bool {
        self.set_cause(request, Cause::Link, since);
        !std::mem::replace(&mut self.wait_mut(request).has_failed, true)
    }

    /// Returns the wait of the last request of `die` for `phase`, indexed by [`Cause::index`].
    pub fn by_cause(&self, die: crate::ids::DieId, phase: TransferPhase) -> [Time; Cause::ALL.len()] {
        self.0[die.index()][phase.index()].by_cause
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::MeshCoord;
    use super::*;
    use crate::ids::{ChipId, DieId};

    #[test]
    fn each_cause_has_the_time_it_was_in_the_way() {
        let ns = Time::from_ns;
        let place = MeshCoord { row: 0, column: 0 };
        let request =
            PathRequest { sequence: 0, die: DieId(1), phase: TransferPhase::DataOut, chip: ChipId(1), coord: place };
        let mut waits = WaitStats::new(2);
        waits.begin(&request);
        waits.set_cause(&request, Cause::Channel, ns(1));
        waits.set_cause(&request, Cause::Controller, ns(3));
        waits.end(&request, ns(8));
        assert!(waits.record_failure(&request, ns(8)));
        waits.end(&request, ns(20));
        assert!(!waits.record_failure(&request, ns(20)));
        waits.set_cause(&request, Cause::Controller, ns(21));
        waits.end(&request, ns(23));
        let expected = [ns(2), ns(5 + 2), ns(12 + 1)];
        assert_eq!(waits.by_cause(DieId(1), TransferPhase::DataOut), expected);
        assert_eq!(waits.by_cause(DieId(1), TransferPhase::Command), [Time::ZERO; 3]);
        waits.begin(&request);
        assert_eq!(waits.by_cause(DieId(1), TransferPhase::DataOut), [Time::ZERO; 3]);
        assert!(waits.record_failure(&request, ns(30)));
    }
}
