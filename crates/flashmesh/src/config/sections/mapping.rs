//! The section `[mapping]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Bytes;

choices! {
    /// The division of the mapping cache among streams.
    MapSharing {
        /// All streams use the whole cache.
        Shared = "shared",
        /// Each stream uses an equal part of the cache.
        PerStream = "per-stream",
    }
}

choices! {
    /// The entries that are cached when a translation page is read.
    MapFill {
        /// Only the requested entries are cached (DFTL).
        Entry = "entry",
        /// All entries of the translation page are cached that fit into the cache without a write-back.
        Page = "page",
    }
}

choices! {
    /// The condition under which a translation page is read before its write-back.
    WriteBackRead {
        /// A translation page is read before its write-back only if DRAM has neither its contents nor all of its entries.
        WhenMissing = "when-missing",
        /// A translation page is read each time a dirty entry of the page is evicted, as in firmware that does not check what is in DRAM.
        /// The write-back then includes all changes so far.
        Always = "always",
    }
}

section! {
    /// The mapping cache, for a mapping table that does not fit into DRAM (DFTL, ASPLOS 2009).
    Mapping, "mapping", with "cache-capacity" != [""] but for ["stored-entry-size"] {
        /// DRAM for mapping entries. If set, the mapping table is on flash, in translation pages.
        cache_capacity: Option<Bytes> = None, unset "the whole map is in DRAM", in Bytes::new(1).., needs plain, step "x2";
        /// Division of the mapping cache among streams.
        sharing: MapSharing = MapSharing::Shared, needs plain;
        /// Bytes of an entry in the cache: logical and physical page number, and links to other entries.
        entry_size: Bytes = Bytes::new(8), in Bytes::new(1)..=Bytes::from_kib(4), needs plain;
        /// Bytes of an entry in a translation page: a physical page number.
        stored_entry_size: Bytes = Bytes::new(4), in Bytes::new(1)..=Bytes::from_kib(4),
            with "cache-capacity" != [""] or "persistence.policy" = ["\"journal\""], needs plain;
        /// Bytes that leave the chip when a translation page is read.
        read_size: Option<Bytes> = None, unset "the whole page", in Bytes::new(1).., needs plain;
        /// Entries that are cached when a translation page is read.
        fill: MapFill = MapFill::Entry, needs plain;
        /// Condition under which a translation page is read before its write-back.
        write_back_read: WriteBackRead = WriteBackRead::WhenMissing, needs plain;
        /// Bytes of a translation page that are read from the chip before the write-back, for the entries that are not in DRAM. With less than a
        /// page, the chip merges the rest in its register.
        write_back_read_size: Option<Bytes> = None, unset "the whole page", in Bytes::ZERO.., needs plain;
        /// Whether a write-back counts as a use of the written entries, so that other entries are evicted first.
        write_back_is_use: bool = false, needs plain;
        /// DRAM for translation pages that wait for their write-back. Such pages are read into this buffer, serve misses from there, and accept
        /// further changes. When another page needs the space, the oldest page is programmed.
        write_back_buffer: Bytes = Bytes::ZERO, in Bytes::ZERO.., needs plain;
        /// Maximum number of translation pages in write-back. A miss whose eviction needs another write-back waits.
        write_backs: u32 = 32, in 1..=65_535, needs plain;
    }
}
