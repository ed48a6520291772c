//! Results of replication.

use crate::{counts, quantities};

counts! {
    /// Counts of replication.
    ReplicationCounts {
        /// Pages of which a copy was wanted: its benefit exceeded its cost.
        wanted: u64, in "pages";
        /// Of `wanted`, those given up before a copy was programmed: written, deallocated or moved meanwhile, or no room on the die.
        dropped: u64, in "pages";
        /// Copies programmed that the page was replicated by.
        made: u64, in "pages";
        /// Copies programmed for nothing: the page was written, deallocated or moved while its copy was programmed.
        wasted: u64, in "pages";
        /// Of `made`, those that ended as their page was written or deallocated.
        ended_by_writes: u64, in "pages";
        /// Of `made`, those given up at the limit `l_M`: the original had served more reads.
        originals_kept: u64, in "pages";
        /// Of `made`, those that took the place of their original at the limit `l_M`.
        copies_kept: u64, in "pages";
        /// Reads of pages with a copy.
        reads: u64, in "pages";
        /// Of `reads`, those that the copy served.
        reads_of_copies: u64, in "pages";
        /// Reads that arrived in an imbalanced collision all the same.
        imbalanced: u64, in "pages";
        /// Reads that a copy served and that would have arrived in an imbalanced collision at the die of the original.
        imbalanced_avoided: u64, in "pages";
        /// Bytes read beyond what requests asked for, to have whole pages to copy.
        extra_read_bytes: u64, in "B";
        /// Time that dies were busy programming copies.
        program_ps: u64, in "ps";
    }
}

quantities! {
    /// Replication of pages on other dies ([read-collisions.md](read-collisions.md)).
    ReplicationReport as "Replication" {
        /// Counts of pages and reads.
        counts: ReplicationCounts => flatten;
        /// Pages with a copy at the end of the run.
        copies_end: u64, in "pages";
        /// The most pages with a copy.
        copies_peak: u64, in "pages";
        /// `l_M`: the most pages that may have one.
        copies_max: u64, in "pages";
        /// DRAM of a collision pair: two pages of its die, and a slack counter for each die.
        pair_bytes: f64, in "B";
        /// DRAM of the collision pair lists.
        list_bytes: u64, in "B";
        /// DRAM of the replication map, with `copies_max` entries.
        map_bytes: u64, in "B";
        /// DRAM of the flags in the map: one bit for each logical page.
        flag_bytes: u64, in "B";
    }
}
