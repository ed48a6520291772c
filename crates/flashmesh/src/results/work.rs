//! Quantities that any part of a drive may count.

use crate::{counts, quantities};

counts! {
    /// Work of garbage collection and wear levelling.
    GcReport as "GarbageCollection" {
        /// Victim blocks taken, by garbage collection, wear levelling and folds of the SLC cache; those of collections in progress at the start
        /// count as well.
        collections: u64, in "blocks";
        /// Of `collections`, blocks taken by static wear levelling.
        wear_moves: u64, in "blocks";
        /// Of `collections`, blocks of translation pages.
        translation_collections: u64, in "blocks";
        /// Valid pages moved out of victim blocks, those folded out of the SLC cache among them.
        pages_moved: u64, in "pages";
        /// Of `pages_moved`, pages sent from chip to chip without a controller (`gc.move`).
        pages_copied: u64, in "pages";
        /// Valid pages of read-intensive areas that the firmware laid out anew (`[mbm]`).
        pages_reallocated: u64, in "pages";
        /// Blocks erased.
        erases: u64, in "blocks";
        /// Turns of collection that have ended, before stripes of the device cache (`cache.destage-stripe`).
        turns: u64, in "turns";
        /// Time that they took.
        turns_ps: u64, in "ps";
    }
}

counts! {
    /// Operations of the flash array.
    FlashReport as "FlashOperations" {
        /// Pages that requests wrote, to the device cache or to flash.
        pages_written: u64, in "pages";
        /// Pages read for requests.
        user_reads: u64, in "pages";
        /// Reads of pages that hold nothing, since they were never written or were deallocated.
        unwritten_reads: u64, in "pages";
        /// Pages programmed for requests, and by the device cache.
        user_programs: u64, in "pages";
        /// Pages read to complete writes of a part of them.
        partial_write_reads: u64, in "pages";
        /// Translation pages read, for entries of the map and before write-backs.
        map_reads: u64, in "pages";
        /// Translation pages programmed, to write changed entries back or for a checkpoint.
        map_programs: u64, in "pages";
        /// Pages of the journal of the map programmed.
        journal_programs: u64, in "pages";
        /// Copies of pages programmed by replication.
        replica_programs: u64, in "pages";
        /// Pages of parity programmed (`ftl.parity`).
        parity_programs: u64, in "pages";
        /// Mapping units that programs left empty, since too few had gathered (`ftl.gather-timeout`) or a victim had no more.
        units_skipped: u64, in "pages";
        /// Operations that more than one plane joined.
        multi_plane_operations: u64, in "operations";
        /// Programs and erases suspended for reads.
        suspensions: u64, in "operations";
        /// Operations that began with a read of a request which had waited for `schedule.age-bound`, while writes waited for the same die.
        overdue_reads: u64, in "operations";
        /// Operations that began with a write of a request which had waited for `schedule.age-bound`, while reads waited for the same
        /// die. Without the bound these writes would have waited until the reads end.
        overdue_programs: u64, in "operations";
    }
}

impl FlashReport {
    /// Returns the pages programmed: translation pages, the journal, copies, parity, those that `gc` moved and those left empty among them.
    pub fn programmed(&self, gc: &GcReport) -> u64 {
        let moved = gc.pages_moved + gc.pages_reallocated;
        let of_map = self.map_programs + self.journal_programs;
        let besides = self.replica_programs + self.parity_programs + self.units_skipped;
        self.user_programs + of_map + besides + moved
    }

    /// Returns the pages [programmed](Self::programmed) over the pages that the host wrote; `None` when it wrote none.
    pub fn write_amplification(&self, gc: &GcReport) -> Option<f64> {
        (self.pages_written > 0).then(|| self.programmed(gc) as f64 / self.pages_written as f64)
    }
}

quantities! {
    /// Work of the SLC cache ([slc-cache.md](slc-cache.md)).
    #[derive(Default)]
    SlcReport as "SlcCache" {
        /// Blocks of the cache.
        blocks: u64, in "blocks";
        /// What they hold.
        capacity_bytes: u64, in "B";
        /// Pages that requests, or the device cache, had programmed in the cache.
        pages_written: u64, in "pages";
        /// Pages that they had programmed past it, since the cache of the plane was full.
        pages_direct: u64, in "pages";
        /// The latter over both.
        direct_share: Option<f64>, in "share", null "when nothing was written to flash";
        /// Blocks of the cache that were folded, or are being folded. `gc.collections` counts them too.
        folds: u64, in "blocks";
        /// Valid pages moved out of the cache. `gc.pages_moved` counts them too.
        pages_folded: u64, in "pages";
        /// Erases of blocks of the cache. `gc.erases` counts them too.
        erases: u64, in "blocks";
        /// Erases of a block of the cache, on average.
        erases_per_block: f64, in "1";
        /// Erases of a block outside the cache, on average.
        native_erases_per_block: f64, in "1";
        /// Share of the time in which the cache of a plane had no page for a write, from the end of its last program to that of the next erase;
        /// the mean over the planes.
        full_share: Option<f64>, in "share", null "in a run that took no time";
    }
}

