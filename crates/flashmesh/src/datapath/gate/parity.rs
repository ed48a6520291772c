//! Precedence of superblock parity (`ftl.parity`): while parity is queued at a die, no other program is issued there.
//!
//! Parity is queued as a map program, at the head of the queue, and does not wait for further mapping units.

use crate::ids::DieId;
use crate::kernel::model::Model;
use crate::schedule::QueueId;
use crate::schedule::purpose::Purpose;
use crate::schedule::queues::{PlaneMasks, planes};
use crate::schedule::transaction::{Owner, TransactionClass};

use super::Gate;

impl<M: Model> Gate<'_, M> {
    /// Returns `masks` (planes with queued transactions, by class) without the programs that parity queued at `die` precedes; `None` if no parity is
    /// queued. Parity has its page, and does not gather.
    pub(super) fn ready_beside_parity(&self, die: DieId, mut masks: PlaneMasks) -> Option<PlaneMasks> {
        if !self.rules.has_parity {
            return None;
        }
        let (class, priority) = (TransactionClass::MapProgram, Owner::FIRMWARE.priority);
        let is_parity = |&plane: &u8| {
            let head = self.queues.head(QueueId { die, class, plane, priority });
            head.is_some_and(|id| self.queues.transaction(id).purpose == Purpose::Parity)
        };
        let of_parity = planes(masks.of(class)).filter(is_parity).fold(0, |found, plane| found | 1 << plane);
        if of_parity == 0 {
            return None;
        }
        for program in TransactionClass::ALL.into_iter().filter(|class| class.is_program()) {
            let kept = if program == class { of_parity } else { 0 };
            planes(masks.of(program) & !kept).for_each(|plane| masks.remove(program, plane));
        }
        Some(masks)
    }
}
