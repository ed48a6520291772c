//! Decisions of a policy: the lead (first transaction) and the joiners (transactions of other planes) of the next operation.

use crate::flash::geometry::PLANES_PER_DIE_MAX;
use crate::ids::TransactionId;

use super::QueueId;
use super::transaction::NextInChain;

/// Choice of the transactions on other planes (joiners) that run together with the lead (first transaction) of a multi-plane operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joiners {
    /// On each other plane, the first transaction that may join the operation, among the first `schedule.lookahead` transactions of its queue.
    First,
    /// The chosen transactions, each of another plane of the die and of the same class as the lead (first transaction). A transaction that may not
    /// join stays queued, for example because of `flash.multi-plane`, or because its page has moved.
    These(ChosenJoiners),
}

/// Transactions of other planes (joiners) that the policy chose for a multi-plane operation: at most one for each plane other than that of the lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenJoiners {
    joiners: [NextInChain; PLANES_PER_DIE_MAX],
}

impl Default for ChosenJoiners {
    fn default() -> ChosenJoiners {
        ChosenJoiners { joiners: [NextInChain::NONE; PLANES_PER_DIE_MAX] }
    }
}

impl ChosenJoiners {
    /// Adds transaction `id`, which is queued for `plane` of the die. Does nothing if a transaction was already chosen for this plane.
    pub fn push(&mut self, plane: u8, id: TransactionId) {
        if let Some(joiner @ &mut NextInChain::NONE) = self.joiners.get_mut(usize::from(plane)) {
            *joiner = NextInChain::to(id);
        }
    }

    /// Returns the transaction chosen for `plane` of the die; `None` if no transaction was chosen for it.
    pub fn on(&self, plane: u8) -> Option<TransactionId> {
        self.joiners.get(usize::from(plane)).and_then(|joiner| joiner.get())
    }
}

/// The next operation of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Queue of the lead, the first transaction of the operation.
    pub queue: QueueId,
    /// First transaction (lead) of the operation; `None` for the head of `queue`.
    pub lead: Option<TransactionId>,
    /// Transactions of other planes that join the lead in a multi-plane operation.
    pub joiners: Joiners,
}

impl From<QueueId> for Decision {
    /// Returns the decision to start the head of `queue`, joined on each other plane by the first transaction that may join ([`Joiners::First`]).
    #[inline]
    fn from(queue: QueueId) -> Decision {
        Decision { queue, lead: None, joiners: Joiners::First }
    }
}
