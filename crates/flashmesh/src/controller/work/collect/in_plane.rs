//! Copybacks if programs write several mapping units: the units of one program move within their plane if all of them are valid.
//!
//! A copyback programs the content of the page buffer as it is. So the pages that one program writes (or as many pages of an SLC block) are sensed
//! and programmed without leaving the chip if each of their units is valid \[choice\]. All other units are read into the controller, which packs them
//! into programs. If data of a queued copyback is overwritten, the copyback is split: its remaining units are read.

use crate::controller::Context;
use crate::controller::shared::Shared;
use crate::controller::steps::Step;
use crate::ids::{BlockId, Lpn, PlaneId, TransactionId};
use crate::kernel::model::Model;
use crate::policies::{FirmwarePolicy, PolicyEvent};
use crate::schedule::transaction::{Class, Transaction};
use crate::schedule::work::{Route, Work};

use super::Collections;

impl Collections {
    /// Moves the unit at `page` of the victim of `plane` within its plane, with all others of its program, if all of them are valid. Returns whether
    /// they are.
    pub(super) fn move_in_plane<M: Model>(&mut self, plane: PlaneId, page: u32, cx: &mut Context<'_, M>) -> bool {
        let Some(collection) = self.by_plane[plane.index()].as_mut().filter(|_| cx.shared.rules.copyback) else {
            return false;
        };
        let block = collection.block;
        let Some(units) = whole_program(block, page, cx.shared) else { return false };
        collection.cursor = page + units.len() as u32;
        collection.moving += units.len() as u32;
        let begin = |(page, lpn): (u32, Lpn)| {
            let from = cx.shared.geometry.ppn(block, page);
            cx.begin_own(Work::CollectProgram(Route::Plane), lpn, from, plane)
        };
        let together: Vec<TransactionId> = (page..).zip(units).map(begin).collect();
        let lead = cx.datapath.run_together(&together);
        cx.then(Step::Enqueue(lead));
        true
    }

    /// Splits the copyback of `lead`, some of whose units are no longer valid: reads the others into the controller.
    pub fn take_apart<M: Model>(&mut self, lead: TransactionId, cx: &mut Context<'_, M>) {
        let units: Vec<TransactionId> = cx.datapath.with_companions(lead).collect();
        for id in units {
            if id != lead {
                cx.datapath.tell_rerouted(id, cx.kernel);
            }
            let transaction = cx.datapath.transaction_mut(id);
            transaction.work = Work::CollectRead(Route::Controller);
            transaction.end_chain();
            let Transaction { lpn, from, plane, .. } = *transaction;
            if cx.shared.ftl.is_at(lpn, from) {
                if let Some(collection) = &mut self.by_plane[plane.index()] {
                    collection.reading += 1;
                    self.unread.read_begins(plane, &cx.shared.ftl);
                }
                cx.then(Step::Enqueue(id));
            } else {
                cx.shared.policy.tell(PolicyEvent::PageTaken(Class::CollectProgram, plane));
                self.moved(plane, cx);
                cx.datapath.remove(id);
                cx.then(Step::Advance(plane));
            }
        }
    }
}

/// Returns whether all units of the copyback of `lead` are valid.
pub fn is_whole(lead: &Transaction, shared: &Shared) -> bool {
    let (block, page) = (shared.geometry.block_of(lead.from), shared.geometry.page_in_block(lead.from));
    whole_program(block, page, shared).is_some()
}

/// Returns the logical pages of the units from `page` on, if these are all units of one program, and valid.
fn whole_program(block: BlockId, page: u32, shared: &Shared) -> Option<Vec<Lpn>> {
    let program = shared.geometry.units_per_program;
    if !page.is_multiple_of(program) {
        return None;
    }
    let unit = |page| shared.ftl.next_valid_page(block, page).filter(|(found, _)| *found == page).map(|(_, lpn)| lpn);
    (page..page + program).map(unit).collect()
}
