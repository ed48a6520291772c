//! The section `[cache]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Bytes, Rate, Share, Time};

const DRAM_TIME_MAX: Time = Time::from_ms(1);

choices! {
    /// The division of the cache among streams.
    CacheSharing {
        /// All streams use the whole cache.
        Shared = "shared",
        /// Each stream uses an equal part of the cache.
        PerStream = "per-stream",
    }
}

choices! {
    /// The moment at which a write that the cache accepts completes.
    CacheWrites {
        /// A write completes when its data is in DRAM (write-back).
        Back = "back",
        /// A write completes when its data is on flash (write-through). The data stays in DRAM for reads.
        Through = "through",
    }
}

choices! {
    /// The rule by which dirty pages are destaged (written to flash).
    Destage {
        /// Destage of the least recently used pages first, starting when the dirty share of the cache exceeds `high-mark` and stopping at
        /// `low-mark`.
        Watermark = "watermark",
        /// Destage of the least recently used pages first, when their space is needed.
        Eviction = "eviction",
        /// Destage of a page at once, at its first write in a window of `destage-window`. A page that is rewritten in the same window is
        /// destaged when its space is needed.
        FirstWrite = "first-write",
    }
}

choices! {
    /// The commands that wait while a write waits for space in the cache.
    CacheStall {
        /// While a write waits for space, later writes wait too, but not reads.
        Writes = "writes",
        /// While a write waits for space, later writes that the cache accepts wait too. Reads, and writes that bypass the cache, continue.
        CachedWrites = "cached-writes",
        /// While a write waits for space, all later commands wait too, in the order in which they reached the drive.
        Commands = "commands",
    }
}

choices! {
    /// The state of a DRAM row after an access.
    RowPolicy {
        /// The row is closed after each access: every access opens its rows.
        Closed = "closed",
        /// The row stays open after an access: a hit costs only the column latency; an access to another row first closes the open row.
        Open = "open",
    }
}

choices! {
    /// The unit of an access to the DRAM of the cache.
    AccessUnit {
        /// One access to DRAM for each page.
        Page = "page",
        /// One access to DRAM for all pages of a request that the cache accepts or finds at one time.
        Request = "request",
    }
}

choices! {
    /// The time of an access to the DRAM of the cache.
    AccessTime {
        /// tRCD + tCL and the transfer for each row, and tRP for each row after the first.
        Rows = "rows",
        /// The time that MQSim computes. For up to a row: tRCD + tCL and the transfer. For more: 2 (tRCD + tCL); tRP and the transfer of a row for every
        /// second row; and 2 ns / (burst x time of a burst in ns) for each byte after the last whole row.
        Mqsim = "mqsim",
    }
}

