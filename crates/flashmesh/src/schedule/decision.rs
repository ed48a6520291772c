//! Decisions of a policy: the lead of the next operation, and the joiners.

use crate::flash::geometry::PLANES_PER_DIE_MAX;
use crate::ids::TransactionId;

use super::Choice;
use super::transaction::NextInChain;

/// The transactions of other planes that join the lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joiners {
    /// On each other plane the first transaction that may join, among the first `schedule.lookahead` of its queue.
    First,
    /// The named transactions that may join, each queued for another plane of the die in the class of the lead. A transaction that may not join by
    /// `flash.multi-plane`, or whose page has moved, stays in its queue.
    These(Chosen),
}

/// At most one transaction for each other plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    joiners: [NextInChain; PLANES_PER_DIE_MAX],
}

impl Default for Chosen {
    fn default() -> Chosen {
        Chosen { joiners: [NextInChain::NONE; PLANES_PER_DIE_MAX] }
    }
}

impl Chosen {
    /// Adds transaction `id`, which is queued for `plane` of the die. A second one for the same plane is ignored.
    pub fn push(&mut self, plane: u8, id: TransactionId) {
        if let Some(joiner @ &mut NextInChain::NONE) = self.joiners.get_mut(usize::from(plane)) {
            *joiner = NextInChain::to(id);
        }
    }

    /// Returns the transaction chosen for `plane`.
    pub fn on(&self, plane: u8) -> Option<TransactionId> {
        self.joiners.get(usize::from(plane)).and_then(|joiner| joiner.get())
    }
}

/// The next operation of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Queue of the lead.
    pub queue: Choice,
    /// Lead, if it is not the head of that queue.
    pub lead: Option<TransactionId>,
    /// Joiners of the lead.
    pub joiners: Joiners,
}

impl From<Choice> for Decision {
    /// Lets the head of a queue lead, with the first transactions that may join.
    #[inline]
    fn from(queue: Choice) -> Decision {
        Decision { queue, lead: None, joiners: Joiners::First }
    }
}
