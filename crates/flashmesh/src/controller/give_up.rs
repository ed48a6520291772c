//! Drop of the unfinished transactions of host requests, after the power was cut.

use crate::ids::TransactionId;
use crate::kernel::model::Model;
use crate::policies::PolicyEvent;
use crate::schedule::transaction::TransactionClass;

use super::Backend;
use super::work::kind::of_kind;
use super::work::replica;

impl<M: Model> Backend<M> {
    /// Drops a transaction of a request. The transaction must not be queued, and must not have a physical page assigned.
    pub(super) fn give_up(&mut self, id: TransactionId) {
        let purpose = self.datapath.queues.transaction(id).purpose;
        if M::ALL_FEATURES && purpose.class() == TransactionClass::UserRead {
            let cx = &mut self.context();
            replica::read_lost(id, cx);
            cx.shared.notify_policy::<M>(PolicyEvent::ReadCancelled(id));
        }
        of_kind!(purpose, dropped(id, self));
    }
}
