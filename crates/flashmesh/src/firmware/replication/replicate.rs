//! Copies are made, kept up with their pages, and given up.

use crate::datapath::Datapath;
use crate::firmware::Firmware;
use crate::ids::{Lpn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, Origin, ReadNotice};
use crate::persistence::Programmed;
use crate::schedule::transaction::{Class, Transaction};

use super::Planned;

impl Firmware {
    /// The data of a read has reached the controller: it is programmed elsewhere when a copy of the page is wanted.
    pub(in crate::firmware) fn copy_what_was_read<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let Some(replication) = &mut self.replication else { return };
        let Transaction { lpn, from, .. } = *datapath.transaction(id);
        let Some(&Planned::Read(read, to)) = replication.planned.get(&lpn) else { return };
        if read != id {
            return;
        }
        let is_worth_it = self.ftl.location(lpn) == from && !self.power_loss.is_cut_off;
        let Some(plane) = self.ftl.plane_for_replica(lpn, to).filter(|_| is_worth_it) else {
            replication.planned.remove(&lpn);
            replication.counts.dropped += 1;
            return;
        };
        replication.planned.insert(lpn, Planned::Program { wanted: true });
        self.ftl.expect_replica(plane);
        self.enqueue_own(Class::ReplicaProgram, lpn, from, plane, datapath, kernel);
    }

    /// Whether the copy that is to be programmed still is one of the newest version.
    pub(in crate::firmware) fn is_replica_wanted(&self, program: &Transaction) -> bool {
        let planned = self.replication.as_ref().and_then(|replication| replication.planned.get(&program.lpn));
        matches!(planned, Some(Planned::Program { wanted: true })) && self.ftl.location(program.lpn) == program.from
    }

    /// A copy that waits for its die is not wanted any more.
    pub(in crate::firmware) fn drop_replica_program<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
    ) {
        let Transaction { lpn, plane, .. } = *datapath.transaction(id);
        datapath.remove(id);
        self.ftl.abandon_replica(plane, None);
        if let Some(replication) = &mut self.replication {
            replication.planned.remove(&lpn);
            replication.counts.dropped += 1;
        }
    }

    /// A copy has been programmed.
    pub(in crate::firmware) fn replica_programmed<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let program = *datapath.transaction(id);
        let Transaction { lpn, plane, from, to, account, .. } = program;
        self.counters.flash.replica_programs += 1;
        kernel.tell(|| Notice::PageProgrammed(to, lpn, Origin::Replica(from)));
        let is_wanted = self.is_replica_wanted(&program);
        let Some(replication) = &mut self.replication else { return };
        replication.planned.remove(&lpn);
        replication.counts.program_ps += account.spent().array.as_ps();
        if !is_wanted {
            replication.counts.wasted += 1;
            self.ftl.abandon_replica(plane, Some(to));
            self.persist_program(lpn, to, Programmed::Superseded);
            return;
        }
        replication.counts.made += 1;
        replication.map.put(lpn, 0);
        replication.copies_peak = replication.copies_peak.max(replication.map.len() as u64);
        let is_beyond = replication.map.len() > replication.copies_max;
        self.ftl.commit_replica(lpn, to);
        self.persist_program(lpn, to, Programmed::Copied);
        kernel.tell(|| Notice::ReplicaMade(lpn, to));
        if is_beyond {
            self.give_up_oldest_copy(datapath, kernel);
        }
    }

    /// Of the page with a copy that was read least recently only one of the two is kept: the copy when it served as many reads as the
    /// original.
    fn give_up_oldest_copy<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Some(replication) = &mut self.replication else { return };
        let Some((lpn, counter)) = replication.map.pop_lru() else { return };
        if counter >= 0 {
            replication.counts.copies_kept += 1;
            if let Some(copy) = self.ftl.keep_replica(lpn) {
                self.persist(|state| state.copy_kept(lpn, copy));
            }
            kernel.tell(|| Notice::ReplicaKept(lpn));
            self.entry_changed(lpn, datapath, kernel);
        } else {
            replication.counts.originals_kept += 1;
            self.ftl.drop_replica(lpn);
            self.persist(|state| state.copy_dropped(lpn));
            kernel.tell(|| Notice::ReplicaDropped(lpn));
        }
    }

    /// The newest version of `lpn` is another one now, or none: no copy of what was there counts.
    #[inline]
    pub(in crate::firmware) fn page_superseded<M: Model>(&mut self, lpn: Lpn, kernel: &mut Kernel<M>) {
        kernel.tell_of_read(ReadNotice::Superseded(lpn));
        if let Some(replication) = &mut self.replication {
            match replication.planned.get_mut(&lpn) {
                Some(Planned::Program { wanted }) => *wanted = false,
                Some(Planned::Read(..)) => {
                    replication.planned.remove(&lpn);
                    replication.counts.dropped += 1;
                }
                None => {}
            }
            self.replicas_ended(kernel);
        }
    }

    /// Forgets the copies that ended in the translation layer.
    pub(in crate::firmware) fn replicas_ended<M: Model>(&mut self, kernel: &mut Kernel<M>) {
        while let Some(lpn) = self.ftl.next_ended_replica() {
            kernel.tell(|| Notice::ReplicaDropped(lpn));
            self.persist(|state| state.copy_changed(lpn));
            if let Some(replication) = &mut self.replication {
                replication.map.pop(&lpn);
                replication.counts.ended_by_writes += 1;
            }
        }
    }

    /// A read that was to bring a page for its copy does not, or not from the original.
    pub(in crate::firmware) fn forget_plan_of(&mut self, id: TransactionId, lpn: Lpn) {
        let Some(replication) = &mut self.replication else { return };
        if matches!(replication.planned.get(&lpn), Some(&Planned::Read(read, _)) if read == id) {
            replication.planned.remove(&lpn);
            replication.counts.dropped += 1;
        }
    }
}
