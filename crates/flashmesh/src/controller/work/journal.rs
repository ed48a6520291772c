//! Journal and checkpoints of the map with timed flash operations. [`crate::persistence`] defines their content.
//!
//! Pages of the journal are programmed like translation pages: to separate blocks in each plane, with precedence over other transactions of the die.

use crate::config::Config;
use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::controller::{CompletedWork, Context};
use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ids::{Lpn, RequestId};
use crate::kernel::model::Model;
use crate::persistence::{Persistence, PersistenceAction};

use super::map::{CachedMap, program};

/// The journal of the map, and whether host flushes wait for it.
#[derive(Clone, Debug)]
pub struct Journal {
    /// The journal and checkpoints of the map; `None` if the map has no journal.
    state: Option<Box<Persistence>>,
    /// Whether capacitors write the journal buffer to flash after a power cut, so that host flushes need not wait for the journal.
    has_capacitors: bool,
}

impl Journal {
    pub fn new(config: &Config, geometry: &Geometry, ftl: &Ftl) -> Journal {
        Journal { state: Persistence::new(config, geometry, ftl), has_capacitors: config.power.capacitors }
    }

    pub fn state(&self) -> Option<&Persistence> {
        self.state.as_deref()
    }

    #[inline]
    pub fn log(&mut self, log: impl FnOnce(&mut Persistence)) {
        if let Some(state) = &mut self.state {
            log(state);
        }
    }

    /// Records that the program of a page of the map or of the journal begins.
    pub fn program_began(&mut self, page: Lpn, ftl: &Ftl) {
        self.log(|state| state.program_began(page, ftl));
    }
}

impl Shared {
    /// Returns whether the mapping cache reads and writes this translation page.
    pub fn is_of_map_cache(&self, page: Lpn) -> bool {
        self.rules.has_map_cache && self.journal.state().is_none_or(|state| state.is_map_page(page))
    }

    /// Counts a page of the map or of the journal that the array has programmed.
    pub fn count_map_program(&mut self, page: Lpn) {
        let is_of_journal = self.journal.state().is_some_and(|state| state.is_journal_page(page));
        self.counters.flash.map_programs += u64::from(!is_of_journal);
        self.counters.flash.journal_programs += u64::from(is_of_journal);
        self.persist(|state| state.program_ended(page));
    }

    /// Continues a flush whose data is on flash. The flush completes when the journal is on flash too. If the drive has capacitors, flushes of
    /// requests do not wait for the journal; only those at the end of the run or after a power cut do.
    pub fn data_flushed(&mut self, waiter: Option<RequestId>) {
        let has_capacitors = self.journal.has_capacitors;
        match &mut self.journal.state {
            Some(state) if state.has_unwritten() && (waiter.is_none() || !has_capacitors) => state.flush(waiter),
            _ => {
                self.flushes -= 1;
                self.done.push(CompletedWork::Flush(waiter));
            }
        }
    }
}

/// Programs the next page of the journal or of a checkpoint. If no page is left, completes the flushes that waited for the journal.
#[inline(never)]
pub fn settle<M: Model>(map: Option<&mut CachedMap>, cx: &mut Context<'_, M>) {
    let Shared { journal, done, flushes, .. } = &mut *cx.shared;
    let Some(state) = &mut journal.state else { return };
    match (state.next_action(), map) {
        (Some(PersistenceAction::Checkpoint(page)), Some(map)) if state.is_map_page(page) => {
            map.write_back(page);
            cx.push(FollowUp::SettleMap);
        }
        (Some(PersistenceAction::Journal(page) | PersistenceAction::Checkpoint(page)), _) => program(page, cx),
        (None, _) => {
            while let Some(waiter) = state.take_flushed() {
                *flushes -= 1;
                done.push(CompletedWork::Flush(waiter));
            }
            return;
        }
    }
    cx.push(FollowUp::SettleJournal);
}
