//! `[queue]`

use crate::config::choices::choices;
use crate::config::section::section;

choices! {
    /// How urgent the requests of a queue are (NVMe base specification: the classes of weighted round robin with urgent class).
    Priority {
        /// Before all others.
        Urgent = "urgent",
        /// More urgent than most.
        High = "high",
        /// As most are.
        Medium = "medium",
        /// Less urgent than most.
        Low = "low",
    }
}

impl Priority {
    /// The position in a table by priority, the most urgent first.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

choices! {
    /// Which requests the cache of the drive takes.
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
        /// How urgent the requests of the stream are, for the parts of the drive that tell requests apart.
        priority: Priority = Priority::Medium,
            with "schedule.priorities" = ["\"strict\"", "\"weighted\""] or "nvme.arbitration" = ["\"weighted\""];
        /// The namespace that the requests go to; offsets of the workload count from its beginning.
        namespace: Option<String> = None, unset "the first namespace";
        /// Which requests of the stream the cache of the drive takes, where it has one.
        caching: Caching = Caching::All, with "cache.capacity" != ["\"0B\""];
    }
}
