//! Rules by which the gate decides, derived from the configuration.

use crate::config::{Config, PageMove};
use crate::flash::geometry::Geometry;
use crate::schedule::queues::{NOTHING, PlaneMasks};
use crate::schedule::transaction::TransactionClass;

use super::UNRESERVED_PROGRAMS;

#[derive(Clone, Debug)]
pub(in super::super) struct GateRules {
    /// Whether user and map reads precede GC even if GC has priority over user transactions.
    pub(super) reads_before_collection: bool,
    /// Classes of GC transactions that wait while GC is paused. Empty unless GC alternates with destages of the device cache
    /// (`cache.destage-stripe`).
    pub(super) pausing_collection: PlaneMasks,
    pub(super) has_parity: bool,
    /// All planes of the classes whose transactions may have to wait although the die is free: programs that may lack a free page, programs that
    /// gather mapping units, and GC while it pauses.
    pub(super) limited: PlaneMasks,
    /// Whether the transactions that may run at a die depend only on its own queues and state, apart from free pages and paced GC (`gc.paced`).
    /// `false` with dies of a chip that depend on each other, independent plane reads, GC that alternates with the destage of stripes, parity,
    /// several mapping units per program, or Cleans (chip-to-chip moves of whole blocks).
    pub(in super::super) dies_are_independent: bool,
}

impl GateRules {
    pub(in super::super) fn new(config: &Config, geometry: &Geometry) -> GateRules {
        let pausing_collection = match (config.gc_alternates_with_destage(), config.gc.r#move.crosses_chips()) {
            (false, _) => NOTHING,
            // Only the read pauses: a page that moves to another chip occupies a page register of that chip until it is programmed.
            (true, true) => PlaneMasks::all_of(&[TransactionClass::CollectRead]),
            (true, false) => PlaneMasks::all_of(&[TransactionClass::CollectRead, TransactionClass::CollectProgram]),
        };
        let has_parity = config.parity_stripe().is_some();
        let dies_are_independent = !config.dies_take_turns()
            && !config.dies_start_together()
            && config.gc.r#move != PageMove::Clean
            && !has_parity
            && !geometry.gathers_units()
            && !config.planes_read_alone()
            && pausing_collection == NOTHING;
        let moves = PlaneMasks::all_of(&[TransactionClass::CollectProgram]);
        let limited =
            UNRESERVED_PROGRAMS.or(pausing_collection).or(if geometry.gathers_units() { moves } else { NOTHING });
        GateRules {
            reads_before_collection: config.reads_go_before_collection(),
            pausing_collection,
            has_parity,
            limited,
            dies_are_independent,
        }
    }
}
