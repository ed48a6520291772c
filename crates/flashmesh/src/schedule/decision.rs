//! What a policy decides: which transaction leads the next operation, and which join it.

use crate::flash::geometry::PLANES_PER_DIE_MAX;
use crate::ids::TransactionId;

use super::Choice;
use super::transaction::Link;

/// Which transactions of other planes join the one that leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joiners {
    /// On each other plane the first that may, among the first `schedule.lookahead` of its queue.
    First,
    /// Those that are named, where they may: each waits for another plane of the die, in the class of the lead. One that may not join by
    /// `flash.multi-plane`, or whose page has moved, stays in its queue.
    These(Chosen),
}

/// At most one transaction for each other plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    joiners: [Link; PLANES_PER_DIE_MAX],
}

impl Default for Chosen {
    fn default() -> Chosen {
        Chosen { joiners: [Link::NONE; PLANES_PER_DIE_MAX] }
    }
}

impl Chosen {
    /// Adds the transaction `id`, which waits for `plane` of the die; beyond one for a plane it is ignored.
    pub fn push(&mut self, plane: u8, id: TransactionId) {
        if let Some(joiner @ &mut Link::NONE) = self.joiners.get_mut(usize::from(plane)) {
            *joiner = Link::to(id);
        }
    }

    /// The transaction chosen for `plane`.
    pub fn on(&self, plane: u8) -> Option<TransactionId> {
        self.joiners.get(usize::from(plane)).and_then(|joiner| joiner.get())
    }
}

/// What a die does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The queue of the transaction that leads.
    pub queue: Choice,
    /// The transaction that leads, which waits in that queue; `None` for its head.
    pub lead: Option<TransactionId>,
    /// Who joins it.
    pub joiners: Joiners,
}

impl From<Choice> for Decision {
    /// The head of a queue leads, and the first that may join do.
    #[inline]
    fn from(queue: Choice) -> Decision {
        Decision { queue, lead: None, joiners: Joiners::First }
    }
}
