//! The data of a page in a register leaves in parts, where not all of its mapping units go to the same place: the rest asks for a path of its
//! own when the part before it has left.

use crate::ids::{DieId, TransactionId};
use crate::kernel::model::Model;

use super::Datapath;

/// What stays in registers while a part of the page leaves: the die, and the first read of the rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts(Vec<(DieId, TransactionId)>);

impl Parts {
    /// The rest of what leaves a die now, if only a part does.
    #[inline]
    pub(super) fn take_rest(&mut self, die: DieId) -> Option<TransactionId> {
        let at = self.0.iter().position(|(of, _)| *of == die)?;
        Some(self.0.swap_remove(at).1)
    }
}

impl<M: Model> Datapath<M> {
    /// Of the page that leaves the register of a die next only the data of the first `count` reads goes now.
    pub fn part(&mut self, die: DieId, count: usize) {
        let Some(read) = self.outgoing(die) else { return };
        let ids: Vec<TransactionId> = self.with_companions(read).collect();
        if let Some(&rest) = ids.get(count) {
            self.transactions[ids[count - 1]].end_chain();
            self.parts.0.push((die, rest));
        }
    }
}