quantities! {
    /// What a cut of the power cost. The run ends with it.
    #[derive(Default)]
    PowerCutReport as "PowerCut" {
        /// Simulated time of the cut.
        at_ps: u64, in "ps";
        /// Whether capacitors kept the drive alive (`power.capacitors`).
        capacitors: bool;
        /// Requests in flight at the cut, which never completed.
        requests_lost: u64, in "requests";
        /// Pages that were dirty in the cache at the cut.
        dirty_pages: u64, in "pages";
        /// Bytes of the dirty pages that flash lacked.
        dirty_bytes: u64, in "B";
        /// With capacitors, pages that the cache wrote to flash after the cut, those under way at the cut included.
        pages_programmed: u64, in "pages";
        /// With capacitors, pages of the journal and of the map that were programmed after the cut, those under way at the cut included.
        map_pages_programmed: u64, in "pages";
        /// Time that these programs took after the cut.
        duration_ps: u64, in "ps";
        /// Energy of the events that ended after the cut.
        energy_j: f64, in "J";
        /// Without capacitors, pages whose newest data was acknowledged to the host and lost, in whole or in part.
        pages_lost: u64, in "pages";
        /// Bytes lost of these pages.
        bytes_lost: u64, in "B";
        /// Without capacitors, pages that were being programmed for requests or the cache; of such a page the older version is
        /// found again.
        programs_lost: u64, in "pages";
        /// What the drive does when the power is back.
        recovery: Option<RecoveryReport>, null "with `persistence.policy = \"ideal\"`";
    }
}

quantities! {
    /// How the drive finds its map when the power is back ([power-loss.md](power-loss.md)).
    #[derive(Default)]
    RecoveryReport as "Recovery" {
        /// From the return of the power until the map is complete. Nothing of it counts in the rest of the result.
        duration_ps: u64, in "ps";
        /// Where this time goes.
        steps: RecoverySteps;
        /// Pages read in each step.
        reads: RecoveryReads;
        /// Entries of the journal that were replayed.
        entries_replayed: u64, in "entries";
        /// Pages of the host that were found where no entry of the journal had them.
        pages_found: u64, in "pages";
        /// Pages with a copy, of which both were found.
        copies_found: u64, in "pages";
        /// Pages that were programmed, and whose newest version was not found. There are none unless flashmesh is wrong.
        pages_lost: u64, in "pages";
        /// Deallocations that were undone: the page holds data again. A flush of the host before the cut rules them out.
        deallocations_lost: u64, in "pages";
    }
}

quantities! {
    /// Time of each step of a recovery, one after the other.
    #[derive(Default)]
    RecoverySteps as "RecoverySteps" {
        /// Spare area of the first page of each block.
        blocks_ps: u64, in "ps";
        /// Spare area of the other pages of blocks with translation pages.
        system_ps: u64, in "ps";
        /// The pages of the map, the replication map and the journal.
        map_ps: u64, in "ps";
        /// Spare area of pages programmed since the last page of the journal.
        open_ps: u64, in "ps";
    }
}

quantities! {
    /// Pages read in each step of a recovery.
    #[derive(Default)]
    RecoveryReads as "RecoveryReads" {
        /// First pages of blocks, a sector of each.
        blocks: u64, in "pages";
        /// Other pages of blocks with translation pages, a sector of each.
        system: u64, in "pages";
        /// Pages of the map. None with `mapping.cache-capacity`: the map stays on flash.
        map: u64, in "pages";
        /// Pages of the journal and of the replication map.
        journal: u64, in "pages";
        /// Pages of blocks that were open, the first erased one included, a sector of each.
        open: u64, in "pages";
    }
}

quantities! {
    /// Work to keep the map on flash.
    #[derive(Default)]
    PersistenceReport as "Persistence" {
        /// Pages of the journal programmed.
        journal_pages: u64, in "pages";
        /// Entries in these.
        journal_entries: u64, in "entries";
        /// Checkpoints completed.
        checkpoints: u64, in "checkpoints";
        /// Pages of the map and of the replication map programmed, for checkpoints or as write-backs of the mapping cache.
        checkpoint_pages: u64, in "pages";
        /// `journal_pages` and `checkpoint_pages` over the pages that the host wrote: their part of the write amplification.
        write_amplification: Option<f64>, in "ratio", null "when requests wrote no page";
    }
}
