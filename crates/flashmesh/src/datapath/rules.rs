//! Rules for the operations of all dies, derived from the configuration.

use crate::config::{Arbitration, Config, EraseOrder, KindOrder, PageMove, Priorities, Schedule, SchedulePolicy};
use crate::fabric::FabricInfo;
use crate::flash::geometry::Geometry;
use crate::schedule::queues::{NOTHING, PlaneMasks};
use crate::schedule::transaction::TransactionClass;
use crate::schedule::{AnyScheduler, Scheduler};
use crate::units::Time;

/// Rules by which dies start operations and transfers, derived from the configuration.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) erase_order: EraseOrder,
    /// Wait after which a user transaction counts as overdue (`schedule.age-bound`); [`Time::MAX`] if the policy serves user transactions
    /// in order of arrival only, or after `Datapath::leave_order_to_scheduler`.
    pub(super) age_bound: Time,
    /// Channel arbitration (`fabric.arbitration`); `CommandFirst` for interconnects that do not support this option.
    pub(super) arbitration: Arbitration,
    /// Whether reads that a request waits for always precede GC.
    pub(super) reads_before_collection: bool,
    /// Classes of GC transactions that wait while GC is paused. Empty unless GC takes turns with destages of the device cache
    /// (`cache.destage-stripe`).
    pub(super) pausing_collection: PlaneMasks,
    pub(super) has_parity: bool,
    /// Whether host writes of a die wait while GC of that die is behind its pace (`gc.paced`).
    pub(super) paces_collection: bool,
    /// Whether the transactions that may run on a die depend only on its own queues and state, apart from programs that wait for free pages
    /// or for GC. False if dies of a chip depend on each other, if planes read independently, if GC alternates with the destage of stripes,
    /// or if the drive has parity, several mapping units per program, or Cleans (chip-to-chip moves of whole blocks).
    pub(super) dies_are_independent: bool,
    /// Whether a die with a single non-empty queue, of user reads, starts the head of that queue without calling the scheduler.
    pub(super) skips_scheduler: bool,
    /// Whether the fabric is notified of the host request of each path request (`venice.circuits-per-request`).
    pub(super) announces_requests: bool,
}

impl Rules {
    pub(super) fn new(config: &Config, geometry: &Geometry, info: &FabricInfo, scheduler: &AnyScheduler) -> Rules {
        let Schedule { order, priorities, .. } = config.schedule;
        let has_precedence = match config.schedule_policy() {
            SchedulePolicy::Fifo => false,
            SchedulePolicy::OutOfOrder => order != KindOrder::Arrival || priorities != Priorities::Off,
            SchedulePolicy::Sprinkler | SchedulePolicy::Paq | SchedulePolicy::Fair => true,
        };
        let cleans = config.gc.r#move == PageMove::Clean;
        let pausing_collection = match (config.gc_alternates_with_destage(), config.gc.r#move.crosses_chips()) {
            (false, _) => NOTHING,
            // A page that moves to another chip occupies a page register of that chip until the page is programmed. So its program does not pause,
            // only its read.
            (true, true) => PlaneMasks::all_of(&[TransactionClass::CollectRead]),
            (true, false) => PlaneMasks::all_of(&[TransactionClass::CollectRead, TransactionClass::CollectProgram]),
        };
        let has_parity = config.parity_stripe().is_some();
        let dies_are_independent = !config.dies_take_turns()
            && !config.dies_start_together()
            && !cleans
            && !has_parity
            && !geometry.gathers_units()
            && !config.planes_read_alone()
            && pausing_collection == NOTHING;
        Rules {
            erase_order: config.schedule.erases,
            age_bound: if has_precedence { config.schedule.age_bound } else { Time::MAX },
            arbitration: if info.supports_arbitration() {
                config.fabric.arbitration
            } else {
                Arbitration::CommandFirst
            },
            reads_before_collection: config.reads_go_before_collection(),
            pausing_collection,
            has_parity,
            paces_collection: config.gc.paced,
            dies_are_independent,
            skips_scheduler: dies_are_independent && priorities == Priorities::Off && scheduler.takes_only_queue(),
            announces_requests: config.venice.circuits_per_request.is_some(),
        }
    }

    /// Returns whether channel arbitration depends on the owner (request, GC or map) of the data that leaves a die.
    #[inline]
    pub(super) fn arbitrates_by_owner(&self) -> bool {
        self.arbitration.is_data_first_by_chip()
    }

    /// Returns whether a die requests its next path before it releases the path over which it sent data, so that the new request takes part in the
    /// arbitration at the release.
    #[inline]
    pub(super) fn requests_before_release(&self) -> bool {
        self.arbitration.is_data_first_by_chip() || self.arbitration == Arbitration::NextCommandFirst
    }
}
