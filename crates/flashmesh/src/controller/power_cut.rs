//! Power cut: all work for requests of the host is dropped.

use crate::datapath::Datapath;
use crate::flash::die::OperationKind;
use crate::ids::Ppn;
use crate::kernel::model::Model;
use crate::policies::{FirmwarePolicy, PolicyEvent};
use crate::schedule::transaction::{Transaction, TransactionClass};

use super::Backend;
use super::work::host_write::preallocate::drop_page;

/// Returns the number of user pages whose programs are running or suspended: host writes, destages and reallocations.
pub fn programs_under_way<M: Model>(datapath: &Datapath<M>) -> u64 {
    let operations = datapath.dies.values().iter().flat_map(|die| die.in_progress());
    let programs = operations.filter(|operation| operation.kind == OperationKind::Program && !operation.internal);
    let pages = programs
        .flat_map(|operation| operation.transactions())
        .flat_map(|&id| datapath.queues.transactions.with_companions(id));
    pages.filter(|&id| datapath.queues.transaction(id).class() == TransactionClass::UserProgram).count() as u64
}

/// Returns the physical pages whose programs are running or suspended, of any kind of work. A power cut makes these pages unreadable.
pub fn pages_under_way<M: Model>(datapath: &Datapath<M>) -> Vec<Ppn> {
    let transactions =
        datapath.dies.values().iter().flat_map(|die| die.in_progress()).flat_map(|operation| operation.transactions());
    let programs = transactions
        .flat_map(|&id| datapath.queues.transactions.with_companions(id))
        .map(|id| datapath.queues.transaction(id))
        .filter(|transaction| transaction.class().is_program());
    programs.map(|transaction| transaction.to).collect()
}

impl<M: Model> Backend<M> {
    /// Drops all work for requests after a power cut: their queued transactions, and the data of writes that wait for space in the cache.
    /// Destages in flight continue.
    pub fn cut_off(&mut self) {
        self.controller.shared.is_cut_off = true;
        if let Some(cache) = &mut self.controller.work.cache {
            cache.drop_waiting();
        }
        let is_of_request = |transaction: &Transaction| transaction.owner.request.is_some();
        let queued = self.datapath.dequeue_unwanted(is_of_request, &mut self.kernel);
        for &id in &queued {
            let transaction = self.datapath.queues.transaction(id);
            let policy = &mut self.controller.shared.policy;
            match transaction.class() {
                TransactionClass::UserProgram => policy.notify(PolicyEvent::WriteCancelled(transaction)),
                _ => policy.notify(PolicyEvent::ReadEnded(transaction)),
            }
        }
        let mut without_page =
            self.controller.shared.policy.withdraw_held(&|id| is_of_request(self.datapath.queues.transaction(id)));
        without_page.extend(self.controller.work.writes.take_blocked_of_requests(&self.datapath));
        for id in queued {
            if self.datapath.queues.transaction(id).purpose.is_write() {
                drop_page(id, &mut self.context());
                self.run();
            }
            self.give_up(id);
            self.run();
        }
        for id in without_page {
            self.give_up(id);
            self.run();
        }
    }
}
