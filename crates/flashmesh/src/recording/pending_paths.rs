//! Paths and acknowledgements that began before the end of a recording window, and are pending. A recorder stays attached until none is left.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fabric::TransferPhase;
use crate::ids::DieId;
use crate::kernel::probe::Notice;
use crate::units::Time;

#[derive(Debug, Default)]
pub(super) struct PendingPaths {
    paths: FxHashSet<(DieId, TransferPhase)>,
    /// Number of acknowledgements in flight, by the die that sent them.
    acknowledgements: FxHashMap<DieId, u32>,
}

impl PendingPaths {
    /// Updates the pending paths and acknowledgements with `notice` at time `now`. Adds only those that begin before `end`, the end of the window.
    pub fn record(&mut self, now: Time, end: Time, notice: &Notice<'_>) {
        match *notice {
            Notice::PathAsked(die, phase) if now < end => {
                self.paths.insert((die, phase));
            }
            Notice::PathReleased(grant) => {
                self.paths.remove(&(grant.die, grant.phase));
            }
            Notice::AcknowledgementSent(die, _) if now < end => *self.acknowledgements.entry(die).or_default() += 1,
            Notice::Acknowledged(die, _) => {
                if let Some(sent) = self.acknowledgements.get_mut(&die) {
                    *sent -= 1;
                    if *sent == 0 {
                        self.acknowledgements.remove(&die);
                    }
                }
            }
            _ => {}
        }
    }

    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.acknowledgements.is_empty()
    }
}
