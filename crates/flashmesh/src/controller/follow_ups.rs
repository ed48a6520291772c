//! Steps: follow-up work of an event, performed depth first. The follow-ups of a step run before its next sibling.

use crate::datapath::HeldDie;
use crate::ids::{DieId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::policies::PolicyEvent;
use crate::schedule::purpose::Purpose;

use super::work::collect::Erased;
use super::work::kind::of_kind;
use super::{Backend, Work};

/// Follow-up work (a step) of an event or of another step, which stays on the [`FollowUpStack`] until it is performed.
#[derive(Clone, Copy, Debug)]
pub enum FollowUp {
    /// Enqueue a transaction at its die, unless the firmware policy holds the transaction back.
    Enqueue(TransactionId),
    /// Begin a transaction of the firmware, such as an erase, and enqueue it.
    Own {
        work: Purpose,
        lpn: Lpn,
        from: Ppn,
        plane: PlaneId,
    },
    /// Try to issue the next operation at a die.
    TryIssue(DieId),
    /// Try to issue the next operation at a die, but not at the other dies of its chip.
    TryIssueOfDie(DieId),
    /// Continue an issue at a die. The issue was interrupted to collect planes that are short of free pages.
    ResumeIssue(HeldDie),
    /// Begin the background work of a die that has become idle.
    Idle(DieId),
    /// Continue a transaction whose mapping entry is in DRAM.
    Translated(TransactionId),
    /// Continue a transaction that waited until its mapping entry was read.
    Resume(TransactionId),
    /// Start a write for which no earlier write of its page is in flight.
    StartWrite(TransactionId),
    /// Start the next write of a page after the previous one has ended; `None` if no further write waits.
    Successor(Lpn, Option<TransactionId>),
    /// Assign a free page of a plane to the first write that waits there for a page.
    Unblock(PlaneId),
    /// Collect a plane if it is short of free pages.
    Collect(PlaneId),
    /// Collect a plane of an idle die if the plane needs background collection, or a fold of its SLC cache.
    CollectInBackground(PlaneId),
    /// Continue the collection of a plane: move the next valid pages of its victim, or erase the victim.
    Advance(PlaneId),
    /// Run a partly filled program on another chip. It waits for mapping units of the victim of this plane, and runs if no more of them will arrive.
    AllRead(PlaneId),
    /// Send the mapping units that are still in the register of a die.
    SendRest(DieId),
    /// Mark the victim of a plane as empty. When all victims of its superblock are empty, erase them.
    Drained(PlaneId),
    /// Begin a wear move (collection of a block with little wear) if the plane needs one. Pushed after a victim was erased.
    Erased(Erased),
    /// Mark the mapping entry of a page as changed: the page was written, moved or deallocated.
    EntryChanged(Lpn),
    SettleMap,
    SettleJournal,
    /// Destage due pages from the device cache, and admit waiting writes to the cache.
    SettleCache,
    /// Destage due pages from the device cache.
    SendDestages,
    /// Continue the flushes whose pages are all on flash.
    Flushed,
}

/// Stack of pending steps; the last element is performed next.
#[derive(Clone, Debug, Default)]
pub struct FollowUpStack(Vec<FollowUp>);

impl FollowUpStack {
    #[inline]
    pub fn push(&mut self, step: FollowUp) {
        self.0.push(step);
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reverses the order of all steps but the lowest `count`, so that the step pushed first is performed first.
    #[inline(always)]
    fn arrange(&mut self, count: usize) {
        if self.0.len() > count + 1 {
            self.0[count..].reverse();
        }
    }
}

impl<M: Model> Backend<M> {
    /// Performs all pending steps.
    #[inline(always)]
    pub(super) fn run(&mut self) {
        if !self.controller.shared.follow_ups.is_empty() {
            self.run_steps();
        }
    }

    #[inline(never)]
    fn run_steps(&mut self) {
        self.controller.shared.follow_ups.arrange(0);
        while let Some(step) = self.controller.shared.follow_ups.0.pop() {
            let count = self.controller.shared.follow_ups.0.len();
            self.perform(step);
            self.controller.shared.follow_ups.arrange(count);
        }
    }

    fn perform(&mut self, step: FollowUp) {
        let (Work { writes, collections, moves, map, cache, .. }, cx) = &mut self.parts();
        match step {
            FollowUp::Enqueue(id) => self.enqueue(id),
            FollowUp::TryIssue(die) => self.try_issue_deferred(die),
            FollowUp::TryIssueOfDie(die) => {
                let wants = self.datapath.try_issue_of_die(die, &self.controller, &mut self.kernel);
                self.handle_outcome(wants);
            }
            FollowUp::ResumeIssue(held) => {
                let wants = self.datapath.resume_issue(held, &self.controller, &mut self.kernel);
                self.handle_outcome(wants);
            }
            FollowUp::Own { work, lpn, from, plane } => {
                let id = cx.begin_internal(work, lpn, from, plane);
                cx.push(FollowUp::Enqueue(id));
            }
            FollowUp::Idle(die) => {
                collections.idle(die, cx);
                cx.shared.notify_policy::<M>(PolicyEvent::DieIdle);
            }
            FollowUp::Translated(id) => {
                let transaction = cx.datapath.queues.transaction(id);
                let (request, lpn, purpose) = (transaction.owner.request, transaction.lpn, transaction.purpose);
                cx.kernel.notify(|| Notice::EntryUsed(request, lpn));
                of_kind!(purpose, translated(id, self));
            }
            FollowUp::Resume(id) => {
                let transaction = cx.datapath.queues.transaction_mut(id);
                transaction.account.charge_map_wait(cx.kernel.now());
                if cx.shared.is_cut_off && transaction.owner.request.is_some() {
                    return self.give_up(id);
                }
                cx.push(FollowUp::Translated(id));
            }
            FollowUp::StartWrite(id) => writes.start(id, map.as_deref_mut(), cx),
            FollowUp::Successor(lpn, next) => writes.ended(lpn, next, cache.as_deref_mut(), cx),
            FollowUp::Unblock(plane) => writes.unblock(plane, cx),
            FollowUp::Collect(plane) => collections.collect_if_needed(plane, cx),
            FollowUp::CollectInBackground(plane) => collections.collect_plane_in_background(plane, cx),
            FollowUp::Advance(plane) => collections.advance(plane, moves, map.as_deref_mut(), cx),
            FollowUp::AllRead(plane) => moves.all_read(plane, cx),
            FollowUp::SendRest(die) => self.send_register(die),
            FollowUp::Drained(plane) => collections.drained(plane, cx),
            FollowUp::Erased(erased) => collections.level_wear(erased, cx),
            FollowUp::EntryChanged(lpn) => {
                if let Some(map) = map {
                    map.entry_changed(lpn);
                    cx.push(FollowUp::SettleMap);
                }
            }
            FollowUp::SettleMap => {
                if let Some(map) = map {
                    map.settle(cx);
                }
            }
            FollowUp::SettleJournal => super::work::journal::settle(map.as_deref_mut(), cx),
            FollowUp::SettleCache | FollowUp::SendDestages => {
                if let Some(cache) = cache {
                    cache.settle(matches!(step, FollowUp::SettleCache), writes, collections, cx);
                }
            }
            FollowUp::Flushed => {
                if let Some(cache) = cache {
                    cache.flushed(cx);
                }
            }
        }
    }
}
