//! Path of transactions from the queues of the dies through the interconnect and the flash arrays, and back.
//!
//! 1. The controller enqueues a transaction at its die ([`enqueue`]).
//! 2. A die with a transaction that may run ([`gate`]) requests a command path ([`issue`], [`path`]).
//! 3. At the grant, and not before (late binding), the scheduler chooses the first transaction of the operation (the *lead*). Transactions of other
//!    planes join it, and the command starts the operation ([`operation`]).
//! 4. Commands, program data and read data cross the granted paths ([`transfer`]), and the array works.
//!
//! Five types hold most of the state, each with its rules from the configuration: [`TransactionQueues`], the transactions in flight and their queues;
//! [`SchedulingState`], the scheduler and its last decision; [`Dies`], the operations in progress; [`Interconnect`], the paths; and
//! [`CleanExecution`], the moves of whole blocks from chip to chip. The methods of [`Datapath`] are the steps above, which change several of these.
//! Two read-only views combine queues and dies: [`Gate`] determines what may run, [`DieActivity`] what runs, and for which request. Callers that need
//! only one type or view use it directly.
//!
//! Actions for the controller are return values ([`IssueOutcome`], [`GrantOutcome`], [`DeliveredTransfer`], [`ArrayOutcome`]). The datapath queries
//! the controller only through [`PageSource`].
//!
//! # Terms
//! - *Lead*: transaction that the scheduler chose for an operation. *Joiner*: transaction of another plane in the same multi-plane operation.
//! - *Companion*: further mapping unit of the page or program of a lead or joiner, to which it is chained ([`queues`]).
//! - *Requester*: die that requests paths on behalf of a die: the die itself, or the first die of its chip if the chip executes one operation at a
//!   time.
//! - *Early-bound*: write whose page was assigned when the write was placed on a plane (`ftl.write-binding = "early"`). Programs of Cleans
//!   (chip-to-chip moves of whole blocks) get their pages when their die is free. All other programs are *late-bound*: they get their pages when
//!   their path is granted.
//! - *Complete program*: program whose mapping units are all queued together. *Partial program*: program that the queued mapping units do not fill.
//! - *Batch*: path requests whose commands are arbitrated together (`fabric.arbitration = "data-first-together"`).

mod activity;
mod clean;
mod counters;
mod dies;
mod enqueue;
mod gate;
mod issue;
mod operation;
mod page_source;
mod path;
mod queues;
mod scheduling;
mod stats;
mod transfer;

use crate::config::Config;
use crate::fabric::{AnyFabric, FabricError, FabricInfo};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::{Model, Probed};

pub use counters::Counters;
pub use dies::Dies;
pub use issue::{HeldDie, IssueOutcome};
pub use operation::{ArrayOutcome, GrantOutcome, NewOperation};
pub use page_source::PageSource;
pub use path::{Interconnect, TransferCounts};
pub use queues::TransactionQueues;
pub use scheduling::SchedulingState;
pub use stats::DatapathStats;
pub use transfer::DeliveredTransfer;

use activity::DieActivity;
use clean::CleanExecution;
use gate::{Gate, GateRules};
use operation::OperationRules;
use transfer::PartialTransfers;

/// Transactions in flight, the scheduler, the dies, and the interconnect between the flash controllers and the dies.
#[derive(Clone)]
pub struct Datapath<M: Model> {
    geometry: Geometry,
    operation_rules: OperationRules,
    gate_rules: GateRules,
    pub queues: TransactionQueues<M>,
    pub scheduling: SchedulingState<M>,
    pub dies: Dies<M>,
    pub clean_execution: CleanExecution,
    partial_transfers: PartialTransfers,
    pub interconnect: Interconnect<M::Fabric>,
    counters: Counters,
}

impl Datapath<Probed> {
    /// Creates the datapath of the drive that `config` describes, without any transactions. `info` selects the kind of interconnect.
    ///
    /// # Errors
    /// If the interconnect does not support the geometry or the options of the drive.
    pub fn new(
        config: &Config,
        geometry: &Geometry,
        info: &'static FabricInfo,
    ) -> Result<Datapath<Probed>, FabricError> {
        let timing = Timing::new(config, info.on_die_controller_time(config));
        let gate_rules = GateRules::new(config, geometry);
        Ok(Datapath {
            dies: Dies::new(config, geometry, &timing),
            operation_rules: OperationRules::new(config, geometry, timing),
            queues: TransactionQueues::new(config, geometry),
            scheduling: SchedulingState::new(config, geometry, gate_rules.dies_are_independent),
            clean_execution: CleanExecution::default(),
            partial_transfers: PartialTransfers::default(),
            interconnect: Interconnect::new(config, info, AnyFabric::build_kind(info, config, geometry)?),
            counters: Counters::default(),
            gate_rules,
            geometry: geometry.clone(),
        })
    }

    /// Converts the datapath to model `N` (a variant of the simulation, compiled for one set of features). `resolve` extracts the concrete fabric
    /// from the enum `AnyFabric`.
    pub fn into_model<N: Model>(self, resolve: impl FnOnce(AnyFabric) -> N::Fabric) -> Datapath<N> {
        Datapath {
            geometry: self.geometry,
            operation_rules: self.operation_rules,
            gate_rules: self.gate_rules,
            queues: self.queues.into_model(),
            scheduling: self.scheduling.into_model(),
            dies: self.dies.into_model(),
            clean_execution: self.clean_execution,
            partial_transfers: self.partial_transfers,
            interconnect: self.interconnect.resolved(resolve),
            counters: self.counters,
        }
    }
}

impl<M: Model> Datapath<M> {
    /// Returns whether a Clean (chip-to-chip move of a whole block) is in progress on any die.
    #[inline(always)]
    pub(super) fn is_cleaning(&self) -> bool {
        M::ALL_FEATURES && self.clean_execution.is_active()
    }

    pub fn stats(&self) -> DatapathStats<'_> {
        DatapathStats {
            fabric: &self.interconnect.fabric,
            info: self.interconnect.info,
            transfers: &self.interconnect.transfers,
            counters: &self.counters,
            dies: self.dies.values(),
            has_read_cache: self.dies.have_read_cache(),
            dies_take_turns: self.dies.take_turns(),
            suspensions: self.dies.suspensions(),
        }
    }

    /// Returns a read-only view of the transactions that the dies execute now, and of the requests that the dies work for.
    #[inline(always)]
    pub fn activity(&self) -> DieActivity<'_, M> {
        DieActivity { queues: &self.queues, dies: &self.dies }
    }

    /// Returns the gate: a read-only view of the queues and the dies, which decides which queued transactions may run now.
    #[inline(always)]
    pub fn gate(&self) -> Gate<'_, M> {
        Gate::new(&self.gate_rules, &self.queues, &self.dies)
    }

    /// Returns the die that the scheduler chooses to request the next path, if any. Next, call [`Datapath::try_issue`] for the die, then
    /// [`SchedulingState::dispatched`].
    #[inline(always)]
    pub fn dispatch(&mut self, kernel: &Kernel<M>) -> Option<DieId> {
        let Datapath { scheduling, queues, dies, .. } = self;
        if scheduling.has_candidates() { scheduling.name_die(queues, dies, kernel.now()) } else { None }
    }
}
