//! `[replication]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Share, Time};

choices! {
    /// Which reads of user pages collide.
    CountedReads {
        /// Those that requests ask for.
        Host = "host",
        /// Those that complete a write of a part of a page (read-modify-write), too.
        All = "all",
    }
}

section! {
    /// Copies of pages that collide with others again and again, on other dies.
    Replication, "replication" {
        /// Whether pages are replicated ([read-collisions.md](read-collisions.md)). The other keys also say what `measure.collisions` takes
        /// copies to be.
        enabled: bool = false, needs any, step "false | true";
        /// `l_R` of the paper: the most collision pairs that are tracked for each die. 0 tracks none, so nothing is replicated.
        l_r: u32 = 5, in 0..=65_535, with "enabled" = ["true"] or "measure.collisions" = ["true"], needs plain;
        /// `l_M` of the paper: the most replicated pages, as a share of the logical pages of the drive. They take spare space.
        l_m: f64 as Share = 0.002, in 0.0..=1.0, with "enabled" = ["true"] or "measure.collisions" = ["true"], needs plain;
        /// Which reads collide: are outstanding, make pairs, and trigger copies. The other ones are counted beside them.
        counted_reads: CountedReads = CountedReads::Host, with "enabled" = ["true"] or "measure.collisions" = ["true"], needs plain;
        /// Over how long the reads of a die are counted for the rate that the cost of a copy follows: this window and the one before.
        rate_window: Time = Time::from_ms(1000), in Time::from_us(1)..=Time::from_ms(1_000_000),
            with "enabled" = ["true"] or "measure.collisions" = ["true"], needs plain;
    }
}

impl Replication {
    /// The most replicated pages of a drive of so many logical pages.
    pub fn copies_max(&self, logical_pages: u32) -> u32 {
        (f64::from(logical_pages) * self.l_m) as u32
    }
}
