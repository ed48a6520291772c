//! Traffic between host and drive.

use crate::config::InterfaceKind;
use crate::host::status::Status;
use crate::quantities;
use crate::units::Time;

#[derive(Clone, Copy, Debug, Default)]
pub struct QueueOccupancy {
    commands: u64,
    /// Sum over the commands of the times that they spent in the queue.
    held_ps: u128,
}

impl QueueOccupancy {
    /// Counts a command that was in the queue for `held`: from its issue until the host took its completion.
    pub fn count(&mut self, held: Time) {
        self.commands += 1;
        self.held_ps += u128::from(held.as_ps());
    }

    pub fn report(&self, end: Time) -> QueueReport {
        let occupancy_mean = if end == Time::ZERO { 0.0 } else { self.held_ps as f64 / end.as_ps() as f64 };
        QueueReport { commands: self.commands, occupancy_mean }
    }
}

quantities! {
    /// Commands in the queue of one stream.
    QueueReport as "Queue" {
        /// Number of commands that passed through the queue, from issue to completion, during the run.
        commands: u64, in "commands";
        /// Mean number of commands in the queue, over the makespan.
        occupancy_mean: f64, in "commands";
    }
}

quantities! {
    /// Number of completed requests by status.
    #[derive(Copy, Default, Eq)]
    StatusesReport as "Statuses" {
        /// Requests that succeeded.
        success: u64, in "requests";
        /// Requests with a command that the drive does not support (0x01): write zeroes over SATA.
        invalid_opcode: u64, in "requests";
        /// Requests without sectors, or with more data than `host.transfer-max` (0x02).
        invalid_field: u64, in "requests";
        /// Requests through a queue that is attached to no namespace (0x0b). A configuration attaches every queue, so this occurs only in runs of the
        /// library.
        invalid_namespace: u64, in "requests";
        /// Requests that end beyond their namespace (0x80), from traces with `workload.beyond = "send"`.
        lba_out_of_range: u64, in "requests";
    }
}

impl StatusesReport {
    /// Creates the report from the numbers of completed requests, indexed by [`Status::index`].
    pub fn new(counts: [u64; Status::ALL.len()]) -> StatusesReport {
        let of = |status: Status| counts[status.index()];
        StatusesReport {
            success: of(Status::Success),
            invalid_opcode: of(Status::InvalidOpcode),
            invalid_field: of(Status::InvalidField),
            invalid_namespace: of(Status::InvalidNamespace),
            lba_out_of_range: of(Status::LbaOutOfRange),
        }
    }
}

quantities! {
    /// Traffic between host and drive.
    HostReport as "Host" {
        /// Interface between host and drive (`host.interface`).
        interface: &'static str as InterfaceKind;
        /// Queues, one for each stream.
        queues: Vec<QueueReport>;
        /// Number of doorbells for issued commands; 0 for an interface without doorbells.
        submission_doorbells: u64, in "doorbells";
        /// Number of doorbells for completions taken.
        completion_doorbells: u64, in "doorbells";
        /// Bytes sent over the link to the drive, including packet overhead.
        bytes_to_drive: u64, in "B";
        /// Bytes sent over the link to the host, including packet overhead.
        bytes_to_host: u64, in "B";
        /// Number of completed requests by status.
        statuses: StatusesReport;
    }
}
