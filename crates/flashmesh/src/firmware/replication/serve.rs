//! Reads of pages with a copy are served by either, and what they collide with is looked at.

use crate::collisions::{Collision, Pair, Replicate};
use crate::datapath::Datapath;
use crate::firmware::Firmware;
use crate::ids::{DieId, Lpn, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::transaction::Transaction;

use super::homes::{Home, Served};
use super::{Planned, Replication};

impl Replication {
    /// Whether a read that makes `outstanding` reads on a die collides out of balance there, as the other dies are now.
    fn would_unbalance(&self, outstanding: u32) -> bool {
        outstanding > 1 && self.occupancy.is_imbalanced(outstanding)
    }
}

impl Firmware {
    /// The home that serves a read, when it is not the original; see [`PageSource::choose_home`](crate::datapath::PageSource::choose_home).
    pub(in crate::firmware) fn home_of(&mut self, read: &Transaction) -> Option<Ppn> {
        let replication = self.replication.as_deref_mut()?;
        if replication.map.is_empty() {
            return None;
        }
        let (lpn, replica) = (read.lpn, self.ftl.replica_of(read.lpn)?);
        let geometry = &self.geometry;
        let [original, replica] = [self.ftl.location(lpn), replica].map(|ppn| {
            let die = geometry.die_of_plane(geometry.plane_of(ppn));
            Home { ppn, die, outstanding: replication.occupancy.outstanding(die) }
        });
        let served = replication.selector.choose(lpn, original, replica);
        // A read that counts as a use of the entry.
        if let Some(counter) = replication.map.get_mut(&lpn) {
            *counter = counter.saturating_add(if served == Served::Replica { 1 } else { -1 });
        }
        replication.counts.reads += 1;
        match served {
            Served::Original => Some(original.ppn),
            Served::Replica => {
                replication.counts.reads_of_copies += 1;
                let [there, here] = [original, replica].map(|home| replication.would_unbalance(home.outstanding + 1));
                replication.counts.imbalanced_avoided += u64::from(there && !here);
                Some(replica.ppn)
            }
        }
    }

    /// A read of a user page was put into the queue of `die`.
    pub(in crate::firmware) fn read_arrived<M: Model>(
        &mut self,
        id: TransactionId,
        die: DieId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let Some(replication) = self.replication.as_deref_mut() else { return };
        let (lpn, now) = (datapath.transaction(id).lpn, kernel.now());
        let arrival = replication.occupancy.enter(die, id, lpn);
        replication.detector.issued(die, now);
        if arrival.collision != Some(Collision::Imbalanced) {
            return;
        }
        replication.counts.imbalanced += 1;
        let Replication { occupancy, detector, planned, .. } = replication;
        occupancy.record_pairs(die, |first, second| detector.pair(Pair::new(first, second)));
        let (ftl, writes, occupancy) = (&self.ftl, &self.writes.in_flight, &*occupancy);
        let may = |lpn: Lpn, to: DieId| {
            let is_readable = |id| {
                let read = datapath.transaction(id);
                !read.is_read_modify_write && !datapath.is_in_register(die, id) && ftl.location(lpn) == read.from
            };
            !planned.contains_key(&lpn)
                && !writes.contains_key(&lpn)
                && ftl.replica_of(lpn).is_none()
                && occupancy.read_of(die, lpn).is_some_and(is_readable)
                && ftl.plane_for_replica(lpn, to).is_some()
        };
        let Some(Replicate { lpn, to, .. }) = detector.collided(die, occupancy, now, may) else { return };
        let Some(read) = occupancy.read_of(die, lpn) else { return };
        replication.counts.wanted += 1;
        replication.planned.insert(lpn, Planned::Read(read, to));
        let transaction = datapath.transaction_mut(read);
        if !transaction.is_whole {
            transaction.is_whole = true;
            let Transaction { bytes, request, .. } = *transaction;
            replication.counts.extra_read_bytes += (self.geometry.page_size - bytes).as_u64();
            kernel.tell(|| Notice::WholePageWanted(request, lpn));
        }
    }

    /// A read of a user page is outstanding no longer: it is done, goes elsewhere, or was given up.
    #[inline]
    pub(in crate::firmware) fn read_left<M: Model>(&mut self, id: TransactionId, datapath: &Datapath<M>) {
        if let Some(replication) = &mut self.replication {
            let die = self.geometry.die_of_plane(datapath.transaction(id).plane);
            replication.occupancy.leave(die, id);
        }
    }
}
