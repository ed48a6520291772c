//! `[mapping]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Bytes;

choices! {
    /// Who shares the cache of the map.
    MapSharing {
        /// All streams use all of it.
        Shared = "shared",
        /// Each stream has an equal part of its own.
        PerStream = "per-stream",
    }
}

choices! {
    /// What of a translation page stays in the cache once it was read.
    MapFill {
        /// The entries that were waited for (DFTL).
        Entry = "entry",
        /// All of its entries, as far as they find room without a write-back.
        Page = "page",
    }
}

section! {
    /// The cache of the map, when the map does not fit into DRAM (DFTL, ASPLOS 2009).
    Mapping, "mapping" {
        /// DRAM for entries of the map; the map itself then lies on flash, in translation pages.
        cache_capacity: Option<Bytes> = None, unset "the whole map is in DRAM", in Bytes::new(1)..;
        /// Who shares the cache.
        sharing: MapSharing = MapSharing::Shared;
        /// Bytes of an entry in the cache: logical and physical page number, and what links it to others.
        entry_size: Bytes = Bytes::new(8), in Bytes::new(1)..=Bytes::from_kib(4);
        /// Bytes of an entry in a translation page: a physical page number.
        stored_entry_size: Bytes = Bytes::new(4), in Bytes::new(1)..=Bytes::from_kib(4);
        /// Bytes of a translation page that leave the chip when it is read.
        read_size: Option<Bytes> = None, unset "the whole page", in Bytes::new(1)..;
        /// What of a translation page stays in the cache once it was read.
        fill: MapFill = MapFill::Entry;
        /// Bytes of a translation page that leave the chip before it is written back, for the entries that are not in DRAM. Less than
        /// a page: the chip merges the rest in its register.
        write_back_read_size: Option<Bytes> = None, unset "the whole page", in Bytes::new(1)..;
        /// DRAM for translation pages that are to be written back. They are read into it, serve misses from there and take further
        /// changes along, and the one that came first is programmed when another one needs its place.
        write_back_buffer: Bytes = Bytes::ZERO, in Bytes::ZERO..;
        /// Translation pages written back at once; a miss that would evict an entry into one more waits.
        write_backs: u32 = 32, in 1..=65_535;
    }
}
