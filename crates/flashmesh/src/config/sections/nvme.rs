//! `[nvme]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Bytes;

choices! {
    /// From which submission queue the controller fetches next.
    QueueArbitration {
        /// Round robin.
        RoundRobin = "round-robin",
        /// Weighted round robin with urgent class: urgent queues strictly first, then high, medium and low priority by weight.
        Weighted = "weighted",
    }
}

section! {
    /// The controller of `host.interface = "nvme"`.
    Nvme, "nvme", with "host.interface" = ["\"nvme\""] but for ["doorbell-size", "read-request-size"] {
        /// Commands of one queue in the drive at once; later ones stay in the queue.
        fetch_size: u32 = 512, in 1..=65_535, needs plain;
        /// Commands of all queues in the drive at once. Arbitration decides who gets a place that becomes free.
        commands_max: Option<u32> = None, unset "what the queues may have together", in 1..=1_000_000, needs plain;
        /// Entries of a completion queue; without room in it a command that is done waits, and keeps its place in the drive.
        completion_depth: Option<u32> = None, unset "`host.queue-depth`", in 1..=65_535, needs plain;
        /// From which queue the controller fetches next.
        arbitration: QueueArbitration = QueueArbitration::RoundRobin, needs plain;
        /// Commands that a queue may have fetched in its turn.
        arbitration_burst: u32 = 1, in 1..=128, needs plain;
        /// Commands of high priority in a round.
        weight_high: u32 = 4, in 1..=256, with "arbitration" = ["\"weighted\""], needs plain;
        /// Commands of medium priority in a round.
        weight_medium: u32 = 2, in 1..=256, with "arbitration" = ["\"weighted\""], needs plain;
        /// Commands of low priority in a round.
        weight_low: u32 = 1, in 1..=256, with "arbitration" = ["\"weighted\""], needs plain;
        /// Bytes of a doorbell, beside what its packet costs.
        doorbell_size: Bytes = Bytes::new(4), in Bytes::ZERO..=Bytes::from_kib(4),
            with "host.interface" = ["\"nvme\""] or "sata.transport" = ["\"doorbells\""], needs plain;
        /// Bytes of a read request, drive to host, beside what its packet costs.
        read_request_size: Bytes = Bytes::new(16), in Bytes::ZERO..=Bytes::from_kib(4),
            with "host.interface" = ["\"nvme\""] or "sata.transport" = ["\"doorbells\""], needs plain;
    }
}
