//! Garbage collection moves pages from chip to chip (Network-on-SSD, CAL 2012, section 3.4): read, sent straight to the page
//! buffer of another chip, and programmed there by a command that brings no data.
//!
//! Where a page goes is decided when its data lies in the register and asks for a path; the victim's plane collects on when the
//! program is done, wherever that runs. That the controller commands the program by itself, when the page has arrived, is the
//! same on all fabrics, and that translation pages stay in their plane \[choice\]; with `gc.move = "clean"` the chips do it by themselves ([`clean`](super::clean)).
//! Where programs take several mapping units, these gather first ([`packs`](super::packs)).

use crate::controller::Context;
use crate::controller::shared::Shared;
use crate::controller::steps::Step;
use crate::fabric::Fabric;
use crate::flash::geometry::Geometry;
use crate::ftl::Stream;
use crate::ids::{DieId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::policies::{FirmwarePolicy, PolicyEvent};
use crate::schedule::transaction::{Class, Transaction};
use crate::schedule::work::{Route, Work};

use super::clean::Cleaning;
use super::collect::Collections;
use super::packs::Packs;

/// Pages on their way from chip to chip.
#[derive(Clone, Debug)]
pub struct Moves {
    /// For each plane that a page is on its way to, the plane whose collection sent it; empty where no page moves so.
    arrivals: Vec<Option<PlaneId>>,
    /// Those of blocks whose pages move by one packet.
    pub cleaning: Cleaning,
    /// Mapping units that gather.
    packs: Packs,
}

impl Moves {
    pub fn new(geometry: &Geometry, copies: bool, cleans: bool) -> Moves {
        let planes = if copies { geometry.planes() as usize } else { 0 };
        Moves { arrivals: vec![None; planes], cleaning: Cleaning::new(geometry, cleans), packs: Packs::default() }
    }

    /// The die of another chip that takes the data of `read`, which leaves a register, if any; called only where pages move from chip to chip.
    pub fn destination<M: Model>(&mut self, read: TransactionId, cx: &mut Context<'_, M>) -> Option<DieId> {
        let Context { shared, datapath, .. } = cx;
        let Transaction { work, lpn, plane, from, .. } = *datapath.transaction(read);
        if shared.rules.cleans {
            return work.is_clean().then(|| self.cleaning.destination(read, cx));
        }
        if work.class() == Class::CollectRead && shared.geometry.gathers() {
            return self.destination_of_units(read, cx);
        }
        // A replica stays on its die.
        let moves_data = work.class() == Class::CollectRead && shared.ftl.stream_of_move(from) == Stream::Collection;
        if !moves_data || shared.ftl.lookup(lpn) != Some(from) {
            return None;
        }
        let fabric = datapath.fabric();
        let to = shared.ftl.admit_copy(lpn, plane, |from, to| fabric.copies(from, to))?;
        let transaction = datapath.transaction_mut(read);
        transaction.plane = to;
        transaction.work = Work::CollectRead(Route::Chip);
        self.arrivals[to.index()] = Some(plane);
        Some(shared.geometry.die_of_plane(to))
    }

    /// The same where programs take several mapping units: of the units of a page the first ones that go the same way leave.
    fn destination_of_units<M: Model>(&mut self, read: TransactionId, cx: &mut Context<'_, M>) -> Option<DieId> {
        let reads: Vec<TransactionId> = cx.datapath.with_companions(read).collect();
        let from = cx.datapath.transaction(read).from;
        let (source, block) = (cx.shared.geometry.plane_of(from), cx.shared.geometry.block_of(from));
        if !Packs::may_leave(block, cx.shared) {
            return None;
        }
        let (to, count) = self.packs.destination(&reads, cx);
        cx.datapath.part(cx.shared.geometry.die_of_plane(source), count);
        let to = to?;
        for &id in &reads[..count] {
            let transaction = cx.datapath.transaction_mut(id);
            (transaction.plane, transaction.work) = (to, Work::CollectRead(Route::Chip));
        }
        self.arrivals[to.index()] = Some(source);
        Some(cx.shared.geometry.die_of_plane(to))
    }

    /// A unit has come to another chip, whose program it gathers for.
    pub fn gathered<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        if let Some(to) = self.packs.arrived(id, cx) {
            self.arrivals[to.index()] = None;
        }
    }

    /// No unit of the victim of a plane is read any more: what was to be programmed with it on another chip does not wait.
    pub fn all_read<M: Model>(&mut self, source: PlaneId, cx: &mut Context<'_, M>) {
        if let Some(to) = self.packs.look_at(source, cx) {
            self.arrivals[to.index()] = None;
        }
    }

    /// A page that went straight to another chip has been programmed there; with `is_wanted` the map has it there.
    #[allow(clippy::too_many_arguments, reason = "what is known of a page that moved")]
    pub fn programmed(
        &mut self,
        route: Route,
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

    /// The page of a move is not needed any more: the collection goes on.
    pub fn rerouted<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        let Transaction { work, plane, from, .. } = *cx.datapath.transaction(id);
        if M::ALL_FEATURES
            && let Work::CollectProgram(route) = work
        {
            cx.shared.policy.tell(PolicyEvent::PageTaken(Class::CollectProgram, plane));
            if route == Route::Chip {
                self.ended(plane, cx.shared);
                cx.kernel.tell(|| Notice::CopyDropped(from, plane));
            }
        }
        if M::ALL_FEATURES && work.is_clean() {
            self.cleaning.give_up(plane, cx.shared);
        }
        // The others that were to be programmed with it are.
        if work == Work::CollectProgram(Route::Chip) {
            cx.datapath.go_on_without(id);
        }
        cx.datapath.remove(id);
        cx.then(Step::Advance(cx.shared.geometry.plane_of(from)));
    }

    /// The page on its way to `plane` has been programmed there, or is not needed any more.
    pub fn ended(&mut self, plane: PlaneId, shared: &mut Shared) {
        if shared.ftl.arrived(plane) == 0 {
            self.arrivals[plane.index()] = None;
        }
    }

    /// Whether a page is on its way to `die` for a collection that goes before user requests.
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
