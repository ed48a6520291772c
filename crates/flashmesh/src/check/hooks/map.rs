//! Hooks of the oracles (checks of a run) for map entries and translation pages.

use crate::check::Oracles;
use crate::check::map::durability::Durability;
use crate::check::map::entries::Entries;
use crate::ftl::mapping_cache::EntryEvent;
use crate::ids::{Lpn, Ppn, RequestId};
use crate::persistence::Recovered;
use crate::units::Time;

impl Oracles {
    pub fn recovered(&mut self, recovered: &Recovered, now: Time) {
        self.recovered_with(|lpn| recovered.lookup(lpn), recovered.replicas().collect(), now);
    }

    pub(in super::super) fn recovered_with(
        &mut self,
        found: impl Fn(Lpn) -> Option<Ppn>,
        copies: Vec<(Lpn, Ppn)>,
        now: Time,
    ) {
        let outcome = self.durability.judge(&self.pages, found, &copies);
        self.judge(Durability::NAME, outcome, now);
    }

    pub fn deallocated(&mut self, lpn: Lpn, _now: Time) {
        if self.pages.newest(lpn).is_some_and(|newest| newest.written || newest.at.is_some()) {
            self.entries.moved(lpn);
        }
        self.pages.deallocated(lpn);
        self.durability.deallocated(lpn);
        if let Some(cache) = &mut self.cache {
            cache.deallocated(lpn);
        }
    }

    pub fn entry_wanted(&mut self, request: Option<RequestId>, lpn: Lpn, _now: Time) {
        self.entries.wanted(request, lpn);
    }

    pub fn entry_used(&mut self, request: Option<RequestId>, lpn: Lpn, now: Time) {
        let outcome = self.entries.used(request, lpn, now);
        self.judge(Entries::NAME, outcome, now);
    }

    pub fn entry_changed(&mut self, event: EntryEvent, now: Time) {
        let outcome = self.entries.changed(event, now);
        self.judge(Entries::NAME, outcome, now);
    }

    pub fn translation_read_issued(&mut self, page: Lpn, now: Time) {
        let outcome = self.entries.read_issued(page);
        self.judge(Entries::NAME, outcome, now);
    }

    pub fn translation_read_ended(&mut self, page: Lpn, now: Time) {
        let outcome = self.entries.read_ended(page);
        self.judge(Entries::NAME, outcome, now);
    }

    pub fn translation_program_issued(&mut self, page: Lpn, now: Time) {
        let outcome = self.entries.program_issued(page);
        self.judge(Entries::NAME, outcome, now);
    }

    pub fn translation_program_began(&mut self, page: Lpn, _now: Time) {
        self.entries.program_began(page);
    }

    pub fn translation_program_ended(&mut self, page: Lpn, now: Time) {
        let outcome = self.entries.program_ended(page);
        self.judge(Entries::NAME, outcome, now);
    }
}
