//! Rules for the choice of transactions, derived from the configuration.

use crate::config::{Config, EraseOrder, KindOrder, Priorities, Schedule, SchedulePolicy};
use crate::schedule::{AnyScheduler, Scheduler};
use crate::units::Time;

/// Rules for the choice of the lead (first transaction) of an operation.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct ChoiceRules {
    pub erase_order: EraseOrder,
    /// Wait after which a transaction counts as overdue (`schedule.age-bound`): a user transaction for statistics, a GC transaction for its
    /// precedence (`gc.paced`). [`Time::MAX`], so that no transaction is overdue, if the policy serves user transactions in order of arrival only, or
    /// if a custom scheduler decides the order (`SchedulingState::leave_order_to_scheduler`).
    pub age_bound: Time,
    /// Whether host writes of a die wait while GC of that die is behind its pace (`gc.paced`).
    pub paces_collection: bool,
    /// Whether a die with a single non-empty queue, of user reads, starts the head of that queue without calling the scheduler.
    pub skips_scheduler: bool,
}

impl ChoiceRules {
    /// Creates the rules of the drive in `config`. `dies_are_independent` is true if only the queues and state of a die decide which of its
    /// transactions may run.
    pub(super) fn new(config: &Config, scheduler: &AnyScheduler, dies_are_independent: bool) -> ChoiceRules {
        let Schedule { order, priorities, .. } = config.schedule;
        let has_precedence = match config.schedule_policy() {
            SchedulePolicy::Fifo => false,
            SchedulePolicy::OutOfOrder => order != KindOrder::Arrival || priorities != Priorities::Off,
            SchedulePolicy::Sprinkler | SchedulePolicy::Paq | SchedulePolicy::Fair => true,
        };
        ChoiceRules {
            erase_order: config.schedule.erases,
            age_bound: if has_precedence { config.schedule.age_bound } else { Time::MAX },
            paces_collection: config.gc.paced,
            skips_scheduler: dies_are_independent && priorities == Priorities::Off && scheduler.takes_only_queue(),
        }
    }
}
