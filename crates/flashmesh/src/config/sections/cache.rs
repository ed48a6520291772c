//! `[cache]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Bytes, Rate, Share, Time};

const DRAM_TIME_MAX: Time = Time::from_ms(1);

choices! {
    /// How streams share the cache.
    CacheSharing {
        /// All use all of it.
        Shared = "shared",
        /// Each has an equal part of it.
        PerStream = "per-stream",
    }
}

choices! {
    /// When a write that the cache takes completes.
    CacheWrites {
        /// When its data is in DRAM (write-back).
        Back = "back",
        /// When its data is on flash (write-through); it stays in DRAM for reads.
        Through = "through",
    }
}

choices! {
    /// Which pages go to flash, and when.
    Destage {
        /// The least recently used, once more pages are dirty than the high mark says, until no more are than the low mark says.
        Watermark = "watermark",
        /// Those whose room is needed: the least recently used.
        Eviction = "eviction",
        /// A page written for the first time within `destage-window`, at once; one written again, when its room is needed.
        FirstWrite = "first-write",
    }
}

choices! {
    /// What waits while a write waits for room in the cache.
    CacheStall {
        /// Later writes alone: reads go on.
        Writes = "writes",
        /// All later commands, in the order in which they reached the drive.
        Commands = "commands",
    }
}

choices! {
    /// State of a DRAM row after an access.
    RowPolicy {
        /// Closed: every access opens its rows.
        Closed = "closed",
        /// Open: a hit costs only the column latency, an access to another row closes it first.
        Open = "open",
    }
}

section! {
    /// The cache in the DRAM of the drive.
    Cache, "cache", with "capacity" != ["\"0B\""] but for [] {
        /// What it holds, rounded down to whole pages; 0 turns it off.
        capacity: Bytes = Bytes::ZERO, in Bytes::ZERO..=Bytes::new(1 << 44), needs plain, step "0B | 64MiB | 256MiB";
        /// How streams share it.
        sharing: CacheSharing = CacheSharing::Shared, needs plain;
        /// When a write that the cache takes completes.
        writes: CacheWrites = CacheWrites::Back, needs plain;
        /// Which dirty pages go to flash, and when.
        destage: Destage = Destage::Watermark, needs plain;
        /// Dirty pages, as a share of the cache, above which they are written to flash.
        high_mark: f64 as Share = 0.8, in 0.0..=1.0, with "destage" = ["\"watermark\""], needs plain;
        /// Dirty pages, as a share of the cache, at which that ends.
        low_mark: f64 as Share = 0.6, in 0.0..=1.0, with "destage" = ["\"watermark\""], needs plain;
        /// How long a page that was written counts as written already.
        destage_window: Time = Time::from_ms(1_000), in Time::ZERO..=Time::from_ms(1_000_000_000), with "destage" = ["\"first-write\""], needs plain;
        /// Pages on their way to flash at most, those written at once aside.
        destages_max: Option<u32> = None, unset "those of two programs for each plane", in 1..=1_000_000, needs plain;
        /// Dirty data that leaves for flash together: nothing does until so much is to, a write waits for room, or a flush waits. With `gc.paced`
        /// collections then make the moves that they owe before it leaves, and wait otherwise unless space is nearly out. Unset: pages leave one by one.
        destage_stripe: Option<Bytes> = None, unset "a page", in Bytes::new(512)..=Bytes::new(1 << 44), with "writes" = ["\"back\""],
            needs any where "destage-stripe" != [""];
        /// Data on its way to flash at which writes wait.
        destage_limit: Option<Bytes> = None, unset "any", in Bytes::new(1)..=Bytes::new(1 << 44), needs plain;
        /// Dirty pages at most, as a share of the cache; a write that would make one more waits.
        dirty_limit: f64 as Share = 1.0, in 0.0..=1.0, needs plain;
        /// What waits while a write waits for room, or since writes are slowed down.
        stall: CacheStall = CacheStall::Writes, needs any where "stall" != ["\"writes\""];
        /// Slows writes down while dies collect since they are short of space: the least time between two pages that writes bring into the cache, multiplied by the
        /// share of dies that do. 0 for none.
        throttle_interval: Time = Time::ZERO, in Time::ZERO..=Time::from_ms(1_000), with "writes" = ["\"back\""],
            needs any where "throttle-interval" != ["\"0ps\""];
        /// Whether reads suspend programs and erases while a write waits for room, or since writes are slowed down. If not, the dies finish what makes room.
        suspend_when_full: bool = true,
            with "flash.suspension" != ["\"off\""] or "ftl.policy" = ["\"mbm\""], needs plain;
        /// Whether a page stays in the cache, to be read, once it is on flash.
        keep_destaged: bool = true, needs plain;
        /// Whether a page that is read without ever having been written, and so holds no data, stays in the cache.
        keep_unwritten: bool = true, needs plain;
        /// Whether a flush of the host has dirty pages written to flash. `false` is for a cache that survives a loss of power: a flush is done
        /// when the writes before it are, and no write that gathers is hurried.
        flush_programs: bool = true, with "writes" = ["\"back\""], needs plain;
        /// Whether all dirty pages are written to flash after the last request; else they are reported.
        flush_at_end: bool = false, needs plain;
        /// What one row of the DRAM holds.
        row_size: Bytes = Bytes::from_kib(8), in Bytes::new(64)..=Bytes::from_kib(1024), needs plain;
        /// Rate at which bytes move once a column is open.
        data_rate: Rate = Rate::from_bytes_per_second(6_400_000_000),
            in Rate::from_bytes_per_second(1_000)..=Rate::UNLIMITED, needs plain;
        /// The least that moves; accesses are rounded up to it in every row.
        burst: Bytes = Bytes::new(32), in Bytes::new(1)..=Bytes::from_kib(4), needs plain;
        /// From opening a row until a column can be addressed, tRCD.
        row_to_column_delay: Time = Time::from_ns(13), in Time::ZERO..=DRAM_TIME_MAX, needs plain;
        /// From addressing a column to its first byte, tCL.
        column_latency: Time = Time::from_ns(13), in Time::ZERO..=DRAM_TIME_MAX, needs plain;
        /// To close a row, tRP.
        row_precharge: Time = Time::from_ns(13), in Time::ZERO..=DRAM_TIME_MAX, needs plain;
        /// What becomes of a row after an access.
        row_policy: RowPolicy = RowPolicy::Closed, needs plain;
    }
}
