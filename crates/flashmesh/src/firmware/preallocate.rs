//! Page preallocation: writes that get their page when they come to their plane (`ftl.write-binding = "early"`).
//!
//! A write without a page is blocked, in the order of arrival at its plane, until a program of the plane has finished or a
//! block of it is erased. One of a part of a page takes its turn among the programs from when it asks for the rest.

use std::collections::VecDeque;

use crate::datapath::Datapath;
use crate::ids::{PlaneId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::transaction::{Class, Transaction};

use super::Firmware;

/// Writes that wait for a page.
#[derive(Debug, Default)]
pub(super) struct BlockedPrograms {
    /// By plane; empty where writes get their page late.
    by_plane: Vec<VecDeque<TransactionId>>,
    /// On all planes.
    count: usize,
}

impl BlockedPrograms {
    /// Nothing waits on so many planes.
    pub(super) fn new(planes: u32) -> BlockedPrograms {
        BlockedPrograms { by_plane: vec![VecDeque::new(); planes as usize], count: 0 }
    }

    /// Whether no write waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Which of the `count` planes from `first` on a write waits for, a bit a plane.
    #[inline]
    pub(super) fn planes(&self, first: PlaneId, count: u32) -> u8 {
        if self.is_empty() {
            return 0;
        }
        let waiting = |&plane: &u32| !self.by_plane[(first.0 + plane) as usize].is_empty();
        (0..count).filter(waiting).fold(0, |planes, plane| planes | 1 << plane)
    }
}

impl Firmware {
    /// A write goes to a plane, and gets its page there as soon as there is one.
    pub(super) fn preallocate_write<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let plane = self.place_write(id, datapath);
        datapath.transaction_mut(id).plane = plane;
        if self.writes.blocked.by_plane[plane.index()].is_empty() && self.preallocate(id, datapath) {
            self.start_preallocated(id, datapath, kernel);
            return;
        }
        let internal_busy = datapath.internal_busy(self.geometry.die_of_plane(plane), kernel.now());
        datapath.transaction_mut(id).account.queue(kernel.now(), internal_busy);
        self.writes.blocked.by_plane[plane.index()].push_back(id);
        self.writes.blocked.count += 1;
        self.collect_if_needed(plane, datapath, kernel);
    }

    /// A plane may have pages again for the writes that are blocked there.
    pub(super) fn start_blocked<M: Model>(
        &mut self,
        plane: PlaneId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        while let Some(&id) = self.writes.blocked.by_plane[plane.index()].front() {
            if !self.preallocate(id, datapath) {
                return;
            }
            self.writes.blocked.by_plane[plane.index()].pop_front();
            self.writes.blocked.count -= 1;
            datapath.count_wait(id, kernel.now());
            self.start_preallocated(id, datapath, kernel);
        }
    }

    /// Takes the writes that requests wait for out of those that are blocked.
    pub(super) fn take_blocked_of_requests<M: Model>(&mut self, datapath: &Datapath<M>) -> Vec<TransactionId> {
        let is_of_request = |&id: &TransactionId| datapath.transaction(id).request.is_some();
        let mut taken = Vec::new();
        for blocked in &mut self.writes.blocked.by_plane {
            taken.extend(blocked.iter().copied().filter(is_of_request));
            blocked.retain(|id| !is_of_request(id));
        }
        self.writes.blocked.count -= taken.len();
        taken
    }

    /// A write is given up, and the page that it may have with it.
    pub(super) fn drop_page<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let Transaction { has_page, to, .. } = *datapath.transaction(id);
        if has_page {
            self.ftl.drop_preallocated(to);
            self.start_blocked(self.geometry.plane_of(to), datapath, kernel);
        }
    }

    /// Gives a write the next page of its plane, when there is one.
    fn preallocate<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>) -> bool {
        let transaction = datapath.transaction_mut(id);
        self.ftl.prefetch_older(transaction.lpn);
        let Some(to) = self.ftl.preallocate(transaction.plane, self.stream_of_write(transaction)) else { return false };
        (transaction.to, transaction.has_page) = (to, true);
        true
    }

    /// A write with a page waits for its turn, and that of a part of a page for the rest.
    fn start_preallocated<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let from = self.page_to_modify(datapath.transaction(id));
        let order = datapath.take_order();
        match from {
            Some(from) => self.turn_into_read(id, from, datapath),
            None => {
                let transaction = datapath.transaction_mut(id);
                transaction.order = order;
                transaction.class = Class::UserProgram;
                transaction.is_read_modify_write = false;
            }
        }
        self.enqueue(id, datapath, kernel);
    }
}
