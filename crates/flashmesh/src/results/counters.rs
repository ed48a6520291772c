//! Quantities that any part of a drive may count.

use crate::{counts, quantities};

counts! {
    /// Work of garbage collection and wear levelling.
    GcReport as "GarbageCollection" {
        /// Victim blocks taken, by garbage collection, wear levelling and folds of the SLC cache; collections in progress at the start count as
        /// well.
        collections: u64, in "blocks";
        /// Of `collections`, blocks taken by static wear levelling.
        wear_moves: u64, in "blocks";
        /// Of `collections`, victim blocks that contain translation pages.
        translation_collections: u64, in "blocks";
        /// Valid pages moved out of victim blocks, including those folded out of the SLC cache.
        pages_moved: u64, in "pages";
        /// Of `pages_moved`, pages sent from chip to chip without a controller (`gc.move`).
        pages_copied: u64, in "pages";
        /// Valid pages of read-intensive areas that the firmware laid out anew (`[mbm]`).
        pages_reallocated: u64, in "pages";
        /// Blocks erased by garbage collection, wear levelling and folds.
        erases: u64, in "blocks";
        /// Completed turns of GC, in which it makes all moves that it owes before a stripe of the device cache is destaged
        /// (`cache.destage-stripe`).
        turns: u64, in "turns";
        /// Total duration of the turns of GC that `turns` counts.
        turns_ps: u64, in "ps";
    }
}

