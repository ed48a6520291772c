//! Chip-to-chip moves of garbage collection (Network-on-SSD, CAL 2012, section 3.4): a page is read, sent directly to the page buffer of another
//! chip, and programmed there by a command without data.
//!
//! The destination is chosen when the data in the register requests a path. The collection of the victim continues when the program has ended,
//! wherever it runs. On all interconnects the controller sends the program command when the page has arrived, and translation pages stay in their
//! plane \[choice\]. With `gc.move = "clean"` the chips program by themselves ([`clean`]). If programs write several mapping units,
//! units gather first ([`remote_programs`]).

pub mod clean;
mod remote_programs;

use crate::controller::Context;
use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::fabric::Fabric;
use crate::flash::geometry::Geometry;
use crate::ftl::OpenBlockKind;
use crate::ids::{DieId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::policies::PolicyEvent;
use crate::schedule::purpose::{MoveRoute, Purpose};
use crate::schedule::transaction::{Transaction, TransactionClass};

use super::collect::Collections;
use clean::Cleaning;
use remote_programs::RemotePrograms;

/// Pages in flight from chip to chip.
#[derive(Clone, Debug)]
pub struct ChipToChipMoves {
    /// For each destination plane, the source plane whose collection sends pages there; empty if pages do not move from chip to chip.
    arrivals: Vec<Option<PlaneId>>,
    /// Cleans in progress: moves of all valid pages of a block by one packet.
    pub cleaning: Cleaning,
    /// Programs on other chips that gather mapping units, if a program writes several mapping units.
    remote_programs: RemotePrograms,
}

impl ChipToChipMoves {
    pub fn new(geometry: &Geometry, copies: bool, cleans: bool) -> ChipToChipMoves {
        let planes = if copies { geometry.planes() as usize } else { 0 };
        ChipToChipMoves {
            arrivals: vec![None; planes],
            cleaning: Cleaning::new(geometry, cleans),
            remote_programs: RemotePrograms::default(),
        }
    }

    /// Returns the die on another chip that receives the data of `read`, which leaves a register; `None` if the data goes to the
    /// controller. Call only if pages can move from chip to chip.
    pub fn destination<M: Model>(&mut self, read: TransactionId, cx: &mut Context<'_, M>) -> Option<DieId> {
        let Context { shared, datapath, .. } = cx;
        let Transaction { purpose: work, lpn, plane, from, .. } = *datapath.queues.transaction(read);
        if shared.rules.cleans {
            return work.is_clean().then(|| self.cleaning.destination(read, cx));
        }
        if work.class() == TransactionClass::CollectRead && shared.geometry.gathers_units() {
            return self.destination_of_units(read, cx);
        }
        // Replicas stay on their die, so only the original of a page moves to another chip.
        let moves_data = work.class() == TransactionClass::CollectRead
            && shared.ftl.move_block_kind(from) == OpenBlockKind::Collection;
        if !moves_data || shared.ftl.lookup(lpn) != Some(from) {
            return None;
        }
        let fabric = &datapath.interconnect.fabric;
        let to = shared.ftl.incoming_pages().admit(&[lpn], plane, |from, to| fabric.supports_chip_to_chip(from, to))?;
        let transaction = datapath.queues.transaction_mut(read);
        transaction.plane = to;
        transaction.purpose = Purpose::CollectRead(MoveRoute::Chip);
        self.arrivals[to.index()] = Some(plane);
        Some(shared.geometry.die_of_plane(to))
    }

    /// Like [`destination`](Self::destination), but for chained reads of several mapping units. Limits the transfer to the leading units that have
    /// the same destination.
    fn destination_of_units<M: Model>(&mut self, read: TransactionId, cx: &mut Context<'_, M>) -> Option<DieId> {
        let reads: Vec<TransactionId> = cx.datapath.queues.transactions.with_companions(read).collect();
        let from = cx.datapath.queues.transaction(read).from;
        let (source, block) = (cx.shared.geometry.plane_of(from), cx.shared.geometry.block_of(from));
        if !RemotePrograms::may_leave(block, cx.shared) {
            return None;
        }
        let (to, count) = self.remote_programs.destination(&reads, cx);
        cx.datapath.limit_transfer(cx.shared.geometry.die_of_plane(source), count);
        let to = to?;
        for &id in &reads[..count] {
            let transaction = cx.datapath.queues.transaction_mut(id);
            (transaction.plane, transaction.purpose) = (to, Purpose::CollectRead(MoveRoute::Chip));
        }
        self.arrivals[to.index()] = Some(source);
        Some(cx.shared.geometry.die_of_plane(to))
    }

    /// Handles the arrival of a mapping unit on another chip, where the unit waits until a program is full.
    pub fn gathered<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        self.remote_programs.arrived(id, cx);
    }

    /// Enqueues the partly filled program that moves the last mapping units of the victim in plane `source` to another chip, if no more units will
    /// arrive. All units of the victim must have been read.
    pub fn all_read<M: Model>(&mut self, source: PlaneId, cx: &mut Context<'_, M>) {
        if let Some(to) = self.remote_programs.run_if_all_arrived(source, cx) {
            self.arrivals[to.index()] = None;
        }
    }

    /// Handles the end of the program of a page that moved directly to another chip. `is_wanted` is true if the map now points to the new location.
    #[allow(clippy::too_many_arguments, reason = "what is known of a page that moved")]
    pub fn programmed(
        &mut self,
        route: MoveRoute,
        lpn: Lpn,
        plane: PlaneId,
        from: Ppn,
        to: Ppn,
        is_wanted: bool,
        shared: &mut Shared,
    ) {
        if route.is_clean() {
            self.cleaning.programmed(lpn, from, to, is_wanted, shared);
        } else {
            self.ended(plane, shared);
        }
    }

    /// Cancels the move of a page that is no longer needed, and continues the collection.
    pub fn rerouted<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        let Transaction { purpose: work, plane, from, .. } = *cx.datapath.queues.transaction(id);
        if let Purpose::CollectProgram(route) = work {
            if work.is_placed_by_policy() {
                cx.shared.notify_policy::<M>(PolicyEvent::PageAllocated(TransactionClass::CollectProgram, plane));
            }
            if route == MoveRoute::Chip {
                self.ended(plane, cx.shared);
                cx.kernel.notify(|| Notice::CopyDropped(from, plane));
            }
        }
        if work.is_clean() {
            self.cleaning.give_up(plane, cx.shared);
        }
        // The program may have other mapping units, which are still programmed.
        if work == Purpose::CollectProgram(MoveRoute::Chip) {
            cx.datapath.replace_lead(id);
        }
        cx.datapath.queues.transactions.remove(id);
        cx.push(FollowUp::Advance(cx.shared.geometry.plane_of(from)));
    }

    /// Counts a page in flight to `plane` as done: the page was programmed, or is no longer needed.
    pub fn ended(&mut self, plane: PlaneId, shared: &mut Shared) {
        if shared.ftl.incoming_pages().finish(plane) == 0 {
            self.arrivals[plane.index()] = None;
        }
    }

    /// Returns whether a page in flight to `die` belongs to a collection that has precedence over user requests.
    #[inline(always)]
    pub fn arrival_first(&self, die: DieId, collections: &Collections, shared: &Shared) -> bool {
        !self.arrivals.is_empty() && self.awaits_foreground_arrival(die, collections, shared)
    }

    #[inline(never)]
    fn awaits_foreground_arrival(&self, die: DieId, collections: &Collections, shared: &Shared) -> bool {
        shared.planes_of(die).any(|plane| {
            self.arrivals[plane.index()].is_some_and(|source| {
                collections.is_foreground(source) && (!shared.rules.preemptible || shared.ftl.is_urgent(source))
            })
        })
    }
}