section! {
    /// The cache in the DRAM of the drive.
    Cache, "cache", with "capacity" != ["\"0B\""] but for [] {
        /// Capacity, rounded down to whole pages; 0 turns the cache off.
        capacity: Bytes = Bytes::ZERO, in Bytes::ZERO..=Bytes::new(1 << 44), needs plain, step "0B | 64MiB | 256MiB";
        /// Division of the cache among streams.
        sharing: CacheSharing = CacheSharing::Shared, needs plain;
        /// Moment at which a write that the cache accepts completes.
        writes: CacheWrites = CacheWrites::Back, needs plain;
        /// Rule by which dirty pages are destaged (written to flash).
        destage: Destage = Destage::Watermark, needs plain;
        /// Dirty share of the cache above which destaging starts.
        high_mark: f64 as Share = 0.8, in 0.0..=1.0, with "destage" = ["\"watermark\""], needs plain;
        /// Dirty share of the cache at which destaging stops.
        low_mark: f64 as Share = 0.6, in 0.0..=1.0, with "destage" = ["\"watermark\""], needs plain;
        /// Length of the windows in which `first-write` detects the first write of each page. A new window begins with the first write
        /// after the previous window has ended.
        destage_window: Time = Time::from_ms(1_000), in Time::ZERO..=Time::from_ms(1_000_000_000), with "destage" = ["\"first-write\""], needs plain;
        /// Maximum number of pages in destage. Pages that `first-write` destages at once are counted, but can exceed the maximum.
        destages_max: Option<u32> = None, unset "those of two programs for each plane", in 1..=1_000_000, needs plain;
        /// Size of a destage stripe: dirty data that is destaged together. Destaging starts when a stripe of data is due, when a write waits for
        /// space, or when a flush waits. With `gc.paced`, collections make their owed moves before each stripe, and wait at other times unless space
        /// is nearly exhausted. If unset, pages are destaged one by one.
        destage_stripe: Option<Bytes> = None, unset "a page", in Bytes::new(512)..=Bytes::new(1 << 44), with "writes" = ["\"back\""],
            needs any where "destage-stripe" != [""];
        /// Amount of data in destage at which writes wait.
        destage_limit: Option<Bytes> = None, unset "any", in Bytes::new(1)..=Bytes::new(1 << 44), needs plain;
        /// Maximum dirty share of the cache. A write that would exceed this share waits.
        dirty_limit: f64 as Share = 1.0, in 0.0..=1.0, needs plain;
        /// Commands that wait while a write waits for space, or because of `throttle-interval`.
        stall: CacheStall = CacheStall::Writes, needs any where "stall" != ["\"writes\""];
        /// Write throttling: the minimum time between two pages that writes bring into the cache while all dies collect for lack of space. If only
        /// some dies collect, the time is as `throttle-share` says. 0 turns throttling off.
        throttle_interval: Time = Time::ZERO, in Time::ZERO..=Time::from_ms(1_000), with "writes" = ["\"back\""],
            needs any where "throttle-interval" != ["\"0ps\""], step "x2";
        /// Share of the dies that must collect for lack of space so that writes are throttled. From this share on, `throttle-interval` applies in full.
        /// If unset, writes are throttled at any share, and the interval is multiplied by the share.
        throttle_share: Option<f64> = None, unset "any share; the interval in proportion", in 0.0..=1.0, with "throttle-interval" != ["\"0ps\""],
            needs plain;
        /// Whether reads suspend programs and erases while a write waits for space. If false, dies first finish the operations that free space.
        /// Then a write that only `throttle-interval` delays prevents suspensions only while more than seven eighths of `dirty-limit` are dirty.
        suspend_when_full: bool = true,
            with "flash.suspension" != ["\"off\""] or "ftl.policy" = ["\"mbm\""], needs plain, step "false | true";
        /// Whether a page stays in the cache, for reads, after it is on flash.
        keep_destaged: bool = true, needs plain;
        /// Whether a page without data (never written) is cached when it is read.
        keep_unwritten: bool = true, needs plain;
        /// Whether a host flush destages dirty pages. `false` models a cache that survives a power loss: a flush completes when earlier writes have
        /// completed, and does not cause partly filled programs to run.
        flush_programs: bool = true, with "writes" = ["\"back\""], needs plain;
        /// Whether all dirty pages are destaged after the last request; otherwise they are only reported.
        flush_at_end: bool = false, needs plain;
        /// Unit of an access to the DRAM. All pages of an access end at the same time.
        access_unit: AccessUnit = AccessUnit::Page, needs plain;
        /// Time of an access to the DRAM.
        access_time: AccessTime = AccessTime::Rows, needs plain;
        /// Size of a DRAM row.
        row_size: Bytes = Bytes::from_kib(8), in Bytes::new(64)..=Bytes::from_kib(1024), needs plain;
        /// Transfer rate of DRAM once a column is open.
        data_rate: Rate = Rate::from_bytes_per_second(6_400_000_000),
            in Rate::from_bytes_per_second(1_000)..=Rate::UNLIMITED, needs plain;
        /// Smallest transfer. In every row, accesses are rounded up to multiples of this size.
        burst: Bytes = Bytes::new(32), in Bytes::new(1)..=Bytes::from_kib(4), needs plain;
        /// Time from the opening of a row until a column can be addressed (tRCD).
        row_to_column_delay: Time = Time::from_ns(13), in Time::ZERO..=DRAM_TIME_MAX, needs plain;
        /// Time from the addressing of a column to its first byte (tCL).
        column_latency: Time = Time::from_ns(13), in Time::ZERO..=DRAM_TIME_MAX, needs plain;
        /// Time to close a row (tRP).
        row_precharge: Time = Time::from_ns(13), in Time::ZERO..=DRAM_TIME_MAX, needs plain;
        /// State of a row after an access.
        row_policy: RowPolicy = RowPolicy::Closed, with "access-time" = ["\"rows\""], needs plain;
    }
}
