//! The section `[wear]` of a configuration.

use crate::config::section::section;

section! {
    /// Wear levelling.
    Wear, "wear" {
        /// Whether the least erased free block is opened next. Otherwise, the block that was freed first is opened next.
        dynamic: bool = true, needs plain;
        /// Whether cold blocks are moved when the erase counts of a plane diverge.
        static_levelling: bool = false, needs plain;
        /// Difference in erase counts, within a plane, above which a block is moved.
        static_threshold: u32 = 100, in 1..=1_000_000, with "static-levelling" = ["true"], needs plain;
    }
}
