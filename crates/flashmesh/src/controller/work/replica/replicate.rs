//! Lifetime of replicas: creation, invalidation together with the original, and eviction.

use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::controller::work::kind::Kind;
use crate::controller::{Backend, Context};
use crate::ftl::OpenBlockKind;
use crate::ids::{Lpn, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, Origin};
use crate::persistence::ProgramReason;
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::Transaction;

use super::{Planned, Replication};

impl Replication {
    /// Cancels the planned replica of `lpn`, whose newest version was replaced or deallocated.
    pub fn superseded(&mut self, lpn: Lpn) {
        match self.planned.get_mut(&lpn) {
            Some(Planned::Program { wanted }) => *wanted = false,
            Some(Planned::Read(..)) => self.give_up(lpn),
            None => {}
        }
    }

    /// Removes `lpn` from the replicated pages, because the translation layer has invalidated its replica.
    pub fn ended(&mut self, lpn: Lpn) {
        self.map.pop(&lpn);
        self.counts.ended_by_writes += 1;
    }

    /// Cancels the replica that was to be programmed from the data of read `id`, because the read was dropped or sent to another location.
    pub fn forget_plan_of(&mut self, id: TransactionId, lpn: Lpn) {
        if matches!(self.planned.get(&lpn), Some(&Planned::Read(read, _)) if read == id) {
            self.give_up(lpn);
        }
    }

    fn give_up(&mut self, lpn: Lpn) {
        self.planned.remove(&lpn);
        self.counts.dropped += 1;
    }
}

/// Begins the program of the planned replica whose source is the data of read `id`, if any. Cancels the replica if the page has moved, its target
/// die has no space, or the power was cut.
pub fn read_done<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    let Shared { ftl, replication: Some(copies), is_cut_off, .. } = &mut *cx.shared else { return };
    let Transaction { lpn, from, .. } = *cx.datapath.queues.transaction(id);
    let Some(&Planned::Read(read, to)) = copies.planned.get(&lpn) else { return };
    if read != id {
        return;
    }
    let is_worth_it = ftl.location(lpn) == from && !*is_cut_off;
    let Some(plane) = ftl.plane_for_replica(lpn, to).filter(|_| is_worth_it) else {
        return copies.give_up(lpn);
    };
    copies.planned.insert(lpn, Planned::Program { wanted: true });
    ftl.replica_pages().begin(plane);
    cx.kernel.notify(|| Notice::ReplicaSourceRead(lpn, from));
    cx.push(FollowUp::Own { work: Purpose::ReplicaProgram, lpn, from, plane });
}

/// Returns whether `program`, the program of a replica, is still wanted: its page was neither written, deallocated nor moved meanwhile.
fn is_wanted(program: &Transaction, shared: &Shared) -> bool {
    let planned = shared.replication.as_ref().and_then(|copies| copies.planned.get(&program.lpn));
    matches!(planned, Some(Planned::Program { wanted: true })) && shared.ftl.location(program.lpn) == program.from
}

impl Kind for Replication {
    fn programmed<M: Model>(id: TransactionId, _: Purpose, backend: &mut Backend<M>) {
        commit(id, &mut backend.context());
    }

    /// Cancels the queued program of a replica, because the page was written, deallocated or moved meanwhile, or the plane has no free page
    /// for replicas.
    fn rerouted<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let cx = &mut backend.context();
        let Transaction { lpn, plane, .. } = *cx.datapath.queues.transaction(id);
        cx.datapath.queues.transactions.remove(id);
        cx.shared.ftl.replica_pages().abandon(plane, None);
        if let Some(copies) = &mut cx.shared.replication {
            copies.give_up(lpn);
        }
    }

    fn is_current(program: &Transaction, shared: &Shared) -> bool {
        is_wanted(program, shared) && Self::next_page(program, shared).is_some()
    }

    fn open_block(_: &Transaction, _: &Shared) -> Option<OpenBlockKind> {
        Some(OpenBlockKind::Replica)
    }
}

/// Commits a replica that the array has programmed.
fn commit<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    let program = *cx.datapath.queues.transaction(id);
    let Transaction { lpn, plane, from, to, account, .. } = program;
    cx.shared.counters.flash.replica_programs += 1;
    cx.kernel.notify(|| Notice::PageProgrammed(to, lpn, Origin::Replica(from)));
    let is_wanted = is_wanted(&program, cx.shared);
    let Some(copies) = &mut cx.shared.replication else { return };
    copies.planned.remove(&lpn);
    copies.counts.program_ps += account.spent().array.as_ps();
    if !is_wanted {
        copies.counts.wasted += 1;
        cx.shared.ftl.replica_pages().abandon(plane, Some(to));
        cx.shared.persist_program(lpn, to, ProgramReason::Superseded);
        return;
    }
    copies.counts.made += 1;
    copies.map.put(lpn, 0);
    let is_beyond = copies.map.len() > copies.copies_max;
    // A replica beyond the limit does not count for the peak, because a copy is evicted at once, below.
    copies.copies_peak = copies.copies_peak.max(copies.map.len().min(copies.copies_max) as u64);
    cx.shared.ftl.replica_pages().commit(lpn, to);
    cx.shared.persist_program(lpn, to, ProgramReason::Replicated);
    cx.kernel.notify(|| Notice::ReplicaMade(lpn, to));
    if is_beyond {
        give_up_oldest_copy(cx);
    }
}

/// Evicts one of the two copies of the least recently read page. Keeps the replica if it has served at least as many reads as the original.
fn give_up_oldest_copy<M: Model>(cx: &mut Context<'_, M>) {
    let Shared { ftl, journal, replication: Some(copies), .. } = &mut *cx.shared else { return };
    let Some((lpn, counter)) = copies.map.pop_lru() else { return };
    if counter >= 0 {
        copies.counts.copies_kept += 1;
        if let Some(copy) = ftl.replica_pages().promote(lpn) {
            journal.log(|state| state.replica_promoted(lpn, copy));
        }
        cx.kernel.notify(|| Notice::ReplicaKept(lpn));
        cx.push(FollowUp::EntryChanged(lpn));
    } else {
        copies.counts.originals_kept += 1;
        ftl.replica_pages().drop(lpn);
        journal.log(|state| state.replica_dropped(lpn));
        cx.kernel.notify(|| Notice::ReplicaDropped(lpn));
    }
}
