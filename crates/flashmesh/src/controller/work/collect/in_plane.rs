//! Copybacks with several mapping units per program: the units of a program move within their plane if all of them are valid.
//!
//! A copyback programs the unchanged content of the page buffer. So it is used only for whole programs (in an SLC block, for as many pages) whose
//! units are all valid \[choice\]. All other units are read into the controller and packed into new programs. If a unit of a queued copyback is
//! overwritten, the copyback is split, and its remaining units are read into the controller.

use crate::controller::Context;
use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::ids::{BlockId, Lpn, PlaneId, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::purpose::{MoveRoute, Purpose};
use crate::schedule::transaction::Transaction;

use super::Collections;

impl Collections {
    /// Moves the whole program that begins at `page` of the victim of `plane` by copyback, if all of its mapping units are valid. Returns
    /// whether the copyback was begun.
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
            cx.begin_internal(Purpose::CollectProgram(MoveRoute::Plane), lpn, from, plane)
        };
        let together: Vec<TransactionId> = (page..).zip(units).map(begin).collect();
        let lead = cx.datapath.queues.transactions.chain_operation(&together);
        cx.push(FollowUp::Enqueue(lead));
        true
    }

    /// Splits the copyback of `lead` after one of its mapping units became invalid. Reads the units that are still valid into the
    /// controller.
    pub fn split_copyback<M: Model>(&mut self, lead: TransactionId, cx: &mut Context<'_, M>) {
        let units: Vec<TransactionId> = cx.datapath.queues.transactions.with_companions(lead).collect();
        for id in units {
            if id != lead {
                cx.datapath.queues.notify_rerouted(id, cx.kernel);
            }
            let transaction = cx.datapath.queues.transaction_mut(id);
            transaction.purpose = Purpose::CollectRead(MoveRoute::Controller);
            transaction.end_chain();
            let Transaction { lpn, from, plane, .. } = *transaction;
            if cx.shared.ftl.is_at(lpn, from) {
                if let Some(collection) = &mut self.by_plane[plane.index()] {
                    collection.reading += 1;
                    self.unread.read_begins(plane, &cx.shared.ftl);
                }
                cx.push(FollowUp::Enqueue(id));
            } else {
                self.moved(plane, cx);
                cx.datapath.queues.transactions.remove(id);
                cx.push(FollowUp::Advance(plane));
            }
        }
    }
}

/// Returns whether all mapping units that the copyback of `lead` moves are valid.
pub fn is_whole(lead: &Transaction, shared: &Shared) -> bool {
    let (block, page) = (shared.geometry.block_of(lead.from), shared.geometry.page_in_block(lead.from));
    whole_program(block, page, shared).is_some()
}

/// Returns the logical pages of the program that begins at `page`; `None` if a unit of the program is invalid, or no program begins at `page`.
fn whole_program(block: BlockId, page: u32, shared: &Shared) -> Option<Vec<Lpn>> {
    let program = shared.geometry.units_per_program;
    if !page.is_multiple_of(program) {
        return None;
    }
    let unit = |page| shared.ftl.next_valid_page(block, page).filter(|(found, _)| *found == page).map(|(_, lpn)| lpn);
    (page..page + program).map(unit).collect()
}
