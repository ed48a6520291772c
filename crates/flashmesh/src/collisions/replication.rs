//! Results of the replication of pages on other dies, for the report of a run.

use crate::{counts, quantities};

counts! {
    /// Counts of replicas, and of the reads that they served.
    ReplicationCounts {
        /// Pages for which the benefit of a copy exceeded its cost.
        wanted: u64, in "pages";
        /// Of `wanted`, pages given up before a copy was programmed: the page was written, deallocated or moved meanwhile, or the target die had no
        /// room.
        dropped: u64, in "pages";
        /// Copies that were programmed and became replicas of their pages.
        made: u64, in "pages";
        /// Copies that were programmed in vain: the page was written, deallocated or moved meanwhile.
        wasted: u64, in "pages";
        /// Of `made`, replicas that ended because their page was written or deallocated.
        ended_by_writes: u64, in "pages";
        /// Of `made`, replicas dropped at the limit `l_M`, because their original had served more reads.
        originals_kept: u64, in "pages";
        /// Of `made`, replicas that replaced their original at the limit `l_M`, because they had served at least as many reads as the
        /// original.
        copies_kept: u64, in "pages";
        /// Reads of pages with a replica.
        reads: u64, in "pages";
        /// Of `reads`, reads that the replica served.
        reads_of_copies: u64, in "pages";
        /// Reads that arrived in an imbalanced collision (another die had at least two fewer reads outstanding) despite replication.
        imbalanced: u64, in "pages";
        /// Reads that a replica served and that would have arrived at the die of the original in an imbalanced collision (another die had
        /// at least two fewer reads outstanding).
        imbalanced_avoided: u64, in "pages";
        /// Bytes read beyond the requested ones, because a copy needs the whole page.
        extra_read_bytes: u64, in "B";
        /// Total time that dies spent programming copies.
        program_ps: u64, in "ps";
    }
}

quantities! {
    /// Replication of pages on other dies ([read-collisions.md](read-collisions.md)).
    ReplicationReport as "Replication" {
        /// Counts of replicas, and of the reads that they served.
        counts: ReplicationCounts => flatten;
        /// Pages with a replica at the end of the run.
        copies_end: u64, in "pages";
        /// Largest number of pages with a replica during the run.
        copies_peak: u64, in "pages";
        /// `l_M`: limit of pages with a replica.
        copies_max: u64, in "pages";
        /// DRAM of an entry of a collision pair list: two pages of its die, and a slack counter for each die.
        pair_bytes: f64, in "B";
        /// DRAM of the collision pair lists.
        list_bytes: u64, in "B";
        /// DRAM of the replication map, with `copies_max` entries.
        map_bytes: u64, in "B";
        /// DRAM of the flags in the map: one bit for each logical page.
        flag_bytes: u64, in "B";
    }
}
