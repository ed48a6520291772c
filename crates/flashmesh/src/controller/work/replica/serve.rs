//! Reads of replicated pages: choice of the location, and detection of collisions.

use crate::collisions::{Collision, PagePair, ReplicationDecision};
use crate::controller::Context;
use crate::controller::shared::Shared;
use crate::controller::work::host_write::HostWrites;
use crate::ids::{DieId, Lpn, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::{Owner, Transaction};

use super::replica_selector::{ReadLocation, ReplicaChoice};
use super::{Planned, Replication};

impl Replication {
    /// Returns whether a die with `outstanding` reads would have an imbalanced collision: at least two reads, and at least two more than
    /// the least loaded die.
    fn would_unbalance(&self, outstanding: u32) -> bool {
        outstanding > 1 && self.occupancy.is_imbalanced(outstanding)
    }
}

/// Returns the location for a read of a replicated page, original or replica, as the selector chooses; `None` if the page has no replica.
pub fn choose_location(read: &Transaction, shared: &mut Shared) -> Option<Ppn> {
    let Shared { geometry, ftl, replication: copies, .. } = shared;
    let copies = copies.as_deref_mut()?;
    if copies.map.is_empty() {
        return None;
    }
    let (lpn, replica) = (read.lpn, ftl.replica_of(read.lpn)?);
    let [original, replica] = [ftl.location(lpn), replica].map(|ppn| {
        let die = geometry.die_of_plane(geometry.plane_of(ppn));
        ReadLocation { ppn, die, outstanding: copies.outstanding(die) }
    });
    let served = copies.selector.choose(lpn, original, replica);
    // This lookup also marks the entry as the most recently used one.
    if let Some(counter) = copies.map.get_mut(&lpn) {
        *counter = counter.saturating_add(if served == ReplicaChoice::Replica { 1 } else { -1 });
    }
    copies.counts.reads += 1;
    match served {
        ReplicaChoice::Original => Some(original.ppn),
        ReplicaChoice::Replica => {
            copies.counts.reads_of_copies += 1;
            if copies.counts(read.purpose.read_for()) {
                let [there, here] =
                    [original, replica].map(|home| copies.would_unbalance(copies.occupancy.outstanding(home.die) + 1));
                copies.counts.imbalanced_avoided += u64::from(there && !here);
            }
            Some(replica.ppn)
        }
    }
}

/// Counts a read of a user page that is enqueued at `die`. If the read arrives in an imbalanced collision (another die has at least two
/// fewer outstanding reads), plans the replica that the detector chooses, if any.
pub fn read_queued<M: Model>(id: TransactionId, die: DieId, writes: &HostWrites, cx: &mut Context<'_, M>) {
    let Shared { geometry, ftl, replication: Some(copies), .. } = &mut *cx.shared else { return };
    let datapath = &mut *cx.datapath;
    let (Transaction { lpn, purpose: work, .. }, now) = (*datapath.queues.transaction(id), cx.kernel.now());
    if let Some(all) = &mut copies.all {
        all.enter(die, id, lpn);
    }
    if !copies.counts(work.read_for()) {
        return;
    }
    let arrival = copies.occupancy.enter(die, id, lpn);
    copies.detector.issued(die, now);
    if arrival.collision != Some(Collision::Imbalanced) {
        return;
    }
    copies.counts.imbalanced += 1;
    let Replication { occupancy, detector, planned, .. } = &mut **copies;
    occupancy.record_pairs(die, |first, second| detector.pair(PagePair::new(first, second)));
    let occupancy = &*occupancy;
    let may = |lpn: Lpn, to: DieId| {
        let is_readable = |id| {
            let read = datapath.queues.transaction(id);
            matches!(read.purpose, Purpose::HostRead(_))
                && !datapath.activity().is_in_register(die, id)
                // If a mapping unit spans several pages, a read in the array senses only the pages that the request needs: too few for a
                // replica.
                && !(geometry.has_large_units() && datapath.activity().is_sensed_now(die, id))
                && ftl.location(lpn) == read.from
        };
        !planned.contains_key(&lpn)
            && !writes.is_under_way(lpn)
            && ftl.replica_of(lpn).is_none()
            && occupancy.read_of(die, lpn).is_some_and(is_readable)
            && ftl.plane_for_replica(lpn, to).is_some()
    };
    let Some(ReplicationDecision { lpn, to, .. }) = detector.collided(die, occupancy, now, may) else { return };
    let Some(read) = occupancy.read_of(die, lpn) else { return };
    copies.counts.wanted += 1;
    copies.planned.insert(lpn, Planned::Read(read, to));
    let transaction = datapath.queues.transaction_mut(read);
    let page = geometry.page_size;
    if transaction.transfer_bytes < page {
        let Transaction { bytes, owner: Owner { request, .. }, .. } = *transaction;
        transaction.transfer_bytes = page;
        copies.counts.extra_read_bytes += (page - bytes).as_u64();
        cx.kernel.notify(|| Notice::WholePageWanted(request, lpn));
    }
}

/// Removes a rerouted or dropped read of a user page from the outstanding reads. Cancels the planned program of a replica that needs the data of the
/// read, if any.
pub fn read_lost<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    read_left(id, cx);
    let lpn = cx.datapath.queues.transaction(id).lpn;
    if let Some(copies) = &mut cx.shared.replication {
        copies.forget_plan_of(id, lpn);
    }
}

/// Removes a read of a user page from the outstanding reads.
#[inline]
pub fn read_left<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    if let Some(copies) = &mut cx.shared.replication {
        let die = cx.shared.geometry.die_of_plane(cx.datapath.queues.transaction(id).plane);
        copies.occupancy.leave(die, id);
        if let Some(all) = &mut copies.all {
            all.leave(die, id);
        }
    }
}
