//! Garbage collection moves pages from chip to chip (Network-on-SSD, CAL 2012, section 3.4): read, sent straight to the page
//! buffer of another chip, and programmed there by a command that brings no data.
//!
//! Where a page goes is decided when its data lies in the register and asks for a path; the victim's plane collects on when the
//! program is done, wherever that runs. That the controller commands the program by itself, when the page has arrived, is the
//! same on all fabrics, and that translation pages stay in their plane \[choice\]; with `gc.move = "clean"` the chips do it by themselves ([`clean`](super::clean)).

use crate::datapath::Datapath;
use crate::fabric::Fabric;
use crate::ftl::Stream;
use crate::ids::{DieId, PlaneId, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::transaction::{Class, Transaction};

use super::Firmware;

impl Firmware {
    /// The die of another chip that takes the data of `read`, which leaves a register, when there is one.
    pub(super) fn destination_of<M: Model>(
        &mut self,
        read: TransactionId,
        datapath: &mut Datapath<M>,
    ) -> Option<DieId> {
        if !self.rules.copies {
            return None;
        }
        let Transaction { class, lpn, plane, from, is_cleaned, .. } = *datapath.transaction(read);
        if self.rules.cleans {
            return is_cleaned.then(|| self.destination_of_clean(read, datapath));
        }
        // A replica stays on its die.
        let moves_data = class == Class::CollectRead && self.ftl.stream_of_move(from) == Stream::Collection;
        if !moves_data || self.ftl.lookup(lpn) != Some(from) {
            return None;
        }
        let fabric = datapath.fabric();
        let to = self.ftl.admit_copy(lpn, plane, |from, to| fabric.copies(from, to))?;
        let transaction = datapath.transaction_mut(read);
        transaction.plane = to;
        transaction.is_copied = true;
        self.collections.arrivals[to.index()] = Some(plane);
        Some(self.geometry.die_of_plane(to))
    }

    /// The page on its way to `plane` has been programmed there, or is not needed any more.
    pub(super) fn copy_ended(&mut self, plane: PlaneId) {
        self.collections.arrivals[plane.index()] = None;
        self.ftl.arrived(plane);
    }

    /// Whether a page is on its way to `die` for a collection that goes before user requests.
    #[inline(always)]
    pub(super) fn arrival_first(&self, die: DieId) -> bool {
        !self.collections.arrivals.is_empty() && self.awaits_foreground_arrival(die)
    }

    #[inline(never)]
    fn awaits_foreground_arrival(&self, die: DieId) -> bool {
        self.planes_of(die).any(|plane| {
            self.collections.arrivals[plane.index()].is_some_and(|source| {
                self.collections.is_foreground(source) && (!self.rules.preemptible || self.ftl.is_urgent(source))
            })
        })
    }
}
