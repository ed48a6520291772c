//! The section `[queue]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;

choices! {
    /// The priority class of a queue (NVMe base specification: weighted round robin with urgent priority class).
    Priority {
        /// Urgent class: served before all other classes.
        Urgent = "urgent",
        /// High priority class.
        High = "high",
        /// Medium priority class.
        Medium = "medium",
        /// Low priority class.
        Low = "low",
    }
}

impl Priority {
    /// Returns the index of the class, from 0 for the most urgent.
    pub const fn index(self) -> usize {
        self as usize
    }
}

choices! {
    /// The requests of a stream that the device cache serves.
    Caching {
        /// The cache serves neither reads nor writes of the stream.
        None = "none",
        /// The cache serves only reads of the stream.
        Reads = "reads",
        /// The cache serves only writes of the stream.
        Writes = "writes",
        /// The cache serves reads and writes of the stream.
        All = "all",
    }
}

section! {
    /// The queue pair of a stream.
    Queue, "queue" {
        /// Priority class of the requests of the stream, for arbitration (`[nvme]`) and scheduling (`schedule.priorities`).
        priority: Priority = Priority::Medium,
            with "schedule.priorities" = ["\"strict\"", "\"weighted\""] or "nvme.arbitration" = ["\"weighted\""], needs plain;
        /// Name of the namespace that the requests address. Offsets of the workload are relative to the start of the namespace.
        namespace: Option<String> = None, unset "the first namespace", needs plain;
        /// Requests of the stream that the device cache serves, if the drive has one.
        caching: Caching = Caching::All, with "cache.capacity" != ["\"0B\""], needs plain;
    }
}
