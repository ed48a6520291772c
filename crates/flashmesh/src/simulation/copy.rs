//! Garbage collection moves pages from chip to chip (paper 004, section 3.4): read, sent straight to the page buffer of another
//! chip, and programmed there by a command that brings no data.
//!
//! Where a page goes is decided when its data lies in the register and asks for a path; the victim's plane collects on when the
//! program is done, wherever that runs. That the controller commands the program by itself, when the page has arrived, is the
//! same on all fabrics, and that translation pages stay in their plane \[choice\]; the chips of paper 004 do it for a whole block by one Clean packet.

use crate::config::Move;
use crate::fabric::Fabric;
use crate::ftl::Stream;
use crate::ids::{DieId, PlaneId};
use crate::schedule::transaction::{Class, Transaction};

use super::Simulation;

impl Simulation {
    /// The die of another chip that takes the data which leaves the register of `die`, when there is one.
    pub(super) fn copy_destination(&mut self, die: DieId) -> Option<DieId> {
        if self.config.gc.r#move == Move::ThroughController {
            return None;
        }
        let id = self.dies[die.index()].outgoing()?;
        let Transaction { class, lpn, plane, from, .. } = self.transactions[id];
        if class != Class::CollectRead {
            return None;
        }
        if self.ftl.stream_of_move(from) != Stream::Collection {
            return None;
        }
        let fabric = &self.fabric;
        let to = self.ftl.admit_copy(lpn, plane, |from, to| fabric.copies(from, to))?;
        let transaction = &mut self.transactions[id];
        transaction.plane = to;
        transaction.is_copied = true;
        self.arrivals[to.index()] = Some(plane);
        Some(self.geometry.die_of_plane(to))
    }

    /// The page on its way to `plane` has been programmed there, or is not needed any more.
    pub(super) fn copy_ended(&mut self, plane: PlaneId) {
        self.arrivals[plane.index()] = None;
        self.ftl.copy_ended(plane);
    }

    /// Whether a page is on its way to `die` for a collection that goes before user requests.
    pub(super) fn arrival_first(&self, die: DieId) -> bool {
        if self.arrivals.is_empty() {
            return false;
        }
        self.planes_of(die).any(|plane| {
            self.arrivals[plane.index()].is_some_and(|source| {
                let is_foreground = self.collections[source.index()].is_some_and(|collection| !collection.background);
                is_foreground && (!self.config.gc.preemptible || self.ftl.is_urgent(source))
            })
        })
    }

    /// The planes of a die.
    pub(super) fn planes_of(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = self.geometry.first_plane(die).0;
        (first..first + self.geometry.planes_per_die).map(PlaneId)
    }
}
