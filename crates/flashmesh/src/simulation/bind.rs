//! Writes that get their page when they come to their plane: `ftl.write-binding = "early"`.
//!
//! A write without a page is held back, in the order of arrival at its plane, until a program of the plane has finished or a
//! block of it is erased. One of a part of a page takes its turn among the programs from when it asks for the rest.

use std::collections::VecDeque;

use crate::ids::{DieId, PlaneId, TransactionId};
use crate::schedule::transaction::{Class, Transaction};

use super::Simulation;

/// Writes that wait for a page.
#[derive(Debug, Default)]
pub(super) struct HeldBack {
    /// By plane; empty where writes get their page late.
    by_plane: Vec<VecDeque<TransactionId>>,
    /// On all planes.
    count: usize,
}

impl HeldBack {
    /// Nothing waits on so many planes.
    pub(super) fn new(planes: u32) -> HeldBack {
        HeldBack { by_plane: vec![VecDeque::new(); planes as usize], count: 0 }
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

impl Simulation {
    /// A write goes to a plane, and gets its page there as soon as there is one.
    pub(super) fn bind_write(&mut self, id: TransactionId) {
        let plane = self.ftl.place_write(self.transactions[id].lpn, &self.idle);
        self.transactions[id].plane = plane;
        if self.held_back.by_plane[plane.index()].is_empty() && self.bind(id) {
            self.start_bound_write(id);
            return;
        }
        let die = self.geometry.die_of_plane(plane);
        let transaction = &mut self.transactions[id];
        transaction.queued = self.queue.now();
        transaction.internal_busy_at_queued = self.dies[die.index()].internal_busy(self.queue.now());
        self.held_back.by_plane[plane.index()].push_back(id);
        self.held_back.count += 1;
        self.collect_if_needed(plane);
    }

    /// A plane may have pages again for the writes that it holds back.
    pub(super) fn bind_held_back(&mut self, plane: PlaneId) {
        let die: DieId = self.geometry.die_of_plane(plane);
        while let Some(&id) = self.held_back.by_plane[plane.index()].front() {
            if !self.bind(id) {
                return;
            }
            self.held_back.by_plane[plane.index()].pop_front();
            self.held_back.count -= 1;
            let now = self.queue.now();
            let internal_busy = self.dies[die.index()].internal_busy(now);
            self.transactions[id].count_die_wait(now, internal_busy);
            self.start_bound_write(id);
        }
    }

    /// Takes the writes that requests wait for out of those that are held back.
    pub(super) fn take_held_back_of_requests(&mut self) -> Vec<TransactionId> {
        let transactions = &self.transactions;
        let mut taken = Vec::new();
        for held_back in &mut self.held_back.by_plane {
            taken.extend(held_back.iter().copied().filter(|&id| transactions[id].request.is_some()));
            held_back.retain(|&id| transactions[id].request.is_none());
        }
        self.held_back.count -= taken.len();
        taken
    }

    /// A write is given up, and the page that it may have with it.
    pub(super) fn drop_page(&mut self, id: TransactionId) {
        let Transaction { has_page, to, .. } = self.transactions[id];
        if has_page {
            self.ftl.drop_bound(to);
            self.bind_held_back(self.geometry.plane_of(to));
        }
    }

    /// Gives a write the next page of its plane, when there is one.
    fn bind(&mut self, id: TransactionId) -> bool {
        let plane = self.transactions[id].plane;
        let Some(to) = self.ftl.bind(plane, self.stream_of_write(id)) else { return false };
        let transaction = &mut self.transactions[id];
        (transaction.to, transaction.has_page) = (to, true);
        true
    }

    /// A write with a page waits for its turn, and that of a part of a page for the rest.
    fn start_bound_write(&mut self, id: TransactionId) {
        let Transaction { lpn, bytes, .. } = self.transactions[id];
        let from = if bytes < self.geometry.page_size { self.ftl.lookup(lpn) } else { None };
        let order = self.take_order();
        let transaction = &mut self.transactions[id];
        match from {
            Some(from) => {
                transaction.class = Class::UserRead;
                transaction.reads_first = true;
                transaction.from = from;
                transaction.plane = self.geometry.plane_of(from);
                self.measures.flash.partial_write_reads += 1;
            }
            None => {
                transaction.order = order;
                transaction.class = Class::UserProgram;
                transaction.reads_first = false;
            }
        }
        self.enqueue(id);
    }
}
