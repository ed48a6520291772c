//! The section `[replication]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Share, Time};

choices! {
    /// The reads of user pages that count as colliding.
    CountedReads {
        /// Only reads of requests count as colliding.
        Host = "host",
        /// Reads of requests count as colliding, and also reads that complete a write of a part of a page (read-modify-write).
        All = "all",
    }
}

section! {
    /// Replication, on other dies, of pages that repeatedly collide with other pages.
    Replication, "replication" {
        /// Whether pages are replicated ([read-collisions.md](read-collisions.md)). The other keys also set the assumptions of
        /// `measure.collisions` about replicas.
        enabled: bool = false, needs any, step "false | true";
        /// Maximum number of collision pairs tracked per die, `l_R` in the paper. 0 tracks none, so that no page is replicated.
        l_r: u32 = 5, in 0..=65_535, with "enabled" = ["true"] or "measure.collisions" = ["true"], needs plain;
        /// Maximum number of replicated pages, as a share of the logical pages of the drive, `l_M` in the paper. Replicas occupy spare space.
        l_m: f64 as Share = 0.002, in 0.0..=1.0, with "enabled" = ["true"] or "measure.collisions" = ["true"], needs plain;
        /// Reads that the detection of collisions considers: these reads are outstanding, form pairs, and trigger replication. Other reads are only
        /// counted.
        counted_reads: CountedReads = CountedReads::Host, with "enabled" = ["true"] or "measure.collisions" = ["true"], needs plain;
        /// Window over which the reads of a die are counted, for the read rate in the cost of a replica. The rate covers the current window and the
        /// previous window.
        rate_window: Time = Time::from_ms(1000), in Time::from_us(1)..=Time::from_ms(1_000_000),
            with "enabled" = ["true"] or "measure.collisions" = ["true"], needs plain;
    }
}

impl Replication {
    /// Returns the maximum number of replicated pages of a drive of `logical_pages` logical pages.
    pub fn replicas_max(&self, logical_pages: u32) -> u32 {
        (f64::from(logical_pages) * self.l_m) as u32
    }
}
