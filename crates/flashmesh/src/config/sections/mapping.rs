//! `[mapping]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Bytes;

choices! {
    /// How streams share the mapping cache.
    MapSharing {
        /// All streams use all of it.
        Shared = "shared",
        /// Each stream has an equal part of its own.
        PerStream = "per-stream",
    }
}

choices! {
    /// Entries of a translation page that are cached when it is read.
    MapFill {
        /// The entries that were waited for (DFTL).
        Entry = "entry",
        /// All of its entries, as far as there is room without a write-back.
        Page = "page",
    }
}

choices! {
    /// When a translation page that is to be written back is read first.
    WriteBackRead {
        /// When DRAM has neither all of its entries nor its content.
        WhenMissing = "when-missing",
        /// Each time a dirty entry of it is evicted, whatever DRAM holds: a routine that
        /// does not look there. The read covers all changes so far.
        Always = "always",
    }
}

section! {
    /// The cache of the map, when the map does not fit into DRAM (DFTL, ASPLOS 2009).
    Mapping, "mapping", with "cache-capacity" != [""] but for ["stored-entry-size"] {
        /// DRAM for entries of the map; the map itself then lies on flash, in translation pages.
        cache_capacity: Option<Bytes> = None, unset "the whole map is in DRAM", in Bytes::new(1).., needs plain, step "x2";
        /// Who shares the cache.
        sharing: MapSharing = MapSharing::Shared, needs plain;
        /// Bytes of an entry in the cache: logical and physical page number, and what links it to others.
        entry_size: Bytes = Bytes::new(8), in Bytes::new(1)..=Bytes::from_kib(4), needs plain;
        /// Bytes of an entry in a translation page: a physical page number.
        stored_entry_size: Bytes = Bytes::new(4), in Bytes::new(1)..=Bytes::from_kib(4),
            with "cache-capacity" != [""] or "persistence.policy" = ["\"journal\""], needs plain;
        /// Bytes of a translation page that leave the chip when it is read.
        read_size: Option<Bytes> = None, unset "the whole page", in Bytes::new(1).., needs plain;
        /// What of a translation page stays in the cache once it was read.
        fill: MapFill = MapFill::Entry, needs plain;
        /// When a translation page that is to be written back is read first.
        write_back_read: WriteBackRead = WriteBackRead::WhenMissing, needs plain;
        /// Bytes of a translation page that leave the chip before it is written back, for the entries that are not in DRAM. Less than
        /// a page: the chip merges the rest in its register.
        write_back_read_size: Option<Bytes> = None, unset "the whole page", in Bytes::ZERO.., needs plain;
        /// Whether a write-back counts as a use of the entries whose changes it takes along, so that others make way before them.
        write_back_is_use: bool = false, needs plain;
        /// DRAM for translation pages that are to be written back. They are read into it, serve misses from there and take further
        /// changes along, and the one that came first is programmed when another one needs its place.
        write_back_buffer: Bytes = Bytes::ZERO, in Bytes::ZERO.., needs plain;
        /// Translation pages written back at once; a miss that would evict an entry into one more waits.
        write_backs: u32 = 32, in 1..=65_535, needs plain;
    }
}
