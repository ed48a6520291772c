//! Drop of the unfinished transactions of host requests, after the power was cut.

use crate::ids::TransactionId;
use crate::kernel::model::Model;
use crate::policies::PolicyEvent;
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::{Transaction, TransactionClass};

use super::Backend;
use super::work::kind::{Kind, of_kind};
use super::work::replica;

impl<M: Model> Backend<M> {
    /// Drops a transaction of a request. The transaction must not be queued, and must not have a physical page assigned.
    pub(super) fn give_up(&mut self, id: TransactionId) {
        let Transaction { purpose, lpn, .. } = *self.datapath.queues.transaction(id);
        if M::ALL_FEATURES && purpose.class() == TransactionClass::UserRead {
            let cx = &mut self.context();
            replica::read_left(id, cx);
            if let Some(copies) = &mut cx.shared.replication {
                copies.forget_plan_of(id, lpn);
            }
            cx.shared.notify_policy::<M>(PolicyEvent::ReadCancelled(id));
        }
        of_kind!(purpose, dropped(id, self));
    }
}
