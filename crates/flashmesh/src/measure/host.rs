//! Traffic between host and drive.

use crate::config::InterfaceKind;
use crate::host::status::Status;
use crate::quantities;
use crate::units::Time;

#[derive(Clone, Copy, Debug, Default)]
pub struct QueueWork {
    commands: u64,
    /// Command-time in the queue, summed.
    held_ps: u128,
}

impl QueueWork {
    /// `held` is the time from issue until the completion was taken.
    #[inline]
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
        /// Commands that went through the queue, from issue to completion, during the run.
        commands: u64, in "commands";
        /// Mean number of commands in the queue, over the makespan.
        occupancy_mean: f64, in "commands";
    }
}

quantities! {
    /// Completed requests by their status.
    #[derive(Copy, Default, Eq)]
    StatusesReport as "Statuses" {
        /// Requests that succeeded.
        success: u64, in "requests";
        /// Requests whose command the drive does not know (0x01): zeroes over SATA.
        invalid_opcode: u64, in "requests";
        /// Requests of no sectors, or of more than `host.transfer-max` (0x02).
        invalid_field: u64, in "requests";
        /// Requests through a queue that is attached to no namespace (0x0b); none in a run of a configuration, which attaches
        /// every queue.
        invalid_namespace: u64, in "requests";
        /// Requests that reach beyond their namespace (0x80): of traces with `workload.beyond = "send"`.
        lba_out_of_range: u64, in "requests";
    }
}

impl StatusesReport {
    /// Counts by [`Status::index`].
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
        /// How host and drive are connected (`host.interface`).
        interface: &'static str as InterfaceKind;
        /// Queues, one for each stream.
        queues: Vec<QueueReport>;
        /// Doorbells rung for commands issued; 0 where there are no doorbells.
        submission_doorbells: u64, in "doorbells";
        /// Doorbells rung for completions taken.
        completion_doorbells: u64, in "doorbells";
        /// Bytes sent over the link to the drive, with the overhead of packets.
        bytes_to_drive: u64, in "B";
        /// Bytes sent over the link to the host, with the overhead of packets.
        bytes_to_host: u64, in "B";
        /// Completed requests by their status.
        statuses: StatusesReport;
    }
}
