//! Random settings of the device cache.

use flashmesh::config::{Cache, CacheSharing, CacheStall, CacheWrites, Caching, Config, Destage, RowPolicy};
use flashmesh::units::{Bytes, Rate, Time};
use proptest::prelude::*;
use proptest::sample::select;

/// Random device cache. Sizes are in pages, to fit any drive.
#[derive(Clone, Debug)]
pub struct Settings {
    pages: u64,
    /// Limit of data in destage, in pages; writes stall above it.
    destage_limit: Option<u64>,
    cache: Cache,
    caching: Caching,
}

impl Settings {
    pub fn fit(&self, config: &mut Config) {
        let page = config.geometry.page_size;
        config.cache = self.cache.clone();
        config.cache.capacity = page * self.pages;
        config.cache.destage_limit = self.destage_limit.map(|pages| page * pages);
        config.queue.caching = self.caching;
    }
}

/// Returns a strategy that draws no cache half of the time, otherwise one of 1 to 60 pages.
pub fn cache() -> impl Strategy<Value = Settings> {
    let pages = prop_oneof![2 => Just(0u64), 1 => 1..=4u64, 1 => 5..=60u64];
    let policies = (
        select(CacheSharing::ALL),
        prop_oneof![3 => Just(CacheWrites::Back), 1 => Just(CacheWrites::Through)],
        select(Destage::ALL),
        prop_oneof![4 => Just(Caching::All), 1 => select(Caching::ALL)],
        (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.8)),
        (select(CacheStall::ALL), any::<bool>()),
    );
    let shares = (0..=10u32, 0..=10u32, 0..=10u32);
    let limits = (proptest::option::of(1..=8u32), proptest::option::of(1..=6u64), 0..=3000u64);
    let throttle = select(vec![0u64, 0, 0, 7, 90]);
    let dram = (select(vec![512u64, 2048, 8192]), 0..=200u64, select(RowPolicy::ALL), any::<bool>(), throttle);
    (pages, policies, shares, limits, dram).prop_map(
        |(
            pages,
            (
                sharing,
                writes,
                destage,
                caching,
                (keep_destaged, keep_unwritten, flush_at_end, flush_programs),
                (stall, suspend_when_full),
            ),
            (one, other, limit),
            (destages_max, destage_limit, window_us),
            (row, delay_ns, row_policy, is_slow, throttle_us),
        )| {
            let share = |tenths: u32| f64::from(tenths) / 10.0;
            let cache = Cache {
                sharing,
                writes,
                destage,
                high_mark: share(one.max(other)),
                low_mark: share(one.min(other)),
                dirty_limit: share(limit),
                destages_max,
                destage_window: Time::from_us(window_us),
                keep_destaged,
                keep_unwritten,
                flush_at_end,
                flush_programs,
                stall,
                suspend_when_full,
                throttle_interval: Time::from_us(throttle_us),
                // Derived, not drawn: another draw would change all later values of a seed.
                throttle_share: (throttle_us == 7).then(|| share(limit)),
                row_size: Bytes::new(row),
                row_to_column_delay: Time::from_ns(delay_ns),
                row_policy,
                data_rate: Rate::from_bytes_per_second(if is_slow { 50_000_000 } else { 6_400_000_000 }),
                ..Cache::default()
            };
            Settings { pages, destage_limit, cache, caching }
        },
    )
}
