//! Operations on several pages of the array, one after the other, under one command: on mapping units of several pages, and copybacks of word
//! lines.
//!
//! A program writes all pages of a unit, a read senses those that it wants. A copyback senses all pages that it moves and programs them, word
//! line by word line. Planes that join work side by side, as long as the one that has most to do.

use crate::flash::die::{Operation, OperationKind, PlaneTransactions};
use crate::flash::geometry::Geometry;
use crate::flash::page_type::PageType;
use crate::flash::timing::{Pages, Timing};
use crate::ids::{Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::queues::Transactions;
use crate::units::Time;

use super::Datapath;

/// What the array does for operations, page by page.
pub(super) struct PageByPage<'a> {
    geometry: &'a Geometry,
    timing: &'a Timing,
    transactions: &'a Transactions,
}

impl<'a> PageByPage<'a> {
    pub(super) fn new(geometry: &'a Geometry, timing: &'a Timing, transactions: &'a Transactions) -> PageByPage<'a> {
        PageByPage { geometry, timing, transactions }
    }

    /// Whether operations of `kind` may be on several pages.
    #[inline]
    pub(super) fn is_needed(kind: OperationKind, geometry: &Geometry, timing: &Timing) -> bool {
        geometry.has_large_units() || (kind == OperationKind::Copyback && timing.pages_per_program() > 1)
    }

    /// What the array does one after the other, in the plane that has most to do.
    pub(super) fn steps(&self, operation: &Operation) -> impl Iterator<Item = (OperationKind, Pages)> + '_ {
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

    /// What a transaction has the array do.
    fn of(&self, kind: OperationKind, id: TransactionId) -> impl Iterator<Item = (OperationKind, Pages)> + '_ {
        let (transaction, in_unit) = (&self.transactions[id], self.geometry.pages_per_unit);
        let (from, to) = (transaction.from, transaction.to);
        let of_word_line = if self.geometry.is_slc_page(to) { 1 } else { self.timing.pages_per_program() };
        let (read, programmed) = match kind {
            OperationKind::Erase => (0..0, 0..0),
            OperationKind::Program => (0..0, 0..in_unit),
            OperationKind::Copyback => (0..in_unit.max(of_word_line), 0..in_unit.max(of_word_line)),
            OperationKind::Read => {
                let (page, unit) = (self.geometry.array_page_size().as_u64(), self.geometry.page_size.as_u64());
                let wanted = transaction.moved.as_u64().clamp(1, unit);
                // What wants more of the unit than its request, to keep it or to write it anew, wants all of it.
                let start = u64::from(transaction.start).min(unit - wanted);
                let last = start + wanted - 1;
                ((start / page) as u32..(last / page) as u32 + 1, 0..0)
            }
        };
        let pages = move |page: u32| Pages {
            read: self.type_of(from, || self.timing.page_type(|| self.geometry.array_page(from) + page)),
            programmed: self.type_of(to, || self.timing.programmed_type(|| self.geometry.array_page(to) + page)),
        };
        let erase = (kind == OperationKind::Erase).then(|| (OperationKind::Erase, pages(0)));
        let reads = read.map(move |page| (OperationKind::Read, pages(page)));
        // A word line is programmed in one step.
        let programs = programmed.step_by(of_word_line as usize);
        let programs = programs.map(move |page| (OperationKind::Program, pages(page)));
        erase.into_iter().chain(reads).chain(programs)
    }

    fn type_of(&self, unit: Ppn, native: impl FnOnce() -> PageType) -> PageType {
        if self.geometry.is_slc_page(unit) { PageType::Slc } else { native() }
    }
}

impl<M: Model> Datapath<M> {
    /// How long the array takes for an operation, of which the pages of the leading plane are `pages`.
    #[inline(always)]
    pub(super) fn array_time(&self, kind: OperationKind, pages: Pages, planes: PlaneTransactions) -> Time {
        if M::ALL_FEATURES && PageByPage::is_needed(kind, &self.geometry, &self.timing) {
            PageByPage::new(&self.geometry, &self.timing, &self.transactions).longest(kind, planes).1
        } else {
            self.timing.array(kind, pages)
        }
    }
}
