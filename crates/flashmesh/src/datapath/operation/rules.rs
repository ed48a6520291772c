//! Kind, array time and data of operations, derived from the configuration.

use crate::config::{Config, PlaneOrder};
use crate::datapath::queues::TransactionTable;
use crate::fabric::{Payload, TransferKind};
use crate::flash::die::{Operation, OperationKind, PlaneTransactions};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use crate::kernel::model::Model;
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::units::{Bytes, Time};

/// Rules for the operations of all dies: their kind, array time and data, and the transactions that may run together.
#[derive(Clone, Debug)]
pub(in super::super) struct OperationRules {
    pub(super) geometry: Geometry,
    pub(super) timing: Timing,
    copyback: bool,
    /// Whether a program transfers only the written sectors to the die, not the whole page (`flash.partial-program`).
    partial_program: bool,
    /// Whether user reads of other planes may join the read of a translation page in a multi-plane read (`schedule.map-reads-take-others`).
    pub(super) map_reads_take_others: bool,
    /// Whether the planes of a multi-plane read send their data in the order of arrival of their transactions, translation pages first
    /// (`flash.plane-order`).
    pub(super) sends_by_arrival: bool,
}

impl OperationRules {
    pub(in super::super) fn new(config: &Config, geometry: &Geometry, timing: Timing) -> OperationRules {
        OperationRules {
            geometry: geometry.clone(),
            timing,
            copyback: config.gc.copyback,
            partial_program: config.flash.partial_program,
            map_reads_take_others: config.schedule.map_reads_take_others && !config.planes_read_alone(),
            sends_by_arrival: config.flash.plane_order == PlaneOrder::Arrival,
        }
    }

    /// Returns the kind of operation (read, program, copyback or erase) that starts with `lead`, a transaction of `class`.
    #[inline]
    pub(super) fn kind(&self, class: TransactionClass, lead: &Transaction) -> OperationKind {
        match class {
            TransactionClass::MapRead | TransactionClass::UserRead | TransactionClass::CollectRead => {
                OperationKind::Read
            }
            TransactionClass::CollectProgram if self.copyback && lead.purpose.is_copyback() => OperationKind::Copyback,
            TransactionClass::MapProgram
            | TransactionClass::UserProgram
            | TransactionClass::CollectProgram
            | TransactionClass::ReplicaProgram => OperationKind::Program,
            TransactionClass::Erase => OperationKind::Erase,
        }
    }

    /// Returns the operation that starts `now` with the transactions `planes`, one for each plane. `class` is the class of the first one (lead).
    #[inline(always)]
    pub(in super::super) fn operation<M: Model>(
        &self,
        class: TransactionClass,
        planes: PlaneTransactions,
        transactions: &TransactionTable<M>,
        now: Time,
    ) -> Operation {
        let lead = &transactions[planes.transactions()[0]];
        let (kind, page_types) = (self.kind(class, lead), self.page_types::<M>(lead));
        Operation {
            kind,
            internal: class.is_internal(),
            started: now,
            array_time: self.array_time(kind, page_types, planes, transactions),
            page_types,
            planes,
        }
    }

    /// Returns the command of `operation` with the data that follows: the data of a program or, for a Clean (chip-to-chip move of a whole block), a
    /// page list of `list` bytes.
    #[inline(always)]
    pub(super) fn command<M: Model>(
        &self,
        operation: &Operation,
        list: Bytes,
        transactions: &TransactionTable<M>,
    ) -> Payload {
        let (kind, count) = (operation.kind, operation.transactions().len());
        Payload {
            kind: TransferKind::command_for(kind),
            planes: count as u32,
            command_time: self.timing.command_time(kind, count),
            bytes: list + self.program_data(operation, transactions),
        }
    }

    /// Returns the size of the program data that follows the command of `operation`, with spare area. Zero unless the operation is a program with
    /// data from the controller.
    #[inline]
    fn program_data<M: Model>(&self, operation: &Operation, table: &TransactionTable<M>) -> Bytes {
        let (transactions, programs) = (operation.transactions(), operation.kind == OperationKind::Program);
        if M::ALL_FEATURES && programs && table[transactions[0]].purpose.leaves_chip() {
            return Bytes::ZERO;
        }
        if self.partial_program && programs {
            let units = transactions.iter().flat_map(|&id| table.with_companions(id));
            return units.map(|id| self.geometry.with_spare_area(table[id].bytes)).sum();
        }
        let units = if M::ALL_FEATURES && self.geometry.gathers_units() {
            self.geometry.units_per_program_of(self.geometry.block_of(table[transactions[0]].to))
        } else {
            self.geometry.units_per_page
        };
        // Multiply by 0 for other operations, because a branch would often be mispredicted.
        self.geometry.with_spare_area(self.geometry.page_size * u64::from(units))
            * (transactions.len() as u64 * u64::from(programs))
    }
}
