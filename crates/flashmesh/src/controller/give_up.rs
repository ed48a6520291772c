//! Drop of the unfinished transactions of host requests, after the power was cut.

use crate::ids::TransactionId;
use crate::kernel::model::Model;
use crate::policies::{FirmwarePolicy, PolicyEvent};
use crate::schedule::transaction::{Transaction, TransactionClass};

use super::follow_ups::FollowUp;
use super::work::host_write::drop_write;
use super::work::replica;
use super::{Backend, Work};

impl<M: Model> Backend<M> {
    /// Drops a transaction of a request. The transaction must not be queued, and must not have a physical page assigned.
    pub(super) fn give_up(&mut self, id: TransactionId) {
        let Transaction { purpose: work, lpn, successor, .. } = *self.datapath.queues.transaction(id);
        let (Work { cache, .. }, cx) = &mut self.parts();
        if M::ALL_FEATURES && work.class() == TransactionClass::UserRead {
            replica::read_left(id, cx);
            if let Some(copies) = &mut cx.shared.replication {
                copies.forget_plan_of(id, lpn);
            }
            cx.shared.policy.notify(PolicyEvent::ReadCancelled(id));
        }
        if work.is_write() {
            drop_write(id, cache.as_deref_mut(), cx);
            return cx.push(FollowUp::Successor(lpn, successor));
        }
        cx.datapath.queues.transactions.remove(id);
        if work.has_cache_place()
            && let Some(cache) = cache
        {
            cache.not_filled(lpn, cx);
        }
    }
}
