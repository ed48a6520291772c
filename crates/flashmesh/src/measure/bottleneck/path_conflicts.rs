//! Path conflicts: transfers that were ready but could not start at once, because their path was in use (Venice, ISCA 2023, section 3.1).
//!
//! The definition is the same for every interconnect. Die and data are ready when the die requests a path. If the first attempt finds a path, there
//! is no conflict, however long a scout takes for the set-up. A packet that starts at once and is then blocked behind others has a conflict, too. A
//! request has a conflict if any of its transfers had one (first attempt only, as in Venice, ISCA 2023, Fig 13).

use crate::fabric::Cause;
use crate::quantities;
use crate::units::Time;

/// Number of transfers that waited for a path, and the sum of their waits, by cause.
#[derive(Clone, Debug, Default)]
pub struct PathConflicts {
    transfers: [u64; Cause::ALL.len()],
    waits: [Time; Cause::ALL.len()],
}

impl PathConflicts {
    pub fn count(&mut self, cause: Cause, waited: Time) {
        self.transfers[cause.index()] += 1;
        self.waits[cause.index()] += waited;
    }

    pub fn wait(&self) -> Time {
        self.waits.iter().fold(Time::ZERO, |sum, &wait| sum + wait)
    }

    pub fn report(&self, requests: [u64; Cause::ALL.len()]) -> CausesReport {
        let of = |cause: Cause| CauseReport {
            transfers: self.transfers[cause.index()],
            requests: requests[cause.index()],
            wait_ps: self.waits[cause.index()].as_ps(),
        };
        CausesReport { channel: of(Cause::Channel), controller: of(Cause::Controller), link: of(Cause::Link) }
    }
}

quantities! {
    /// Path conflicts by cause. A transfer that waited first for a controller and then for a link counts for both causes. A request counts for every
    /// cause that delayed one of its transfers.
    #[derive(Eq)]
    CausesReport as "CausesOfConflicts" {
        /// The channel, or the pins of the chip, carried another transfer.
        channel: CauseReport;
        /// No controller that can serve the chip was free.
        controller: CauseReport;
        /// A link between routers carried another transfer.
        link: CauseReport;
    }
}

quantities! {
    /// Path conflicts of one cause.
    #[derive(Eq)]
    CauseReport as "CauseOfConflicts" {
        /// Number of transfers that waited for this cause.
        transfers: u64, in "transfers";
        /// Number of completed requests of which a transfer waited for this cause.
        requests: u64, in "requests";
        /// Sum of the waits for this cause, over the transfers.
        wait_ps: u64, in "ps";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_summed_by_cause() {
        let mut conflicts = PathConflicts::default();
        conflicts.count(Cause::Link, Time::from_ps(3));
        conflicts.count(Cause::Link, Time::from_ps(4));
        conflicts.count(Cause::Controller, Time::from_ps(5));
        let report = conflicts.report([0, 1, 2]);
        assert_eq!(report.link, CauseReport { transfers: 2, requests: 2, wait_ps: 7 });
        assert_eq!(report.controller, CauseReport { transfers: 1, requests: 1, wait_ps: 5 });
        assert_eq!(report.channel, CauseReport { transfers: 0, requests: 0, wait_ps: 0 });
        assert_eq!(conflicts.wait(), Time::from_ps(12));
    }
}
