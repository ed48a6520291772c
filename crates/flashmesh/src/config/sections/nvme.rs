//! The section `[nvme]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Bytes;

choices! {
    /// The submission queue from which the controller fetches next.
    QueueArbitration {
        /// Round robin over all submission queues.
        RoundRobin = "round-robin",
        /// Weighted round robin with urgent class: urgent queues strictly first, then high, medium and low priority by weight.
        Weighted = "weighted",
    }
}

section! {
    /// The controller of `host.interface = "nvme"`.
    Nvme, "nvme", with "host.interface" = ["\"nvme\""] but for ["doorbell-size", "read-request-size"] {
        /// Maximum number of commands of one queue in the drive. Later commands stay in the queue.
        fetch_size: u32 = 512, in 1..=65_535, needs plain;
        /// Maximum number of commands of all queues in the drive. A free slot goes to the queue that the arbitration selects.
        commands_max: Option<u32> = None, unset "what the queues may have together", in 1..=1_000_000, needs plain;
        /// Number of entries of a completion queue. If the queue is full, a completed command waits and keeps its slot in the drive.
        completion_depth: Option<u32> = None, unset "`host.queue-depth`", in 1..=65_535, needs plain;
        /// Queue arbitration: which submission queue the controller fetches from next.
        arbitration: QueueArbitration = QueueArbitration::RoundRobin, needs plain;
        /// Maximum number of commands fetched from a queue in one turn.
        arbitration_burst: u32 = 1, in 1..=128, needs plain;
        /// Maximum number of commands of high priority fetched in a round.
        weight_high: u32 = 4, in 1..=256, with "arbitration" = ["\"weighted\""], needs plain;
        /// Maximum number of commands of medium priority fetched in a round.
        weight_medium: u32 = 2, in 1..=256, with "arbitration" = ["\"weighted\""], needs plain;
        /// Maximum number of commands of low priority fetched in a round.
        weight_low: u32 = 1, in 1..=256, with "arbitration" = ["\"weighted\""], needs plain;
        /// Bytes of a doorbell, without packet overhead.
        doorbell_size: Bytes = Bytes::new(4), in Bytes::ZERO..=Bytes::from_kib(4),
            with "host.interface" = ["\"nvme\""] or "sata.transport" = ["\"doorbells\""], needs plain;
        /// Bytes of a read request, from drive to host, without packet overhead.
        read_request_size: Bytes = Bytes::new(16), in Bytes::ZERO..=Bytes::from_kib(4),
            with "host.interface" = ["\"nvme\""] or "sata.transport" = ["\"doorbells\""], needs plain;
    }
}
