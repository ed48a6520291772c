//! What began before the end of a window and is not over: a recorder has to see its end.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fabric::TransferPhase;
use crate::ids::DieId;
use crate::kernel::probe::Notice;
use crate::units::Time;

/// Paths that were asked for and not given back, and acknowledgements on their way.
#[derive(Debug, Default)]
pub(super) struct Unfinished {
    paths: FxHashSet<(DieId, TransferPhase)>,
    /// How many each die has sent.
    acknowledgements: FxHashMap<DieId, u32>,
}

impl Unfinished {
    /// Something happens at `now`, where the window ends at `end`.
    pub fn tell(&mut self, now: Time, end: Time, notice: &Notice<'_>) {
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

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.acknowledgements.is_empty()
    }
}
