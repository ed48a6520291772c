//! Conversion of the counts of the host interface to the part of the report on traffic between host and drive.

use crate::host::interface::Interface;
use crate::host::link::Direction;
use crate::measure::host::{HostReport, StatusesReport};
use crate::units::Time;

use super::Snapshot;

impl Snapshot<'_> {
    pub(super) fn host_report(&self, end: Time) -> HostReport {
        let interface = self.frontend.interface;
        let (link, doorbells) = (interface.link(), interface.doorbells());
        let counters = self.frontend.counters;
        HostReport {
            interface: self.config.host.interface.name(),
            queues: counters.queues.iter().map(|queue| queue.report(end)).collect(),
            submission_doorbells: doorbells.submission,
            completion_doorbells: doorbells.completion,
            bytes_to_drive: link.carried(Direction::ToDrive).as_u64(),
            bytes_to_host: link.carried(Direction::ToHost).as_u64(),
            statuses: StatusesReport::new(counters.statuses),
        }
    }
}
