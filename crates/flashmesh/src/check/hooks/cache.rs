//! Hooks of the oracles (checks of a run) for the device cache: data is written to it, found in it, filled from flash, removed or destaged.

use crate::cache::Sectors;
use crate::check::Oracles;
use crate::check::cache::Cache;
use crate::check::host::requests::Requests;
use crate::ids::{Lpn, RequestId};
use crate::results::counters::PowerCutReport;
use crate::units::Time;

impl Oracles {
    pub(super) fn cache(&mut self, now: Time, ask: impl FnOnce(&mut Cache) -> Result<(), String>) {
        if let Some(cache) = &mut self.cache {
            let outcome = ask(cache);
            self.judge(Cache::NAME, outcome, now);
        }
    }

    pub fn cache_found(&mut self, id: RequestId, lpn: Lpn, sectors: Sectors, now: Time) {
        let Some(cache) = &mut self.cache else { return };
        let outcome = cache.found(id, lpn, sectors);
        if outcome == Ok(true) {
            let outcome = self.requests.cached(id, lpn);
            self.judge(Requests::NAME, outcome, now);
        }
        self.judge(Cache::NAME, outcome.map(|_| ()), now);
    }

    /// Records that a write stored `sectors` in the device cache. With `stays`, the write of the page is complete.
    pub fn cache_write_accepted(&mut self, id: RequestId, lpn: Lpn, sectors: Sectors, stays: bool, now: Time) {
        if stays {
            let outcome = self.requests.cached(id, lpn);
            self.judge(Requests::NAME, outcome, now);
        }
        self.cache(now, |cache| cache.accept_write(id, lpn, sectors, stays));
    }

    pub fn cache_filled(&mut self, id: RequestId, lpn: Lpn, sectors: Sectors, now: Time) {
        self.cache(now, |cache| cache.filled(id, lpn, sectors));
    }

    pub fn cache_removed(&mut self, lpn: Lpn, now: Time) {
        self.cache(now, |cache| cache.removed(lpn));
    }

    pub fn destage_began(&mut self, lpn: Lpn, sectors: Sectors, now: Time) {
        self.cache(now, |cache| cache.destage_began(lpn, sectors));
    }

    /// Records that a page was deallocated while it was being destaged.
    pub fn destage_forgotten(&mut self, lpn: Lpn, _now: Time) {
        self.pages.deallocated(lpn);
        self.durability.deallocated(lpn);
        if let Some(cache) = &mut self.cache {
            cache.destage_forgotten(lpn);
        }
    }

    pub fn cache_finished(&mut self, power_cut: Option<&PowerCutReport>, now: Time) {
        self.cache(now, |cache| cache.finish(power_cut));
    }
}
