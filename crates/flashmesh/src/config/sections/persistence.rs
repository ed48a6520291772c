//! The section `[persistence]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Bytes;

choices! {
    /// The mechanism by which the mapping table survives a power cut.
    PersistencePolicy {
        /// No mechanism: the table survives without cost, and no recovery is simulated.
        Ideal = "ideal",
        /// A journal of changes on flash, and checkpoints of the table. After a cut the table is rebuilt from both.
        Journal = "journal",
    }
}

section! {
    /// Persistence of the mapping table across a power cut ([power-loss.md](power-loss.md)).
    Persistence, "persistence" {
        /// Mechanism by which the mapping table survives a power cut.
        policy: PersistencePolicy = PersistencePolicy::Ideal, needs any;
        /// Bytes of a journal entry: a logical page and its new location.
        entry_size: Bytes = Bytes::new(8), in Bytes::new(1)..=Bytes::from_kib(4), with "policy" = ["\"journal\""], needs any;
        /// Number of journal pages from the start of one checkpoint to the start of the next. The journal occupies twice as many pages of
        /// flash.
        checkpoint_interval: u32 = 64, in 1..=65_535, with "policy" = ["\"journal\""], needs any;
        /// Maximum number of pages of a checkpoint that are programmed at a time.
        checkpoint_writes: u32 = 4, in 1..=65_535, with "policy" = ["\"journal\""], needs any;
    }
}

impl Persistence {
    /// Returns whether changes of the mapping table are written to a journal.
    pub fn has_journal(&self) -> bool {
        self.policy == PersistencePolicy::Journal
    }

    /// Returns the number of flash pages that the journal occupies.
    pub fn journal_pages(&self) -> u32 {
        if self.has_journal() { self.checkpoint_interval * 2 } else { 0 }
    }
}
