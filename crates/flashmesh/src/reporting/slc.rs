//! Figures of the SLC cache that are appended to the sentence on the bottleneck of a run.

use crate::measure::bound::{Bound, Resource};
use crate::measure::report::{GcReport, SlcReport};

/// Minimum share of programmed pages (for requests and the device cache) that bypass the SLC cache for the sentence on the bottleneck to mention it.
const BYPASS_SHARE_MIN: f64 = 0.01;

/// Appends figures of the SLC cache to the sentence of `bound`, if there is such a cache and requests wait for dies. If at least [`BYPASS_SHARE_MIN`]
/// of the written data bypasses the cache: this share, and the share of time for which the cache is full. If pages were folded: their share of the
/// pages that GC moved.
pub(super) fn explain(mut bound: Bound, slc: Option<&SlcReport>, gc: &GcReport) -> Bound {
    let Some(slc) = slc else { return bound };
    let waits_for_dies = matches!(bound.resource, Resource::Dies | Resource::GarbageCollection | Resource::Waiting);
    if !waits_for_dies {
        return bound;
    }
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let (direct, full) = (slc.direct_share.unwrap_or(0.0), slc.full_share.unwrap_or(0.0));
    if direct >= BYPASS_SHARE_MIN {
        let (direct, full) = (percent(direct), percent(full));
        bound.sentence +=
            &format!("; the SLC cache is full {full} of the time, and {direct} of what is written goes past it");
    }
    if slc.pages_folded > 0 && gc.pages_moved > 0 {
        let folded = percent(slc.pages_folded as f64 / gc.pages_moved as f64);
        bound.sentence += &format!("; {folded} of the pages that collection moves are folded out of the SLC cache");
    }
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(resource: Resource, direct_share: f64, pages_folded: u64) -> String {
        let slc =
            SlcReport { direct_share: Some(direct_share), full_share: Some(0.6), pages_folded, ..SlcReport::default() };
        let gc = GcReport { pages_moved: 40, ..GcReport::default() };
        explain(Bound { resource, share: 1.0, sentence: "bound".to_owned() }, Some(&slc), &gc).sentence
    }

    #[test]
    fn a_full_cache_and_folding_are_named_where_requests_wait_for_dies() {
        let full = "; the SLC cache is full 60 % of the time, and 25 % of what is written goes past it";
        let folding = "; 50 % of the pages that collection moves are folded out of the SLC cache";
        assert_eq!(sentence(Resource::Dies, 0.25, 0), format!("bound{full}"));
        assert_eq!(sentence(Resource::Waiting, 0.0, 20), format!("bound{folding}"));
        assert_eq!(sentence(Resource::GarbageCollection, 0.25, 20), format!("bound{full}{folding}"));
        assert_eq!(sentence(Resource::HostLink, 0.25, 20), "bound");
    }
}
