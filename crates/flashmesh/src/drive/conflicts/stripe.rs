//! Check of the size of destage stripes (`cache.destage-stripe`).

use crate::cache::Cache;
use crate::config::{Config, ConfigConflict};
use crate::flash::geometry::Geometry;
use crate::units::Bytes;

/// Adds a conflict if a destage stripe has more pages than can be dirty in the device cache, or in destage, at a time.
pub(super) fn stripe(config: &Config, geometry: &Geometry, clashes: &mut Vec<ConfigConflict>) {
    let cache = &config.cache;
    let Some(stripe) = cache.destage_stripe else { return };
    let pages = stripe.as_u64().div_ceil(geometry.page_size.as_u64());
    let dirty = (cache.capacity.as_u64() / geometry.page_size.as_u64()) as f64 * cache.dirty_limit;
    let dirty = (dirty as u64).max(1);
    let on_their_way = u64::from(Cache::destages_max(cache, geometry));
    let mut refuse = |key: &str, what: &str, most: u64| {
        let most = Bytes::new(most * geometry.page_size.as_u64());
        let message =
            format!("cache.destage-stripe ({stripe}) is more than {what} ({most}): no stripe would ever be whole");
        let clash = ConfigConflict::new(&["cache.destage-stripe", key], message);
        clashes.push(clash.with_help(&format!("lower cache.destage-stripe, or raise {key}")));
    };
    let bound = if cache.dirty_limit < 1.0 { "cache.dirty-limit" } else { "cache.capacity" };
    if pages > dirty {
        refuse(bound, "the cache may hold dirty", dirty);
    } else if pages > on_their_way {
        refuse("cache.destages-max", "the pages that may be on their way", on_their_way);
    } else if cache.destage_limit.is_some_and(|limit| limit < geometry.page_size * pages) {
        let limit = cache.destage_limit.unwrap_or_default().as_u64() / geometry.page_size.as_u64();
        refuse("cache.destage-limit", "may be on its way before writes wait", limit);
    }
}
