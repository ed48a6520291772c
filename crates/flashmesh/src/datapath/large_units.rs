//! Mapping units of several pages of the array: an operation on one works on its pages one after the other, under one command.
//!
//! A program writes all pages of a unit, a read senses those that it wants. Planes that join work side by side, as long as the one that has
//! most to do.

use crate::flash::die::{Operation, OperationKind, PlaneTransactions};
use crate::flash::geometry::Geometry;
use crate::flash::page_type::PageType;
use crate::flash::timing::{Pages, Timing};
use crate::ids::{Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::queues::Transactions;
use crate::units::Time;

use super::Datapath;

/// What operations on large units work on.
pub(super) struct LargeUnits<'a> {
    geometry: &'a Geometry,
    timing: &'a Timing,
    transactions: &'a Transactions,
}

impl<'a> LargeUnits<'a> {
    pub(super) fn new(geometry: &'a Geometry, timing: &'a Timing, transactions: &'a Transactions) -> LargeUnits<'a> {
        LargeUnits { geometry, timing, transactions }
    }

    /// The pages that the array works on one after the other, in the plane that has most to do.
    pub(super) fn pages(&self, operation: &Operation) -> impl Iterator<Item = Pages> + '_ {
        self.of(operation.kind, self.longest(operation.kind, operation.planes).0)
    }

    /// The transaction that keeps its plane busy longest, and for how long.
    fn longest(&self, kind: OperationKind, planes: PlaneTransactions) -> (TransactionId, Time) {
        let mut longest = (planes.transactions()[0], Time::ZERO);
        for &id in planes.transactions() {
            let time = self.timing.array_of(kind, self.of(kind, id));
            if time > longest.1 {
                longest = (id, time);
            }
        }
        longest
    }

    /// The pages that a transaction has the array work on.
    fn of(&self, kind: OperationKind, id: TransactionId) -> impl Iterator<Item = Pages> + '_ {
        let (transaction, in_unit) = (&self.transactions[id], self.geometry.pages_per_unit);
        let of_unit = 0..=in_unit - 1;
        let (pages, at_once) = match kind {
            OperationKind::Erase => (0..=0, 1),
            OperationKind::Copyback => (of_unit, 1),
            OperationKind::Program if self.geometry.is_slc_page(transaction.to) => (of_unit, 1),
            // A word line is programmed in one step.
            OperationKind::Program => (of_unit, self.timing.pages_per_program().min(in_unit)),
            OperationKind::Read => {
                let (page, unit) = (self.geometry.array_page_size().as_u64(), self.geometry.page_size.as_u64());
                let wanted = transaction.moved.as_u64().clamp(1, unit);
                // What wants more of the unit than its request, to keep it or to write it anew, wants all of it.
                let start = u64::from(transaction.start).min(unit - wanted);
                let last = start + wanted - 1;
                ((start / page) as u32..=(last / page) as u32, 1)
            }
        };
        let (from, to) = (transaction.from, transaction.to);
        pages.step_by(at_once as usize).map(move |page| Pages {
            read: self.type_of(from, || self.timing.page_type(|| self.geometry.array_page(from) + page)),
            programmed: self.type_of(to, || self.timing.programmed_type(|| self.geometry.array_page(to) + page)),
        })
    }

    fn type_of(&self, unit: Ppn, native: impl FnOnce() -> PageType) -> PageType {
        if self.geometry.is_slc_page(unit) { PageType::Slc } else { native() }
    }
}

impl<M: Model> Datapath<M> {
    /// How long the array takes for an operation, of which the pages of the leading plane are `pages`.
    #[inline(always)]
    pub(super) fn array_time(&self, kind: OperationKind, pages: Pages, planes: PlaneTransactions) -> Time {
        if M::ALL_FEATURES && self.geometry.has_large_units() {
            LargeUnits::new(&self.geometry, &self.timing, &self.transactions).longest(kind, planes).1
        } else {
            self.timing.array(kind, pages)
        }
    }
}
