//! Parity goes first (`ftl.parity`): while it waits for a die nothing else is programmed there.
//!
//! It waits in the queue of the programs of the map, before those, and gathers with nothing.

use crate::ids::DieId;
use crate::kernel::model::Model;
use crate::schedule::Choice;
use crate::schedule::queues::{PlaneMasks, planes};
use crate::schedule::transaction::{Class, Owner};
use crate::schedule::work::Work;

use super::Datapath;

impl<M: Model> Datapath<M> {
    /// What may run on a die where parity waits, of what waits there; `None` where none does.
    pub(super) fn beside_parity(&self, die: DieId, mut masks: PlaneMasks) -> Option<PlaneMasks> {
        let (class, priority) = (Class::MapProgram, Owner::FIRMWARE.priority);
        let is_parity = |&plane: &u8| {
            let head = self.queues.head(Choice { die, class, plane, priority });
            head.is_some_and(|id| self.transactions[id].work == Work::Parity)
        };
        let of_parity = planes(masks.of(class)).filter(is_parity).fold(0, |found, plane| found | 1 << plane);
        if of_parity == 0 {
            return None;
        }
        for program in Class::ALL.into_iter().filter(|class| class.is_program()) {
            let kept = if program == class { of_parity } else { 0 };
            planes(masks.of(program) & !kept).for_each(|plane| masks.remove(program, plane));
        }
        Some(masks)
    }
}
