//! Array time of operations with several array steps for one command: operations on mapping units that span several pages, and copybacks of word
//! lines.
//!
//! A program writes all pages of a unit, a read senses only the pages that it needs. A copyback senses all pages that it moves and programs them word
//! line by word line. The planes of an operation work in parallel; the slowest one determines its time.

use crate::datapath::queues::TransactionTable;
use crate::flash::die::{Operation, OperationKind, PlaneTransactions};
use crate::flash::page_type::PageType;
use crate::flash::timing::OperationPageTypes;
use crate::ids::{Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::queues::Transactions;
use crate::schedule::transaction::Transaction;
use crate::units::Time;

use super::OperationRules;

impl OperationRules {
    /// Returns whether operations of `kind` may take several array steps, each of which reads, programs or erases one page, word line or block.
    #[inline]
    pub(super) fn may_take_steps(&self, kind: OperationKind) -> bool {
        self.geometry.has_large_units() || (kind == OperationKind::Copyback && self.timing.pages_per_program() > 1)
    }

    /// Returns the steps of the slowest plane of `operation`, in order: each with its kind and the types of the pages.
    pub(super) fn steps(
        &self,
        operation: &Operation,
        transactions: &Transactions,
    ) -> impl Iterator<Item = (OperationKind, OperationPageTypes)> + use<'_> {
        let (slowest, _) = self.slowest_plane(operation.kind, operation.planes, transactions);
        self.steps_of(operation.kind, &transactions[slowest])
    }

    /// Returns the transaction on the slowest plane, and its array time.
    fn slowest_plane(
        &self,
        kind: OperationKind,
        planes: PlaneTransactions,
        transactions: &Transactions,
    ) -> (TransactionId, Time) {
        let mut slowest = (planes.transactions()[0], Time::ZERO);
        for &id in planes.transactions() {
            let time = self.timing.sequence_time(kind, self.steps_of(kind, &transactions[id]));
            if time > slowest.1 {
                slowest = (id, time);
            }
        }
        slowest
    }

    /// Returns the steps of `transaction` in an operation of `kind`, in order: each with its kind and the types of the pages.
    fn steps_of(
        &self,
        kind: OperationKind,
        transaction: &Transaction,
    ) -> impl Iterator<Item = (OperationKind, OperationPageTypes)> + use<'_> {
        let in_unit = self.geometry.pages_per_unit;
        let (from, to) = (transaction.from, transaction.to);
        let of_word_line = if self.geometry.is_slc_page(to) { 1 } else { self.timing.pages_per_program() };
        let (read, programmed) = match kind {
            OperationKind::Erase => (0..0, 0..0),
            OperationKind::Program => (0..0, 0..in_unit),
            OperationKind::Copyback => (0..in_unit.max(of_word_line), 0..in_unit.max(of_word_line)),
            OperationKind::Read => {
                let (page, unit) = (self.geometry.array_page_size().as_u64(), self.geometry.page_size.as_u64());
                let wanted = transaction.transfer_bytes.as_u64().clamp(1, unit);
                // A read for read-modify-write or replication transfers more bytes than requested. Shift its range so that it ends inside the mapping
                // unit.
                let start = u64::from(transaction.start).min(unit - wanted);
                let last = start + wanted - 1;
                ((start / page) as u32..(last / page) as u32 + 1, 0..0)
            }
        };
        let pages = move |page: u32| OperationPageTypes {
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

    /// Returns the array time of an operation. `pages` are the types (lower, upper, …) of the pages that its lead (first transaction) reads and
    /// programs.
    #[inline(always)]
    pub(super) fn array_time<M: Model>(
        &self,
        kind: OperationKind,
        pages: OperationPageTypes,
        planes: PlaneTransactions,
        transactions: &TransactionTable<M>,
    ) -> Time {
        if M::ALL_FEATURES && self.may_take_steps(kind) {
            self.slowest_plane(kind, planes, transactions).1
        } else {
            self.timing.array_time(kind, pages)
        }
    }

    /// Returns the types of the pages that a transaction reads and programs, on which its array time depends.
    #[inline(always)]
    pub(super) fn page_types<M: Model>(&self, transaction: &Transaction) -> OperationPageTypes {
        let page = |ppn| move || self.geometry.array_page(ppn);
        let is_slc = |ppn| M::ALL_FEATURES && self.geometry.is_slc_page(ppn);
        OperationPageTypes {
            read: if is_slc(transaction.from) { PageType::Slc } else { self.timing.page_type(page(transaction.from)) },
            programmed: if is_slc(transaction.to) {
                PageType::Slc
            } else {
                self.timing.programmed_type(page(transaction.to))
            },
        }
    }
}
