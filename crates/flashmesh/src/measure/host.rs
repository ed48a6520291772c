//! What crossed between host and drive.

use serde::Serialize;

use crate::host::status::Status;
use crate::units::Time;

/// What the queue of one stream held.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueWork {
    commands: u64,
    /// Time in the queue, summed over the commands.
    held_ps: u128,
}

impl QueueWork {
    /// Counts a command that was in the queue for `held`, from its issue until its completion was taken.
    #[inline]
    pub fn count(&mut self, held: Time) {
        self.commands += 1;
        self.held_ps += u128::from(held.as_ps());
    }

    /// What it held until `end`.
    pub fn report(&self, end: Time) -> QueueReport {
        let occupancy_mean = if end == Time::ZERO { 0.0 } else { self.held_ps as f64 / end.as_ps() as f64 };
        QueueReport { commands: self.commands, occupancy_mean }
    }
}

/// What the queue of one stream held.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueReport {
    /// Commands that went through it, from issue to completion.
    pub commands: u64,
    /// Commands in it, on average over the run.
    pub occupancy_mean: f64,
}

/// Commands by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatusesReport {
    /// Did what they were asked to.
    pub success: u64,
    /// The drive does not know such commands.
    pub invalid_opcode: u64,
    /// A field held what it must not.
    pub invalid_field: u64,
    /// The queue is attached to no namespace.
    pub invalid_namespace: u64,
    /// Reached beyond the namespace.
    pub lba_out_of_range: u64,
}

impl StatusesReport {
    /// From the counts by [`Status::index`].
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

/// What crossed between host and drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostReport {
    /// The interface, as the configuration names it.
    pub interface: &'static str,
    /// The queues, by stream.
    pub queues: Vec<QueueReport>,
    /// Doorbells that told of commands.
    pub submission_doorbells: u64,
    /// Doorbells that told of completions taken.
    pub completion_doorbells: u64,
    /// Bytes sent to the drive, those of packets included.
    pub bytes_to_drive: u64,
    /// Bytes sent to the host, those of packets included.
    pub bytes_to_host: u64,
    /// How commands ended.
    pub statuses: StatusesReport,
}
