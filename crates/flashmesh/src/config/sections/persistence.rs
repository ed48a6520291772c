//! `[persistence]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Bytes;

choices! {
    /// How the map survives a cut of the power.
    PersistencePolicy {
        /// It survives by itself: it costs nothing, and no recovery is simulated.
        Ideal = "ideal",
        /// Changes go to a journal on flash, the map itself to checkpoints; after a cut it is rebuilt from both.
        Journal = "journal",
    }
}

section! {
    /// Persistence of the map across a power cut ([power-loss.md](power-loss.md)).
    Persistence, "persistence" {
        /// How the map survives a cut of the power.
        policy: PersistencePolicy = PersistencePolicy::Ideal, needs any;
        /// Bytes of a journal entry: which logical page is where now.
        entry_size: Bytes = Bytes::new(8), in Bytes::new(1)..=Bytes::from_kib(4), with "policy" = ["\"journal\""], needs any;
        /// Pages of journal from the beginning of one checkpoint to that of the next. Flash holds twice as many.
        checkpoint_interval: u32 = 64, in 1..=65_535, with "policy" = ["\"journal\""], needs any;
        /// Pages of a checkpoint that are programmed at once.
        checkpoint_writes: u32 = 4, in 1..=65_535, with "policy" = ["\"journal\""], needs any;
    }
}

impl Persistence {
    /// Whether changes of the map go to a journal.
    pub fn has_journal(&self) -> bool {
        self.policy == PersistencePolicy::Journal
    }

    /// Pages of flash that the journal takes.
    pub fn journal_pages(&self) -> u32 {
        if self.has_journal() { self.checkpoint_interval * 2 } else { 0 }
    }
}
