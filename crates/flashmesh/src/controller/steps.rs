//! What follows from what happened, in the order of a depth-first walk: all that a step asks for is done before the next one.

use crate::datapath::{Datapath, HeldDie};
use crate::ids::{DieId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::policies::{FirmwarePolicy, PolicyEvent};
use crate::schedule::work::Work;

use super::work::collect::Erased;
use super::work::host_read;
use super::{Context, Controller};

/// Something that follows.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A transaction goes into the queue of its die, unless the policy holds it back.
    Enqueue(TransactionId),
    /// The controller has a page moved, or a block erased.
    Own {
        work: Work,
        lpn: Lpn,
        from: Ppn,
        plane: PlaneId,
    },
    /// A die may want its next operation.
    TryIssue(DieId),
    /// The same, without the other dies of its chip.
    TryIssueOfDie(DieId),
    /// The planes that hold programs of a die back have been looked at.
    GoOn(HeldDie),
    /// A die has nothing to do.
    Idle(DieId),
    /// The entry of the map is in DRAM that a transaction needs.
    Translated(TransactionId),
    /// The same, for one that waited for it.
    Resume(TransactionId),
    /// It is the turn of a write among those of its page.
    StartWrite(TransactionId),
    /// A write of a page has ended: the next one of the page takes its turn.
    Successor(Lpn, Option<TransactionId>),
    /// A plane may have pages again for the writes that are blocked there.
    Unblock(PlaneId),
    /// A plane may be short of free pages.
    Collect(PlaneId),
    /// A plane of an idle die may be collected.
    CollectInBackground(PlaneId),
    /// The collection of a plane goes on.
    Advance(PlaneId),
    /// No unit of a plane's victim may be left to be read.
    AllRead(PlaneId),
    /// The register of a die holds the rest of a page, which may leave now.
    SendRest(DieId),
    /// All pages of a plane's victim have moved.
    Drained(PlaneId),
    /// A block has been erased: its plane may level its wear.
    Erased(Erased),
    /// A page of the host is somewhere else now, or nowhere: its entry has changed.
    EntryChanged(Lpn),
    SettleMap,
    SettleJournal,
    /// The device cache may have pages to send to flash, or let writes in.
    SettleCache,
    /// The same, without letting writes in.
    SendDestages,
    /// Flushes may have become done.
    Flushed,
}

/// Steps to do: the first one last.
#[derive(Clone, Debug, Default)]
pub struct Todo(Vec<Step>);

impl Todo {
    #[inline]
    pub fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts what was asked for since there were `count` in the order in which it is taken.
    #[inline(always)]
    fn arrange(&mut self, count: usize) {
        if self.0.len() > count + 1 {
            self.0[count..].reverse();
        }
    }
}

impl Controller {
    /// Does all that follows, unless nothing does.
    #[inline(always)]
    pub(super) fn run<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if !self.shared.todo.is_empty() {
            self.run_steps(datapath, kernel);
        }
    }

    #[inline(never)]
    fn run_steps<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.shared.todo.arrange(0);
        while let Some(step) = self.shared.todo.0.pop() {
            let count = self.shared.todo.0.len();
            self.perform(step, datapath, kernel);
            self.shared.todo.arrange(count);
        }
    }

    fn perform<M: Model>(&mut self, step: Step, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Controller { shared, writes, collections, moves, map, cache, .. } = self;
        macro_rules! cx {
            () => {
                &mut Context { shared, datapath, kernel }
            };
        }
        match step {
            Step::Enqueue(id) => self.enqueue(id, datapath, kernel),
            Step::TryIssue(die) => self.ask(die, datapath, kernel),
            Step::TryIssueOfDie(die) => {
                let wants = datapath.try_issue_of_die(die, self, kernel);
                self.answer(wants, datapath, kernel);
            }
            Step::GoOn(held) => {
                let wants = datapath.go_on(held, self, kernel);
                self.answer(wants, datapath, kernel);
            }
            Step::Own { work, lpn, from, plane } => {
                let cx = cx!();
                let id = cx.begin_own(work, lpn, from, plane);
                cx.then(Step::Enqueue(id));
            }
            Step::Idle(die) => {
                let cx = cx!();
                collections.idle(die, cx);
                if M::ALL_FEATURES {
                    cx.shared.policy.tell(PolicyEvent::DieIdle);
                }
            }
            Step::Translated(id) => {
                let cx = cx!();
                let transaction = cx.datapath.transaction(id);
                let (request, lpn) = (transaction.owner.request, transaction.lpn);
                cx.kernel.tell(|| Notice::EntryUsed(request, lpn));
                match transaction.work {
                    Work::HostRead(_) => {
                        host_read::retarget(id, map.as_deref_mut(), cx);
                        cx.then(Step::Enqueue(id));
                    }
                    _ => writes.start_translated(id, cx),
                }
            }
            Step::Resume(id) => {
                let cx = cx!();
                let transaction = cx.datapath.transaction_mut(id);
                transaction.account.waited_for_map(cx.kernel.now());
                if cx.shared.is_cut_off && transaction.owner.request.is_some() {
                    return self.give_up(id, datapath, kernel);
                }
                cx.then(Step::Translated(id));
            }
            Step::StartWrite(id) => writes.start(id, map.as_deref_mut(), cx!()),
            Step::Successor(lpn, next) => writes.ended(lpn, next, cache.as_deref_mut(), cx!()),
            Step::Unblock(plane) => writes.unblock(plane, cx!()),
            Step::Collect(plane) => collections.collect_if_needed(plane, cx!()),
            Step::CollectInBackground(plane) => collections.collect_plane_in_background(plane, cx!()),
            Step::Advance(plane) => collections.advance(plane, moves, map.as_deref_mut(), cx!()),
            Step::AllRead(plane) => moves.all_read(plane, cx!()),
            Step::SendRest(die) => self.send_register(die, datapath, kernel),
            Step::Drained(plane) => collections.drained(plane, cx!()),
            Step::Erased(erased) => collections.level_wear(erased, cx!()),
            Step::EntryChanged(lpn) => {
                if let Some(map) = map {
                    map.entry_changed(lpn);
                    cx!().then(Step::SettleMap);
                }
            }
            Step::SettleMap => {
                if let Some(map) = map {
                    map.settle(cx!());
                }
            }
            Step::SettleJournal => super::work::journal::settle(map.as_deref_mut(), cx!()),
            Step::SettleCache | Step::SendDestages => {
                if let Some(cache) = cache {
                    cache.settle(matches!(step, Step::SettleCache), writes, collections, cx!());
                }
            }
            Step::Flushed => {
                if let Some(cache) = cache {
                    cache.flushed(cx!());
                }
            }
        }
    }
}
