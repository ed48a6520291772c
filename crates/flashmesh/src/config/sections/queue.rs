//! `[queue]`

use crate::config::choices::choices;
use crate::config::section::section;

choices! {
    /// Priority class of a queue (NVMe base specification: weighted round robin with urgent priority class).
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
    /// Index by priority, most urgent first.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

choices! {
    /// Which requests the device cache serves.
    Caching {
        /// None.
        None = "none",
        /// Reads.
        Reads = "reads",
        /// Writes.
        Writes = "writes",
        /// All.
        All = "all",
    }
}

section! {
    /// The queue pair of a stream.
    Queue, "queue" {
        /// Priority class of the requests of the stream, for arbitration (`[nvme]`) and scheduling (`schedule.priorities`).
        priority: Priority = Priority::Medium,
            with "schedule.priorities" = ["\"strict\"", "\"weighted\""] or "nvme.arbitration" = ["\"weighted\""], needs plain;
        /// The namespace that the requests go to; offsets of the workload count from its beginning.
        namespace: Option<String> = None, unset "the first namespace", needs plain;
        /// Which requests of the stream the cache of the drive takes, where it has one.
        caching: Caching = Caching::All, with "cache.capacity" != ["\"0B\""], needs plain;
    }
}