counts! {
    /// Operations of the flash array.
    FlashReport as "FlashOperations" {
        /// Pages that requests wrote, to the device cache or to flash.
        pages_written: u64, in "pages";
        /// Pages read from flash for requests.
        user_reads: u64, in "pages";
        /// Reads of pages that were never written or were deallocated.
        unwritten_reads: u64, in "pages";
        /// Pages programmed for requests, directly or as destages of the device cache.
        user_programs: u64, in "pages";
        /// Pages read to complete partial-page writes (read-modify-write).
        partial_write_reads: u64, in "pages";
        /// Translation pages read, for map entries and before write-backs.
        map_reads: u64, in "pages";
        /// Translation pages programmed, as write-backs of changed entries or for a checkpoint.
        map_programs: u64, in "pages";
        /// Pages of the journal of the map programmed.
        journal_programs: u64, in "pages";
        /// Copies of pages programmed by replication.
        replica_programs: u64, in "pages";
        /// Pages of parity programmed (`ftl.parity`).
        parity_programs: u64, in "pages";
        /// Mapping units left empty in programs, because too few writes had gathered (`ftl.gather-timeout`) or a victim block had no more
        /// valid pages.
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
    /// Returns the number of all programmed pages: for requests, the map, the journal, replicas, parity, and pages moved by garbage collection
    /// (`gc`). Mapping units that were left empty in programs count as pages.
    pub fn programmed(&self, gc: &GcReport) -> u64 {
        let moved = gc.pages_moved + gc.pages_reallocated;
        let of_map = self.map_programs + self.journal_programs;
        let besides = self.replica_programs + self.parity_programs + self.units_skipped;
        self.user_programs + of_map + besides + moved
    }

    /// Returns the [programmed](Self::programmed) pages divided by the pages that requests wrote; `None` if requests wrote no page.
    pub fn write_amplification(&self, gc: &GcReport) -> Option<f64> {
        (self.pages_written > 0).then(|| self.programmed(gc) as f64 / self.pages_written as f64)
    }
}

quantities! {
    /// Work of the SLC cache ([slc-cache.md](slc-cache.md)).
    #[derive(Default)]
    SlcReport as "SlcCache" {
        /// Blocks of the SLC cache.
        blocks: u64, in "blocks";
        /// Capacity of the blocks of the SLC cache.
        capacity_bytes: u64, in "B";
        /// Pages programmed in the cache for requests or the device cache.
        pages_written: u64, in "pages";
        /// Pages programmed outside the cache for requests or the device cache, because the cache of the plane was full.
        pages_direct: u64, in "pages";
        /// `pages_direct` over the sum of `pages_written` and `pages_direct`.
        direct_share: Option<f64>, in "share", null "when nothing was written to flash";
        /// Blocks of the cache whose folding has begun. `gc.collections` counts them too.
        folds: u64, in "blocks";
        /// Valid pages moved out of the cache. `gc.pages_moved` counts them too.
        pages_folded: u64, in "pages";
        /// Erases of blocks of the cache. `gc.erases` counts them too.
        erases: u64, in "blocks";
        /// Mean erases of a block of the cache.
        erases_per_block: f64, in "1";
        /// Mean erases of a block outside the cache.
        native_erases_per_block: f64, in "1";
        /// Share of the time in which the cache of a plane had no free page for a write, from the end of its last program to the end of the
        /// next erase; mean over the planes.
        full_share: Option<f64>, in "share", null "in a run that took no time";
    }
}

quantities! {
    /// Costs of a power cut, with which the run ends.
    #[derive(Default)]
    PowerCutReport as "PowerCut" {
        /// Simulated time of the power cut.
        at_ps: u64, in "ps";
        /// Whether capacitors kept the drive alive (`power.capacitors`).
        capacitors: bool;
        /// Requests in flight at the power cut, which never completed.
        requests_lost: u64, in "requests";
        /// Dirty pages in the device cache at the power cut.
        dirty_pages: u64, in "pages";
        /// Bytes of the dirty pages that were not on flash.
        dirty_bytes: u64, in "B";
        /// With capacitors, pages destaged after the power cut, including those in flight at the cut.
        pages_programmed: u64, in "pages";
        /// With capacitors, pages of the journal and of the map programmed after the power cut, including those in flight at the cut.
        map_pages_programmed: u64, in "pages";
        /// Time from the power cut to the end of the last program after the cut.
        duration_ps: u64, in "ps";
        /// Energy of the events that ended after the power cut.
        energy_j: f64, in "J";
        /// Without capacitors, pages whose newest acknowledged data was lost, in whole or in part.
        pages_lost: u64, in "pages";
        /// Number of acknowledged bytes lost in the pages that `pages_lost` counts.
        bytes_lost: u64, in "B";
        /// Without capacitors, pages in programming for requests or the cache at the cut; recovery finds the older version of such a page.
        programs_lost: u64, in "pages";
        /// Recovery after the power returns.
        recovery: Option<RecoveryReport>, null "with `persistence.policy = \"ideal\"`";
    }
}

quantities! {
    /// Recovery of the map after a power cut ([power-loss.md](power-loss.md)).
    #[derive(Default)]
    RecoveryReport as "Recovery" {
        /// Time from the return of power until the map is complete. No other figure of the result includes it.
        duration_ps: u64, in "ps";
        /// Duration of each step of the recovery.
        steps: RecoverySteps;
        /// Pages read in each step of the recovery.
        reads: RecoveryReads;
        /// Entries of the journal that were replayed.
        entries_replayed: u64, in "entries";
        /// Host pages found by a scan of spare areas that no journal entry listed.
        pages_found: u64, in "pages";
        /// Replicated pages of which both copies were found.
        copies_found: u64, in "pages";
        /// Programmed pages whose newest version was not found. Always 0 unless flashmesh has a bug.
        pages_lost: u64, in "pages";
        /// Deallocations undone: the page holds data again. A host flush before the cut prevents them.
        deallocations_lost: u64, in "pages";
    }
}

quantities! {
    /// Duration of each step of a recovery, in order.
    #[derive(Default)]
    RecoverySteps as "RecoverySteps" {
        /// Time to read the spare area of the first page of each block.
        blocks_ps: u64, in "ps";
        /// Time to read the spare areas of all other pages of blocks with translation pages.
        system_ps: u64, in "ps";
        /// Time to read the pages of the map, the replication map and the journal.
        map_ps: u64, in "ps";
        /// Time to read the spare areas of pages programmed since the last page of the journal.
        open_ps: u64, in "ps";
    }
}

quantities! {
    /// Pages read in each step of a recovery.
    #[derive(Default)]
    RecoveryReads as "RecoveryReads" {
        /// First pages of blocks; one sector of each is read.
        blocks: u64, in "pages";
        /// Other pages of blocks with translation pages; one sector of each is read.
        system: u64, in "pages";
        /// Pages of the map; 0 with `mapping.cache-capacity`, since the map then stays on flash.
        map: u64, in "pages";
        /// Pages of the journal and of the replication map.
        journal: u64, in "pages";
        /// Pages of open blocks, including the first erased page of each; one sector of each is read.
        open: u64, in "pages";
    }
}

quantities! {
    /// Work to persist the map.
    #[derive(Default)]
    PersistenceReport as "Persistence" {
        /// Pages of the journal programmed.
        journal_pages: u64, in "pages";
        /// Entries in the journal pages.
        journal_entries: u64, in "entries";
        /// Checkpoints completed.
        checkpoints: u64, in "checkpoints";
        /// Pages of the map and of the replication map programmed, for checkpoints or as write-backs of the mapping cache.
        checkpoint_pages: u64, in "pages";
        /// `journal_pages` and `checkpoint_pages` over the pages that the host wrote: the contribution of persistence to write amplification.
        write_amplification: Option<f64>, in "ratio", null "when requests wrote no page";
    }
}
