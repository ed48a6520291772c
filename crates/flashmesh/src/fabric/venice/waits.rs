//! What dies have waited for until their scouts left that found a path.

use crate::fabric::{Cause, TransferPhase};
use crate::units::Time;

use super::waiting::PathRequest;

/// The wait of one die for one path.
#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    /// What it waits for now, and since when.
    cause: Option<(Cause, Time)>,
    by_cause: [Time; Cause::ALL.len()],
    /// Whether a scout has come back without a path.
    has_failed: bool,
}

/// The last wait of each die for each phase.
#[derive(Clone, Debug)]
pub(super) struct Waits(Vec<[Wait; TransferPhase::ALL.len()]>);

impl Waits {
    /// Nothing has been waited for by any of `dies`.
    pub fn new(dies: u32) -> Waits {
        Waits(vec![Default::default(); dies as usize])
    }

    #[inline]
    fn of(&mut self, request: &PathRequest) -> &mut Wait {
        &mut self.0[request.die.index()][request.phase.index()]
    }

    /// A die asks.
    #[inline]
    pub fn begin(&mut self, request: &PathRequest) {
        *self.of(request) = Wait::default();
    }

    /// From `since` on `cause` is in the way.
    #[inline]
    pub fn wait(&mut self, request: &PathRequest, cause: Cause, since: Time) {
        self.end(request, since);
        self.of(request).cause = Some((cause, since));
    }

    /// Nothing is in the way from `now` on, as far as is known.
    #[inline]
    pub fn end(&mut self, request: &PathRequest, now: Time) {
        let wait = self.of(request);
        if let Some((cause, since)) = wait.cause.take() {
            wait.by_cause[cause.index()] += now - since;
        }
    }

    /// A scout that left at `since` has come back without a path; tells whether it was the first one.
    #[inline]
    pub fn fail(&mut self, request: &PathRequest, since: Time) -> bool {
        self.wait(request, Cause::Link, since);
        !std::mem::replace(&mut self.of(request).has_failed, true)
    }

    /// How long each cause was in the way.
    pub fn by_cause(&self, die: crate::ids::DieId, phase: TransferPhase) -> [Time; Cause::ALL.len()] {
        self.0[die.index()][phase.index()].by_cause
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::Place;
    use super::*;
    use crate::ids::{ChipId, DieId};

    #[test]
    fn each_cause_has_the_time_it_was_in_the_way() {
        let ns = Time::from_ns;
        let place = Place { row: 0, column: 0 };
        let request = PathRequest { sequence: 0, die: DieId(1), phase: TransferPhase::DataOut, chip: ChipId(1), place };
        let mut waits = Waits::new(2);
        waits.begin(&request);
        waits.wait(&request, Cause::Channel, ns(1));
        waits.wait(&request, Cause::Controller, ns(3));
        waits.end(&request, ns(8));
        assert!(waits.fail(&request, ns(8)));
        waits.end(&request, ns(20));
        assert!(!waits.fail(&request, ns(20)));
        waits.wait(&request, Cause::Controller, ns(21));
        waits.end(&request, ns(23));
        let expected = [ns(2), ns(5 + 2), ns(12 + 1)];
        assert_eq!(waits.by_cause(DieId(1), TransferPhase::DataOut), expected);
        assert_eq!(waits.by_cause(DieId(1), TransferPhase::Command), [Time::ZERO; 3]);
        waits.begin(&request);
        assert_eq!(waits.by_cause(DieId(1), TransferPhase::DataOut), [Time::ZERO; 3]);
        assert!(waits.fail(&request, ns(30)));
    }
}
