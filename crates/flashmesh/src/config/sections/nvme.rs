//! `[nvme]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Bytes;

choices! {
    /// From which submission queue the controller fetches next.
    QueueArbitration {
        /// They take turns.
        RoundRobin = "round-robin",
        /// Urgent ones strictly first; then by weight: high, medium and low priority.
        Weighted = "weighted",
    }
}

section! {
    /// The controller of `host.interface = "nvme"`.
    Nvme, "nvme", with "host.interface" = ["\"nvme\""] but for ["doorbell-size", "read-request-size"] {
        /// Commands of one queue in the drive at once; later ones stay in the queue.
        fetch_size: u32 = 512, in 1..=65_535;
        /// Commands of all queues in the drive at once. Arbitration decides who gets a place that becomes free.
        commands_max: Option<u32> = None, unset "what the queues may have together", in 1..=1_000_000;
        /// Entries of a completion queue; without room in it a command that is done waits, and keeps its place in the drive.
        completion_depth: Option<u32> = None, unset "`host.queue-depth`", in 1..=65_535;
        /// From which queue the controller fetches next.
        arbitration: QueueArbitration = QueueArbitration::RoundRobin;
        /// Commands that a queue may have fetched in its turn.
        arbitration_burst: u32 = 1, in 1..=128;
        /// Commands of high priority in a round.
        weight_high: u32 = 4, in 1..=256, with "arbitration" = ["\"weighted\""];
        /// Commands of medium priority in a round.
        weight_medium: u32 = 2, in 1..=256, with "arbitration" = ["\"weighted\""];
        /// Commands of low priority in a round.
        weight_low: u32 = 1, in 1..=256, with "arbitration" = ["\"weighted\""];
        /// Bytes of a doorbell, beside what its packet costs.
        doorbell_size: Bytes = Bytes::new(4), in Bytes::ZERO..=Bytes::from_kib(4),
            with "host.interface" = ["\"nvme\""] or "sata.transport" = ["\"doorbells\""];
        /// Bytes of a read request, drive to host, beside what its packet costs.
        read_request_size: Bytes = Bytes::new(16), in Bytes::ZERO..=Bytes::from_kib(4),
            with "host.interface" = ["\"nvme\""] or "sata.transport" = ["\"doorbells\""];
    }
}
