//! Destage stripes of the device cache, added to random drives.

use flashmesh::config::{CacheWrites, Config};
use flashmesh::flash::geometry::Geometry;

/// Sets the stripe size to `tenths` tenths of the largest possible one. `is_paced` also enables paced, preemptible GC.
pub fn send(config: &mut Config, tenths: u64, is_paced: bool) {
    let Ok(geometry) = Geometry::from_config(config) else { return };
    let cache = &config.cache;
    if cache.writes != CacheWrites::Back {
        return;
    }
    let in_pages = |bytes: flashmesh::units::Bytes| bytes.as_u64() / geometry.page_size.as_u64();
    let dirty = (in_pages(cache.capacity) as f64 * cache.dirty_limit) as u64;
    let by_default = 2 * u64::from(geometry.planes() * geometry.units_per_program);
    let on_their_way =
        cache.destages_max.map_or(by_default, u64::from).min(cache.destage_limit.map_or(u64::MAX, in_pages));
    let most = dirty.min(on_their_way);
    if most > 0 {
        config.cache.destage_stripe = Some(geometry.page_size * (most * tenths / 10).max(1));
        config.gc.paced = is_paced && config.gc.preemptible;
    }
}
