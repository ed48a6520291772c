//! The host is gone: what was to be done for its requests is given up.

use crate::datapath::Datapath;
use crate::flash::die::OperationKind;
use crate::ids::{Lpn, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::transaction::{Class, Transaction};

use super::Firmware;
use super::persistence::Journaling;

/// Protection of the map against power loss, and whether the power is lost.
#[derive(Debug)]
pub(super) struct PowerLoss {
    /// What of the map is on flash, where it does not survive a cut by itself.
    pub journaling: Option<Journaling>,
    /// Whether the host is there no more: what was to be done for requests is given up.
    pub is_cut_off: bool,
}

impl Firmware {
    /// Pages of requests, or of the device cache, that are being programmed, or were set aside while they were.
    pub fn programs_under_way<M: Model>(&self, datapath: &Datapath<M>) -> u64 {
        let operations = datapath.dies().flat_map(|die| die.under_way());
        let programs = operations.filter(|operation| operation.kind == OperationKind::Program && !operation.internal);
        let pages = programs.flat_map(|operation| operation.transactions());
        pages.filter(|&&id| datapath.transaction(id).class == Class::UserProgram).count() as u64
    }

    /// The pages that are being programmed, whatever for: with the power gone nothing can be read of them.
    pub fn pages_under_way<M: Model>(&self, datapath: &Datapath<M>) -> Vec<Ppn> {
        let transactions =
            datapath.dies().flat_map(|die| die.under_way()).flat_map(|operation| operation.transactions());
        let programs =
            transactions.map(|&id| datapath.transaction(id)).filter(|transaction| transaction.class.is_program());
        programs.map(|transaction| transaction.to).collect()
    }

    /// The power of the host is gone: nothing more is done for requests. What the device cache has of writes that wait for room is
    /// forgotten, what waits in the queues for requests is taken out of them; what the cache has sent to flash stays.
    pub fn cut_off<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.power_loss.is_cut_off = true;
        if let Some(device) = &mut self.cache {
            device.cache.drop_waiting();
        }
        let mut given_up = datapath.take_out(|transaction| transaction.request.is_some(), kernel);
        given_up.iter().for_each(|&id| self.write_taken_out(id, datapath));
        given_up.extend(self.take_held_of_requests(datapath));
        given_up.extend(self.take_blocked_of_requests(datapath));
        given_up.into_iter().for_each(|id| self.give_up(id, datapath, kernel));
    }

    /// Drops a transaction of a request, which is in no queue.
    pub(super) fn give_up<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Transaction { class, is_read_modify_write, lpn, successor, is_cached, .. } = *datapath.transaction(id);
        if M::FULL && class == Class::UserRead {
            self.read_left(id, datapath);
            self.forget_plan_of(id, lpn);
        }
        if class == Class::UserProgram || is_read_modify_write {
            self.drop_write(id, datapath, kernel);
            self.start_successor(lpn, successor, datapath, kernel);
        } else {
            datapath.remove(id);
            if is_cached {
                self.not_filled(lpn, datapath, kernel);
            }
        }
    }

    pub(super) fn drop_write<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let Transaction { lpn, is_cached, .. } = *datapath.transaction(id);
        self.drop_page(id, datapath, kernel);
        datapath.remove(id);
        if is_cached {
            self.passed_cache(lpn, datapath, kernel);
        }
    }

    fn not_filled<M: Model>(&mut self, lpn: Lpn, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.tell_cache(|cache| cache.not_filled(lpn), datapath, kernel);
    }
}
